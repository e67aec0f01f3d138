"""
Release risk factors, hide sex and death
========================================

Of heart patients: caps, their price, rows that are released, and an audit to sign.

The cap on the average alone lets single released values tell much; a worst case costs little here.
"""

from __future__ import annotations

import math
import secrets
from pathlib import Path

import numpy as np
import pandas as pd

import infoplane as ip
from infoplane.view.audit_page import audit_page

BIT = math.log(2)


def patients() -> pd.DataFrame:
    """One row for each of the 299 patients, as the table of the data set has them."""
    joint = ip.datasets.heart()
    counts = np.rint(joint.p_xy * 299).astype(int)  # without the smoothing
    rows = [
        (x, y) for i, x in enumerate(joint.x_labels) for j, y in enumerate(joint.y_labels) for _ in range(counts[i, j])
    ]
    frame = pd.DataFrame(rows, columns=["risk_factors", "outcome"])
    return frame.assign(patient=[f"patient {i}" for i in range(len(frame))])


def main() -> None:
    rows = patients()
    joint = ip.Joint.from_frame(rows, "risk_factors", "outcome", smoothing=1e-3)
    found = ip.release_frontier(joint, [0.01 * BIT], [0.4 * BIT, 0.2 * BIT], rng=0)
    print(
        found.to_frame()[["max_lift_bits", "ixz_bits", "gap_bits", "worst_lift_bits", "least_lift_bits", "cost_bits"]]
    )
    found.plot().figure.savefig("release_costs.png")

    kept = ip.release_mechanism(joint, max_leakage=0.01 * BIT, max_lift=0.4 * BIT, rng=0)
    print(kept)
    key = secrets.token_bytes(32)  # kept apart from what is released
    z = kept.transform(rows, ids="patient", key=key)
    assert z.equals(kept.transform(rows, ids="patient", key=key))  # the same record, the same value
    print(z.value_counts().head())

    checked = ip.audit(joint, kept)
    for sentence in checked.sentence:
        print("-", sentence)
    Path("review.html").write_bytes(
        audit_page(joint, kept, checked, "Risk factors of heart patients", str(kept).splitlines())
    )


if __name__ == "__main__":
    main()
