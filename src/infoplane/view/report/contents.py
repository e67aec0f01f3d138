"""What a page shows of a frontier, as plain JSON values: a table of runs, encoders of the best, traces, and where it all came from.

A page is one small file, so there is an `Allowance` for each part, and whatever is left out is said in ``notes``. Encoders have all
letters or those typical of each cluster, coinciding clusters in one column, and thousandths.

*Runs* in a legend: a reader knows which solvers were asked for, not which of a portfolio's ways ended lowest. All runs of one call that
named one solver are its own. Of several calls, runs of a solver that was asked for by name are its own, and runs that a search found in
some other way are the "best found". Systems that were brought along are "given". Where nothing is known of the call, runs go by the solver
that they name.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...encoder.encoder import SAME_POSTERIOR, cluster_names, distinct_clusters, typical
from ...errors import InfoplaneError, InvalidOptionError
from ...formatting import counted, label_text, shortened
from ...frontier.frontier import Frontier
from ...frontier.geometry import Enclosure, is_enclosed
from ...information import Array, bits
from ...joint.joint import Joint
from ...joint.task_joint import TaskJoint
from ...problem import FAMILIES
from ...solution import Solution, Status, Trace
from ...storage.files import to_json


class Allowance(NamedTuple):
    """How much of each kind a page may hold."""

    runs: int = 4000
    encoders: int = 400
    letters: int = 60
    outcomes: int = 30
    clusters: int = 40
    traces: int = 100
    points: int = 120
    """Of a trace."""

    def smaller(self) -> Allowance:
        """Three quarters of each, but at least a few."""
        return Allowance(*(max(3 * n // 4, 4) for n in self))


# -- runs and traces, as pictures have them too -------------------------------------------------------------------------

BEST, GIVEN = "best found", "given"
"""The runs of a search that has many ways, and systems from elsewhere."""


def groups(frontier: Frontier) -> list[str]:
    """What a legend calls each run, in the order of the runs."""
    provenance, solvers = frontier.provenance, [run.solver for run in frontier.runs]
    asked = {
        str(call["solver"])
        for part in provenance.get("parts", [provenance])
        for call in (part, *part.get("solvers", ()))
        if isinstance(call, dict) and call.get("solver")
    }
    others = BEST
    if len(asked) == 1 and "parts" not in provenance and asked & {*solvers}:
        (others,) = asked
    known = {solver: solver if solver in asked or not asked else others for solver in solvers}
    return [GIVEN if solver.startswith(f"{GIVEN}: ") else known[solver] for solver in solvers]


def rows_by(names: Iterable[str]) -> dict[str, list[int]]:
    """The rows of each name."""
    found: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        found.setdefault(name, []).append(row)
    return found


def best_rows_among(frontier: Frontier, rows: list[int]) -> list[int]:
    """The rows of the best answers to each parameter, of some of the runs alone."""
    own = Frontier(frontier.joint, [frontier.runs[row] for row in rows])
    return [rows[answer.row] for answer in own.best_answers()]


def trace_lines(trace: Trace) -> tuple[Any, dict[str, Array]]:
    """The iterations of a trace, and its lines by name: NaN for what a logarithm cannot show, such as residuals where nothing is split."""
    iterations = np.arange(1, len(trace) + 1) if trace.iteration is None else trace.iteration
    lines = {
        "|loss − final loss|, nats": np.abs(trace.loss - trace.loss[-1]),
        "primal residual": trace.primal,
        "dual residual": trace.dual,
        "stationarity residual": trace.stationarity,
    }
    return iterations, {name: np.where(np.isfinite(v) & (v > 0), v, np.nan) for name, v in lines.items()}


# -- the page ------------------------------------------------------------------------------------------------------------


class Plane(NamedTuple):
    """What the axes of a page's plane are, and the bounds drawn in it."""

    names: tuple[str, str]
    columns: tuple[str, str]
    """Of the table of runs."""
    bound: str
    bound_bits: float
    """The most that Z can say of what is kept."""
    corner_bits: float
    """Where on the first axis that becomes possible; 0 if anywhere."""

    def ends(self, x: Sequence[float], margin: float) -> tuple[float, float]:
        """Those of the first axis, in bits: runs that all lie far out, as a funnel's do, get all of it, and it does not begin at 0."""
        # A joint of independent X and Y, or one trivial run, still gets an axis of positive length.
        right, spread = max(*x, self.corner_bits, 1e-3) * margin, max(x) - min(x)
        near = min(x) - 0.3 * spread
        return (near if near >= 0.4 * right and spread >= 1e-3 * right else 0.0), right


def plane_of(frontier: Frontier) -> Plane:
    """I(X;Z) and I(Y;Z); where one target is kept and another hidden, I(S;Z) and I(U;Z)."""
    run = frontier.runs[0]
    if run.problem.single_target:
        most = bits(frontier.joint.mutual_information)
        return Plane(run.plane_names, ("ixz_bits", "iyz_bits"), "I(Y;Z) ≤ min(I(X;Z), I(X;Y))", most, most)
    most = bits(TaskJoint.of(frontier.joint).keep.mutual_information)
    return Plane(run.plane_names, ("isz_bits", "iuz_bits"), "I(U;Z) ≤ I(U;X)", most, 0.0)


def y_name(joint: Joint) -> str:
    """What Y is called: its columns, or the targets that it mixes."""
    return ", ".join(one.name for one in joint.targets)


def contents(
    frontier: Frontier, title: str, traces: bool, allowance: Allowance, notation: str = "gamma"
) -> dict[str, Any]:
    """The page of a frontier, with the traces of its runs or without."""
    page = _Page(frontier, allowance, traces)
    suggestion = frontier.suggest(notation, by="knee")
    written = frontier.runs[0].problem.record.notation(notation)
    at, runs, joint = page.at, page.frontier.runs, frontier.joint
    knee = None if suggestion.knee is None else suggestion.knee.parameter
    drawn_as = groups(page.frontier)
    enclosure = frontier.enclosure() if is_enclosed(frontier.runs) else None
    return {
        "title": title,
        "symbol": written.symbol,
        "inverse": written.inverse,
        "sentences": {at[row]: _sentence(frontier, runs[row]) for row in page.answers},
        "cautions": _cautions(frontier),
        "summary": _summary(frontier) + ("" if enclosure is None else f" Proven: {enclosure}."),
        "plane": plane_of(frontier)._asdict(),
        "joint": {
            "x": _axis(joint.x_names, joint.x_labels, joint.p_x, page.letters),
            "y": _axis((y_name(joint),), joint.y_labels, joint.p_y / joint.target_weights, page.outcomes),
        },
        "statuses": {status.name: status.value for status in Status},
        "converged": [status.name for status in Status if status.converged],
        "table": page.table(),
        "groups": _column([drawn_as[row] for row in page.rows]),
        "systems": page.systems(written.name),
        "residuals": to_json([runs[row].residuals for row in page.rows]),
        "best": [at[row] for row in page.answers],
        "best_of_solver": [at[row] for row in page.best],
        "enclosure": [] if enclosure is None else _corners(enclosure),
        "pareto": [at[row] for row in frontier.pareto_rows() if row in at],
        "encoders": {at[row]: encoder for row, encoder in page.encoders.items()},
        "traces": {at[row]: _trace(trace, allowance.points) for row, trace in page.traces.items()},
        "knee": next((at[row] for row in page.answers if runs[row].parameter == knee), None),
        "suggestion": [one for one in suggestion.sentences if not one.startswith("Caution: ")],  # they stand on top
        "provenance": {
            "joint": {
                "X": shortened(", ".join(joint.x_names)),
                "Y": shortened(y_name(joint)),
                "shape": list(joint.shape),
                "fingerprint": joint.fingerprint,
            },
            **_shown_provenance(frontier.provenance),
        },
        "notes": [*page.omissions(), *(page.trace_notes() if traces else ())],
    }


class _Page:
    """What of a frontier is shown, by rows of ``frontier``: its runs, and after them the answers from elsewhere, each as a run here."""

    def __init__(self, stored: Frontier, allowance: Allowance, traces: bool) -> None:
        self.stored, self.allowance = stored, allowance
        answers = stored.best_answers()
        moved = [answer for answer in answers if answer.is_moved]
        self.numbers = [*range(len(stored)), *(answer.row for answer in moved)]
        """Of the run that found each encoder."""
        added = iter(range(len(stored), len(self.numbers)))
        self.answers = [next(added) if answer.is_moved else answer.row for answer in answers]
        """The row of the best answer of each parameter."""
        self.frontier = stored
        if moved:
            runs = [*stored.runs, *(answer.run for answer in moved)]
            self.frontier = Frontier(stored.joint, runs, complete=stored.complete, provenance=stored.provenance)
        self.best = self._best_of_each_solver()
        self.rows = self._thinned_rows()
        self.at = {row: index for index, row in enumerate(self.rows)}
        """The index of a row on the page."""
        self.outcomes = largest(stored.joint.p_y, allowance.outcomes)
        self.encoders, self.letters = self._encoders()
        self.traces = self._traces() if traces else {}

    def _best_of_each_solver(self) -> list[int]:
        """The best answers, and beside them those of every solver on its own."""
        by_solver = rows_by(run.solver for run in self.stored.runs)
        own = (best_rows_among(self.stored, rows) for rows in by_solver.values()) if len(by_solver) > 1 else ()
        return list(dict.fromkeys(chain(self.answers, *own)))

    def _thinned_rows(self) -> list[int]:
        """The best, the Pareto set, and as many of the others as are allowed, evenly through the rows."""
        chosen = dict.fromkeys(self.answers)
        for more in (self.best, self.frontier.pareto_rows(), range(len(self.frontier))):
            others = [row for row in more if row not in chosen]
            chosen.update(dict.fromkeys(_evenly(others, self.allowance.runs - len(chosen))))
        return sorted(chosen)

    def _encoders(self) -> tuple[dict[int, dict[str, Any]], Array]:
        """Encoders by row: of the best runs, then of each solver's own best where they were kept, as many as are allowed.

        And the letters that they show: all, or, if there are too many, for each encoder those that are typical of its clusters; its
        ``rows`` are then the indices of its letters among all that are shown.
        """
        most, letters = self.allowance.encoders, self.stored.joint.shape[0]
        rows = _evenly(self.answers, most)
        rows += _evenly([row for row in self.best if row not in set(self.answers)], most - len(rows))
        everything = letters <= self.allowance.letters
        found: dict[int, dict[str, Any]] = {}
        pool: dict[int, int] = {x: x for x in range(letters)} if everything else {}
        for row in rows:
            try:
                run = self.frontier.runs[row]
                shown = np.arange(letters) if everything else typical_rows(run, self.allowance.letters)
                found[row] = encoder_columns(run, shown, self.outcomes, self.allowance.clusters)
            except InfoplaneError:  # a store keeps the encoders of the best runs only
                continue
            if not everything:
                found[row]["rows"] = [pool.setdefault(x, len(pool)) for x in shown.tolist()]
        return found, np.array(list(pool), dtype=int)

    def _traces(self) -> dict[int, Trace]:
        """Traces by row: of the best runs first, then of the others on the page that kept one, as many as are allowed."""
        found: dict[int, Trace] = {}
        for group in (self.best, [row for row in self.rows if row not in set(self.best)]):
            kept = {row: trace for row in group if (trace := self.frontier.runs[row].trace) is not None}
            found |= {row: kept[row] for row in _evenly(list(kept), self.allowance.traces - len(found))}
        return found

    def table(self) -> dict[str, Any]:
        """The frame of the rows by columns, every digit kept; a column of texts as numbers into the list of its values.

        An answer from elsewhere has the number of the run that found it, and then all rows say where theirs was found.
        """
        frame = self.frontier.to_frame(self.rows).reset_index()
        if len(self.frontier) > len(self.stored):
            frame["run"] = [self.numbers[row] for row in self.rows]
            frame["found_at"] = [self.frontier.runs[run].parameter for run in frame["run"]]
        columns = {name: frame[name].tolist() for name in frame.columns}
        is_text = {name: any(isinstance(value, str) for value in values) for name, values in columns.items()}
        return {name: _column(values) if is_text[name] else to_json(values) for name, values in columns.items()}

    def systems(self, parameter: str) -> dict[str, Any] | None:
        """The table of the systems that were given, each with its index among the runs; None if there are none."""
        given = self.stored.provenance.get("systems")
        if not given:
            return None
        highs = [one["epsilon_proven_high_bits"] for one in given]
        proven = any(high is not None and math.isfinite(high) for high in highs)
        columns = ["system", "clusters", "ixz_bits", "iyz_bits", parameter, "epsilon_bits", "epsilon_proven_low_bits"]
        columns += [*(["epsilon_proven_high_bits"] if proven else []), "gnid"]
        rows = {run.solver: self.at.get(row) for row, run in enumerate(self.frontier.runs)}
        return {
            "columns": columns,
            "rows": to_json([[label_text(one["system"]), *(one[name] for name in columns[1:])] for one in given]),
            "runs": [rows.get(f"{GIVEN}: {one['system']}") for one in given],
        }

    def omissions(self) -> list[str]:
        """A sentence for everything of the frontier that is not on the page."""
        joint, allowance, letters, stored = self.stored.joint, self.allowance, self.letters, len(self.stored)
        said = [] if self.stored.reused is None else [self.stored.reused]
        said.append(
            f"Encoders are rounded to 0.001 and shown for {len(self.encoders):,} of {len(self.best):,} best runs; "
            f"clusters whose p(x|z) agree to {SAME_POSTERIOR:g} in total variation share a column (z4×3: three of them)."
        )
        if (shown := sum(row < stored for row in self.rows)) < stored:
            said.append(
                f"{shown:,} of {stored:,} runs are on this page, the best of each parameter first, the others evenly; "
                "Frontier.to_frame() has all."
            )
        if joint.shape[0] > allowance.letters:
            said.append(
                f"Of the {joint.shape[0]:,} values of x an encoder shows at most {allowance.letters}: those most typical of each cluster, "
                f"which add most to what it says of y. {len(letters):,} are on this page, {joint.p_x[letters].sum():.1%} of the mass."
            )
        if len(self.outcomes) < joint.shape[1]:
            said.append(
                f"Of the {joint.shape[1]:,} values of y the {len(self.outcomes)} most probable are shown, "
                f"{joint.p_y[self.outcomes].sum():.1%} of the mass."
            )
        if any(run["clusters"][-1].endswith("others") for run in self.encoders.values()):
            said.append(f"Beyond {allowance.clusters - 1} columns, the smallest clusters are added up in one.")
        return said

    def trace_notes(self) -> list[str]:
        """For how many of the best runs a trace is shown, and whether all of it."""
        shown = [self.traces[row] for row in self.best if row in self.traces]
        notes = [f"How they converged is shown for {len(shown):,} of {len(self.best):,} best runs."]
        if any(trace.iteration is not None for trace in shown):
            notes.append(f"Of long traces {max(map(len, shown)):,} iterations were kept, spaced evenly.")
        return notes


# -- sentences -----------------------------------------------------------------------------------------------------------


def _summary(frontier: Frontier) -> str:
    joint, runs = frontier.joint, frontier.runs
    families = ", ".join(dict.fromkeys(run.problem.record.title for run in runs))
    parameters = len({run.parameter for run in runs})
    converged = sum(run.status.converged for run in runs)
    ys = {"Y": joint}
    if not runs[0].problem.single_target:
        tasks = TaskJoint.of(joint)
        ys = {"U": tasks.keep, "S": tasks.hide}
    return (
        f"{families.capitalize()}: {counted(parameters, 'parameter')}, {counted(len(runs), 'run')}, "
        f"{converged:,} converged. |X| = {joint.shape[0]:,}, {', '.join(f'|{y}| = {one.shape[1]:,}' for y, one in ys.items())}, "
        f"H(X) = {bits(joint.entropy_x):.4f}, {', '.join(f'H({y}) = {bits(one.entropy_y):.4f}' for y, one in ys.items())}, "
        f"{', '.join(f'I(X;{y}) = {bits(one.mutual_information):.4f}' for y, one in ys.items())} bits."
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0


def _sentence(frontier: Frontier, run: Solution) -> str:
    """What a run does, for whoever knows the columns and nothing else."""
    joint = frontier.joint
    x, y = (shortened(", ".join(names)) for names in (joint.x_names, joint.y_names))
    whole = joint.mutual_information
    share = f"{_share(run.iyz, whole):.0%}"
    told = f"{counted(joint.shape[0], 'value')} of {x} in {counted(_groups(run), 'group')}"
    if not run.problem.single_target:
        tasks = TaskJoint.of(joint)
        u, s = (
            f"{_share(nats, one.mutual_information):.1%} of what they say about {y_name(one)}"
            for nats, one in ((run.iuz, tasks.keep), (run.isz, tasks.hide))
        )
        return f"{told} keep {u} and tell {s}."
    if frontier.hides_y:
        kept = f"{_share(run.ixz, joint.entropy_x):.0%} of the information on {x}"
        return f"{told} keep {kept} and reveal {share} of what it says about {y}."
    expected, chance = None if run.caution is None else joint.expected_information, ""
    if expected and whole:
        chance = f"; up to {expected / whole:.0%} is what chance would show at this size"
    return f"{told} keep {share} of what they say about {y}{chance}."


def _groups(run: Solution) -> int:
    """Clusters that differ, where the encoder was kept: of several that say the same of x a reader would ask which."""
    try:
        return len(distinct_clusters(run.encoder, run.joint.p_x))
    except InvalidOptionError:
        return run.clusters


def _cautions(frontier: Frontier) -> list[str]:
    """What a reader must know before believing a number, one sentence each."""
    return [
        *([] if frontier.complete else ["Interrupted: only the parameters that were finished are here."]),
        *frontier.cautions,
        *([] if frontier.held_back is None else [frontier.held_back]),
    ]


# -- parts ---------------------------------------------------------------------------------------------------------------


def _corners(enclosure: Enclosure) -> list[dict[str, float]]:
    """The two curves that enclose the frontier, corner by corner."""
    corners = np.column_stack([enclosure.ixz_bits, enclosure.low_bits, enclosure.high_bits]).round(7)
    return [{"x": x, "y": low, "y2": high} for x, low, high in corners.tolist()]


def _evenly(items: Sequence[int], most: int) -> list[int]:
    """At most so many of them, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    if most <= 0:
        return []
    return [items[index] for index in np.unique(np.linspace(0, len(items) - 1, most).round().astype(int))]


def _column(texts: list[str]) -> dict[str, Any]:
    """Texts as numbers into the list of those that differ."""
    names = list(dict.fromkeys(texts))
    index = {name: at for at, name in enumerate(names)}
    return {"names": names, "values": [index[text] for text in texts]}


def _trace(trace: Trace, most: int) -> dict[str, Any]:
    """At most so many iterations, evenly; |loss - final loss| and the residuals to three digits."""
    kept = np.array(_evenly(range(len(trace)), most), dtype=int)
    iterations, lines = trace_lines(trace)
    shown = {name: values[kept] for name, values in lines.items() if np.isfinite(values[kept]).any()}
    return {
        "iterations": iterations[kept].astype(int).tolist(),
        "lines": {name: to_json([float(f"{v:.3g}") for v in values]) for name, values in shown.items()},
    }


def _axis(names: tuple[str, ...], labels: tuple[Hashable, ...], p: Array, shown: Array) -> dict[str, Any]:
    return {
        "name": shortened(", ".join(names)),
        "labels": [label_text(labels[i]) for i in shown],
        "mass": [float(f"{p[i]:.4g}") for i in shown],
    }


def _shown_provenance(provenance: dict[str, Any]) -> dict[str, Any]:
    """Without what the joint's identity or a named family says already; an infinite limit and the like as text."""
    family = FAMILIES.get(str(provenance.get("family")))
    known = {"joint_sha256", "shape", "systems"}
    if family is not None and family.parameter is not None and not family.options:
        known.add("rho")  # its name and parameter say what that is
    shown: dict[str, Any] = to_json({name: v for name, v in provenance.items() if name not in known}, nonfinite=str)
    if isinstance(shown.get("grid"), list):  # parameters that were inserted come last in it
        shown["grid"] = sorted(float(f"{parameter:.6g}") for parameter in shown["grid"])
    return {**shown, "parts": [_shown_provenance(part) for part in shown["parts"]]} if "parts" in shown else shown


def encoder_columns(run: Solution, letters: Any, outcomes: Array, most: int) -> dict[str, Any]:
    """p(z), p(z|x) and p(y|z) in thousandths; one column per cluster, or per group that coincide, in the order of the letters they hold."""
    W, joint = run.encoder, run.joint
    p_zx, p_zy = W * joint.p_x, W @ joint.p_xy / joint.target_weights
    differ = distinct_clusters(run.encoder, run.joint.p_x)
    groups = differ if len(differ) <= most else differ[: most - 1]
    held = {group[0]: p_zx[group].sum(axis=0)[letters] for group in groups}
    centre = {z: float(mass @ np.arange(len(mass))) / max(float(mass.sum()), 1e-300) for z, mass in held.items()}
    groups = sorted(groups, key=lambda group: centre[group[0]])
    rest = sorted(set(range(len(W))) - {z for group in groups for z in group})
    columns = [f"z{group[0]}" if len(group) == 1 else f"z{group[0]}×{len(group)}" for group in groups]
    names = [cluster_names(joint, W[group].sum(axis=0, keepdims=True), 1)[0] for group in groups]
    # Clusters without mass hold nothing worth a column, unless a rare letter needs one to have its probabilities add up.
    if rest and W[rest].sum(axis=0)[letters].max(initial=0.0) >= 0.0005:
        groups = [*groups, rest]
        columns, names = ([*those, f"{len(rest)} others"] for those in (columns, names))
    p_z = [float(p_zx[group].sum()) for group in groups]
    return {
        "clusters": columns,
        "names": names,
        "members": groups,
        "differ": len(differ),
        "p_z": [float(f"{p:.4g}") for p in p_z],
        "cells": [_thousandths(W[group].sum(axis=0)[letters]) for group in groups],
        "posteriors": [
            _thousandths(p_zy[group].sum(axis=0)[outcomes] / max(p, 1e-300))
            for group, p in zip(groups, p_z, strict=True)
        ],
    }


def _thousandths(p: Array) -> list[int]:
    whole: list[int] = np.rint(1000.0 * p).astype(int).tolist()
    return whole


def typical_rows(run: Solution, most: int) -> Any:
    """At most so many letters, by index: those that are most typical of each cluster, cluster after cluster, the largest first."""
    groups = distinct_clusters(run.encoder, run.joint.p_x)[:most]
    rows: list[int] = []
    share = max(most // max(len(groups), 1), 1)
    for group in groups:
        rows += typical(run.joint, run.encoder[group].sum(axis=0), share)
    return np.array(list(dict.fromkeys(rows))[:most], dtype=int)


def largest(p: Array, most: int) -> Any:
    """Indices of the largest masses, in the order of the alphabet."""
    return np.sort(np.argsort(-p, kind="stable")[:most])
