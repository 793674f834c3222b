"""The stages of a fit on Dask workers: reading, neighbours, graphs and their stack.

The computations are those of `manyview.graphs`, `manyview.spectral` and `manyview.methods`; modules
here decide which worker applies them to which rows. Dask recomputes lost tasks up to the graphs. It
can't recompute the state of the rounds, so these are repeated.
"""

from manyview.distributed._backend import DaskBackend
from manyview.distributed._memory import DaskWorkersError
from manyview.distributed._sources import distributed_tables, read_files
