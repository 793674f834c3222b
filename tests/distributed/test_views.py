"""Views that a fit on a cluster takes, and those it refuses in one line."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

pytest.importorskip("distributed", reason="needs the extra 'dask'")

import dask
import dask.array as da
import pandas as pd
from distributed import wait

from manyview import CIGMVC, GBS, datasets
from tests.helpers.dask_clusters import assert_same, cluster, let_go

dd = pytest.importorskip("dask.dataframe", reason="needs dask's data frames")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
N = 120
MODEL = GBS(3, max_iter=2, random_state=0)


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def views():
    return datasets.make_blob_views(N, 3, widths=(5, 4), separation=2.0, random_state=0).views


@pytest.fixture(scope="module")
def single(views):
    return clone(MODEL).fit(views)


def frames(views):
    return {name: pd.DataFrame(view).add_prefix("x") for name, view in views.items()}


def with_unknown_lengths(frame):
    """Partitions of lengths that nobody knows beforehand; the second of them is empty."""
    pieces = [frame.iloc[:50], frame.iloc[50:50], frame.iloc[50:57], frame.iloc[57:]]
    return dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0])


def arrays(views, *chunks):
    pairs = zip(views.items(), chunks, strict=True)
    return {name: da.from_array(view, chunks=chunk) for (name, view), chunk in pairs}


def files_of(views, folder):
    """A Parquet file of the first view, and several of the second."""
    one, several = frames(views).values()
    one.to_parquet(folder / "one.parquet")
    (folder / "several").mkdir()
    for number, start in enumerate(range(0, N, 50)):
        part = several.iloc[start : start + 50].reset_index(drop=True)
        part.to_parquet(folder / "several" / f"part.{number}.parquet")
    return folder / "one.parquet", folder / "several"


SHAPES = {
    "arrays": lambda views, _: views,
    "a list": lambda views, _: list(views.values()),
    "uneven chunks": lambda views, _: arrays(views, ((7, 50, 1, 62), 5), ((100, 20), 4)),
    "column chunks": lambda views, _: arrays(views, (40, 2), (N, (1, 3))),
    "one row a chunk": lambda views, _: arrays(views, (1, -1), (N, -1)),
    "unknown chunks": lambda views, _: {
        name: with_unknown_lengths(frame).to_dask_array() for name, frame in frames(views).items()
    },
    "data frames": lambda views, _: {
        name: with_unknown_lengths(frame) for name, frame in frames(views).items()
    },
    "one on the cluster and one here": lambda views, _: {
        "view0": da.from_array(views["view0"], chunks=(50, 5)),
        "view1": views["view1"],
    },
    "a file and a folder": lambda views, folder: dict(
        zip(views, files_of(views, folder), strict=True)
    ),
    "text and a pattern": lambda views, folder: {
        name: f"{path}/*.parquet" if path.is_dir() else str(path)
        for name, path in zip(views, files_of(views, folder), strict=True)
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_same_views_in_any_shape(client, views, single, shape, tmp_path):
    given = SHAPES[shape](views, tmp_path)
    spread = clone(MODEL).fit(given, client=client)
    if shape == "a list":
        assert spread.view_names_ == ("view0", "view1")
    assert_same(spread, single)
    del given
    assert let_go(client)


def test_names_of_views(client, views):
    given = dict(zip(("text", "images"), arrays(views, (50, -1), (60, -1)).values(), strict=True))
    assert clone(MODEL).fit(given, client=client).view_names_ == ("text", "images")


def test_one_array_is_one_view(client, views):
    one = views["view0"]
    spread = clone(MODEL).fit(da.from_array(one, chunks=(50, 2)), client=client)
    assert_same(spread, clone(MODEL).fit([one]))


def test_one_path_is_one_view(client, views, tmp_path):
    path, _ = files_of(views, tmp_path)
    assert_same(clone(MODEL).fit(path, client=client), clone(MODEL).fit([views["view0"]]))


def test_sparse_chunks(client, rng):
    dense = [np.where(rng.random((N, 30)) < 0.3, rng.poisson(2, (N, 30)), 0) for _ in range(2)]
    sparse = [csr_array(view.astype(float)) for view in dense]
    given = [
        da.from_array(view.astype(float), chunks=(50, -1)).map_blocks(csr_array, dtype=float)
        for view in dense
    ]
    model = CIGMVC(3, max_iter=2, random_state=0)
    assert_same(clone(model).fit(given, client=client), clone(model).fit(sparse))


def test_data_set(client):
    data = datasets.make_blob_views(N, 3, separation=2.0, random_state=0)
    assert_same(clone(MODEL).fit(data, client=client), clone(MODEL).fit(data))


def test_what_the_user_keeps_on_the_workers_stays(client, views, single):
    given = {name: client.persist(view) for name, view in arrays(views, (50, -1), (60, 2)).items()}
    wait_for(client, given)
    kept = [key for view in given.values() for key in view.__dask_keys__()]
    kept = [str(key) for row in kept for key in row]
    before = {name: view.compute(scheduler=client) for name, view in given.items()}
    assert_same(clone(MODEL).fit(given, client=client), single)
    assert let_go(client, but=kept)
    for name, view in given.items():
        np.testing.assert_array_equal(view.compute(scheduler=client), before[name])
        np.testing.assert_array_equal(before[name], views[name])
    del given, view
    assert let_go(client)


def wait_for(client, given):
    with client.as_current():
        wait(list(given.values()))


def test_another_client_is_the_default(client, views, single):
    """The fit is on the cluster that it was given."""
    with cluster(1) as other, other.as_current():
        assert_same(clone(MODEL).fit(arrays(views, (50, -1), (60, 2)), client=client), single)
        assert other.futures == {}


# What is refused in the same words as on one machine.


def altered(view, row, column, value):
    view = view.copy()
    view[row, column] = value
    return view


SAME_ERRORS = {
    "unequal rows": lambda a, b: ([a, b[:-1]], {}),
    "one dimension": lambda a, b: ([a, b[:, 0]], {}),
    "three dimensions": lambda a, b: ([a, b[:, :, None]], {}),
    "a hole": lambda a, b: ([a, altered(b, 97, 2, np.nan)], {}),
    "infinity": lambda a, b: ([altered(a, 65, 1, -np.inf), b], {}),
    "a row of infinities": lambda a, b: ([altered(a, 65, slice(None), np.inf), b], {}),
    "a sample that no view has": lambda a, b: (
        [altered(a, 99, slice(None), np.nan), altered(b, 99, slice(None), np.nan)],
        {},
    ),
    "a mask of another shape": lambda a, b: ([a, b], {"present": np.ones((N, 3), bool)}),
    "a mask of numbers": lambda a, b: ([a, b], {"present": np.ones((N, 2))}),
    "one sample": lambda a, b: ([a[:1], b[:1]], {}),
    "two samples": lambda a, b: ([a[:2], b[:2]], {}),
    "no views": lambda a, b: ([], {}),
    "text": lambda a, b: ([a, b.astype(str)], {}),
    "dates": lambda a, b: ([a, b.astype("datetime64[s]")], {}),
    "all the same": lambda a, b: ([np.ones_like(a)], {}),
    "no columns": lambda a, b: ([a, b[:, :0]], {}),
    "no rows": lambda a, b: ([a[:0], b[:0]], {}),
}


def message_of(model, given, **options):
    with pytest.raises(ValueError, match=r"expected|is ") as error:
        clone(model).fit(given, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("as_dask", [False, True], ids=["arrays", "Dask"])
@pytest.mark.parametrize("what", SAME_ERRORS)
@pytest.mark.filterwarnings("ignore:view 'view0' has no information")
def test_refused_as_on_one_machine(client, views, what, as_dask):
    given, options = SAME_ERRORS[what](*views.values())
    expected = message_of(MODEL, given, **options)
    if as_dask:
        given = [da.from_array(view, chunks=(50, *view.shape[1:])) for view in given]
    assert message_of(MODEL, given, client=client, **options) == expected
    assert let_go(client)


SAME_PARAMETERS = {
    "more clusters than samples": {"n_clusters": N + 1},
    "more neighbours than samples": {"n_neighbors": N - 1},
    "no such graph": {"graph": "none"},
    "no clusters": {"n_clusters": 0},
}


@pytest.mark.parametrize("what", SAME_PARAMETERS)
def test_parameters_refused_as_on_one_machine(client, views, what):
    model = clone(MODEL).set_params(**SAME_PARAMETERS[what])
    expected = message_of(model, views)
    assert message_of(model, arrays(views, (50, -1), (60, -1)), client=client) == expected


def test_text_in_a_data_frame(client, views):
    frame = pd.DataFrame(views["view0"]).add_prefix("x").assign(kind="word")
    expected = message_of(MODEL, [frame])
    what = ("text 'word'", "values of type str")  # the latter of pandas 3
    assert expected.endswith(tuple(f"{text} in column 'kind'" for text in what))
    assert message_of(MODEL, [frame], client=client) == expected
    for given in (dd.from_pandas(frame, npartitions=3), with_unknown_lengths(frame)):
        message = message_of(MODEL, [given], client=client)  # Dask has text of a type of its own
        assert message.startswith("view 'view0' is not a table of numbers: it has ")
    assert let_go(client)


ONLY_HERE = {
    "graph='precomputed' with a client": (GBS(3, graph="precomputed"), {}),
    "n_neighbors='all' with a client": (GBS(3, graph="binary", n_neighbors="all"), {}),
    "views=[5, 4] with a client": (GBS(3, views=[5, 4]), {}),
    "checkpoint with a client": (GBS(3, random_state=0), {"checkpoint": "kept"}),
}


@pytest.mark.parametrize("what", ONLY_HERE)
def test_not_on_a_cluster(client, views, what, folder):
    model, options = ONLY_HERE[what]
    assert message_of(model, views, client=client, **options).startswith(what + "; expected")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", ["nowhere.parquet", "nowhere", "nowhere/*.parquet"])
def test_no_file(client, folder, path):
    with pytest.raises(FileNotFoundError, match="no such file; expected") as error:
        clone(MODEL).fit([path], client=client)
    assert f"{folder / path}" in str(error.value)


def test_no_parquet(client, folder):
    (folder / "table.parquet").write_text("a,b\n1,2\n")
    assert "table.parquet" in message_of(MODEL, ["table.parquet"], client=client)
    assert let_go(client)


@pytest.mark.parametrize("wrong", ["tcp://127.0.0.1:8786", 3, object()])
def test_client_of_a_wrong_type(views, wrong):
    message = message_of(MODEL, views, client=wrong)
    assert message.startswith(f"client is a {type(wrong).__name__}; expected a distributed.Client")


def test_cluster_in_place_of_its_client(client, views):
    assert "expected a distributed.Client" in message_of(MODEL, views, client=client.cluster)


def test_no_workers(views):
    with cluster(0) as client:
        assert "has no workers; expected at least one" in message_of(MODEL, views, client=client)


def test_closed_client(views):
    with cluster(1) as client:
        client.close()
        assert "closed" in message_of(MODEL, views, client=client)


def test_frames_that_call_rows_differently(client, views):
    """As on one machine: rows are not moved, and what would be mixed up is refused."""
    first, second = (pd.DataFrame(view) for view in list(views.values())[:2])
    turned = second.iloc[::-1]
    for given in (
        [dd.from_pandas(first, npartitions=3), dd.from_pandas(turned, npartitions=2, sort=False)],
        [first, dd.from_pandas(turned, npartitions=2, sort=False)],
    ):
        assert "'view0' and 'view1' have different indexes" in message_of(
            MODEL, given, client=client
        )


def test_pieces_that_are_refused_leave_no_traceback_on_workers(client, views, caplog):
    odd = da.from_array(np.full((60, 3), 1j), chunks=(20, 3))
    assert "is not a table of numbers" in message_of(MODEL, [odd], client=client)
    assert not [record for record in caplog.records if record.exc_info]


def test_asynchronous_client(views):
    import asyncio

    from distributed import Client

    async def ask():
        async with Client(processes=False, asynchronous=True, dashboard_address=":0") as client:
            return message_of(MODEL, list(views.values()), client=client)

    assert "client is asynchronous" in asyncio.run(ask())


def test_delayed_is_no_table(client):
    import dask

    assert "; expected a Dask array or data frame" in message_of(
        MODEL, [dask.delayed(np.ones((9, 2)))], client=client
    )


def test_path_without_client():
    assert "is a path; expected a table" in message_of(MODEL, {"a": "nowhere.parquet"})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_stages_have_names_on_the_dashboard(client, views, monkeypatch):
    from dask.utils import key_split

    from manyview.distributed._client import DaskSession

    asked = []

    original = DaskSession.submit

    def submit(self, name, *args, **where):
        asked.append(name)
        return original(self, name, *args, **where)

    monkeypatch.setattr(DaskSession, "submit", submit)
    clone(MODEL).fit(list(views.values()), client=client)
    reading = {"check", "read", "keep", "rows"}
    assert set(asked) == reading | {"neighbors", "weights", "graph", "components"}
    for name in set(asked):
        assert key_split(f"manyview-{name}-abcdef10_3") == f"manyview-{name}"
