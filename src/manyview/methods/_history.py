"""The record of a round of the loop."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Round:
    """One round of the loop; round 0 is the start.

    Attributes
    ----------
    round : int
    objective : float
        sum_v alpha_v ||U - A_v||_F^2 + lambda Tr(F'LF) + sum_vw b_vw <E_v, E_w>, as the published
        program reports it: the paper's equation 3 with lambda once, not twice.
    objective_without_penalties : float
        Its first sum alone.
    lambda_ : float
        As it stands after the round.
    eigenvalue_sum, eigenvalue_sum_next : float
        Sums of the C and C + 1 smallest eigenvalues of the Laplacian of U.
    n_components : int
        Connected components of U.
    residual : float
        The largest ||L f - w f|| of the eigenvectors, as a share of the bound of the eigenvalues;
        0 where they are exact to machine precision.
    view_weights : tuple of float
        alpha; 1 / V at the start.
    seconds : float
        Since the start of the loop.

    See Also
    --------
    manyview.CIGMVC : Has a list of them, `history_`.
    manyview.plotting.plot_convergence : Draws them.

    Examples
    --------
    >>> from manyview import CIGMVC
    >>> from manyview.datasets import make_blob_views
    >>> model = CIGMVC(3).fit(make_blob_views(90, 3, random_state=0).views)
    >>> model.history_[-1].n_components
    3
    """

    round: int
    objective: float
    objective_without_penalties: float
    lambda_: float
    eigenvalue_sum: float
    eigenvalue_sum_next: float
    n_components: int
    residual: float
    view_weights: tuple[float, ...]
    seconds: float
