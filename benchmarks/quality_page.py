"""The blocks of docs/quality.md, from what bench_quality measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "quality.md"
DEFAULT = "consensus"
BEFORE = ("angular", "average")  # the default before this one, and the simplest method
OURS = (DEFAULT, *BEFORE, "average, auto", "MGL", "CI-GMVC", "GBS", "anchors", "spherical",
        "multi-view k-means", "CoTrainSC", "SNF, ours", "NEMO, ours", "WNN, ours")  # fmt: skip
OTHERS = ("k-means", "spectral", "NEMO", "SNF", "WNN + Leiden")
TIE, NEAR, FAR = 1.0, 2.0, 5.0  # points of ACC
GAIN, LEAD, SHARE = 5.0, 4.0, 2 / 3  # the goals


class Scores:
    """ACC in per cent by method and set; None where there is no figure."""

    def __init__(self, results, real, extra):
        self.found, self.real, self.extra = results["methods"], list(real), list(extra)
        self.methods = [name for name in (*OURS, *OTHERS) if name in self.found]

    def of(self, method, name):
        found = self.found.get(method, {}).get(name, {})
        return 100 * float(np.mean(found["acc"])) if "acc" in found else None

    def shared(self, methods):
        """The real sets of which all these methods have a figure."""
        return [n for n in self.real if all(self.of(m, n) is not None for m in methods)]

    def mean(self, method, names):
        return float(np.mean([self.of(method, name) for name in names]))

    def best(self, name, methods):
        """The method with the highest ACC, and that ACC."""
        scored = [(self.of(m, name), m) for m in methods if self.of(m, name) is not None]
        value, method = max(scored, key=lambda pair: pair[0])
        return method, value

    def seconds(self, method, names):
        return float(np.mean([np.mean(self.found[method][n]["seconds"]) for n in names]))


def write(results, real, extra):
    scores = Scores(results, real, extra)
    blocks = {
        "accuracy": "\n\n".join([_versions(results), _accuracy(scores), _notes(scores)]),
        "comparison": _comparison(scores),
        "goals": _goals(scores),
        "weak": _weak(scores),
        "numbers": _numbers(results.get("numbers", {}), real, extra),
    }
    for name, text in blocks.items():
        harness.write_block(PAGE, name, text)


def _numbers(found, real, extra):
    rows = [
        [name, one["classes"], ", ".join(map(str, one["suggested"])), f"{one['stability']:.2f}"]
        for name, one in ((name, found[name]) for name in (*real, *extra) if name in found)
    ]
    gaps = [
        abs(number - found[name]["classes"])
        for name in real
        if name in found
        for number in found[name]["suggested"]
    ]
    exact, near = (sum(gap <= most for gap in gaps) / len(gaps) * len(real) for most in (0, 1))
    head = ["set", "classes", "suggested, 3 shuffles", "highest stability"]
    return (
        harness.table(head, rows)
        + f"\n\nExact on {exact:.1f} and within one on {near:.1f} of the {len(real)} real sets, "
        "mean over the shuffles."
    )


def _versions(results):
    peers = [f"{n}: {text}" for n, text in results["versions"].items() if n in results["methods"]]
    return "; ".join([results["versions"]["here"], *peers]) + ":"


def _accuracy(scores):
    rows = [_row(scores, name) for name in scores.real]
    means = []
    for method in scores.methods:
        names = scores.shared([method])
        short = "" if len(names) == len(scores.real) else f" ({len(names)} sets)"
        means.append(f"{scores.mean(method, names):.1f}{short}" if names else "")
    rows.append([f"**mean of the {len(scores.real)}**", *means])
    rows += [_row(scores, name) for name in scores.extra]
    return harness.table(["set", *scores.methods], rows)


def _row(scores, name):
    _, best = scores.best(name, scores.methods)
    cells = []
    for method in scores.methods:
        value = scores.of(method, name)
        if value is None:
            run = name in scores.found.get(method, {})
            cells.append("failed" if run else "not run")
            continue
        text = f"{value:.1f}"
        text = f"**{text}**" if text == f"{best:.1f}" else text
        once = len(scores.found[method][name]["acc"]) == 1
        cells.append(text + (" †" if once else ""))
    return [name, *cells]


def _notes(scores):
    lines = ["† one shuffle only, as a fit takes long."]
    for method in scores.methods:
        reasons: dict[str, list[str]] = {}
        for name, found in scores.found.get(method, {}).items():
            if "failed" in found and name in (*scores.real, *scores.extra):
                reasons.setdefault(found["failed"], []).append(name)
        lines += [f"{method} on {', '.join(names)}: {why}." for why, names in reasons.items()]
    return "\n".join(f"- {line}" for line in lines)


def _comparison(scores):
    rows = [[DEFAULT, len(scores.real), f"{scores.mean(DEFAULT, scores.real):.1f}",
             "", "", "", "", "", f"{scores.seconds(DEFAULT, scores.real):.1f}"]]  # fmt: skip
    for method in scores.methods:
        names = scores.shared([DEFAULT, method])
        if method == DEFAULT or not names:
            continue
        gaps = [scores.of(DEFAULT, name) - scores.of(method, name) for name in names]
        wins, losses = sum(gap > TIE for gap in gaps), sum(gap < -TIE for gap in gaps)
        own, other = scores.mean(DEFAULT, names), scores.mean(method, names)
        rows.append([
            method, len(names), f"{other:.1f}", f"{own:.1f}", f"{own - other:+.1f}",
            wins, len(gaps) - wins - losses, losses, f"{scores.seconds(method, names):.1f}",
        ])  # fmt: skip
    head = ["method", "sets", "mean", f"{DEFAULT} on these", "difference", "wins", "ties",
            "losses", "seconds per fit"]  # fmt: skip
    near = sum(_near_best(scores, name, scores.methods) for name in scores.real)
    text = (
        f"{DEFAULT} is the best of all, or within {NEAR:g} points of the best, on {near} of "
        f"{len(scores.real)} sets."
    )
    return f"{harness.table(head, rows)}\n\n{text}"


def _near_best(scores, name, methods):
    return scores.of(DEFAULT, name) >= scores.best(name, methods)[1] - NEAR


def _goals(scores):
    real = scores.real
    gain = scores.mean(DEFAULT, real) - max(scores.mean(method, real) for method in BEFORE)
    gaps = {n: scores.of(DEFAULT, n) - scores.best(n, BEFORE)[1] for n in real}
    worst = min(gaps, key=lambda name: gaps[name])
    rows = [
        [f"mean at least {GAIN:g} points above the better mean of {' and '.join(BEFORE)}",
         f"{gain:+.1f}", _passed(gain >= GAIN)],
        [f"on no set more than {FAR:g} points below the better of these two",
         f"{gaps[worst]:+.1f} ({worst})", _passed(gaps[worst] >= -FAR)],
    ]  # fmt: skip
    run = [method for method in OTHERS if scores.shared([method])]
    if not run:
        return harness.table(["goal", "measured", "result"], rows)
    leads = {}
    for method in run:
        names = scores.shared([method])
        leads[method] = scores.mean(DEFAULT, names) - scores.mean(method, names)
    nearest = min(leads, key=lambda method: leads[method])
    near = sum(_near_best(scores, name, (DEFAULT, *run)) for name in real)
    rows += [
        [f"mean at least {LEAD:g} points above each of {', '.join(run)}",
         f"{leads[nearest]:+.1f} ({nearest})", _passed(leads[nearest] >= LEAD)],
        [f"best or within {NEAR:g} points of the best of these on two thirds of the sets",
         f"{near} of {len(real)}", _passed(near >= SHARE * len(real))],
    ]  # fmt: skip
    return harness.table(["goal", "measured", "result"], rows)


def _passed(yes):
    return "pass" if yes else "**fail**"


def _weak(scores):
    rows = []
    for name in (*scores.real, *scores.extra):
        own, (method, best) = scores.of(DEFAULT, name), scores.best(name, scores.methods)
        if best - own > NEAR:
            rows.append((own - best, [name, f"{own:.1f}", method, f"{best:.1f}"]))
    if not rows:
        return f"{DEFAULT} is within {NEAR:g} points of the best method on every set."
    head = ["set", DEFAULT, "best method", "its ACC", "difference"]
    return harness.table(head, [[*row, f"{gap:.1f}"] for gap, row in sorted(rows)])
