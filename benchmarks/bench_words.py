"""Hard clusters of words, and a cap on leakage on many letters: two cases that are hard for the default.

    python benchmarks/bench_words.py [--restarts 10] [--seconds 30] [--out FILE] [--table docs/benchmarks/words.md]

Words of 20 Newsgroups into 20 hard clusters, as deterministic bottleneck at gamma = 1e-4, against the best of sib-clustering's restarts
(pip install sib-clustering): bits kept, and processor seconds in this process, without compilation. Adult, education, marital status and
occupation by sex, 1,038 x 2: `funnel_at_leakage` at one cap, and at three caps, of which the middle one is the same.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.runtime.budget import one_blas_thread
from joints import ADULT, DATA, TOP_WORDS, WORDS, outside, words
from timing import checker, measured

GROUPS, GAMMA, SEEDS = 20, 1e-4, (0, 1)
SHARES = (0.02, 0.05, 0.1)
"""Caps, in shares of I(X;Y); the middle one is also asked for alone."""

verify = checker()


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    found = call()
    return found, time.process_time() - began


def clusters_of(joint: ip.Joint, restarts: int) -> list[dict[str, Any]]:
    """Bits and seconds of sib-clustering's best restart, and of the default with each seed."""
    from sib import SIB

    table = np.asarray(joint.p_xy)
    counts = np.rint(table / table[table > 0].min())
    rows = []

    def kept(name: str, W: np.ndarray, seconds: float) -> None:
        bits = verify.mutual_informations(table, W)[1] / np.log(2)
        rows.append({"letters": table.shape[0], "name": name, "bits": float(bits), "seconds": seconds})

    SIB(GROUPS, random_state=0, n_jobs=1, n_init=1, uniform_prior=False).fit(counts[:100])
    found, seconds = timed(
        lambda: SIB(GROUPS, random_state=0, n_jobs=1, n_init=restarts, uniform_prior=False).fit(counts)
    )
    kept(f"sib-clustering, best of {restarts}", np.eye(GROUPS)[:, found.labels_], seconds)
    problem = ip.deterministic_bottleneck(GAMMA)
    ip.solve(joint, problem, clusters=GROUPS, starts=1, rng=0)
    for seed in SEEDS:
        ours, seconds = timed(lambda seed=seed: ip.solve(joint, problem, clusters=GROUPS, rng=seed))
        if not np.isin(ours.encoder, (0.0, 1.0)).all():
            raise SystemExit("the clusters are not hard: nothing to compare")
        kept(f"infoplane, seed {seed}", ours.encoder, seconds)
    return rows


def adult_by_sex() -> ip.Joint:
    import pandas as pd

    frame = pd.read_csv(DATA / ADULT["medium"])
    return ip.Joint.from_frame(frame, x=["education", "marital_status", "occupation"], y=["sex"], weight="count")


def leakages(seconds: float) -> list[dict[str, Any]]:
    """I(X;Z) and beta at a cap, alone and beside two others."""
    joint = adult_by_sex()
    caps = [share * joint.mutual_information for share in SHARES]
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone, spent = timed(lambda: ip.funnel_at_leakage(joint, caps[1], max_seconds=seconds))
        rows.append(
            {
                "call": "one cap",
                "bits": alone.ixz / np.log(2),
                "beta": alone.beta,
                "seconds": spent,
                "gap": alone.gap,
            }
        )
        curve, spent = timed(lambda: ip.funnel_curve(joint, caps, max_seconds=seconds))
    middle = curve[1]
    rows.append(
        {
            "call": "three caps",
            "bits": middle.ixz / np.log(2),
            "beta": middle.beta,
            "seconds": spent,
            "gap": middle.gap,
        }
    )
    return rows


def measure(restarts: int = 10, seconds: float = 30.0) -> dict[str, Any]:
    """Both."""
    with one_blas_thread():
        found: list[dict[str, Any]] = []
        for file in (TOP_WORDS, WORDS):
            if outside(file, f"clusters of {file}"):
                found += clusters_of(words(file), restarts)
        caps = leakages(seconds) if outside(ADULT["medium"], "caps on Adult") else []
    return {"clusters": found, "caps": caps, "seconds": seconds}


def page(found: dict[str, Any]) -> str:
    lines = [
        "# Hard clusters of words, and a cap on leakage on many letters",
        "",
        f"Printed by `benchmarks/bench_words.py`. Words of 20 Newsgroups into {GROUPS} hard clusters (deterministic bottleneck,",
        f"gamma = {GAMMA:g}): how much of I(X;Y) they keep, and processor seconds.",
        "",
        "| words | | I(Y;Z), bits | seconds |",
        "|---|---|---|---|",
        *(
            f"| {one['letters']:,} | {one['name']} | {one['bits']:.6f} | {one['seconds']:.1f} |"
            for one in found["clusters"]
        ),
        "",
        "Adult, education, marital status and occupation (1,038) by sex (2): I(X;Z) under a cap on I(Y;Z) of "
        f"{SHARES[1]:.0%} of I(X;Y),",
        f"{found['seconds']:g} s for each cap, alone and beside caps of {SHARES[0]:.0%} and {SHARES[2]:.0%}; beta is the frontier's slope.",
        "",
        "| call | I(X;Z), bits | beta | gap, nats | seconds |",
        "|---|---|---|---|---|",
        *(
            f"| {one['call']} | {one['bits']:.4f} | {one['beta']:.4g} | {one['gap']:.1e} | {one['seconds']:.1f} |"
            for one in found["caps"]
        ),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    measured("words", measure, page, restarts=10, seconds=30.0)
