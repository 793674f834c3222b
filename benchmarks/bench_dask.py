"""The same fit on 1, 2 and 4 Dask workers: time, traffic and memory.

This machine has few cores, so a control group limits every worker to the same small share of a
core. Otherwise one worker could use a whole core, and four would have to share two. The scheduler
and the client have the rest. Needs root and version 1 of control groups; without them, `--free`
runs workers without limit. ``make bench-dask`` writes the tables into docs/.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "scaling.md"
GROUPS = Path("/sys/fs/cgroup/cpu/manyview-bench")
#: Of a core, per worker: four workers leave two fifths of this machine to scheduler and client.
SHARE = 0.3
WORKERS = (1, 2, 4)
#: Samples and workers of the extrapolated table.
EXTRAPOLATED = ((1_000_000, 4), (100_000_000, 100), (100_000_000, 1_000), (1_000_000_000, 1_000))


@contextmanager
def limited(pids, share):
    """Give each process at most this share of a core."""
    period = 100_000
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


def counters(dask_worker):
    """Bytes sent to other workers, CPU seconds and peak memory of a worker so far."""
    return {
        "out": dask_worker.transfer_outgoing_bytes_total,
        "cpu": time.process_time(),
        "high": _status("VmHWM"),
    }


def _status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def reset_high_water():
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


class Tally(logging.Handler):
    """Reads the counters after every round; counts tasks, and the client's bytes in and out."""

    def __init__(self, client):
        super().__init__(logging.INFO)
        self.client = client
        self.rounds = []
        self.client_bytes = 0
        self.tasks = 0

    def emit(self, record):
        if "round %d" in str(record.msg):
            seen = (self.client.run(counters), self.client_bytes, time.perf_counter(), self.tasks)
            self.rounds.append(seen)

    def watch(self, session_type):
        tally = self

        def size(values):
            return sum(getattr(value, "nbytes", 0) for value in values)

        def submit(self, *args, original=session_type.submit, **where):
            tally.tasks += 1
            return original(self, *args, **where)

        def scatter_blocks(self, arrays, original=session_type.scatter_blocks):
            tally.client_bytes += size(arrays)
            return original(self, arrays)

        def broadcast(self, array, original=session_type.broadcast):
            tally.client_bytes += array.nbytes
            return original(self, array)

        def gather(self, futures, original=session_type.gather):
            found = original(self, futures)
            tally.client_bytes += size(found)
            return found

        for method in (submit, scatter_blocks, broadcast, gather):
            setattr(session_type, method.__name__, method)


def fit(n, n_workers, n_clusters, widths, share, report):
    from distributed import Client, LocalCluster, performance_report

    from manyview import AngularCIGMVC
    from manyview.datasets import make_latent_views
    from manyview.distributed import _memory as memory
    from manyview.distributed._client import DaskSession

    warnings.simplefilter("ignore")
    data = make_latent_views(n, n_clusters, widths=widths, separation=6.0, random_state=0)
    views = list(data.views.values())
    small = [view[:6000] for view in views]
    needs = []
    estimated = memory.worker_memory
    memory.worker_memory = lambda *args: needs.append(estimated(*args)) or needs[-1]
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, memory_limit=None,
            dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):  # fmt: skip
        model = AngularCIGMVC(n_clusters, neighbor_search="approximate", random_state=0, verbose=1)
        model.fit(small, client=client)  # compiles
        tally = Tally(client)
        tally.watch(DaskSession)
        logging.getLogger("manyview").addHandler(tally)
        pids = client.run(os.getpid).values()
        start = client.run(reset_high_water)
        with limited(pids, share), performance_report(filename=report):
            before = client.run(counters)
            began = time.perf_counter()
            model.fit(views, client=client)
            seconds = time.perf_counter() - began
            after = client.run(counters)
    first, last = tally.rounds[0], tally.rounds[-1]
    rounds = len(tally.rounds) - 1
    return {
        "seconds": seconds,
        "stages": model.stage_seconds_,
        "rounds": rounds,
        "round_seconds": (last[2] - first[2]) / rounds,
        "round_out": [(last[0][w]["out"] - first[0][w]["out"]) / rounds for w in first[0]],
        "round_client": (last[1] - first[1]) / rounds,
        "round_tasks": (last[3] - first[3]) / rounds,
        "round_cpu": sum(last[0][w]["cpu"] - first[0][w]["cpu"] for w in first[0]) / rounds,
        "cpu": [after[w]["cpu"] - before[w]["cpu"] for w in after],
        "neighbors_cpu": sum(first[0][w]["cpu"] - before[w]["cpu"] for w in after),
        "growth": [after[w]["high"] - start[w] for w in after],
        "estimate": needs[-1].peak,
        "labels": int(np.unique(model.labels_).size),
    }


def extrapolated(n, n_clusters, found):
    """Memory, traffic and time for many samples, from the measured fits: Markdown."""
    from manyview.distributed._memory import worker_memory
    from manyview.graphs._fit_size import FitSize, ViewSize
    from manyview.spectral._chebyshev import SPARE_VECTORS

    n_views, width, k, network = 3, 100, 15, 1.25e9
    vectors = -8 * (-(n_clusters + 1 + SPARE_VECTORS) // 8)
    most = found[max(found)]
    share = 1 - 1 / max(found)
    numbers = max(most["round_out"]) / (8 * n * n_clusters * share)
    rows = []
    for samples, workers in EXTRAPOLATED:
        size = FitSize(samples, (ViewSize(samples, width),) * n_views, n_clusters, k)
        memory = worker_memory(size, workers).stages
        client = samples * (8 * 5 * vectors + 8 * 2 * n_clusters + 8 * (n_views + 4))
        traffic = numbers * 8 * samples * n_clusters * (1 - 1 / workers)
        computed = found[1]["round_cpu"] / n * samples / workers
        searched = found[1]["neighbors_cpu"] / n * samples * (samples / n) ** 0.5 / workers
        rows.append(
            [
                f"{samples:,}",
                f"{workers:,}",
                f"{memory['neighbors'] / 1e9:.0f}",
                f"{memory['rounds'] / 1e9:.0f}",
                f"{client / 1e9:.0f}",
                f"{traffic / 1e9:.0f}",
                f"{traffic / network:.0f}",
                f"{computed:.0f}",
                f"{searched / 3600:.1f}",
            ]
        )
    head = [
        "samples", "workers with one core", "memory per worker, search, GB",
        "memory per worker, rounds, GB", "memory of the client, GB",
        "sent per worker and round, GB", "sending at 10 Gbit/s per round, s",
        "computing per round, s", "neighbour search, h",
    ]  # fmt: skip
    return (
        f"{n_views} views of {width} features, {n_clusters} clusters, {k} neighbours:\n\n"
        + harness.table(head, rows)
    )


def main():
    harness.answer_if_asked({"fit": fit})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=60_000)
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
    unit = 8 * n * n_clusters
    rows = [
        [
            n_workers,
            f"{one['seconds']:.0f}",
            f"{one['stages']['neighbors']:.0f}",
            f"{one['round_seconds']:.1f}",
            f"{one['round_cpu']:.1f}",
            f"{one['round_tasks']:.0f}",
            f"{max(one['round_out']) / 1e6:.0f}",
            f"{max(one['round_out']) / unit:.1f}",
            f"{one['round_client'] / unit:.1f}",
            f"{max(one['growth']) / 1e6:.0f}",
            f"{one['estimate'] / 1e6:.0f}",
        ]
        for n_workers, one in found.items()
    ]
    head = [
        "workers", "whole fit, s", "graphs, s", "per round, s",
        "CPU of all workers per round, s", "tasks per round",
        "sent per worker and round, MB", "sent per worker and round, N C numbers",
        "to and from the client per round, N C numbers",
        "memory per worker, MB", "estimated, MB",
    ]  # fmt: skip
    limits = "workers without limit" if share is None else f"{share:g} of a core per worker"
    text = (
        f"{n:,} samples, {len(widths)} views of {', '.join(map(str, widths))} features, "
        f"{n_clusters} clusters, {found[1]['rounds']} rounds; {limits}.\n\n"
        f"{harness.table(head, rows)}\n\n{harness.machine()}."
    )
    larger = extrapolated(n, n_clusters, found)
    print(text, larger, sep="\n\n")
    if not options.free:
        harness.write_block(PAGE, "workers", text)
        harness.write_block(PAGE, "extrapolated", larger)


if __name__ == "__main__":
    main()
