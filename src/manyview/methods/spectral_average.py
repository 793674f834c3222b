"""Spectral clustering of the mean of the views' graphs: the baseline nothing is learned in."""

from __future__ import annotations

from manyview.methods._docs import shared_docs
from manyview.methods._spectral_baseline import SpectralBaseline


@shared_docs
class SpectralAverage(SpectralBaseline):
    """Normalised spectral clustering of the mean of all views' graphs.

    Works on sparse graphs: memory O(V k N), seconds at 20,000 samples.

    Parameters
    ----------
    {common}
    {graph}

    Attributes
    ----------
    {learned}
    view_graphs_ : list of csr_array
        The graph of every view.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graph fell into too many pieces; usually none.

    Examples
    --------
    >>> from manyview import SpectralAverage
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(60, random_state=0)
    >>> SpectralAverage(5, random_state=0).fit_predict(data.views).shape
    (60,)
    """

    _takes_absent = True
