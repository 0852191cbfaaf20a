"""Array libraries and devices, and the operations that the array standard lacks."""
