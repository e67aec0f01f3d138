"""Figures, claims and verdicts. A claim is a question that runs answer; the verdict is computed from the answers, and is one of five:

| reproduced | it holds in the runs made in the authors' way |
| refuted | it holds neither in the authors' way nor with our steps, and one of them says so |
| not reproduced by us | the authors' way does not show it here: its runs stop elsewhere, or never leave their start |
| false by theorem | it contradicts a theorem, the paper's own or one of docs/explanation/theory.md; no run is needed |
| undecidable | no run that we could make decides it, or the statement leaves open what it is about |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from .drawing import Drawing, Row
from .methods import WAYS
from .pieces import Piece
from .runs import Runs
from .settings import Scale


class Judgement(Enum):
    """What the runs say of a claim in one way of running, or in several."""

    HOLDS = "holds"
    HOLDS_WITH_SOME = "holds with"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "not decided by these runs"
    NOT_ASKED = "not asked"


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
    def paper(self) -> Judgement:
        """What the runs in the paper's own way say: the headline."""
        return _judgement([self.first.holds])

    @property
    def paper_words(self) -> str:
        """The same as a reader sees it, with the open settings under which a claim that holds does not, or one holds that does not.

        What is not decided in the settings chosen is not said to fail because of others.
        """
        holds = self.paper is Judgement.HOLDS
        settings = [setting for setting in self.hangs_on if self.varied[setting].holds is (not holds)]
        return self.paper.value + (f"; {'not' if holds else 'holds'} with {', '.join(settings)}" if settings else "")

    @property
    def improved(self) -> Judgement:
        """What the runs with our improved steps and penalties say."""
        return _judgement([finding.holds for finding in self._ours.values()])

    @property
    def improved_words(self) -> str:
        """The same as a reader sees it, with the ways of running for which it holds and for which it does not."""
        if self.improved is not Judgement.HOLDS_WITH_SOME:
            return str(self.improved.value)
        others = [("not with", False), ("not decided with", None)]
        more = [f"; {words} {self._ways(answer)}" for words, answer in others if self._ways(answer)]
        return f"{self.improved.value} {self._ways(True)}{''.join(more)}"

    @property
    def _ours(self) -> dict[str, Finding]:
        """The findings of all ways but the paper's."""
        return dict(list(self.findings.items())[1:])

    def _ways(self, answer: bool | None) -> str:
        return ", ".join(self.claim.ways[way] for way, finding in self._ours.items() if finding.holds is answer)

    @property
    def hangs_on(self) -> list[str]:
        """Open settings under which the answer for the authors' way is another."""
        return [setting for setting, finding in self.varied.items() if finding.holds is not self.first.holds]


def all_of(answers: Sequence[bool | None]) -> bool | None:
    """One no decides, and so do all yes; else it is open."""
    return False if False in answers else None if None in answers else True


def _judgement(answers: Sequence[bool | None]) -> Judgement:
    """All yes: HOLDS. Some yes: HOLDS_WITH_SOME. No yes: one no decides."""
    if not answers:
        return Judgement.NOT_ASKED
    if True in answers:
        return Judgement.HOLDS if set(answers) == {True} else Judgement.HOLDS_WITH_SOME
    return Judgement.DOES_NOT_HOLD if False in answers else Judgement.UNDECIDED


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
