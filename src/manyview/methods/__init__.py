"""The clustering methods, one a file."""

from manyview.methods.cigmvc import CIGMVC
from manyview.methods.gbs import GBS

__all__ = ["CIGMVC", "GBS"]
