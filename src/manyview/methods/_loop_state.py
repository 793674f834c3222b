"""The variables of the loop, between rounds and at its end, and how a checkpoint stores them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from manyview._typing import FloatArray
from manyview.methods._history import Round
from manyview.runtime import Checkpoint
from manyview.spectral import Eigenpairs, Spectrum

_NAME = "loop"


class LoopState(NamedTuple):
    """The variables of the loop after a round: A, F, ||U - A_v||_F^2 per view, lambda, and the
    eigenvectors that the next round's solver starts from."""

    A: Any
    F: FloatArray
    residuals: FloatArray
    lambda_: float
    warm_start: Eigenpairs | None


@dataclass(frozen=True)
class Fusion:
    """Where the loop ended; graphs are in the stack's own form."""

    U: Any
    A: Any
    alpha: FloatArray
    F: FloatArray
    spectrum: Spectrum
    history: Sequence[Round]
    stop_reason: str


def save_loop(
    checkpoint: Checkpoint,
    state: LoopState,
    splits: bool,
    history: Sequence[Round],
    rng: np.random.Generator,
) -> None:
    """Write the state; A only where graphs are split, else it is S."""
    arrays: dict[str, Any] = {"embedding": state.F, "residuals": state.residuals}
    if splits:
        arrays["consistent"] = state.A.T  # the memory order of A, which is in Fortran order
    warm_start = None
    if state.warm_start is not None:
        warm_start = asdict(state.warm_start)
        for name in ("values", "vectors"):
            arrays[name] = warm_start.pop(name)
    about = {
        "shapes": {name: list(array.shape) for name, array in arrays.items()},
        "lambda": state.lambda_,
        "warm_start": warm_start,
        "rounds": [asdict(entry) for entry in history],
        "rng": rng.bit_generator.state,
    }
    checkpoint.save(_NAME, arrays, about)


def load_loop(
    checkpoint: Checkpoint, S: Any, rng: np.random.Generator
) -> tuple[LoopState, list[Round]] | None:
    """The state saved last and its history, None if there is none; the generator continues where
    it was."""
    saved = checkpoint.load(_NAME)
    if saved is None:
        return None
    about = saved.manifest
    arrays = {name: saved.array(name, "f", tuple(shape)) for name, shape in about["shapes"].items()}
    warm_start = about["warm_start"]
    rng.bit_generator.state = about["rng"]
    state = LoopState(
        A=arrays["consistent"].T if "consistent" in arrays else S,
        F=arrays["embedding"],
        residuals=arrays["residuals"],
        lambda_=about["lambda"],
        warm_start=warm_start and Eigenpairs(arrays["values"], arrays["vectors"], **warm_start),
    )
    rounds = [
        Round(**entry | {"view_weights": tuple(entry["view_weights"])}) for entry in about["rounds"]
    ]
    return state, rounds
