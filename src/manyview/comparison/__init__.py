"""Several methods, settings or numbers of clusters on the same samples."""

from manyview.comparison._compare import DEFAULT_METHODS, compare
from manyview.comparison._comparison import Comparison, Row
