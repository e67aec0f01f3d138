"""What came of a claim, in one of five words, with one sentence why.

| reproduced | it holds in the runs made in the authors' way |
| refuted | it holds neither in the authors' way nor with our steps, and one of them says so |
| not reproduced by us | the authors' way does not show it here: its runs stop elsewhere, or never leave their start |
| false by theorem | it contradicts a theorem, the paper's own or one of docs/explanation/theory.md; no run is needed |
| undecidable | no run that we could make decides it, or the statement leaves open what it is about |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum

from .verdict import Verdict


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
