"""What the default solver finds, as a fallback of searches that a limit, or the user, may cut short: no answer is worse.

The default's effort is bounded by work (`portfolio`), so that it may run whatever the limits of a search are.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..information import Array
from ..joint.support import Support
from ..problem import MarkovLagrangian
from .base import BlockPace, losses_of
from .portfolio import Portfolio
from .starts import default_clusters, default_init, make_starts, seed_sequence
from .stopping import Stopping

STARTS, ITERATIONS = 16, 20_000
"""The default solver's starts, and their iterations at most."""


class Fallback(NamedTuple):
    """An encoder, and whether the user did not wait for it to be the default's."""

    encoder: Array
    interrupted: bool


def default_encoder(support: Support, problem: MarkovLagrangian, stopping: Stopping) -> Generator[None, None, Fallback]:
    """The encoder that `solve` finds by default, from its own starts and seed 0; after Ctrl-C the best by then."""
    solver, letters = Portfolio(), len(support.p_x)
    most = stopping.most_clusters(letters)
    rows = default_clusters(letters, len(support.p_y)) if most == letters else most
    useful = solver.useful_starts(support, problem, rows, STARTS)
    starts = make_starts(support.joint, rows, useful, seed_sequence(0), default_init(problem))
    batch = solver.begin(support, [problem] * len(starts), starts, replace(stopping, max_iter=ITERATIONS), False)
    pace, interrupted = BlockPace(), False
    try:
        while pace.advance(batch):
            yield
    except KeyboardInterrupt:
        interrupted = True
    encoders = [run.encoder for run in batch.runs()] or [starts[0]]
    return Fallback(encoders[int(np.argmin(losses_of(support, problem, encoders)))], interrupted)
