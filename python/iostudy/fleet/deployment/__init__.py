"""Where the nodes of a fleet are, what they lack, and Dask workers on them."""
