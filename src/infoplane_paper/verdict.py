"""Figures, claims and verdicts. A claim is a question that runs answer; the verdict is computed from the answers, and is one of five:

| reproduced | it holds in the runs made in the authors' way |
| refuted | it holds neither in the authors' way nor with our steps, and one of them says so |
| not reproduced by us | the authors' way does not show it here: its runs stop elsewhere, or never leave their start |
| false by theorem | it contradicts a theorem, the paper's own or one of docs/explanation/theory.md; no run is needed |
| undecidable | no run that we could make decides it, or the statement leaves open what it is about |

Questions are put to `Runs`: the numbers of a figure's pieces by name, as chosen or under another value of a setting that the paper leaves
open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from .drawing import Drawing, Row
from .pieces import SMOOTHED, WAYS, Certified, Merges, Piece, Private, Starts, Sweep
from .points import Arrays, Points
from .settings import Scale

QUARTER = "a quarter of the iteration limit"
"""Needs no runs of its own: those that took longer count as divergent."""

SEPARATOR = " | "
"""Between a piece's name and the setting that is varied in it."""

SMOOTHING = "smoothing on probabilities"

SCRIPTS_ORDER = "the order of the published scripts"
"""The variational formulations in the order of Solver I."""


def varied(name: str, setting: str) -> str:
    """The name of a piece that is run under another setting."""
    return f"{name}{SEPARATOR}{setting}"


def with_other_settings(
    pieces: Sequence[Piece], scale: Scale, trials: int, *, penalties: bool = False, clusters: Sequence[int] = ()
) -> list[Piece]:
    """The gradient sweeps among the pieces again under other settings; on the heart data also the references, smoothed in the other way.

    ``penalties``: the paper does not give c, so it is varied too. ``clusters``: other numbers of clusters.
    """
    if not scale.sensitivity:
        return []
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Sweep) and piece.method.kind == "gradient":
            fewer = replace(piece, trials=min(trials, piece.trials))
            others = _others(fewer, penalties, clusters)
            found += [replace(one, name=varied(piece.name, setting)) for setting, one in others]
        elif isinstance(piece, Certified | Merges | Private | Starts) and piece.joint == "heart":
            found.append(replace(piece, name=varied(piece.name, SMOOTHING), joint=SMOOTHED))
    return found


def _others(sweep: Sweep, penalties: bool, clusters: Sequence[int]) -> Iterator[tuple[str, Sweep]]:
    method = sweep.method
    for step in (1.0, 0.001):
        yield f"first step {step:g}", replace(sweep, method=replace(method, first_step=step))
    for factor in (0.25, 4.0) if penalties else ():
        yield f"{factor:g} times c", replace(sweep, method=replace(method, penalty=factor * method.penalty))
    yield "near-deterministic starts", replace(sweep, init="near-deterministic")
    for count in clusters:
        yield f"|Z| = {count}", replace(sweep, clusters=count)
    if method.solver.endswith("v"):
        yield SCRIPTS_ORDER, replace(sweep, method=replace(method, order="I"))
    if sweep.joint == "heart":
        yield SMOOTHING, replace(sweep, joint=SMOOTHED)


@dataclass(frozen=True)
class Runs:
    """What a figure is drawn from and its claims are judged by."""

    pieces: Mapping[str, Piece]
    arrays: Mapping[str, Arrays]
    setting: str | None = None
    """The open setting that is varied; None for the values chosen."""

    @cached_property
    def settings(self) -> list[str]:
        """The settings that were varied in this figure."""
        found = dict.fromkeys(name.partition(SEPARATOR)[2] for name in self.pieces if SEPARATOR in name)
        return [QUARTER, *found] if found else []

    def under(self, setting: str) -> Runs:
        """The same figure; where a piece was also run under that setting, the name of the piece gives those numbers."""
        return replace(self, setting=setting)

    def _name(self, name: str) -> str:
        other = varied(name, self.setting or "")
        return other if other in self.pieces else name

    def piece(self, name: str) -> Piece:
        """The description of a piece."""
        return self.pieces[self._name(name)]

    def __getitem__(self, name: str) -> Arrays:
        """The numbers of a piece."""
        return self.arrays[self._name(name)]

    def points(self, name: str) -> Points:
        """The runs of a sweep, or of a certified one."""
        points, piece = Points(**self[name]), self.piece(name)
        if self.setting == QUARTER and isinstance(piece, Sweep):
            return points.within(piece.method.max_iter / 4)
        return points


class RunWhenAsked(dict[str, Arrays]):
    """The numbers of pieces by name; a piece is run when its numbers are asked for."""

    def __init__(self, pieces: Mapping[str, Piece]) -> None:
        self.pieces = pieces

    def __missing__(self, name: str) -> Arrays:
        self[name] = self.pieces[name].run()
        return self[name]


@dataclass(frozen=True)
class Finding:
    """One answer: yes, no, or None where the runs do not decide; with its numbers."""

    holds: bool | None
    said: str
    """One sentence with the numbers and their unit."""
    evidence: tuple[str, ...] = ()
    """Names of the pieces that it rests on."""

    def on(self, *names: str) -> Finding:
        """The finding with the names of the pieces that it rests on."""
        return replace(self, evidence=names)

    @property
    def answer(self) -> str:
        """The answer in words."""
        return {True: "yes", False: "no", None: "not decided"}[self.holds]

    @property
    def words(self) -> str:
        """The answer and its numbers, as the report has them."""
        return f"{self.answer}; {self.said}."


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and how to ask runs whether it is so.

    ``ask(runs, way)`` answers for one way of running. ``ways`` has the ways to ask for, each with the words that follow
    "holds with" in a verdict; the first is the paper's, the others are ours.
    """

    key: str
    text: str
    ask: Callable[[Runs, str], Finding]
    ways: Mapping[str, str] = field(default_factory=lambda: WAYS)
    where: str = ""
    """Where the paper says it, if it is not where the figure stands."""
    theorem: str = ""
    """Why it is false, if a theorem says so; the runs then only illustrate it."""
    undecidable: str = ""
    """Why no run can decide it."""
    stuck: str = ""
    """Why runs in the authors' way that do not show it do not refute it."""
    of_paper: bool = True
    """Whether the paper says it; else it is about our own runs, and is not counted."""


@dataclass(frozen=True)
class Figure:
    """One figure of the paper's evaluation, or one of its theorems: the pieces it needs, its picture, its table, and its claims."""

    name: str
    title: str
    paper: str
    """What the paper says it shows."""
    where: str
    """Where it does."""
    pieces: Callable[[Scale], Sequence[Piece]]
    table: Callable[[Runs], Sequence[Row]]
    claims: tuple[Claim, ...]
    see: str
    """One sentence below the picture that says what to see in it."""
    draw: Callable[[Runs], Drawing] | None = None
    """The picture from the runs, where the table does not suffice."""
    redraw: Callable[[Sequence[Row]], Drawing] | None = None
    """The picture from the table alone, where it does; every figure has one of the two."""


SAYS = {True: "holds", False: "does not hold", None: "not decided by these runs"}
"""What runs say of a claim."""


@dataclass(frozen=True)
class Verdict:
    """A claim with its answers."""

    claim: Claim
    findings: Mapping[str, Finding]
    varied: Mapping[str, Finding] = field(default_factory=dict)
    """Answers for the authors' way under other open settings."""

    @property
    def first(self) -> Finding:
        """The answer in the paper's own way."""
        return next(iter(self.findings.values()))

    @property
    def paper_words(self) -> str:
        """What the runs in the paper's way say, and the open settings under which what holds does not, or what does not hold does.

        What is not decided in the settings chosen is not said to fail because of others.
        """
        holds = self.first.holds is True
        settings = [setting for setting in self.hangs_on if self.varied[setting].holds is (not holds)]
        return SAYS[self.first.holds] + (
            f"; {'not' if holds else 'holds'} with {', '.join(settings)}" if settings else ""
        )

    @property
    def improved_words(self) -> str:
        """What the runs with our steps and penalties say; if they hold in some ways only, in which, and in which not."""
        ours = dict(list(self.findings.items())[1:])
        answers = {finding.holds for finding in ours.values()}
        if True not in answers or len(answers) == 1:
            return SAYS[all_of([*answers])] if answers else "not asked"
        said = []
        for words, answer in (("holds with", True), ("not with", False), ("not decided with", None)):
            ways = [self.claim.ways[way] for way, finding in ours.items() if finding.holds is answer]
            said += [f"{words} {', '.join(ways)}"] if ways else []
        return "; ".join(said)

    @property
    def hangs_on(self) -> list[str]:
        """Open settings under which the answer for the authors' way is another."""
        return [setting for setting, finding in self.varied.items() if finding.holds is not self.first.holds]


def all_of(answers: Sequence[bool | None]) -> bool | None:
    """One no decides, and so do all yes; else it is open."""
    return False if False in answers else None if None in answers else True


def judge(claim: Claim, runs: Runs) -> Verdict:
    """Ask for every way of running, and for the first also under every other setting that was run."""
    findings = {way: claim.ask(runs, way) for way in claim.ways}
    first = next(iter(claim.ways))
    varied = {setting: claim.ask(runs.under(setting), first) for setting in runs.settings}
    return Verdict(claim, findings, varied)


class Outcome(Enum):
    """The five verdicts of the report."""

    REPRODUCED = "reproduced"
    REFUTED = "refuted"
    NOT_REPRODUCED = "not reproduced by us"
    FALSE = "false by theorem"
    UNDECIDABLE = "undecidable"


def outcome(verdict: Verdict) -> tuple[Outcome, str]:
    """The verdict on a claim, and why."""
    claim, holds = verdict.claim, verdict.first.holds
    ours = [finding.holds for finding in list(verdict.findings.values())[1:]]
    if claim.theorem:
        return Outcome.FALSE, claim.theorem
    if claim.undecidable:
        return Outcome.UNDECIDABLE, claim.undecidable
    if holds is True:
        return Outcome.REPRODUCED, _hanging(verdict)
    if claim.stuck:
        return Outcome.NOT_REPRODUCED, claim.stuck
    if holds is False and False in ours and True not in ours:
        return Outcome.REFUTED, "It holds neither in the authors' way nor with our steps."
    if True in ours:
        return Outcome.NOT_REPRODUCED, "The authors' way does not show it; our steps do."
    if False in ours:
        return Outcome.NOT_REPRODUCED, "The authors' way does not get there; with our steps it is not so."
    if holds is False:
        return Outcome.NOT_REPRODUCED, "The authors' way shows the contrary; our steps do not decide."
    return Outcome.UNDECIDABLE, "The runs do not decide, in any way of running."


def _hanging(verdict: Verdict) -> str:
    """Under which other settings, of those that the paper leaves open, a claim that holds does not."""
    if "formula" in verdict.findings:
        return f"It holds with {verdict.claim.ways['formula']}, for which no run is needed; the runs say: {verdict.improved_words}."
    if not verdict.varied:
        return "It holds in the runs made in the authors' way."
    against = [setting for setting in verdict.hangs_on if verdict.varied[setting].holds is False]
    if against:
        return f"It holds with the settings chosen, and not with {', '.join(against)} (2 to 5 starts)."
    return "It holds with the settings chosen, and no other setting that was tried (2 to 5 starts) says no."


def counted(verdicts: Iterable[Verdict]) -> Counter[Outcome]:
    """How many of the paper's claims came to what."""
    return Counter(outcome(one)[0] for one in verdicts if one.claim.of_paper)
