"""The report on three pages: every claim of the paper with its number, one of five verdicts, and why; the rest is in the appendices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import infoplane as ip

from .blocks import Block, beside, heading, picture, table, text
from .outcome import Outcome, counted, outcome
from .settings import SEED
from .verdict import Figure, Verdict

TITLE = "The paper, claim by claim"

WORDS = {
    Outcome.REPRODUCED: "it holds in the runs made in the authors' way (their step, stopping rule and published details)",
    Outcome.REFUTED: "it holds neither in their way nor with our steps",
    Outcome.NOT_REPRODUCED: "their way does not show it here; that may be us",
    Outcome.FALSE: "it contradicts a theorem, so that no run is needed",
    Outcome.UNDECIDABLE: "no run that we could make decides it",
}

SAID = 230
"""Characters of a finding that the summary shows; the appendix has all of it."""


def count_words(verdicts: Sequence[Verdict]) -> str:
    """How many claims came to what, in words."""
    counts = counted(verdicts)
    return ", ".join(f"{counts[one]} {one.value}" for one in Outcome)


def summary(figures: Sequence[Figure], verdicts: Mapping[str, Sequence[Verdict]], scale: str, out: Path) -> list[Block]:
    """The three pages as blocks; ``out`` has the pictures."""
    every = [one for found in verdicts.values() for one in found]
    claims = sum(one.claim.of_paper for one in every)
    blocks: list[Block] = [
        heading(1, TITLE),
        text(
            "Huang, El Gamal, El Gamal: A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian Information-Theoretic "
            f"Optimization Problems; `infoplane reproduce`, {scale} run, seed {SEED}, infoplane {ip.__version__}. "
            f"**Of {claims} claims: {count_words(every)}.**"
        ),
        table(("verdict", "it means"), [(one.value, words) for one, words in WORDS.items()]),
        text(
            '"The authors\' way" means one thing throughout: one mean-subtracted gradient step per block, back-tracking and stopping as '
            "in their published scripts, with the c and alpha of the paper (gradient). Beside it stand our steps at the paper's c "
            "(majorise) and with the automatic penalty (auto), which stop at stationary points only; linear rates are those of exact "
            "argmins (exact). Informations and losses are in bits. W = p(z|x); I(X;Z), I(Y;Z) are the axes of a plane; c is the penalty, "
            "alpha the relaxation; L* the lowest loss of all runs. Other settings, which the paper leaves open, were tried with 2 to 5 "
            "starts each: what hangs on them is in the appendices, one a figure, with all numbers, tables and the calls that repeat "
            "them, and in [the one on settings](appendix-settings.md)."
        ),
    ]
    for figure in figures:
        if figure.name not in verdicts:
            continue
        blocks += [
            heading(2, figure.title),
            text(f"{figure.where}. {figure.paper} [Appendix](appendix-{figure.name}.md)."),
        ]
        claims_of = table(("claim", "number (authors' way)", "verdict", "why"), map(_row, verdicts[figure.name]))
        drawn = out / f"{figure.name}.png"
        blocks.append(
            beside([picture(drawn, figure.title), text(figure.see)], claims_of) if drawn.exists() else claims_of
        )
    return blocks


def _row(verdict: Verdict) -> tuple[str, str, str, str]:
    found, why = outcome(verdict)
    said = verdict.first.said
    short = said if len(said) <= SAID else said[: SAID - 4].rsplit(" ", 1)[0] + " ..."
    mark = found.value if verdict.claim.of_paper else f"({found.value}; of our own runs, not counted)"
    return verdict.claim.text, short, mark, why
