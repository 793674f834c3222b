"""Slow, plain, dense twins of everything the package computes on sparse graphs.

Nothing here is shared with the package: the tests compare the two, and the benchmark times them
side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components


def zscore_rows(X):
    """Subtract each row's mean and divide by its d-1 standard deviation (1 for a constant row)."""
    X = np.asarray(X, dtype=float)
    spread = X.std(axis=1, ddof=1, keepdims=True)
    constant = (np.ptp(X, axis=1, keepdims=True) == 0).all(axis=1, keepdims=True)
    return np.where(
        constant, 0.0, (X - X.mean(axis=1, keepdims=True)) / np.where(constant, 1, spread)
    )


def squared_distances(X):
    return np.array([((X - row) ** 2).sum(axis=1) for row in X])


def adaptive_graph(X, k):
    """The adaptive k-nearest graph of method.md section 1, ties and all, as a dense matrix."""
    D = squared_distances(X)
    n = len(D)
    S = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        order = others[np.argsort(D[i, others], kind="stable")]
        d = D[i, order[: k + 1]]
        gain = d[k] - d[:k]
        gain[gain <= 1e-12 * d[k]] = 0
        if gain.sum() > 0:
            S[i, order[:k]] = gain / gain.sum()
    return S


def project_simplex(q):
    """Euclidean projection on the simplex, by sorting."""
    ordered = np.sort(q)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(q) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.maximum(q - excess[last], 0)


def project_simplex_with_slip(q, n_views):
    """What the published program does instead where a row has fewer columns than there are views.

    It takes the number of views for the number of columns, both in the shift of the row and in
    the Newton steps, so that the result does not sum to 1.
    """
    if len(q) >= n_views:
        return project_simplex(q)
    shifted = q - q.mean() + 1 / n_views
    if shifted.min() >= 0:
        return shifted
    level = 0.0
    for _ in range(100):
        below = shifted < level
        value = (level - shifted[below]).sum() / n_views - level
        if abs(value) <= 1e-10:
            break
        level -= value / (below.sum() / n_views - 1)
    return np.maximum(shifted - level, 0)


def smallest_eigenpairs(U):
    M = (U + U.T) / 2
    return np.linalg.eigh(np.diag(M.sum(axis=1)) - M)


def row_gaps(F):
    """p_ij = ||f_i - f_j||^2."""
    squares = (F**2).sum(axis=1)
    return np.maximum(squares[:, None] + squares[None, :] - 2 * F @ F.T, 0)


def update_unified(A, F, alpha, lam, exact=False, slip=False):
    """Step b of the published program, or the exact minimiser, row by row."""
    P = row_gaps(F)
    V, n, _ = A.shape
    U = np.zeros((n, n))
    if exact:
        centre = np.tensordot(alpha, A, 1) / alpha.sum()
        pull = lam / (2 * alpha.sum())
    else:
        centre = A.mean(axis=0)
        pull = lam / 2 * np.mean(1 / (V * alpha))
    for i in range(n):
        active = np.flatnonzero((A[:, i] > 0).any(axis=0))
        if len(active):
            q = centre[i, active] - pull * P[i, active]
            U[i, active] = project_simplex_with_slip(q, V) if slip else project_simplex(q)
    return U


def update_consistent(S, U, alpha, beta, gamma, updates="published"):
    """Step d: the consistent parts for fixed U and weights."""
    V = len(S)
    B = np.full((V, V), gamma)
    np.fill_diagonal(B, beta)
    if updates == "exact":
        return _box_minimiser(S, U, alpha, B)
    right = 2 * alpha[:, None, None] * U + np.tensordot(B, S, 1)
    A = np.tensordot(np.linalg.inv(2 * np.diag(alpha) + B), right, 1)
    A = np.maximum(A, 0)
    if updates == "published":
        A = np.maximum(A, A.transpose(0, 2, 1))
    return np.minimum(A, S)


def _box_minimiser(S, U, alpha, B):
    """Minimise sum alpha (u-a)^2 + (s-a)'B(s-a) in the box 0 <= a <= s by trying every face."""
    V = len(S)
    A = np.zeros_like(S)
    H = np.diag(alpha) + B
    for i, j in zip(*np.nonzero((S > 0).any(axis=0)), strict=True):
        s, u = S[:, i, j], U[i, j]
        g = alpha * u + B @ s
        best = np.inf
        for face in np.ndindex(*(3,) * V):
            state = np.array(face)
            a = np.where(state == 2, s, 0.0)
            free = np.flatnonzero(state == 1)
            if len(free):
                rest = g[free] - H[np.ix_(free, state != 1)] @ a[state != 1]
                a[free] = np.linalg.solve(H[np.ix_(free, free)], rest)
                if (a[free] < 0).any() or (a[free] > s[free]).any():
                    continue
            value = (alpha * (u - a) ** 2).sum() + (s - a) @ B @ (s - a)
            if value < best:
                best, A[:, i, j] = value, a
    return A


@dataclass
class Trace:
    eig_sum_c: list = field(default_factory=list)
    eig_sum_c1: list = field(default_factory=list)
    cost: list = field(default_factory=list)
    cost_noreg: list = field(default_factory=list)


def fuse(
    S, n_clusters, *, split, beta=1e-12, gamma=1e-5, slip=False, updates="published", max_iter=100
):
    """The published program (GBS without, CI-GMVC with `split`), dense, step by step.

    Returns labels, U, A, the number of rounds and a trace in the order of the golden files.
    """
    S = np.asarray(S, dtype=float)
    V, C = len(S), n_clusters
    U = S.mean(axis=0)
    sums = U.sum(axis=1, keepdims=True)
    U = U / np.where(sums > 0, sums, 1)
    U = (U + U.T) / 2
    w, vectors = smallest_eigenpairs(U)
    F, A, lam = vectors[:, :C], S.copy(), 1.0
    trace = Trace([w[:C].sum()], [w[: C + 1].sum()])

    def record(alpha):
        fit = sum(a * ((U - Av) ** 2).sum() for a, Av in zip(alpha, A, strict=True))
        E = S - A
        B = np.full((V, V), gamma)
        np.fill_diagonal(B, beta)
        penalty = sum(B[v, u] * (E[v] * E[u]).sum() for v in range(V) for u in range(V))
        trace.cost_noreg.append(fit)
        L = np.diag((U + U.T).sum(axis=1) / 2) - (U + U.T) / 2
        trace.cost.append(fit + lam * np.trace(F.T @ L @ F) + (penalty if split else 0.0))

    record(np.full(V, 1 / V))
    for rounds in range(1, max_iter + 1):  # noqa: B007 (returned after the loop)
        alpha = np.array([0.5 / max(np.linalg.norm(U - Av), 1e-16) for Av in A])
        U = update_unified(A, F, alpha, lam, exact=updates == "exact", slip=slip)
        previous = F
        w, vectors = smallest_eigenpairs(U)
        F = vectors[:, :C]
        f1, f2 = w[:C].sum(), w[: C + 1].sum()
        trace.eig_sum_c.append(f1)
        trace.eig_sum_c1.append(f2)
        if f1 > 1e-10:
            lam *= 2
        elif f2 < 1e-10:
            lam /= 2
            F = previous
        else:
            break
        if split:
            A = update_consistent(S, U, alpha, beta, gamma, updates)
        record(alpha)
    labels = connected_components(csr_array(U + U.T), directed=False)[1]
    return labels, U, A, rounds, trace


def hash_number(number):
    """The end of splitmix64, in Python's whole numbers."""
    number = (number + 0x9E3779B97F4A7C15) % 2**64
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


def row_digest(row, with_columns=True):
    """One number for what a row holds; zeros count for nothing."""
    step = 0x9E3779B97F4A7C15
    total = 0
    for f, value in enumerate(row.tolist()):
        if value != 0:
            bits = int(np.float64(value).view(np.uint64))
            salt = (f + 1) * step if with_columns else 0
            total += hash_number((hash_number((bits - step) % 2**64) + salt - step) % 2**64)
    return total % 2**64


def diffuse(S, M, pattern):
    """S M S' where the pattern has an entry; 0 elsewhere. All are dense."""
    return np.where(pattern, S @ M @ S.T, 0.0)
