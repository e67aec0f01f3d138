"""Forged files of answers: what `infoplane verify` passes must be true, whatever was done to the file.

A true answer (bottleneck, funnel, under a cap on clusters or on leakage, a frontier, the export of a store without its lesser encoders, a
release of X or of what tells of U) is tampered with once or twice. A verdict VERIFIED or NUMBERS is then compared with what this module
finds out for itself, from the arrays as plain numpy reads them: the name is that of the coefficients, the encoder is one, the numbers are
those of `tests/verify.py`, and no encoder that any solver finds for that joint and those coefficients, or under those caps, is better than
the bound.
"""

import io
import math
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

import infoplane as ip
import verify
from checker_cases import parts, written
from infoplane_verify import passed
from made_up import made_tasks

from .calls import Broken
from .files import spoiled_bytes
from .tampering import RELEASE_WAYS, WAYS, one

LIMITS = {"max_cells": 3_000, "max_seconds": 5.0}
"""For each bound. A proof that does not end within them has proven less than is claimed."""

CERTIFIED = 1e-6
"""What `verify` means by certified, in nats."""


@cache
def originals():
    """True files, made once."""
    folder = Path(tempfile.mkdtemp(prefix="infoplane-forgeries-"))
    paper, faint = (
        ip.datasets.paper_nonuniform(),
        ip.Joint.from_counts([[4, 0, 0, 1], [0, 0, 0, 0], [0, 3, 0, 2], [1, 1, 0, 0], [0, 0, 0, 5]]),
    )
    certify = {"certify": True, "rng": 0}
    two = made_tasks(3, letters=5, kept=2, hidden=3)
    for name, runs in {
        "bottleneck": [ip.solve(paper, ip.bottleneck(0.25), **certify)],
        "funnel": [ip.solve(paper, ip.funnel(3.5), **certify)],
        "large beta": [ip.solve(paper, ip.funnel(1e6), rng=0)],
        "capped": [ip.solve(faint, ip.bottleneck(0.1), clusters=2, **certify)],
        "leakage": [ip.funnel_at_leakage(faint, 0.05).solution],
        "private": [ip.perfect_privacy(faint).solution],
        "tasks": [
            ip.solve(two, ip.task_funnel(0.6), **certify),
            ip.solve(two, ip.task_funnel(0.6, gamma=0.0), **certify),
            ip.task_at_leakage(two, 0.01).solution,
        ],
        "others": [
            ip.solve(faint, ip.MarkovLagrangian(-2.4, -0.6, 3.0), **certify),
            ip.solve(faint, ip.deterministic_bottleneck(0.2), **certify),
            ip.solve(faint, ip.generalised_bottleneck(0.2, a=0.5), **certify),
            ip.solve(faint, ip.funnel(2.0), "pooling", rng=0),
        ],
        "frontier": ip.sweep(faint, ip.funnel, [0.7, 1.5, 6.0], "merging", certify=True).runs,
        "stored": ip.sweep(
            paper, ip.bottleneck, [0.1, 0.4], "blahut-arimoto", starts=3, rng=0, certify=True, store=folder / "runs.db"
        ).runs,
    }.items():
        ip.Frontier(runs[0].joint, runs).save(folder / f"{name}.npz")
    table = ip.Joint.from_counts([[30, 5, 8], [4, 40, 9], [12, 11, 50], [20, 3, 1], [9, 9, 9]])
    for name, joint, terms in (
        ("lift", table, {"max_lift": 0.2}),
        ("above", table, {"max_lift": 0.3, "two_sided": False, "secrets": [0, 2]}),
        ("both", ip.Joint.from_counts([[30, 5], [4, 40], [12, 11]]), {"max_lift": 0.3, "max_leakage": 0.01}),
        ("group", table, {"max_lift": 0.2, "min_group": 60}),
        ("nothing", table, {"max_leakage": 0.0}),
        ("kept", two, {"max_lift": 0.1}),
        ("kept, both", two, {"max_lift": 0.2, "max_leakage": 0.005}),
        ("kept, average", made_tasks(1, letters=5, kept=2, hidden=2), {"max_leakage": 0.01}),
    ):
        ip.release_mechanism(joint, **terms, rng=0).save(folder / f"release, {name}.npz")
    return sorted(folder.glob("*.npz"))


def forged(rng, path):
    """The bytes of a file that was tampered with, and how."""
    if rng.random() < 0.08:
        return spoiled_bytes(rng, path.read_bytes()), "bytes"
    meta, arrays = parts(path)
    done = []
    for way in rng.choice(RELEASE_WAYS if "caps" in meta else WAYS, size=rng.choice([1, 1, 2])):
        try:
            way(rng, meta, arrays)
            done.append(way.__name__)
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
        ):  # there is nothing left that it could change
            done.append(f"no {way.__name__}")
    file = io.BytesIO()
    written(file, meta, arrays)
    if rng.random() < 0.04:
        done.append("a member twice")
        with zipfile.ZipFile(file, "a") as archive:
            name = one(rng, archive.namelist())
            archive.writestr(name, archive.read(name))
    return file.getvalue(), ", ".join(done)


def untrue(path, check):
    """What is not true of a run that was passed, as far as it can be found out; "" if nothing."""
    meta, arrays = parts(path)
    run = check.run
    x, y = meta["shape"]
    P = np.zeros((x, y))
    np.add.at(P, (arrays["p_row"], arrays["p_column"]), arrays["p_value"])
    if check.family == "release":
        return untrue_of_release(P, meta, arrays)
    counts = np.where(arrays["kept"], arrays["counts"][:, 3], 0)
    W = arrays["encoders"][counts[:run].sum() : counts[: run + 1].sum()]
    rho, bound = arrays["rho"][run].tolist(), meta["lower_bounds"][run]
    if not (P.min() >= 0.0 and abs(math.fsum(P.ravel()) - 1.0) < 1e-14 and len(W) and W.min() >= 0.0):
        return "p(x, y) or the encoder is none"
    if not max(abs(math.fsum(column) - 1.0) for column in W.T) < 1e-14 * len(W):
        return "a column of the encoder does not sum to 1"
    name, parameter = meta["families"][run], meta["problem_parameters"][run]
    if name in ip.task_problem.TASKS:
        return untrue_of_tasks(P, W, meta, arrays, run)
    family = ip.problem.FAMILIES[name]
    if family.parameter is not None:
        a = {"a": -rho[1] / parameter} if family.options else {}
        if (
            not np.allclose(family.rho(parameter, **a), rho, rtol=1e-14, atol=0.0)
            or not 0.0 <= a.get("a", 1.0) <= 1.0 + 1e-14
        ):
            return f"rho = {rho} is no {name} at {parameter}"
        said = arrays["numbers"][run, 0]
        if not (
            abs(said - parameter) < 1e-14 * parameter
            or (family.parameter == "gamma" and abs(said * parameter - 1.0) < 1e-14)
        ):
            return f"its parameter is shown as {said}, and is {parameter}"
    elif parameter is not None:
        return "a lagrangian has a parameter"
    right = (verify.lagrangian(P, W, rho), *verify.mutual_informations(P, W))
    off = 3e-13 * np.array([sum(map(abs, rho)), 1.0, 1.0])
    for theirs in (arrays["plane"][run], (check.loss, check.ixz, check.iyz)):
        if not (np.abs(np.subtract(theirs, right)) <= off).all():
            return f"loss, I(X;Z) and I(Y;Z) are {right}, not {theirs}"
    if bound is None:
        return "it is called certified" if meta["statuses"][run] == "CERTIFIED" else ""
    if meta["statuses"][run] == "CERTIFIED" and not right[0] - bound <= CERTIFIED + off[0]:
        return f"it is called certified, {right[0] - bound} above its bound"
    problem, joint = ip.MarkovLagrangian(*rho), ip.Joint.from_matrix(P)
    best = min(
        ip.solve(joint, problem, rng=0, starts=8).loss,
        ip.solve(joint, problem, rng=0, certify=1e-9, max_seconds=5.0).loss,
    )
    return f"an encoder has the loss {best}, below the bound {bound}" if not bound <= best + off[0] else ""


def untrue_of_tasks(P, W, meta, arrays, run):
    """The same of a run that keeps one target and hides another."""
    roles = [label["tuple"][0] for label in meta["y_labels"]["tuple"]]
    kept = np.array([role == roles[0] for role in roles])
    gamma, keep, hide = (-arrays["rho"][run] * [1.0, -1.0, 1.0]).tolist()
    ixz = verify.mutual_informations(P, W)[0]
    iuz, isz = (verify.mutual_informations(2.0 * P[:, part], W)[1] for part in (kept, ~kept))
    loss, bound = gamma * ixz - keep * iuz + hide * isz, meta["lower_bounds"][run]
    off = 1e-12 * (gamma + keep + hide)
    if not abs(arrays["plane"][run, 0] - loss) <= off:
        return f"the loss is {loss}"
    if meta["families"][run] == "task_funnel" and meta["problem_parameters"][run] != hide:
        return "its beta is another"
    if bound is None:
        return ""
    joints = (ip.Joint.from_counts(P[:, part], y_names=name) for part, name in ((kept, "u"), (~kept, "s")))
    problem = ip.TaskLagrangian(gamma, keep, hide)
    best = ip.solve(ip.TaskJoint(*joints), problem, rng=0, starts=4).loss
    return f"an encoder has the loss {best}, below the bound {bound}" if not bound <= min(best, loss) + off else ""


def untrue_of_release(P, meta, arrays):
    """The same of a release: its numbers, its caps, and whether another within them has more utility than the bound."""
    W, caps, columns = arrays["encoder"], meta["caps"], meta.get("kept")
    if not (P.min() >= 0.0 and abs(math.fsum(P.ravel()) - 1.0) < 1e-14 and W.min() >= 0.0):
        return "p(x, s) or the encoder is none"
    if not max(abs(math.fsum(column) - 1.0) for column in W.T) < 1e-14 * len(W):
        return "a column of the encoder does not sum to 1"
    S, U = (P, None) if columns is None else (2.0 * P[:, columns:], 2.0 * P[:, :columns])
    ixz, isz = verify.mutual_informations(S, W)
    utility = ixz if U is None else verify.mutual_informations(U, W)[1]
    _, said_utility, said_leakage, bound = arrays["numbers"]
    if not (abs(said_utility - utility) < 1e-12 and abs(said_leakage - isz) < 1e-12):
        return f"utility and leakage are {utility}, {isz}"
    J = (W @ S)[(W @ S).sum(axis=1) > 0.0]
    J = J[:, J.sum(axis=0) > 0.0]
    capped = np.array(caps["capped"])[S.sum(axis=0) > 0.0]
    with np.errstate(divide="ignore"):
        lift = np.log(J / J.sum(axis=1, keepdims=True) / J.sum(axis=0))[:, capped]
    most = caps["max_lift"]
    if caps["max_leakage"] is not None and not isz <= caps["max_leakage"] + 1e-12:
        return f"I(S;Z) is {isz}"
    if (
        most is not None
        and lift.size
        and not (lift.max() <= most + 1e-8 and (not caps["two_sided"] or lift.min() >= -most - 1e-8))
    ):
        return f"lifts are {lift.min()} to {lift.max()}"
    if caps["min_group"] is not None and not J.sum(axis=1).min() * caps["records"] >= caps["min_group"] * (1.0 - 1e-8):
        return f"a group is of {J.sum(axis=1).min() * caps['records']} records"
    if meta["certified"] and not bound - utility <= CERTIFIED + 1e-12:
        return f"it is called certified, {bound - utility} below its bound"
    best = utility
    if caps["min_group"] is None:
        hide = ip.Joint.from_counts(S, y_names="s")
        joint = hide if U is None else ip.TaskJoint(ip.Joint.from_counts(U, y_names="u"), hide)
        secrets = [label for label, one in zip(hide.y_labels, caps["capped"], strict=True) if one]
        terms = {name: caps[name] for name in ("max_leakage", "max_lift", "two_sided")}
        if most is None or not secrets:
            terms, secrets = {"max_leakage": caps["max_leakage"]}, None
        if set(terms.values()) != {None}:
            best = ip.release_mechanism(joint, **terms, secrets=secrets, rng=0, max_seconds=5.0).utility
    return (
        f"a release has the utility {best}, above the bound {bound}" if not max(best, utility) <= bound + 1e-9 else ""
    )


def attack(rng):
    """One forgery: refused, or given a verdict that is true. And `Frontier.load` shows no name that is not that of the coefficients."""
    original = one(rng, originals())
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "forged.npz"
        data, how = forged(rng, original)
        path.write_bytes(data)
        try:
            checks = ip.verify(path, **LIMITS)
        except ip.InvalidAnswerError as error:
            if len(str(error)) < 20:
                raise Broken(f"an error that says nothing: {error!r}") from error
            return "refused"
        except Exception as error:
            raise Broken(f"{original.stem}, {how}: {type(error).__name__}: {error}") from error
        for check in checks:
            if check.verdict.good and (found := _found_out(path, check)):
                raise Broken(f"{original.stem}, {how}: run {check.run} is {check.verdict.name}, and {found}")
        _loaded(path, how)
    return (
        "passed and true" if passed(checks) else max(check.verdict.name for check in checks if not check.verdict.good)
    )


def _found_out(path, check):
    try:
        return untrue(path, check)
    except Exception as error:
        return f"plain code cannot read it: {type(error).__name__}: {error}"


def _loaded(path, how):
    try:
        runs = ip.Frontier.load(path).runs
    except (ip.InfoplaneError, OSError):
        return
    for run in runs:
        family = ip.problem.FAMILIES.get(run.problem.family)
        if family is None or family.parameter is None or family.options:
            continue
        if not np.allclose(family.rho(run.problem.parameter), run.problem.rho, rtol=1e-14, atol=0.0):
            raise Broken(f"{how}: Frontier.load shows {run.problem}")
