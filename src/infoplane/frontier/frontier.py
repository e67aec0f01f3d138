"""`Frontier`: every run of a grid of parameters, kept with its status; best runs and the Pareto set are views."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..checks import cap_in_nats, check_one_of
from ..errors import InvalidOptionError, MissingExtraError
from ..formatting import SHOWN_ROWS, counted, html_image, html_note, html_page, html_table, rounded
from ..information import Array, bits
from ..joint.joint import Joint
from ..sampling.held_out import LEAST_RECORDS, chance_of
from ..solution import Solution, best_of
from ..solvers.job import RunOptions
from .geometry import BestAnswer, Enclosure, best_answers, enclosure, hides_y, pareto_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ..solvers.base import Solver
    from ..sweep.records import Bands
    from .summary import Suggestion
    from .transitions import Transition


class Frontier:
    """Runs on the information plane of one joint.

    Every run is there with its status (`to_frame`); `best` has the best encoder for each parameter, whichever run
    found it, `pareto` the runs that no other dominates. Rows are numbered, and `encoder(row)` and `solution(row)` take
    the number. A frontier is equal to itself only.

    Examples
    --------
    >>> import infoplane as ip
    >>> f = ip.sweep(ip.datasets.heart(), ip.bottleneck, [0.05, 0.1, 0.2], rng=0)
    >>> f.best().status.tolist()
    ['STATIONARY', 'STATIONARY', 'STATIONARY']
    >>> round(f.at(ixz_bits=1.0).iyz, 4)
    0.1422
    """

    def __init__(
        self,
        joint: Joint,
        runs: Sequence[Solution],
        *,
        complete: bool = True,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.joint, self.runs = joint, tuple(runs)
        self.complete = complete
        """False if the sweep was interrupted: only the parameters that were finished are here."""
        self.provenance: dict[str, Any] = dict(provenance or {})
        """What was run, in plain JSON values: solver, options, seed, starts, grid, version, ...; {} if nobody said."""

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        parameters = {run.parameter for run in self.runs}
        converged = sum(run.status.converged for run in self.runs)
        return (
            f"Frontier({counted(len(parameters), 'parameter')}, {counted(len(self), 'run')}, {converged:,} converged)"
        )

    def __add__(self, other: Frontier) -> Frontier:
        """The runs of both, to be compared on one plane; the joints must be the same."""
        if not isinstance(other, Frontier):
            return NotImplemented
        if other.joint != self.joint:
            raise InvalidOptionError("the two frontiers belong to different joints.")
        parts = [part for one in (self, other) for part in one.provenance.get("parts", [one.provenance]) if part]
        return Frontier(
            self.joint,
            (*self.runs, *other.runs),
            complete=self.complete and other.complete,
            provenance={"parts": parts} if parts else None,
        )

    @property
    def hides_y(self) -> bool:
        """Whether low I(Y;Z) is good (the funnel) rather than bad (the bottleneck)."""
        return hides_y(self.runs)

    @property
    def held_back(self) -> str | None:
        """A sentence if a cap on |Z| binds: at how many parameters the best run has as many clusters as it could."""
        best = [answer.run for answer in self.best_answers()]
        caps = sorted({run.cluster_cap for run in best if run.at_cap and run.cluster_cap is not None})
        if not caps:
            return None
        where = f"At {sum(run.at_cap for run in best):,} of {counted(len(best), 'parameter')}"
        clusters = " or ".join(counted(cap, "cluster") for cap in caps)
        return f"{where} the answer has {clusters}, the cap: more may have a lower loss."

    @property
    def reused(self) -> str | None:
        """A sentence if the best encoder of some parameter was found at another."""
        best = self.best_answers()
        moved = sum(answer.is_moved for answer in best)
        if not moved:
            return None
        return f"At {moved:,} of {counted(len(best), 'parameter')} the best encoder is one that was found at another parameter."

    @property
    def caution(self) -> str | None:
        """A sentence, if the best runs of some parameters have one (`Solution.caution`): at how many, and that of the strongest of them."""
        best = [answer.run for answer in self.best_answers()]
        said = [run for run in best if run.caution is not None]
        if not said:
            return None
        strongest = max(said, key=lambda run: run.iyz)
        often = f"At {len(said):,} of {counted(len(best), 'parameter')} chance is half of it or more"
        return f"{often}. Where most is said of Y: {strongest.caution}."

    @property
    def cautions(self) -> list[str]:
        """What a reader must know before believing a number: the joint's caution, and that of the best runs."""
        own = self.joint.caution
        return [said for said in (None if own is None else f"{own}.", self.caution) if said is not None]

    def to_frame(self, rows: Sequence[int] | None = None) -> pd.DataFrame:
        """A pandas frame with one row per run; units in the column names. Beside a parameter gamma stands beta = 1/gamma."""
        from .summary import runs_frame

        chosen = range(len(self)) if rows is None else rows
        return runs_frame([(row, self.runs[row]) for row in chosen])

    def best_rows(self) -> list[int]:
        """For each parameter the row with the lowest loss; among losses equal to 1e-9 nats, one that converged."""
        rows: dict[float, list[int]] = {}
        for row, run in enumerate(self.runs):
            # One NaN for all: as keys, two of them are equal only if they are the same object.
            rows.setdefault(math.nan if math.isnan(run.parameter) else run.parameter, []).append(row)
        found = []
        for parameter in sorted(rows):
            runs = [self.runs[row] for row in rows[parameter]]
            found.append(rows[parameter][best_of([run.loss for run in runs], [run.status.converged for run in runs])])
        return found

    def best_answers(self) -> list[BestAnswer]:
        """The best encoder that any run has found for each parameter: of its own runs (`best_rows`), or of another parameter's.

        An encoder from elsewhere is judged here: ``run.status`` says whether it is stationary at this parameter, caps on |Z| and proven
        bounds are this parameter's. ``row`` is where it was found, ``found_at`` at which parameter. See `frontier/geometry.py`.
        """
        return list(self._answers)

    @cached_property
    def _answers(self) -> list[BestAnswer]:
        return best_answers(self.runs, self.best_rows())

    def best(self) -> pd.DataFrame:
        """The best encoder of each parameter, as a frame; the index is the row that `encoder` takes, ``found_at`` that run's parameter."""
        from .summary import runs_frame

        answers = self.best_answers()
        frame = runs_frame([(answer.row, answer.run) for answer in answers])
        frame["found_at"] = [answer.found_at for answer in answers]
        frame["chance_iyz_bits"] = math.nan
        if self.joint.counts is not None:
            chance = [chance_of(self.joint, answer.run.encoder if self.hides_y else None) for answer in answers]
            frame["chance_iyz_bits"] = [math.nan if one is None else bits(one) for one in chance]
        return frame

    def pareto_rows(self) -> list[int]:
        """Rows that no other dominates: for the bottleneck more I(Y;Z) at no more I(X;Z), for the funnel less I(Y;Z) at no less."""
        return pareto_rows(self.runs, self.hides_y)

    def pareto(self) -> pd.DataFrame:
        """The non-dominated runs, as a frame in the order of I(X;Z)."""
        return self.to_frame(self.pareto_rows())

    def encoder(self, row: int) -> Array:
        """p(z|x) of a run, yours to change."""
        return self.runs[row].encoder.copy()

    def solution(self, row: int) -> Solution:
        """A run, with all that a file has of it. Of a sweep, the best runs of each parameter and solver have a trace."""
        return replace(self.runs[row])

    def plot(
        self, ax: Axes | None = None, transitions: Sequence[Transition] | Literal["grid"] = (), **options: Any
    ) -> Axes:
        """The information plane: every run, the best of each parameter and the Pareto set; needs the extra [plot].

        ``transitions``, as `infoplane.transitions` returns them, are marked with their gammas; ``"grid"`` marks where the number of
        clusters changes between neighbouring parameters. Where runs have proven bounds, a band
        shows between which curves the frontier lies (`enclosure`). ``options`` are those of `plot_plane`: ``labels``, ``colours``,
        ``legend="outside"``, ``title``, ``size="column"``, ``enclosure=False``, ``bands``. In a notebook the Axes is shown as its picture.
        """
        from ..view.plot import plot_plane

        return plot_plane(self, ax, transitions, **options)

    def _repr_html_(self) -> str:
        names = self.runs[0].plane_names if self.runs else ("I(X;Z)", "I(Y;Z)")
        header = ("parameter", "loss [nats]", *(f"{name} [bits]" for name in names), "clusters", "status")
        best = [answer.run for answer in self.best_answers()]
        even = {round(i * (len(best) - 1) / (SHOWN_ROWS - 1)) for i in range(SHOWN_ROWS)} if best else set()
        shown = [best[i] for i in sorted(even)]
        rows = [
            (
                f"{run.parameter:.4g}",
                rounded(run.loss),
                *(rounded(bits(nats)) for nats in run.plane),
                str(run.clusters),
                run.status.name.lower().replace("_", " "),
            )
            for run in shown
        ]
        said = "".join(html_note(f"Caution: {one}") for one in self.cautions)
        if len(shown) < len(best):
            said += html_note(f"{len(shown)} of {counted(len(best), 'parameter')} shown; best() has all.")
        if not self.complete:
            said += html_note("Interrupted: only the parameters that were finished are here.")
        drawn = ""
        with suppress(MissingExtraError):  # no picture without matplotlib
            from ..view.drawing import picture
            from ..view.plot import plot_plane

            drawn = html_image(picture(plot_plane(self)), "information plane") if self.runs else ""
        return html_page(repr(self), drawn, html_table(header, rows, left=("status",)), said)

    def at(
        self,
        *,
        ixz_bits: float | None = None,
        iyz_bits: float | None = None,
        solver: Solver | str | None = None,
        max_iter: int = 20_000,
        tol: float = 1e-8,
        max_seconds: float = 20.0,
    ) -> Solution:
        """An encoder on the frontier with the given I(X;Z) or the given I(Y;Z), met to 1e-6 bits.

        A run that is there already is returned. On a straight piece, two runs are mixed, each with its own clusters (time sharing):
        both informations are then linear in the weight, so the target is met exactly. Elsewhere the parameter is refined,
        with its neighbours as starts. `Solution.solver` says which. See `frontier/target.py`.

        Parameters
        ----------
        ixz_bits, iyz_bits
            One of the two, in bits; outside of what the best runs reach it is refused, with the range.
        solver, max_iter, tol
            As in `solve`, for the parameters in between.
        max_seconds
            How long to refine. After that, or after Ctrl-C, the time sharing of the two nearest runs is returned. For a funnel
            ``iyz_bits`` is a cap: it is never exceeded.

        Examples
        --------
        >>> import infoplane as ip
        >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.2, 0.4], starts=2, rng=0)
        >>> s = f.at(iyz_bits=0.5)
        >>> round(bits(s.iyz), 5)
        0.5
        """
        from .target import at

        options = RunOptions(max_iter=max_iter, tol=tol)
        return at(self, {"ixz": ixz_bits, "iyz": iyz_bits}, solver, options, max_seconds)

    def enclosure(self) -> Enclosure:
        """The certified information plane: two curves, in bits, between which the frontier lies, between the runs too.

        Needs runs with proven bounds (``certify`` in `sweep`), of bottlenecks or of funnels. Every bound is a line that no encoder crosses,
        and mixtures of runs are reached by time sharing; see `frontier/geometry.py`. `plot` draws the two as a band.

        Examples
        --------
        >>> import infoplane as ip
        >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.2, 0.4, 0.8], certify=True)
        >>> found = f.enclosure()
        >>> found.gap_bits < 0.1, list(found.to_frame())
        (True, ['ixz_bits', 'iyz_low_bits', 'iyz_high_bits', 'gap_bits'])
        """
        return enclosure(self.joint, self.runs)

    def bands(
        self,
        *,
        confidence: float = 0.95,
        rng: int = 0,
        store: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Bands:
        """Between which values the *population's* frontier lies, as the joint's records tell; `enclosure` is about their table.

        A jackknife: ten sweeps over the same gammas, each without a tenth of the records (`sweep/records.py`). For bottlenecks of joints
        made of records, 12 or more per letter of X; fewer are refused. Pass what it returns to `plot`: ``f.plot(bands=f.bands())``.

        Parameters
        ----------
        confidence
            At each rate by itself, between 0.5 and 1.
        rng
            Seed of the groups, and of the sweeps.
        store
            A folder, with the store of each of the ten sweeps: the same call goes on where an earlier one ended.
        options
            Those of `sweep`: ``executor``, ``engine``, ``starts``, ``max_seconds``, ``progress``, ...

        Examples
        --------
        >>> import infoplane as ip
        >>> f = ip.sweep(ip.datasets.heart(), ip.bottleneck, [0.1, 0.2, 0.3])
        >>> found = f.bands()
        >>> bool((found.low_bits < found.high_bits).all()), list(found.to_frame())
        (True, ['ixz_bits', 'iyz_bits', 'iyz_centre_bits', 'iyz_low_bits', 'iyz_high_bits'])
        """
        from ..sweep.records import bands

        return bands(self, confidence, rng, store, options)

    def place(
        self,
        encoders: Any,
        *,
        counts: bool = False,
        axes: Literal["zx", "xz"] | None = None,
        tol: float = 1e-7,
        max_solves: int = 30,
        certify: bool | float = False,
        max_cells: int | None = None,
        max_seconds: float | None = None,
    ) -> pd.DataFrame:
        """How far given encoders are from this frontier, as `infoplane.efficiency` says it; what is known here is not solved again.

        With ``max_solves=0`` nothing is solved: epsilon is then as good as the grid, and lies above ``epsilon_proven_low_bits``.

        Examples
        --------
        >>> import infoplane as ip
        >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.2, 0.4])
        >>> f.place(["u", "v", "u"])[["ixz_bits", "epsilon_bits"]].round(4).values.tolist()
        [[0.9183, 0.001]]
        """
        from ..solvers.job import ProofOptions
        from ..systems.efficiency import known, place
        from ..systems.given import read_systems

        return place(
            known(self),
            read_systems(self.joint, encoders, counts, axes),
            tol=tol,
            max_solves=max_solves,
            proof=ProofOptions(certify, max_cells, max_seconds),
        ).to_frame()

    def suggest(
        self, notation: str = "gamma", *, by: str | None = None, max_iyz: float | None = None, rng: int = 0
    ) -> Suggestion:
        """Where to look on the frontier: the parameter that held-out records prefer, the knee, and the phase transitions on the grid.

        Parameters
        ----------
        notation
            With ``"beta"`` its sentences speak of beta = 1/gamma.
        by
            ``"held-out"``: five sweeps over the same parameters, each without a fifth of the records, on which its encoders are judged
            (`sweep/records.py`): ``parameter``, ``row`` and the whole ``curve`` of what it returns. ``"knee"``: the point that lies
            furthest from the chord, for which nothing is solved (`frontier/summary.py`). By default ``"held-out"`` where the joint is made
            of records, 10 at least, and the problem is no funnel, or ``max_iyz`` is given. Neither suggests a knee where the records
            support no difference between letters.
        max_iyz
            Of a funnel: a cap on the leakage, in nats. ``parameter`` is then the boldest whose encoders leak no more than that on held-out
            records, with 95% confidence at each; the curve is their leakage there.
        rng
            Seed of the parts.

        Examples
        --------
        >>> import infoplane as ip
        >>> f = ip.sweep(ip.datasets.heart(), ip.bottleneck, [0.05, 0.1, 0.2])
        >>> found = f.suggest()
        >>> found.parameter in (0.05, 0.1, 0.2), len(found.curve), f.suggest(by="knee").knee is None
        (True, 3, False)
        """
        from .summary import suggest

        check_one_of("by", by, ("held-out", "knee", None))
        if max_iyz is not None:
            max_iyz = cap_in_nats("max_iyz", max_iyz)
            if not self.hides_y or by == "knee":
                raise InvalidOptionError("max_iyz is the cap of a funnel, which held-out records choose by.")
        can = (self.joint.records or 0) >= LEAST_RECORDS
        if (by == "held-out" or max_iyz is not None) and not can:
            raise InvalidOptionError(
                "held-out records choose for a joint made of 10 records or more; for others say by='knee'."
            )
        plain = suggest(self, notation)
        if by == "held-out" or max_iyz is not None or (by is None and can and not self.hides_y):
            from ..sweep.records import chosen

            return chosen(self, plain, notation, rng, max_iyz)
        return plain

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        traces: bool = True,
        notation: str = "gamma",
    ) -> None:
        """Write one HTML file, under 1.5 MB, that needs nothing else: plane, encoders, traces, table; needs the extra [report].

        With ``traces``, the runs that kept a trace (of a sweep, the best of each parameter and solver) show how they converged. With
        ``notation="beta"`` bottlenecks are called by beta = 1/gamma.
        """
        from ..view.report.page import write_report

        write_report(self, path, title=title, traces=traces, notation=notation)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one .npz file, without pickle; the file appears only once it is whole."""
        from ..storage.archive import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Frontier:
        """Read what `save` wrote; opening a file never executes anything."""
        from ..storage.archive import load

        return load(path)
