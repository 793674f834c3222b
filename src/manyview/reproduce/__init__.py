"""The paper's evaluation, reproduced: data sets, methods, tables and figure."""

from manyview.reproduce._outputs import write_outputs
from manyview.reproduce._plan import BUILTIN, METHODS, PAPER_DATA, Experiment, load, plan
from manyview.reproduce._run import ExperimentResult, run_experiments
from manyview.reproduce._tables import Results, summary_table
