"""Speed, memory and accuracy, always as ratios to a floor or a peer in the same run."""
