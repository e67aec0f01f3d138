"""`verify`: what a file of answers claims, recomputed and proven again, run by run.

Of each run: is its name that of its coefficients (`families.py`, when the file is read); are loss, I(X;Z) and I(Y;Z) those of its encoder;
does its bound hold for every encoder (`bound.py`); and if it is called certified, is its loss that near to its bound.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from .bound import BALANCED, Limits, Proof, prove
from .claims import ClaimedRun, read_claims
from .families import CONSTRAINED, NAMELESS, TASKS, Rho, is_of
from .numbers import Array, Recomputed, at_most, entropy, recomputed, recomputed_tasks, rounding
from .release import KIND, ClaimedRelease, check_release, read_release

EQUAL = 1e-9
"""Losses of runs that infoplane takes for equal, in nats: the encoder that a store keeps may be that of any of them."""

SHOWN = 6
"""Letters of a posterior that refutes a bound, largest first."""


class CheckVerdict(Enum):
    """What became of a claim.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.CheckVerdict.VERIFIED.good, ip.CheckVerdict.REFUTED.good
    (True, False)
    """

    VERIFIED = "verified: the numbers are right, and the bound holds for every encoder"
    NUMBERS = "numbers verified: loss, I(X;Z) and I(Y;Z) are right; no bound is claimed"
    LEFT_OUT = "left out: it has no encoder in the file, and claims no more than a run that was verified"
    PROVEN_TO = "proven to a weaker bound than claimed"
    UNCHECKED = "not checked"
    REFUTED = "refuted"

    @property
    def good(self) -> bool:
        """Whether everything claimed was shown to be so."""
        return self in (CheckVerdict.VERIFIED, CheckVerdict.NUMBERS)


@dataclass(frozen=True)
class RunCheck:
    """The verdict on one run; nats.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2], certify=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     f.save(f"{folder}/answer.npz")
    ...     check = ip.verify(f"{folder}/answer.npz")[0]
    >>> check.verdict.name, bool(check.proven_bound <= check.loss)
    ('VERIFIED', True)
    """

    run: int
    """Its number in the file."""
    family: str
    """Its problem's name in the file."""
    parameter: float
    """gamma or beta of the family; NaN if it has none: then rho is all that it says."""
    rho: Rho
    """(rho_z, rho_zx, rho_zy) of its problem."""
    verdict: CheckVerdict
    """What was found."""
    ixz: float
    """Recomputed, like I(Y;Z) and the loss; NaN if the run has no encoder in the file."""
    iyz: float
    """I(Y;Z), recomputed."""
    loss: float
    """Recomputed."""
    reason: str = ""
    """Why the verdict is not a good one."""
    claimed_bound: float | None = None
    """The lower bound in the file; None if it has none."""
    proven_bound: float | None = None
    """No encoder has a loss below this: proven here."""
    cells: int = 0
    """Cells opened here."""
    left: int = 0
    """Cells that were open at the end."""
    seconds: float = 0.0
    """Of the clock."""
    digits_checked: int = 0
    """Closed cells whose bounds were computed once more, in 50 digits."""
    iuz: float = math.nan
    """I(U;Z), recomputed, where one target is kept and another hidden."""
    isz: float = math.nan
    """Recomputed, where one target is kept and another hidden; no encoder that tells as little of S has an I(U;Z) larger by the gap."""
    posterior: Array | None = None
    """Where f(q) - lambda.q is too low, for each x; None unless refuted there."""

    @property
    def gap(self) -> float | None:
        """Loss - proven_bound: no encoder is better by more than this; None if the one or the other is not known."""
        return None if self.proven_bound is None or math.isnan(self.loss) else self.loss - self.proven_bound

    def after(self, proof: Proof) -> RunCheck:
        """With what a proof came to."""
        found = replace(
            self,
            verdict=CheckVerdict[proof.verdict],
            reason=proof.reason,
            proven_bound=proof.bound,
            digits_checked=proof.digits_checked,
            posterior=proof.posterior,
        )
        if (searched := proof.searched) is None:
            return found
        return replace(found, cells=searched.cells, left=searched.left, seconds=searched.seconds)


def passed(checks: Iterable[RunCheck]) -> bool:
    """Whether all that a file claims was verified; runs that are left out claim nothing, unless there is nothing else."""
    verdicts = {one.verdict for one in checks}
    return any(one.good for one in verdicts) and all(one.good or one is CheckVerdict.LEFT_OUT for one in verdicts)


def verify(
    path: str | os.PathLike[str], *, gap: float = 1e-6, max_cells: int = 1_000_000, max_seconds: float = 60.0
) -> list[RunCheck]:
    """Check a file of answers, such as ``infoplane solve --certify --out answer.npz`` writes; a `RunCheck` for each of its runs.

    Shares no code with the solvers and proofs that made the file: every loss, I(X;Z) and I(Y;Z) is recomputed, and every lower bound is
    proven again from the stored multipliers, by a slow and plain branch and bound (docs/howto/verify.md).

    Parameters
    ----------
    path
        The file; an `UnreadableAnswerError` (a ValueError) if it is none, or contradicts itself.
    gap
        A run that is called certified must have a loss within this of its bound, in nats.
    max_cells, max_seconds
        How long to try, for each bound.

    Examples
    --------
    >>> import infoplane_verify
    >>> checks = infoplane_verify.verify("answer.npz")  # doctest: +SKIP
    >>> infoplane_verify.passed(checks)  # doctest: +SKIP
    True
    """
    for name, value in (("gap", gap), ("max_cells", max_cells), ("max_seconds", max_seconds)):
        if not value > 0:
            raise ValueError(f"{name} must be above 0; found {value!r}.")
    limits = Limits(max_cells, max_seconds)
    if (release := read_release(path)) is not None:
        with np.errstate(all="ignore"):
            return [_released(release, gap, limits)]
    P, claims = read_claims(path)
    proofs: dict[object, Proof] = {}
    # What overflows becomes infinite or NaN, of which no comparison of a proof is true.
    with np.errstate(all="ignore"):
        checks = [_check(run, P, claim, gap, limits, proofs) for run, claim in enumerate(claims)]
    return [_left_out(one, claim, checks) for one, claim in zip(checks, claims, strict=True)]


def _released(claim: ClaimedRelease, gap: float, limits: Limits) -> RunCheck:
    """The verdict on a release, as that of a run with the loss -I(X;Z), or -I(U;Z): none within the caps has a lower one than its bound."""
    right, proof = check_release(claim, gap, limits)
    found = RunCheck(0, KIND, math.nan, (-1.0, 1.0, 0.0), CheckVerdict.VERIFIED, *right[:3], claimed_bound=-claim.bound)
    return replace(found, iuz=right.iuz, isz=right.isz).after(proof)


def _check(run: int, P: Array, claim: ClaimedRun, gap: float, limits: Limits, proofs: dict[object, Proof]) -> RunCheck:
    """The verdict on one run. ``proofs`` has those of former runs: the runs of a parameter share their bound."""
    W, nan = claim.encoder, math.nan
    right = Recomputed(nan, nan, nan)
    if W is not None:
        right = recomputed(P, W, claim.rho) if claim.kept is None else recomputed_tasks(P, W, claim.rho, claim.kept)
    parameter = nan if claim.parameter is None else claim.parameter
    found = RunCheck(
        *(run, claim.family, parameter, claim.rho, CheckVerdict.REFUTED, *right[:3]),
        claimed_bound=claim.lower_bound,
        iuz=right.iuz,
        isz=right.isz,
    )
    if reason := _wrong(P, claim, right):
        return replace(found, reason=reason)
    if claim.lower_bound is not None:
        lam = None if claim.multipliers is None else claim.multipliers.tobytes()
        key = (claim.rho, claim.lower_bound, lam, W is None)
        if key not in proofs:
            proofs[key] = prove(P, claim, limits)
        found = found.after(proofs[key])
        if not proofs[key].holds:
            return found
        distance = (claim.loss if W is None else right.loss) - claim.lower_bound
        if claim.status == "CERTIFIED" and not at_most(distance, gap):
            reason = f"it is called certified, and its loss is {distance:.1e} nats above the bound, more than {gap:g}"
            return replace(found, verdict=CheckVerdict.REFUTED, reason=reason)
    if W is None:
        reason = "its encoder is not in the file, so that its numbers cannot be recomputed"
        return replace(found, verdict=CheckVerdict.UNCHECKED, reason=reason)
    if not is_of(claim.family, claim.parameter, claim.varied):
        reason = (
            f"its parameter is said to be {claim.varied:.12g}, that of its {claim.family} is {claim.parameter:.12g}"
        )
        return replace(found, verdict=CheckVerdict.UNCHECKED, reason=reason)
    return replace(found, verdict=CheckVerdict.NUMBERS if claim.lower_bound is None else CheckVerdict.VERIFIED)


def _wrong(P: Array, claim: ClaimedRun, right: Recomputed) -> str:
    """Which claim of a run is not what its encoder has, or contradicts another; "" if none is."""
    clusters = len(P) if claim.encoder is None else len(claim.encoder)
    off = rounding(P.shape[0], P.shape[1], clusters)
    off_loss = off * sum(map(abs, claim.rho)) * (1.0 if claim.kept is None else 2.0)
    if claim.encoder is not None:
        for name, theirs, ours, most in (
            ("loss", claim.loss, right.loss, off_loss),
            ("I(X;Z)", claim.ixz, right.ixz, off),
            ("I(Y;Z)", claim.iyz, right.iyz, off),
        ):
            if not at_most(abs(theirs - ours), most):
                return f"the file's {name} is {theirs:.12g} nats, that of its encoder {ours:.12g}"
        if claim.family == CONSTRAINED and not at_most(right.iyz, off):
            return f"it is called {CONSTRAINED}, and its encoder has I(Y;Z) = {right.iyz:.3g} nats"
    elif claim.kept is None and abs(sum(claim.rho)) <= BALANCED * max(map(abs, claim.rho)):
        implied = -claim.rho[1] * claim.ixz - claim.rho[2] * claim.iyz
        possible = at_most(-off, claim.iyz) and at_most(claim.iyz, claim.ixz + off)
        if not (possible and at_most(claim.ixz, entropy(P.sum(axis=1)) + off)):
            return f"no encoder has its I(X;Z) = {claim.ixz:.12g} and I(Y;Z) = {claim.iyz:.12g} nats"
        if not at_most(abs(claim.loss - implied), off_loss):
            return f"the file's loss is {claim.loss:.12g} nats, that of its I(X;Z) and I(Y;Z) {implied:.12g}"
    if claim.lower_bound is None:
        return "it is called certified and has no bound" if claim.status == "CERTIFIED" else ""
    loss = claim.loss if claim.encoder is None else right.loss
    if not at_most(claim.lower_bound, loss + off_loss):
        return f"its own loss, {loss:.12g} nats, is below the bound {claim.lower_bound:.12g}"
    return ""


def _left_out(one: RunCheck, claim: ClaimedRun, checks: list[RunCheck]) -> RunCheck:
    """A run without an encoder is left out if one with the same name, coefficients and bound was verified whose loss is no higher.

    Stores keep the encoders of the best runs only; of the others nothing is verified, and nothing hangs on them.
    """
    named = is_of(claim.family, claim.parameter, claim.varied)
    if claim.encoder is not None or one.verdict is not CheckVerdict.UNCHECKED or not named:
        return one
    for other in checks:
        same = (other.rho, other.family, other.claimed_bound) == (one.rho, one.family, one.claimed_bound)
        if same and other.verdict.good and at_most(other.loss, claim.loss + EQUAL):
            return replace(one, verdict=CheckVerdict.LEFT_OUT)
    return one


def sentence(one: RunCheck) -> str:
    """A finding in words: the run, the verdict, the numbers, and why."""
    said = f" at {one.parameter:.12g}" if not math.isnan(one.parameter) else ""
    if one.family == NAMELESS:
        said = " rho = ({:g}, {:g}, {:g})".format(*one.rho)
    words = [f"run {one.run}, {one.family.replace('_', ' ')}{said}: {one.verdict.name.replace('_', ' ')}"]
    if not math.isnan(one.loss):
        kept = ("X", one.ixz) if math.isnan(one.iuz) else ("U", one.iuz)
        told = ("Y", one.iyz) if math.isnan(one.isz) else ("S", one.isz)
        bits = ", ".join(f"I({name};Z) {nats / math.log(2):.6f} bits" for name, nats in (kept, told))
        words.append(f"loss {one.loss:.9f} nats, {bits}")
    if one.verdict is CheckVerdict.NUMBERS:
        words.append("no bound is claimed")
    if one.gap is not None and one.verdict is not CheckVerdict.REFUTED:
        other = "release within its caps" if one.family == KIND else "encoder"
        words.append(f"no {other} is better by more than {one.gap:.2e} nats")
        if one.family in TASKS:
            words.append("nor keeps more by that if it tells no more of what is hidden")
    if one.cells:
        words.append(f"{one.cells:,} cells in {one.seconds:.1f} s, {one.digits_checked} of them again with 50 digits")
    if one.reason:
        words.append(one.reason)
    if one.posterior is not None:
        largest = (-one.posterior).argsort(kind="stable")[:SHOWN]
        words.append("q = " + ", ".join(f"{one.posterior[x]:.6g} at x {x}" for x in largest if one.posterior[x] > 0.0))
    return "; ".join(words)
