"""The papers and the demonstrations as functions that can be called."""
