"""What slots are worth: proofs of the funnel with slots and with boxes only.

    python benchmarks/bench_slots.py [--seconds 40] [--out FILE] [--table docs/benchmarks/slots.md]

Every proof begins from nothing (a constant Z), processor time of one thread, compiled code warm; the two ways take turns in one process.
Slots stay in the package because they gain a factor of two or more on at least two of the real joints.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.posterior import programme as channel
from joints import ADULT, DATA, compas, outside, random_joint
from timing import measured

BETAS = (1.5, 3.5, 10.0)


def of_adult(size: str, x: list[str], y: list[str]) -> ip.Joint:
    """A table of Adult, summed over the other columns."""
    import pandas as pd

    table = pd.read_csv(DATA / ADULT[size], keep_default_na=False)
    return ip.Joint.from_frame(table, x=x, y=y, weight="count")


def cases() -> Iterator[tuple[str, Callable[[], ip.Joint]]]:
    """Joints with rank(T) <= 4, real ones first."""
    yield "heart", ip.datasets.heart
    if outside(ADULT["medium"], "Adult, sex and income"):
        both = ["sex", "income"]
        yield "Adult: marital status, occupation", lambda: of_adult("medium", ["marital_status", "occupation"], both)
        yield "Adult: education, occupation", lambda: of_adult("medium", ["education", "occupation"], both)
    if outside(ADULT["small"], "Adult, sex"):
        yield "Adult: education, occupation; sex", lambda: of_adult("small", ["education", "occupation"], ["sex"])
    if outside("compas_charge_recid.csv", "compas"):
        yield "compas", compas
    for kind, n in (("smooth", 100), ("peaked", 300)):
        yield f"random, {kind}", lambda kind=kind, n=n: random_joint(kind, n, 3, np.random.default_rng(n))


def proof(joint: ip.Joint, beta: float, slots: bool, seconds: float) -> dict[str, Any]:
    """One proof; whatever the joint's size, by slots or by boxes."""
    before = channel.SLOTS_RANK, channel.SLOTS_LETTERS
    channel.SLOTS_RANK, channel.SLOTS_LETTERS = (4, 0) if slots else (0, 0)
    try:
        began = time.process_time()
        found = ip.certify(joint, ip.funnel(beta), np.ones((1, joint.shape[0])), max_cells=2**40, max_seconds=seconds)
        return {"seconds": time.process_time() - began, "cells": found.cells, "left": found.left}
    finally:
        channel.SLOTS_RANK, channel.SLOTS_LETTERS = before


def measure(seconds: float) -> list[dict[str, Any]]:
    """All joints at all betas."""
    warnings.simplefilter("ignore")  # that it may take long
    for slots in (False, True):
        proof(ip.datasets.heart(), 3.5, slots, 60.0)  # compiles
    rows = []
    for name, make in cases():
        joint = make()
        for beta in BETAS:
            ways = {way: proof(joint, beta, way == "slots", seconds) for way in ("boxes", "slots")}
            rows.append({"joint": name, "shape": list(joint.shape), "beta": beta, **ways})
            print(rows[-1], flush=True)
    return rows


def shown(way: dict[str, Any]) -> str:
    """Seconds, or that it did not end."""
    return f"{way['seconds']:.2f}" if not way["left"] else f"> {way['seconds']:.2f}"


def table(rows: list[dict[str, Any]]) -> str:
    """The page."""
    lines = [
        "# Slots beside boxes",
        "",
        "Printed by `benchmarks/bench_slots.py`: a proof of the funnel from a constant Z, processor seconds and cells. *>*: it did not end",
        "within the time limit, on two cores with up to eight other jobs. The package uses slots up to rank 4, from 20 letters on.",
        "",
        "| joint | letters | beta | boxes: seconds | cells | slots: seconds | cells | boxes / slots |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        boxes, slots = row["boxes"], row["slots"]
        ratio = "" if slots["left"] else f"{'> ' if boxes['left'] else ''}{boxes['seconds'] / slots['seconds']:.1f}"
        lines.append(
            f"| {row['joint']} | {row['shape'][0]} x {row['shape'][1]} | {row['beta']:g} | {shown(boxes)} | {boxes['cells']:,} | "
            f"{shown(slots)} | {slots['cells']:,} | {ratio} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measured("slots", measure, table, seconds=40.0)
