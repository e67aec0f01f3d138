"""
Release risk factors, hide sex and death
========================================

For a table of heart patients: caps, their cost, rows that are released, and an audit to sign. With a cap on the average alone a
single released value may tell much; a cap on every released value costs little here.

*You will know at the end*: how to choose caps, how to release rows so that a second release tells nothing new, and what a
reviewer can ask about values, records and columns.

*Added in 0.1.0.*
"""

from __future__ import annotations

import math
import secrets
from pathlib import Path

import numpy as np
import pandas as pd

import infoplane as ip
from infoplane.view.pages import audit_page

BIT = math.log(2)
heart = ip.datasets.heart()
counts = np.rint(heart.p_xy * 299).astype(int)  # one row for each of the 299 patients, without the smoothing
rows = pd.DataFrame(
    [(x, y) for i, x in enumerate(heart.x_labels) for j, y in enumerate(heart.y_labels) for _ in range(counts[i, j])],
    columns=["risk_factors", "outcome"],
)
rows["patient"] = [f"patient {i}" for i in range(len(rows))]
joint = ip.Joint.from_frame(rows, "risk_factors", "outcome", smoothing=1e-3)
print(joint)

# %%
# What a cap on every released value costs, together with 0.01 bits on average: almost nothing at 0.4 bits. With the average
# alone, a single released value makes an outcome more likely by 0.64 bits.

costs = ip.release_frontier(joint, [0.01 * BIT], [cap * BIT for cap in (0.4, 0.3, 0.2, 0.1)], rng=0)
shown = ["max_lift_bits", "ixz_bits", "gap_bits", "worst_lift_bits", "least_lift_bits", "cost_bits"]
print(costs.to_frame()[shown].to_string())

# %%
# The release with both caps, applied to rows. With an id and a key, which is stored separately, the same record always gets
# the same value.

kept = ip.release_mechanism(joint, max_leakage=0.01 * BIT, max_lift=0.4 * BIT, rng=0)
print(kept)
key = secrets.token_bytes(32)
z = kept.transform(rows, ids="patient", key=key)
assert z.equals(kept.transform(rows, ids="patient", key=key))
print(z.value_counts().head())

# %%
# The audit in sentences, and as a page to sign.

checked = ip.audit(joint, kept)
for sentence in checked.sentence:
    print("-", sentence)
Path("review.html").write_bytes(
    audit_page(joint, kept, checked, "Risk factors of heart patients", str(kept).splitlines())
)

# %%
# About whom is most told? A row for each kind of record, worst first: what its released value tells of its own outcome.

print(ip.audit(joint, kept, by="record").head().round(3).to_string(index=False))

# %%
# And a row for each value of what is released: how much is told of those patients, and how much is kept of the value.

print(ip.audit(joint, kept, by="attribute").head().round(3).to_string(index=False))

# %%
# The cost of a cap on every released value, as a picture.

ax = costs.plot()
ax.figure.savefig("release_costs.png", dpi=200)
