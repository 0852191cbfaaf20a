"""Where the rows of a fit come from: memory, a stream, Dask blocks."""
