"""Where arrays live, and the few operations the array standard lacks."""
