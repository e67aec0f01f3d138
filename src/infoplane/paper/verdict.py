"""Claims and verdicts. A claim is a question that runs answer; the verdict is computed from the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from .runs import Runs


class Judgement(Enum):
    """What the runs say of a claim."""

    HOLDS = "holds"
    HOLDS_WHERE_DECIDED = "holds with"
    HOLDS_ONLY = "holds only with"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "not decided by these runs"


@dataclass(frozen=True)
class Evidence:
    """A call that repeats runs which an answer rests on."""

    said: str
    """The name of the piece."""
    call: str
    """The Python that repeats it."""


@dataclass(frozen=True)
class Finding:
    """One answer: yes, no, or None where the runs do not decide; with its numbers."""

    holds: bool | None
    said: str
    """One sentence with the numbers and their unit."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and how to ask runs whether it is so.

    ``ask(runs, way)`` answers for one way of running. ``ways`` has the ways to ask for, each with the words that follow
    "holds only with" in a verdict; the first is the paper's.
    """

    key: str
    text: str
    where: str
    """Where the paper says it."""
    ask: Callable[[Runs, str], Finding]
    ways: Mapping[str, str]


@dataclass(frozen=True)
class Verdict:
    """A claim with its answers."""

    claim: Claim
    findings: Mapping[str, Finding]
    varied: Mapping[str, Finding] = field(default_factory=dict)
    """Answers for the paper's way under other open settings."""

    @property
    def judgement(self) -> Judgement:
        """Yes for every way: HOLDS. Yes for some: it depends on whether the others are no or undecided. No yes: one no decides."""
        answers = {finding.holds for finding in self.findings.values()}
        if True in answers:
            if False in answers:
                return Judgement.HOLDS_ONLY
            return Judgement.HOLDS_WHERE_DECIDED if None in answers else Judgement.HOLDS
        return Judgement.DOES_NOT_HOLD if False in answers else Judgement.UNDECIDED

    @property
    def words(self) -> str:
        """The judgement as a reader sees it, with the ways of running for which it holds."""
        words: str = self.judgement.value
        if self.judgement in (Judgement.HOLDS_ONLY, Judgement.HOLDS_WHERE_DECIDED):
            words += f" {self._ways(True)}"
        if self.judgement is Judgement.HOLDS_WHERE_DECIDED:
            words += f"; not decided with {self._ways(None)}"
        return words

    def _ways(self, answer: bool | None) -> str:
        return ", ".join(self.claim.ways[way] for way, finding in self.findings.items() if finding.holds is answer)

    @property
    def hangs_on(self) -> list[str]:
        """Open settings under which the answer for the paper's way is another."""
        base = next(iter(self.findings.values())).holds
        return [setting for setting, finding in self.varied.items() if finding.holds is not base]


def with_evidence(finding: Finding, runs: Runs, *names: str) -> Finding:
    """The finding with the calls that repeat the named pieces, which it rests on."""
    calls = [(name, getattr(runs.piece(name), "call", None)) for name in names]
    return replace(finding, evidence=tuple(Evidence(name, call()) for name, call in calls if call is not None))


def judge(claim: Claim, runs: Runs) -> Verdict:
    """Ask for every way of running, and for the first also under every other setting that was run."""
    findings = {way: claim.ask(runs, way) for way in claim.ways}
    first = next(iter(claim.ways))
    varied = {setting: claim.ask(runs.under(setting), first) for setting in runs.settings}
    return Verdict(claim, findings, varied)
