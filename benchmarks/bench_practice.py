"""Views with missing samples, prediction of new samples, and reports about many samples.

Writes the tables of docs/measured-practice.md. The exit code is 1 if a target is missed. Run it
with ``make bench-practice``; about ten minutes on 2 cores. imml's NEMO is measured too if
``make bench-peers`` has installed it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks import harness

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PEERS = ROOT / ".venv-peers" / "bin" / "python"
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
MASKS = 10


def digits_without(share, seed):
    from manyview.datasets import load_digits_views
    from tests.helpers.masks import removed

    data = load_digits_views()
    present = removed(data.n_samples, len(data.views), share, np.random.default_rng(seed))
    views = [
        np.where(has[:, None], view, np.nan)
        for view, has in zip(data.views.values(), present.T, strict=True)
    ]
    return views, data.target


def methods():
    import manyview

    return {
        "ConsensusGraph": lambda: manyview.ConsensusGraph(10, random_state=0),
        "AngularCIGMVC": lambda: manyview.AngularCIGMVC(10, random_state=0),
        "CIGMVC": lambda: manyview.CIGMVC(10, random_state=0),
        "GBS": lambda: manyview.GBS(10, random_state=0),
        "SpectralAverage": lambda: manyview.SpectralAverage(10, random_state=0),
    }


def nemo():
    from imml.cluster import NEMO

    return NEMO(10, random_state=0)


def missing(method, share, masks):
    """ACC for each mask, and the seconds for all masks."""
    from manyview.metrics import clustering_accuracy

    make = nemo if method == "imml NEMO" else methods()[method]
    found = []
    started = time.perf_counter()
    for seed in range(masks):
        views, target = digits_without(share, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(clustering_accuracy(target, make().fit_predict(views)))
    return {"accuracy": found, "seconds": time.perf_counter() - started}


def with_peers(**settings):
    """The job `missing` in the environment of the other packages; None if it is not installed."""
    if not PEERS.exists():
        return None
    words = [PEERS, __file__, "--job", "missing", json.dumps(settings)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr.splitlines()[-1])
        return None
    return json.loads(done.stdout.splitlines()[-1])


def missing_table():
    rows, checks = [], []
    for method in (*methods(), "imml NEMO"):
        cells, complete = [], None
        for share in SHARES:
            settings = {"method": method, "share": share, "masks": MASKS if share else 1}
            if method == "imml NEMO":
                settings["masks"] = min(3, settings["masks"])  # 4 s each
                result = with_peers(**settings)
            else:
                result = missing(**settings)
            if result is None:
                break
            accuracy = 100 * np.array(result["accuracy"])
            complete = accuracy.mean() if share == 0 else complete
            spread = f" ± {accuracy.std():.1f}" if len(accuracy) > 1 else ""
            cells.append(f"{accuracy.mean():.1f}{spread}")
            print(method, share, cells[-1], flush=True)
            if method == "ConsensusGraph" and share == 0.3:
                lost = complete - accuracy.mean()
                checks.append(
                    (lost <= 5, f"ACC lost with 30 % removed: {lost:.1f} points; target: at most 5")
                )
        rows.append([method, *cells] if cells else [f"{method}: not installed"])
    head = ["method", *(f"{100 * share:.0f} %" for share in SHARES)]
    return harness.table(head, rows), checks


def new_digits():
    """ACC of a fifth of the digits, predicted and clustered with the rest, for five splits."""
    from manyview import ConsensusGraph
    from manyview.datasets import load_digits_views
    from manyview.metrics import clustering_accuracy

    data = load_digits_views()
    whole = ConsensusGraph(10, random_state=0).fit(data.views)
    same = float((whole.predict(data.views) == whole.labels_).mean())
    rows, lost = [], []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(data.n_samples)
        known, new = np.split(order, [round(0.8 * data.n_samples)])
        model = ConsensusGraph(10, random_state=0)
        model.fit({name: view[known] for name, view in data.views.items()})
        found = model.predict({name: view[new] for name, view in data.views.items()})
        target = data.target[new]
        scores = [clustering_accuracy(target, labels) for labels in (found, whole.labels_[new])]
        lost.append(100 * (scores[1] - scores[0]))
        rows.append([f"split {seed + 1}", *(f"{100 * score:.1f}" for score in scores)])
    checks = [
        (
            same >= 0.99,
            f"training samples with their own label predicted: {100 * same:.1f} %; "
            "target: at least 99 %",
        ),
        (
            np.mean(lost) <= 3,
            f"ACC lost by predicting instead of clustering: {np.mean(lost):.1f} points; "
            "target: at most 3",
        ),
    ]
    return harness.table(["", "predicted", "clustered with the rest"], rows), checks


def many_new(n):
    """Seconds of building the graphs of n samples, of predicting n others, and of the report."""
    import manyview
    from manyview import ConsensusGraph
    from manyview.datasets import make_latent_views
    from manyview.metrics import clustering_accuracy

    def halves(count, seed):
        data = make_latent_views(2 * count, 10, separation=6.0, random_state=seed)
        cut = [slice(0, count), slice(count, None)]
        return [({k: v[s] for k, v in data.views.items()}, data.target[s]) for s in cut]

    (few, _), (more, _) = halves(3000, 1)  # imports and compilers
    ConsensusGraph(10, random_state=0, neighbor_search="approximate").fit(few).predict(more)
    (known, _), (new, target) = halves(n, 0)
    result = manyview.cluster(known, 10)
    started = time.perf_counter()
    found = result.estimator.predict(new)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    page = result.report_html()
    return {
        "graphs": result.estimator.stage_seconds_["neighbors"],
        "fit": result.seconds,
        "predict": seconds,
        "accuracy": clustering_accuracy(target, found),
        "report": time.perf_counter() - started,
        "page": len(page.encode()) / 1e6,
    }


def many_table():
    rows, checks = [], []
    for n in (20_000, 100_000):
        found = harness.in_a_process(__file__, "many_new", n=n)
        seconds = [f"{found[what]:.1f}" for what in ("graphs", "fit", "predict")]
        page = [f"{found[what]:.1f}" for what in ("report", "page")]
        rows.append([f"{n:,}", *seconds, f"{found['accuracy']:.3f}", *page])
        print(rows[-1], flush=True)
    checks += [
        (found["predict"] <= found["graphs"],
         f"predicting 100,000 samples: {found['predict']:.1f} s; target: at most the "
         f"{found['graphs']:.1f} s of the graphs"),
        (found["page"] < 20, f"size of the report: {found['page']:.1f} MB; target: less than 20"),
    ]  # fmt: skip
    head = ["training samples, and as many new ones", "graphs s", "fit s", "predict s",
            "ACC of new samples", "report s", "report MB"]  # fmt: skip
    return harness.table(head, rows), checks


PARTS = {"missing": missing_table, "new": new_digits, "many": many_table}


def main():
    harness.answer_if_asked({"missing": missing, "many_new": many_new})
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    failed = False
    for part in parser.parse_args().parts:
        text, checks = PARTS[part]()
        lines = [f"- {'met' if good else '**missed**'}: {what}" for good, what in checks]
        harness.write_block(
            DOCS / "measured-practice.md",
            part,
            f"{harness.machine()}:\n\n{text}\n\n" + "\n".join(lines),
        )
        failed |= not all(good for good, _ in checks)
        print(*lines, sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
