"""What the figures of `manyview.compare` are worth: on real data, which method each would choose.

The number of clusters is given. Prints, per set, the ACC of every method and the ratio of its cut
to that of the average graph's own clusters; then the mean ACC of the method that has the lowest
cut, the highest modularity, or agrees most with the others, beside that of every method.
``python -m benchmarks.bench_compare [SET ...]``, about 10 minutes on one core.
"""

from __future__ import annotations

import sys

import numpy as np

import manyview
from benchmarks import real_data

METHODS = {name: {"method": name} for name in ("consensus", "angular", "mgl", "gbs", "cigmvc")}
METHODS["average"] = {"method": "average", "scaling": "auto"}  # as the graph of the cut
CHOICES = {"lowest cut": "cut", "highest modularity": "modularity", "most agreement": "agreement"}


def measure(name):
    """The figures of every method, by title."""
    views, classes = real_data.shuffled(*real_data.load(name), 0)
    n_clusters = len(np.unique(classes))
    found = manyview.compare(views, n_clusters, METHODS, classes=classes)
    return {row["title"]: row for row in found.table()}


def main(names):
    chosen = {choice: [] for choice in [*CHOICES, *METHODS, "best"]}
    for name in names:
        rows = measure(name)
        cells = []
        for title, row in rows.items():
            cut, modularity = (row[key] / rows["average"][key] for key in ("cut", "modularity"))
            cells.append(f"{title} {row['ACC']:.3f} cut {cut:.2f} modularity {modularity:.2f}")
            chosen[title].append(row["ACC"])
        for choice, key in CHOICES.items():
            sign = -1 if key == "cut" else 1
            best = max(rows.values(), key=lambda row: sign * row[key])
            chosen[choice].append(best["ACC"])
        chosen["best"].append(max(row["ACC"] for row in rows.values()))
        print(f"{name:12}", " | ".join(cells), flush=True)
    for choice, accs in chosen.items():
        print(f"{choice:20} {np.mean(accs):.3f}")


if __name__ == "__main__":
    main(sys.argv[1:] or real_data.real_names())
