"""The same fit on 1, 2 and 4 Dask workers: time, traffic and memory.

This machine has few cores, so a control group limits every worker to the same small share of a
core. Otherwise one worker could use a whole core, and four would have to share two. Shares are of
10 ms each, so that a worker is like a slower core; with the usual 100 ms it would stand still for
70 ms at a time, and all others, which wait for its rows, with it. The scheduler and the client
have the rest. Needs root and version 1 of control groups; without them, `--free`
runs workers without limit. ``make bench-dask`` writes the tables into docs/.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import logging
import os
import time
import warnings
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "scaling.md"
GROUPS = Path("/sys/fs/cgroup/cpu/manyview-bench")
#: Of a core, per worker: four workers leave two fifths of this machine to scheduler and client.
SHARE = 0.3
WORKERS = (1, 2, 4)
#: glibc keeps freed memory for the next message; by default it maps every message's memory anew.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": 2**25, "MALLOC_TRIM_THRESHOLD_": 2**28}
#: Samples and workers of the extrapolated table.
EXTRAPOLATED = ((1_000_000, 4), (100_000_000, 100), (100_000_000, 1_000), (1_000_000_000, 1_000))


@contextmanager
def limited(pids, share):
    """Give each process at most this share of a core."""
    period = 10_000
    made = []
    try:
        for number, pid in enumerate(pids if share else []):
            group = GROUPS.with_name(f"{GROUPS.name}-{number}")
            group.mkdir(exist_ok=True)
            made.append(group)
            (group / "cpu.cfs_period_us").write_text(str(period))
            (group / "cpu.cfs_quota_us").write_text(str(int(share * period)))
            (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for group in made:
            for pid in (group / "cgroup.procs").read_text().split():
                (GROUPS.parent / "cgroup.procs").write_text(pid)
            group.rmdir()


def watch_ranks():
    """Have a worker count the bytes that its rank sends in the rounds, and its CPU seconds."""
    from manyview.distributed import _ranks, _stack

    compute, send = _stack._compute, _ranks.Ranks._send
    _stack.seen = {"bytes": 0, "cpu": 0.0}

    def size(content):
        if isinstance(content, list | tuple):
            return sum(map(size, content))
        parts = vars(content).values() if hasattr(content, "__dict__") else [content]
        return sum(getattr(part, "nbytes", 0) for part in parts)

    def counted(self, contents):
        _stack.seen["bytes"] += sum(map(size, contents.values()))
        send(self, contents)

    def computed(*args):
        _stack.seen.update(bytes=0, cpu=-time.process_time())
        try:
            return compute(*args)
        finally:
            _stack.seen["cpu"] += time.process_time()

    _stack._compute, _ranks.Ranks._send = computed, counted


def counters():
    """What `watch_ranks` has counted, CPU seconds and peak memory of a worker so far."""
    from manyview.distributed import _stack

    return {**_stack.seen, "all": time.process_time(), "high": _status("VmHWM")}


def _status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def reset_high_water():
    ctypes.CDLL(None).malloc_trim(0)  # what was freed would be used without being counted
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


class Rounds(logging.Handler):
    """When the rounds were reported."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.times = []

    def emit(self, record):
        if ": round " in record.getMessage():
            self.times.append(time.perf_counter())


def ghost_shares(n, n_clusters, widths, counts):
    """Rows of other blocks that the rows of a block have edges with, as a share of all rows; rows
    in as many blocks as given, ordered as in a fit."""
    from manyview import AngularCIGMVC
    from manyview.datasets import make_latent_views
    from manyview.graphs import view_graphs
    from manyview.inputs import views_from_tables
    from manyview.runtime import Run

    data = make_latent_views(n, n_clusters, widths=widths, separation=6.0, random_state=0)
    views = replace(views_from_tables(data.views), scalings=("zscore",) * len(widths))
    options = AngularCIGMVC(n_clusters, neighbor_search="approximate")._graph_options()
    stack = view_graphs(views, options, Run(0)).stack()
    graph = stack.symmetric(np.ones(len(stack.indices)))
    found = []
    for count in counts:
        bounds, most = np.linspace(0, n, count + 1).astype(int), 0
        for a, b in pairwise(bounds):
            columns = graph.indices[graph.indptr[a] : graph.indptr[b]]
            most = max(most, len(np.unique(columns[(columns < a) | (columns >= b)])))
        found.append(most / n)
    return found


def fit(n, n_workers, n_clusters, widths, share, report):
    import dask
    from distributed import Client, LocalCluster, performance_report

    from manyview import AngularCIGMVC
    from manyview.datasets import make_latent_views
    from manyview.distributed import _memory as memory
    from manyview.metrics import clustering_accuracy

    warnings.simplefilter("ignore")
    data = make_latent_views(n, n_clusters, widths=widths, separation=6.0, random_state=0)
    views = list(data.views.values())
    small = [view[:21_000] for view in views]  # more than 20,000 have single precision
    needs = []
    estimated = memory.worker_memory
    memory.worker_memory = lambda *args: needs.append(estimated(*args)) or needs[-1]
    environment = "distributed.nanny.pre-spawn-environ"
    with (
        dask.config.set({f"{environment}.{name}": size for name, size in KEEP_MEMORY.items()}),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, memory_limit=None,
            dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):  # fmt: skip
        model = AngularCIGMVC(n_clusters, neighbor_search="approximate", random_state=0, verbose=1)
        model.fit(small, client=client)  # compiles
        client.run(watch_ranks)
        rounds = Rounds()
        logging.getLogger("manyview").addHandler(rounds)
        pids = client.run(os.getpid).values()
        start, own = client.run(reset_high_water), reset_high_water()
        with limited(pids, share), performance_report(filename=report):
            before = client.run(counters)
            began = time.perf_counter()
            model.fit(views, client=client)
            seconds = time.perf_counter() - began
            after = client.run(counters)
    count = len(rounds.times) - 1
    return {
        "seconds": seconds,
        "stages": model.stage_seconds_,
        "rounds": count,
        "round_seconds": (rounds.times[-1] - rounds.times[0]) / count,
        "round_out": [one["bytes"] / (count + 1) for one in after.values()],
        "round_cpu": sum(one["cpu"] for one in after.values()) / (count + 1),
        "neighbors_cpu": sum(after[w]["all"] - before[w]["all"] - after[w]["cpu"] for w in after),
        "growth": [after[w]["high"] - start[w] for w in after],
        "client": _status("VmHWM") - own,
        "estimate": needs[-1].peak,
        "labels": int(np.unique(model.labels_).size),
        "accuracy": float(clustering_accuracy(data.target, model.labels_)),
    }


def extrapolated(n, n_clusters, found, ghosts):
    """Memory, traffic and time for many samples, from the measured fits: Markdown."""
    from manyview.distributed._memory import worker_memory
    from manyview.graphs._fit_size import FitSize, ViewSize

    n_views, width, k, network = 3, 100, 15, 1.25e9
    most = max(found)
    # What is sent per ghost of a worker, in all steps of a round.
    per_ghost = max(found[most]["round_out"]) / (ghosts[most] * n)
    rows = []
    for samples, workers in EXTRAPOLATED:
        size = FitSize(samples, (ViewSize(samples, width),) * n_views, n_clusters, k)
        memory = worker_memory(size, workers, ghosts[workers] * samples).stages
        client = samples * 8 * (n_views + 6)
        traffic = per_ghost * ghosts[workers] * samples
        computed = found[1]["round_cpu"] / n * samples / workers
        searched = found[1]["neighbors_cpu"] / n * samples * (samples / n) ** 0.5 / workers
        rows.append(
            [
                f"{samples:,}",
                f"{workers:,}",
                f"{ghosts[workers]:.3f}",
                f"{memory['neighbors'] / 1e9:.1f}",
                f"{memory['rounds'] / 1e9:.1f}",
                f"{client / 1e9:.1f}",
                f"{traffic / 1e9:.1f}",
                f"{traffic / network:.0f}",
                f"{computed:.0f}",
                f"{searched / 3600:.1f}",
            ]
        )
    head = [
        "samples", "workers with one core", "ghosts per worker, share of all rows",
        "memory per worker, search, GB", "memory per worker, rounds, GB",
        "memory of the client, GB", "sent per worker and round, GB",
        "sending at 10 Gbit/s per round, s", "computing per round, s", "neighbour search, h",
    ]  # fmt: skip
    return (
        f"{n_views} views of {width} features, {n_clusters} clusters, {k} neighbours:\n\n"
        + harness.table(head, rows)
    )


def main():
    harness.answer_if_asked({"fit": fit, "ghosts": ghost_shares})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200_000)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--free", action="store_true", help="do not limit the workers")
    options = parser.parse_args()
    n, n_clusters, widths = options.samples, options.clusters, [30, 20, 20]
    share = None if options.free else SHARE
    folder = Path("build")
    folder.mkdir(exist_ok=True)
    found = {}
    for n_workers in WORKERS:
        found[n_workers] = harness.in_a_process(
            __file__, "fit", n=n, n_workers=n_workers, n_clusters=n_clusters, widths=widths,
            share=share, report=str(folder / f"dask-{n_workers}-workers.html"),
        )  # fmt: skip
        print(n_workers, json.dumps(found[n_workers]), flush=True)
    counts = sorted({2, 4, 8, 32, *(workers for _, workers in EXTRAPOLATED)})
    shares = harness.in_a_process(
        __file__, "ghosts", n=n, n_clusters=n_clusters, widths=widths, counts=counts
    )
    ghosts = dict(zip(counts, shares, strict=True))
    rows = [
        [
            n_workers,
            f"{one['seconds']:.0f}",
            f"{found[1]['seconds'] / one['seconds']:.1f}",
            f"{one['stages']['neighbors']:.0f}",
            f"{one['round_seconds']:.1f}",
            f"{one['round_cpu']:.1f}",
            f"{max(one['round_out']) / 1e6:.0f}",
            f"{max(one['growth']) / 1e6:.0f}",
            f"{one['estimate'] / 1e6:.0f}",
            f"{one['client'] / 1e6:.0f}",
            f"{one['accuracy']:.3f}",
        ]
        for n_workers, one in sorted(found.items())
    ]
    head = [
        "workers", "whole fit, s", "times as fast as one", "graphs, s", "per round, s",
        "CPU of all workers per round, s", "sent per worker and round, MB",
        "memory per worker, MB", "estimated, MB", "memory of client and scheduler, MB", "ACC",
    ]  # fmt: skip
    limits = "workers without limit" if share is None else f"{share:g} of a core per worker"
    text = (
        f"{n:,} samples, {len(widths)} views of {', '.join(map(str, widths))} features, "
        f"{n_clusters} clusters, {found[1]['rounds']} rounds; {limits}.\n\n"
        f"{harness.table(head, rows)}\n\n{harness.machine()}."
    )
    cut = harness.table(
        ["blocks", "ghosts of a block, share of all rows"],
        [[count, f"{share:.3f}"] for count, share in ghosts.items()],
    )
    larger = extrapolated(n, n_clusters, found, ghosts)
    print(text, cut, larger, sep="\n\n")
    if not options.free:
        harness.write_block(PAGE, "workers", text)
        harness.write_block(PAGE, "ghosts", cut)
        harness.write_block(PAGE, "extrapolated", larger)


if __name__ == "__main__":
    main()
