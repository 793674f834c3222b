import pytest

from manyview import datasets
from tests.helpers.compared import SYNTHETIC, Case


@pytest.fixture(scope="package")
def blobs():
    """90 samples in three clear clusters, three views."""
    return datasets.make_blob_views(90, 3, widths=(6, 4, 5), separation=6, random_state=0)


@pytest.fixture(params=[*SYNTHETIC, "NGs", "BBC"])
def case(request, paper_data):
    return Case(request.param, paper_data)
