"""The clustering methods, one a file."""

from manyview.methods._graph_fusion import GraphFusion
from manyview.methods._history import Round
from manyview.methods._predict_mixin import plain_params
from manyview.methods.angular import AngularCIGMVC
from manyview.methods.cigmvc import CIGMVC
from manyview.methods.coregsc import CoregSC
from manyview.methods.gbs import GBS
from manyview.methods.mcgl import MCGL
from manyview.methods.mgl import MGL
from manyview.methods.msc import MSC
from manyview.methods.spectral_average import SpectralAverage
from manyview.methods.spectral_concat import SpectralConcat
from manyview.methods.spectral_view import SpectralView

__all__ = [
    "CIGMVC",
    "GBS",
    "MCGL",
    "MGL",
    "MSC",
    "AngularCIGMVC",
    "CoregSC",
    "GraphFusion",
    "Round",
    "SpectralAverage",
    "SpectralConcat",
    "SpectralView",
    "plain_params",
]
