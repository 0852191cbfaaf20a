"""Stage two: ways from a problem to its output weights."""
