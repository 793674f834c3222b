"""The programs in examples/."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("example", sorted((Path(__file__).parents[1] / "examples").glob("*.py")))
def test_examples_run(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout
