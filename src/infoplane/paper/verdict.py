"""Claims and verdicts. A claim is a question put to runs; the verdict follows from the answers, and nothing in it is typed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from .runs import Runs


class Outcome(Enum):
    """What the runs say of a claim."""

    HOLDS = "holds"
    HOLDS_WHERE_DECIDED = "holds with"
    HOLDS_ONLY = "holds only with"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "not decided by these runs"


@dataclass(frozen=True)
class Evidence:
    """A run that anyone can repeat."""

    said: str
    """What it shows."""
    call: str
    """The Python that repeats it."""


@dataclass(frozen=True)
class Finding:
    """One answer: yes, no, or None where the runs do not reach the question; with its numbers."""

    holds: bool | None
    said: str
    """One sentence with the numbers and their unit."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and how to ask runs whether it is so.

    ``ask(runs, way)`` answers for one way of running; ``ways`` maps its key to the words that "holds only with" is followed by.
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
    def outcome(self) -> Outcome:
        """HOLDS if every way says so; if only some do, it matters whether the others say no; without a yes, one no decides."""
        answers = {finding.holds for finding in self.findings.values()}
        if True in answers:
            if False in answers:
                return Outcome.HOLDS_ONLY
            return Outcome.HOLDS_WHERE_DECIDED if None in answers else Outcome.HOLDS
        return Outcome.DOES_NOT_HOLD if False in answers else Outcome.UNDECIDED

    @property
    def words(self) -> str:
        """The outcome as a reader sees it."""
        outcome: str = self.outcome.value
        if self.outcome in (Outcome.HOLDS_ONLY, Outcome.HOLDS_WHERE_DECIDED):
            outcome += f" {self._ways(True)}"
        if self.outcome is Outcome.HOLDS_WHERE_DECIDED:
            outcome += f"; not decided with {self._ways(None)}"
        return outcome

    def _ways(self, answer: bool | None) -> str:
        return ", ".join(self.claim.ways[way] for way, finding in self.findings.items() if finding.holds is answer)

    @property
    def hangs_on(self) -> list[str]:
        """Open settings under which the answer for the paper's way would be another."""
        base = next(iter(self.findings.values())).holds
        return [setting for setting, finding in self.varied.items() if finding.holds is not base]


def judge(claim: Claim, runs: Runs) -> Verdict:
    """Ask for every way of running; and, for the first, under every other setting that was run."""
    findings = {way: claim.ask(runs, way) for way in claim.ways}
    first = next(iter(claim.ways))
    varied = {setting: claim.ask(runs.under(setting), first) for setting in runs.settings}
    return Verdict(claim, findings, varied)
