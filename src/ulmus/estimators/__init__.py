"""scikit-learn's interface to the two stages, a file for each variant."""
