"""Outputs of snfpy, imml and muon on small data, for tests of SNF, NEMO and WNN to compare with.

Each package has an environment of its own, made by ``make bench-quality-peers``. Writes
tests/data/golden/fused.npz:

    python -m benchmarks.fused_goldens
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.bench_quality import PEERS, versions_in

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "tests" / "data" / "golden" / "fused.npz"
# Name of the golden -> its package among the PEERS.
PACKAGES = {"snf": "SNF", "nemo": "NEMO", "wnn": "WNN + Leiden"}


def inputs():
    """Three views of three clusters, columns standardised; each sample lacks at most one view, so
    that any two have one in common."""
    rng = np.random.default_rng(19)
    y = rng.permutation(np.arange(72) % 3)
    views = [2 * rng.normal(size=(3, d))[y] + rng.normal(size=(72, d)) for d in (6, 4, 9)]
    views = [(view - view.mean(axis=0)) / view.std(axis=0) for view in views]
    lacks = rng.integers(6, size=72)  # 3 to 5: none
    present = lacks[:, None] != np.arange(3)
    named = {f"X{v}": view for v, view in enumerate(views)}
    return {"y": y, "n_views": 3, "n_neighbors": 12, "present": present, **named}


def made(python, name, given):
    """What a package makes of the inputs."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, file)) for file in ("in.npz", "out.npz")]
        np.savez(paths[0], **given)
        script = HERE / "peers" / f"golden_{name}.py"
        subprocess.run([python, script, *paths], check=True)
        with np.load(paths[1]) as found:
            return {f"{name}_{key}": found[key] for key in found.files}


def pythons(description):
    """The Python of each package's environment, from the command line."""
    parser = argparse.ArgumentParser(description=description)
    for name, peer in PACKAGES.items():
        parser.add_argument(f"--{name}", default=HERE.parent / PEERS[peer][0] / "bin" / "python",
                            help="Python of its environment")  # fmt: skip
    return vars(parser.parse_args())


def main():
    environments = pythons(__doc__)
    given = inputs()
    found = {}
    for name, peer in PACKAGES.items():
        python = environments[name]
        found |= made(python, name, given)
        found[f"{name}_versions"] = versions_in(python, PEERS[peer][2])
        print(name, found[f"{name}_versions"])
    np.savez_compressed(GOLDEN, **given, **found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
