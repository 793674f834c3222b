"""Fits whose samples are spread over the workers of a Dask cluster.

The mathematics is that of `manyview.graphs`, `manyview.spectral` and `manyview.methods`; what is
here says which worker does it to which rows. Reading, neighbours and graphs are plain tasks that
Dask makes again when a worker is lost. The rounds hold state that it can't, so they begin again.
"""

from manyview.distributed._backend import DaskBackend
from manyview.distributed._memory import DaskWorkersError
from manyview.distributed._sources import distributed_tables, read_files
