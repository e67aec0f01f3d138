"""An independent checker: recomputes every reported number from p(x, y) and the encoder.

Shares no code with the package. Explicit sums over the three-way joint p(x, y, z) = p(x, y) W[z, x], rounded once
(`math.fsum`), in nats; slow and obvious on purpose.
"""

import math

import numpy as np


def _fail_unless(ok, message):
    # Not `assert`: this must also fail under python -O.
    if not ok:
        raise AssertionError(message)


def _dense(P):
    return np.array(P.toarray() if hasattr(P, "toarray") else P, dtype=float)


def _xlogx_over(p, q):
    """p log(p / q), 0 if p = 0."""
    return p * (math.log(p) - math.log(q)) if p > 0 else 0.0


def _marginals(P, W):
    """p(x), p(y), p(z), p(x, z) and p(y, z), as lists, from the three-way joint."""
    P, W = _dense(P), _dense(W)
    n_x, n_y = P.shape
    n_z = W.shape[0]
    p = [[[P[x, y] * W[z, x] for z in range(n_z)] for y in range(n_y)] for x in range(n_x)]
    p_x = [math.fsum(P[x, :]) for x in range(n_x)]
    p_y = [math.fsum(P[:, y]) for y in range(n_y)]
    p_z = [math.fsum(p[x][y][z] for x in range(n_x) for y in range(n_y)) for z in range(n_z)]
    p_xz = [[math.fsum(p[x][y][z] for y in range(n_y)) for z in range(n_z)] for x in range(n_x)]
    p_yz = [[math.fsum(p[x][y][z] for x in range(n_x)) for z in range(n_z)] for y in range(n_y)]
    return p_x, p_y, p_z, p_xz, p_yz


def entropies(P, W):
    """(H(Z), H(Z|X), H(Z|Y)); for any W >= 0, normalised or not, so that one entry at a time can be moved."""
    p_x, p_y, p_z, p_xz, p_yz = _marginals(P, W)
    return (
        -math.fsum(_xlogx_over(p, 1.0) for p in p_z),
        -math.fsum(_xlogx_over(p, q) for q, row in zip(p_x, p_xz, strict=True) for p in row),
        -math.fsum(_xlogx_over(p, q) for q, row in zip(p_y, p_yz, strict=True) for p in row),
    )


def mutual_informations(P, W):
    """(I(X;Z), I(Y;Z)) = sum p(u, z) log(p(u, z) / (p(u) p(z))) for u = x and u = y."""
    p_x, p_y, p_z, p_xz, p_yz = _marginals(P, W)

    def information(p_u, p_uz):
        return math.fsum(
            p * (math.log(p) - math.log(p_u[u]) - math.log(p_z[z]))
            for u, row in enumerate(p_uz)
            for z, p in enumerate(row)
            if p > 0
        )

    return information(p_x, p_xz), information(p_y, p_yz)


def lagrangian(P, W, rho):
    """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y)."""
    return math.fsum(r * h for r, h in zip(rho, entropies(P, W), strict=True))


def check_encoder(P, W, tol=1e-12):
    """Fails, naming the column, unless W[z, x] >= 0 has one column for each x and each sums to 1 within tol."""
    P, W = _dense(P), _dense(W)
    _fail_unless(W.ndim == 2 and W.shape[0] > 0, f"an encoder is a 2-D matrix, found shape {W.shape}")
    _fail_unless(W.shape[1] == P.shape[0], f"{P.shape[0]} values of x, but {W.shape[1]} columns")
    for x in range(W.shape[1]):
        column = [float(w) for w in W[:, x]]
        _fail_unless(all(math.isfinite(w) and w >= 0 for w in column), f"column {x} is not a distribution: {column}")
        total = math.fsum(column)
        _fail_unless(abs(total - 1) <= tol, f"column {x} sums to {total!r}, off by {total - 1:.3g}")


def check_solution(P, rho, solution, tol=1e-10):
    """Fails unless loss, ixz, iyz, encoder, lower_bound and gap of a solution are what p(x, y) says they are."""
    P, W = _dense(P), _dense(solution.encoder)
    check_encoder(P, W)
    ixz, iyz = mutual_informations(P, W)
    loss = lagrangian(P, W, rho)
    for name, expected in (("loss", loss), ("ixz", ixz), ("iyz", iyz)):
        found = getattr(solution, name)
        _fail_unless(abs(found - expected) <= tol, f"{name} is {expected!r}, but the solution says {found!r}")
    p_x, _, p_z, _, _ = _marginals(P, W)
    for x in range(len(p_x)):
        if p_x[x] == 0:
            off = max(abs(W[z, x] - p_z[z]) for z in range(len(p_z)))
            _fail_unless(off <= 1e-12, f"x = {x} has no mass, but its column is off p(z) by {off:.3g}")
    if solution.lower_bound is None:
        _fail_unless(solution.gap is None, f"no lower bound, but the gap {solution.gap!r}")
    else:
        bound = solution.lower_bound
        _fail_unless(bound <= loss + tol, f"the lower bound {bound!r} is above the loss {loss!r}")
        _fail_unless(
            abs(solution.gap - (solution.loss - bound)) <= 1e-15 * max(1.0, abs(bound)),
            f"gap {solution.gap!r} is not loss - lower bound = {solution.loss - bound!r}",
        )
