"""What happens beside the loop in every round: history, progress, checkpoints."""

from typing import Any

from manyview._typing import FloatArray
from manyview.graphs import Stack
from manyview.methods._fusion_steps import EmbeddingVariation, InconsistencyProducts, lookup_copy
from manyview.methods._history import Round
from manyview.methods._loop_state import LoopState, load_loop, save_loop
from manyview.runtime import Run
from manyview.spectral import Spectrum


class LoopObserver:
    """Called once per round.

    Attributes
    ----------
    history : list of Round
    """

    def __init__(self, stack: Stack, penalty: FloatArray | None, run: Run) -> None:
        self.history: list[Round] = []
        self._stack = stack
        self._penalty = penalty
        self._run = run
        self._started = run.elapsed

    def resume(self) -> LoopState | None:
        """The state of an interrupted fit, if its checkpoint has one."""
        checkpoint = self._run.checkpoint
        saved = checkpoint and load_loop(checkpoint, self._stack.view_graphs, self._run.rng)
        if not saved:
            return None
        state, self.history = saved
        self._started -= self.history[-1].seconds
        self._run.log("resuming after round %d", self.history[-1].round)
        return state

    def __call__(
        self,
        state: LoopState,
        alpha: FloatArray,
        U: Any,
        spectrum: Spectrum,
        stop_reason: str | None = None,
    ) -> None:
        """Record and log a round; save the state if it is time and the loop continues."""
        run, fit = self._run, float(alpha @ state.residuals)
        objective = fit + state.lambda_ * self._variation(state.F, U, spectrum)
        if self._penalty is not None:
            products = self._stack.total(InconsistencyProducts(), state.A)
            objective += float((self._penalty * products).sum())
        number = len(self.history)
        self.history.append(
            Round(
                round=number,
                objective=objective,
                objective_without_penalties=fit,
                lambda_=state.lambda_,
                eigenvalue_sum=spectrum.sum_c,
                eigenvalue_sum_next=spectrum.sum_c1,
                n_components=spectrum.n_components,
                residual=spectrum.residual,
                view_weights=tuple(alpha.tolist()),
                seconds=run.elapsed - self._started,
            )
        )
        run.log(
            "round %d: %d components, lambda %g, objective %.6g",
            number, spectrum.n_components, state.lambda_, objective,
        )  # fmt: skip
        if not spectrum.converged:
            run.log("the eigenvectors have a residual of %.1e", spectrum.residual)
        if run.checkpoint and number > 0 and stop_reason is None and run.checkpoint.is_due():
            splits = self._penalty is not None and state.A is not self._stack.view_graphs
            save_loop(run.checkpoint, state, splits, self.history, run.rng)

    def _variation(self, F: FloatArray, U: Any, spectrum: Spectrum) -> float:
        """Tr(F'LF): for the eigenvectors of L the sum of their eigenvalues."""
        if F is spectrum.embedding:
            return spectrum.sum_c
        looked_up = lookup_copy(F, self._stack.n_samples)
        return float(self._stack.total(EmbeddingVariation(looked_up), U)) / 2
