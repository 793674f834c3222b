"""``import manyview``."""

import subprocess
import sys

import pytest


def test_import_is_cheap():
    """No numba, no plots, no scikit-learn before they are used; and well under a second."""
    code = (
        "import sys, time; started = time.perf_counter(); import manyview\n"
        "seconds = time.perf_counter() - started\n"
        "heavy = {'numba', 'matplotlib', 'sklearn', 'scipy', 'numpy', 'rich', 'jinja2'}\n"
        "print(seconds < 0.5, sorted(heavy & set(sys.modules)))\n"
        "print(manyview.CIGMVC, manyview.datasets.__name__, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert first == "True []"
    assert second == "<class 'manyview.methods.cigmvc.CIGMVC'> manyview.datasets False"


def test_unknown_attribute():
    import manyview

    with pytest.raises(AttributeError, match="no attribute 'KMeans'"):
        _ = manyview.KMeans
    assert set(dir(manyview)) >= {"CIGMVC", "GBS", "datasets", "metrics", "plotting"}
