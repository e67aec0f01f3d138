"""Calls of `solve` with hostile joints, problems and options, and what must hold of every answer.

- No exception but a typed one, which says what was expected; no call that does not end.
- No NaN; every number is what the independent checker `tests/verify.py` computes from p(x, y) and the encoder.
- CERTIFIED only within the gap that was asked for, STATIONARY only with residuals below tol.
- No bound above the loss of any encoder: of every deterministic map, of random ones, of the answers of other solvers.
- The same seed gives the same bits.
"""

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

import infoplane as ip
import verify

from . import hostile

LETTERS = 5
"""Up to so many letters of positive mass every deterministic map is a rival."""


class Broken(AssertionError):
    """A promise that was broken, with what broke it."""


@dataclass(frozen=True)
class Call:
    """One call of `solve`."""

    table: list
    problem: str
    """As Python reads it, such as ``ip.bottleneck(0.2)``."""
    options: dict = field(default_factory=dict)

    def __str__(self):
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"ip.solve(ip.Joint.from_counts({self.table}), {self.problem}{options})"


def drawn(rng):
    """A call."""
    table = hostile.table(rng)
    value = float(10.0 ** rng.uniform(-3, 0))
    beta = float(10.0 ** rng.uniform(-1.5, 2) if rng.random() < 0.9 else 10.0 ** rng.uniform(2, 7))
    problem = rng.choice(
        [
            f"ip.bottleneck({value!r})",
            f"ip.funnel({beta!r})",
            f"ip.deterministic_bottleneck({value!r})",
            f"ip.generalised_bottleneck({value!r}, a=0.5)",
            f"ip.MarkovLagrangian({3 * value - 3!r}, {-3 * value!r}, 3.0)",
        ],
        p=[0.4, 0.4, 0.08, 0.05, 0.07],
    )
    options = {
        "rng": int(rng.integers(100)),
        "starts": int(rng.integers(1, 4)),
        "max_iter": int(rng.choice([1, 30, 400])),
    }
    fitting = [name for name, one in ip.SOLVERS.items() if one.refusal(eval(problem, {"ip": ip})) is None]
    names = [None, None, *(fitting if rng.random() < 0.95 else ip.SOLVERS)]
    solver = names[rng.integers(len(names))]
    if solver is not None:
        options["solver"] = solver
    if rng.random() < 0.5:
        options["certify"] = [True, 1e-3, 1e-9][rng.integers(3)]
        options["max_seconds"] = 2.0
    if rng.random() < 0.15:
        options["clusters"] = int(rng.integers(1, 4))
    if rng.random() < 0.1:
        options["init"] = str(rng.choice(["mixed", "random", "identity", "spread"]))
    return Call(table.tolist(), str(problem), options)


def check(call, rng):
    """Make the call; `Broken` unless all that is promised holds. How it ended, in a word."""
    joint = ip.Joint.from_counts(np.array(call.table))
    problem = eval(call.problem, {"ip": ip})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of overflow, for instance
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = ip.solve(joint, problem, **call.options)
        except ip.InfoplaneError as error:
            if len(str(error)) < 20:
                raise Broken(f"an error that says nothing: {error!r}") from error
            return "refused"
    numbers(joint, problem, found)
    status(call, found)
    if found.lower_bound is not None:
        rivals(joint, problem, found, rng)
    if rng.random() < 0.05:
        again(call, joint, problem, found)
    return found.status.name


def numbers(joint, problem, found):
    """Every number is finite and right."""
    scale = 1.0 + max(map(abs, problem.rho))
    for name in ("loss", "ixz", "iyz"):
        if not math.isfinite(getattr(found, name)):
            raise Broken(f"{name} is {getattr(found, name)!r}")
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10 * scale)
    if not all(math.isfinite(one) or one == math.inf for one in found.residuals):
        raise Broken(f"residuals {found.residuals}")


def status(call, found):
    """The status is what gap and residuals say."""
    asked = call.options.get("certify")
    gap = 1e-6 if asked is True else asked
    if found.status is ip.Status.CERTIFIED:
        # Solvers that prove themselves do so unasked, to their own 1e-6.
        if found.gap is None or not found.gap <= (gap or 1e-6):
            raise Broken(f"CERTIFIED with gap {found.gap}, asked for {asked}")
    elif asked and found.gap is not None and found.gap <= gap:
        raise Broken(f"{found.status.name} with gap {found.gap}, asked for {asked}")
    if found.status is ip.Status.STATIONARY and not found.residuals.largest <= 1e-8:
        raise Broken(f"STATIONARY with residuals {found.residuals}")


def rivals(joint, problem, found, rng):
    """No encoder has a loss below the bound."""
    P = np.asarray(joint.p_xy.toarray() if joint.is_sparse else joint.p_xy)
    letters = P.shape[0]
    encoders = [np.eye(letters), np.ones((1, letters)), found.encoder]
    encoders += [rng.dirichlet(np.full(letters, a), size=letters).T for a in (0.1, 0.5, 2.0) for _ in range(4)]
    encoders += deterministic(letters) if letters <= LETTERS else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        other = ["accelerated", "merging", "blahut-arimoto"][rng.integers(3)]
        with suppress(ip.UnsupportedProblemError):
            found_by = ip.solve(joint, problem, other, starts=2, rng=int(rng.integers(1000)), max_iter=300)
            encoders.append(found_by.encoder)
    losses = problem.values(joint, [W / W.sum(axis=0) for W in encoders])
    best = int(np.argmin(losses))
    # Only the encoder that comes nearest is worth explicit sums.
    loss = verify.lagrangian(P, encoders[best] / encoders[best].sum(axis=0), problem.rho)
    if loss < found.lower_bound - 1e-11 * (1.0 + max(map(abs, problem.rho))):
        raise Broken(f"the bound {found.lower_bound!r} is beaten: {loss!r} by {encoders[best].tolist()}")


def deterministic(letters):
    """Every map of so many letters to clusters, up to the clusters' names."""

    def grown(labels):
        if len(labels) == letters:
            yield np.eye(max(labels) + 1)[:, labels]
        else:
            for label in range(max(labels, default=-1) + 2):
                yield from grown([*labels, label])

    return list(grown([]))


def again(call, joint, problem, found):
    """The same call gives the same bits, unless time ended it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        repeated = ip.solve(joint, problem, **call.options)
    if repeated.encoder.tobytes() != found.encoder.tobytes() and max(repeated.seconds, found.seconds) < 1.0:
        raise Broken(f"not the same bits twice: losses {found.loss!r} and {repeated.loss!r}")


def attack(rng):
    """A random call, checked."""
    call = drawn(rng)
    try:
        return check(call, rng)
    except Exception as error:
        raise Broken(f"{call}\n    {type(error).__name__}: {error}") from error
