"""The paper's evaluation, run again: data sets, methods, tables, figure."""

from manyview.reproduce._cells import CellResult, run_cells
from manyview.reproduce._outputs import write_outputs
from manyview.reproduce._plan import BUILTIN, METHODS, PAPER_DATA, Cell, load, plan
from manyview.reproduce._tables import Results, summary_table

__all__ = [
    "BUILTIN",
    "METHODS",
    "PAPER_DATA",
    "Cell",
    "CellResult",
    "Results",
    "load",
    "plan",
    "run_cells",
    "summary_table",
    "write_outputs",
]
