"""What the scripts of this folder share: each runs in the environment of its package alone.

A script answers requests, one JSON line each, until its input ends. A request has the paths of
"inputs", NPZ files with the views v0, v1, ... without classes, and "repeat_limit": after a fit of
more seconds than this, the other inputs are left out. Labels are saved beside an input. The answer
has the processor's "seconds" of each fit, or says what "failed".
"""

import json
import os
import sys
import time
import warnings

import numpy as np


def answer(fit):
    """Call ``fit(views, n_clusters, seed)`` as asked."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is no answer
    rng = np.random.default_rng(0)
    centres = np.repeat([0.0, 9.0], 150)[:, None]
    fit([centres + rng.normal(size=(300, 8)) for _ in range(2)], 2, 0)  # compiles
    say(answers, {"ready": True})
    for line in sys.stdin:
        try:
            say(answers, {"seconds": fits(fit, **json.loads(line))})
        except Exception as error:  # packages raise anything; the table shows it
            say(answers, {"failed": f"{type(error).__name__}: {error}"[:160]})


def fits(fit, inputs, repeat_limit):
    seconds = []
    for path in inputs:
        with np.load(path) as stored:
            views = [stored[f"v{v}"] for v in range(int(stored["n_views"]))]
            n_clusters, seed = int(stored["n_clusters"]), int(stored["seed"])
        started = time.process_time()
        labels = fit(views, n_clusters, seed)
        seconds.append(round(time.process_time() - started, 3))
        np.save(path.replace(".npz", ".labels.npy"), np.asarray(labels, dtype=np.int64))
        if seconds[-1] > repeat_limit:
            break
    return seconds


def say(answers, what):
    print(json.dumps(what), file=answers, flush=True)


def answer_golden(golden):
    """Save what ``golden(views, present, n_neighbors)`` makes of the file in the first argument,
    to the file in the second."""
    warnings.simplefilter("ignore")
    with np.load(sys.argv[1]) as stored:
        views = [stored[f"X{v}"] for v in range(int(stored["n_views"]))]
        found = golden(views, stored["present"], int(stored["n_neighbors"]))
    np.savez(sys.argv[2], **found)
