"""The programs in examples/, which `make docs` runs too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").rglob("plot_*.py"))
#: Run by `make test`; the others by `make test-slow`.
QUICK = {"plot_cigmvc_step_by_step"}


def test_there_are_examples():
    assert len(EXAMPLES) >= 16
    assert {path.stem for path in EXAMPLES} >= QUICK


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.slow)
        for path in EXAMPLES
    ],
)
def test_examples_run(example, tmp_path):
    done = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
