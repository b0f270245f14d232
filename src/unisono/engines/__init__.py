"""Where work on shards is done: here, in processes, on Dask or on Ray; the numbers are the same.

`protocol` says what an executor is, `resident` keeps shards where they are worked on, `sums` adds results in a fixed
order, `choice` opens an executor by name; `serial`, `processes`, `dask` and `ray` are the executors.
"""
