"""Ten million samples on one machine, from files that are mapped into memory.

Views of 32, 48 and 64 features in single precision are written block by block, then fitted by the
default method in a process of its own, with a million samples first. Time, memory and agreement
with the true clusters go into docs/performance.md, with the log of the fit. It takes about 40
minutes and 10 GB of disk: ``make bench-ten-million``.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
WIDTHS, LATENT, N_CLUSTERS = (32, 48, 64), 8, 10
SEPARATION, STRAY, NOISE = 6.0, 0.15, 0.1  # as in bench_scale
BLOCK = 100_000
GIB = 2**30
MOST_GIB, MOST_MINUTES = 20, 90


def write_views(folder, n):
    """Files of the views, drawn as `make_latent_views` draws them, and of the true clusters."""
    from manyview.datasets._generated import _sphere_points

    rng = np.random.default_rng(0)
    centres = [_sphere_points(rng, N_CLUSTERS, LATENT) * SEPARATION / np.sqrt(2) for _ in WIDTHS]
    maps = [rng.standard_normal((LATENT, width)) / np.sqrt(LATENT) for width in WIDTHS]
    files = [
        np.lib.format.open_memmap(folder / f"view{v}.npy", "w+", np.float32, (n, width))
        for v, width in enumerate(WIDTHS)
    ]
    target = np.empty(n, dtype=np.int8)
    for number, start in enumerate(range(0, n, BLOCK)):
        rows = slice(start, min(start + BLOCK, n))
        count, own = rows.stop - start, np.random.default_rng([1, number])
        target[rows] = own.permutation(np.arange(count) % N_CLUSTERS)
        for file, centre, to_features in zip(files, centres, maps, strict=True):
            anywhere = own.integers(0, N_CLUSTERS, count)
            seen = np.where(own.random(count) < STRAY, anywhere, target[rows])
            hidden = centre[seen] + own.standard_normal((count, LATENT))
            noise = NOISE * own.standard_normal((count, to_features.shape[1]))
            file[rows] = hidden @ to_features + noise
    np.save(folder / "target.npy", target)


def fit(folder, log):
    """One fit of the files in a folder, after a small one has compiled the code."""
    import manyview
    from manyview.metrics import clustering_accuracy
    from manyview.runtime import format_bytes

    folder = Path(folder)
    small = manyview.datasets.make_latent_views(30_000, 3, random_state=0)
    manyview.ConsensusGraph(3).fit(small.views)
    del small
    views = {f"view{v}": np.load(folder / f"view{v}.npy", mmap_mode="r") for v in range(3)}
    model = manyview.ConsensusGraph(N_CLUSTERS, random_state=0, verbose=1)
    estimate = model._memory(model._fit_size(model._read_local(views)))
    form = "%(asctime)s  %(message)s"
    logging.basicConfig(filename=log, filemode="w", format=form, datefmt="%H:%M:%S")
    watch = Watch()
    started, processor = time.perf_counter(), time.process_time()
    with watch:
        model.fit(views)
    target = np.load(folder / "target.npy")
    return {
        "n": len(target),
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - processor,
        "peak": watch.peak,
        "peak_own": watch.peak_own,
        "estimate": format_bytes(estimate.peak),
        "stages": model.stage_seconds_,
        "recall": [search.recall for search in model.neighbor_search_],
        "accuracy": clustering_accuracy(target, model.labels_),
        "stability": float(model.stability_.mean()),
    }


class Watch:
    """The most memory that this process has: resident, and without what files are mapped to."""

    def __init__(self):
        self.peak = self.peak_own = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()

    def _look(self):
        while not self._stop.wait(0.2):
            lines = Path("/proc/self/status").read_text().splitlines()
            status = dict(line.split(":", 1) for line in lines)
            resident, mapped = (1024 * int(status[key].split()[0]) for key in ("VmRSS", "RssFile"))
            self.peak = max(self.peak, resident)
            self.peak_own = max(self.peak_own, resident - mapped)


def page(results):
    head = ["N", "whole fit", "graphs", "eigenvectors", "other stages", "processor s",
            "resident GiB", "without mapped files GiB", "estimated", "recall", "ACC"]  # fmt: skip
    rows = []
    for one in results["fits"]:
        graphs, vectors = (one["stages"][stage] for stage in ("neighbors", "eigenvectors"))
        minutes = [s / 60 for s in (one["seconds"], graphs, vectors)]
        rows.append([
            f"{one['n']:,}", *(f"{m:.1f} min" for m in minutes),
            f"{minutes[0] - minutes[1] - minutes[2]:.1f} min", f"{one['processor']:.0f}",
            f"{one['peak'] / GIB:.1f}", f"{one['peak_own'] / GIB:.1f}", one["estimate"],
            f"{min(one['recall']):.3f}", f"{one['accuracy']:.3f}",
        ])  # fmt: skip
    text = f"{results['machine']}:\n\n{harness.table(head, rows)}\n\n"
    return text + f"The log of the last fit:\n\n```text\n{results['log'].strip()}\n```\n"


def main():
    harness.answer_if_asked({"fit": fit})
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--folder", type=Path, help="for the files, else a temporary one")
    parser.add_argument("--no-docs", action="store_true", help="print, and leave docs/ alone")
    parser.add_argument("--log", default="/tmp/ten-million.log", help="of the last fit")
    options = parser.parse_args()
    results = {"machine": harness.machine(), "fits": []}
    for n in options.sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            write_views(Path(folder), n)
            found = harness.in_a_process(__file__, "fit", folder=folder, log=options.log)
        results["fits"].append(found)
        print(found, flush=True)
    results["log"] = Path(options.log).read_text()
    print(page(results))
    if not options.no_docs:
        harness.write_block(PAGE, "ten million", page(results))
    last = results["fits"][-1]
    return int(last["peak"] > MOST_GIB * GIB or last["seconds"] > 60 * MOST_MINUTES)


if __name__ == "__main__":
    sys.exit(main())
