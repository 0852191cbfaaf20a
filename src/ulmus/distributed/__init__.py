"""Dask collections in place of X and y: blocks of rows, and sums over them."""
