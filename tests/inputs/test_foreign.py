"""Tables of libraries that the package does not know."""

import numpy as np
import pandas as pd
import pytest

import manyview
from manyview import GBS
from tests.helpers.blobs import blobs


class Tensor:
    """Gives an array and tells nothing else, not even its shape."""

    def __init__(self, values, error=None):
        self.values, self.error = values, error

    def __array__(self, dtype=None, copy=None):
        if self.error is not None:
            raise self.error
        return np.asarray(self.values, dtype=dtype)


class ShapedTensor(Tensor):
    """As tensors of PyTorch."""

    @property
    def shape(self):
        return self.values.shape


class Interchange:
    """A data frame that has the interchange protocol alone."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.frame.__dataframe__(nan_as_null, allow_copy)


class Stream:
    """A data frame that hands out Arrow data alone."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


def arrow(view):
    return pytest.importorskip("pyarrow").Table.from_pandas(named(view))


def named(view):
    return pd.DataFrame(view).add_prefix("f")


FORMS = {
    "array": Tensor,
    "tensor": ShapedTensor,
    "pyarrow": arrow,
    "interchange": lambda view: Interchange(named(view)),
    "arrow stream": lambda view: Stream(arrow(view)),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("form", FORMS)
def test_foreign_tables_are_views(form):
    views = blobs().views
    expected = GBS(3, random_state=0).fit(views)
    foreign = {name: FORMS[form](view) for name, view in views.items()}
    model = GBS(3, random_state=0).fit(list(foreign.values()))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(foreign), expected.predict(views))
    result = manyview.cluster(foreign, 3, method="gbs")
    np.testing.assert_array_equal(result.labels, expected.labels_)
    if form not in ("array", "tensor"):
        assert result.tables.features["view0"][:2] == ("f0", "f1")
    table = FORMS[form](np.hstack(list(views.values())))
    one = GBS(3, views=[8, 12, 10], random_state=0).fit(table)
    np.testing.assert_array_equal(one.labels_, expected.labels_)


def test_arrow_tables_are_cut_by_name():
    table = arrow(np.hstack(list(blobs().views.values())))
    views = {"a": [f"f{i}" for i in range(8)], "b": slice(8, 30)}
    result = manyview.cluster(table, 3, method="gbs", views=views)
    assert result.tables.features["b"][0] == "f8"
    assert GBS(3, views=views).fit(table).view_names_ == ("a", "b")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (Tensor(np.zeros((9, 2)), RuntimeError("grad.\nUse detach()")), "can't be read: grad."),
        (ShapedTensor(np.zeros((9, 2)), TypeError("on a device")), "can't be read: on a device"),
        (ShapedTensor(np.zeros(9)), r"1 dimension\(s\)|1D array"),
        (Tensor(np.array([["a"]])), "not a table of numbers"),
        (Stream(pd.DataFrame({"a": ["x", "y"]})), "not a table of numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_line(table, said):
    for X in ([np.zeros((9, 2)), table], table):
        with pytest.raises(ValueError, match=said) as caught:
            GBS(2).fit(X)
        assert "\n" not in str(caught.value)


def test_torch():
    torch = pytest.importorskip("torch")
    views = list(blobs().views.values())
    tensors = [torch.tensor(view) for view in views]
    expected = GBS(3, random_state=0).fit(views).labels_
    np.testing.assert_array_equal(GBS(3, random_state=0).fit(tensors).labels_, expected)
    with pytest.raises(ValueError, match="view 'view0' is a Tensor that can't be read: Can't call"):
        GBS(3).fit([tensors[0].requires_grad_()])
