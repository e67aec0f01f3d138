"""
How many groups of 4,000 job titles?
====================================

A column with thousands of values, and a class that they predict. Few groups lose what it predicts; many groups fit
the noise of titles that occur twice. How many do the records support?

*For analysts. You will know at the end*: that by the table alone more groups always look better, that held-out records
disagree, and which call uses them.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import infoplane as ip
from infoplane.information import plane_point

# %%
# A table
# -------
# 40,000 people in 4,000 jobs, most of them rare, and what they earn in four classes. It is invented, so that the truth
# is known: a title is one of five kinds.

rng = np.random.default_rng(0)
kinds = np.array(
    [[0.55, 0.30, 0.10, 0.05], [0.30, 0.40, 0.20, 0.10], [0.15, 0.30, 0.35, 0.20], [0.05, 0.15, 0.35, 0.45], [0.40, 0.05, 0.05, 0.50]]
)  # fmt: skip
title = (4000 * rng.random(40_000) ** 2.5).astype(int)
kind = rng.integers(0, 5, 4000)[title]
earned = (kinds[kind].cumsum(axis=1) < rng.random(40_000)[:, None]).sum(axis=1)
people = pd.DataFrame({"job": [f"title {one}" for one in title], "income": np.array(list("abcd"))[earned]})
joint = ip.Joint.from_frame(people, "job", "income")
print(joint)
print(f"seen at most five times: {(people.job.value_counts() <= 5).sum():,} of {people.job.nunique():,} titles")

# %%
# What the table says, and what the records support
# -------------------------------------------------
# The best groups for every number of them: of the table as it stands, and of the table without what chance alone
# would show.

supported = joint.denoised()
print(supported.denoising)
raw = ip.partition_curve(joint, clusters=12).to_frame()
clean = ip.partition_curve(supported, clusters=12).to_frame()

# %%
# The test: other people
# ----------------------
# The truth is known here, so that every grouping can be judged on the population itself: p(y|x) of the kinds, with
# the titles' shares.

at = [int(str(label).split()[1]) for label in joint.x_labels]
kind_of_title = dict(zip(title.tolist(), kind.tolist(), strict=True))
truth = ip.Joint.from_conditional(joint.p_x, kinds[[kind_of_title[one] for one in at]])


def told(table: ip.Joint, clusters: int) -> float:
    """Bits about the income in the population, of the best groups of a table."""
    found = ip.partition(table, clusters=clusters) if clusters > 1 else None
    return 0.0 if found is None else plane_point(truth, found.encoder).iyz / np.log(2)


numbers = range(1, 13)
of_raw, of_clean = ([told(table, k) for k in numbers] for table in (joint, supported))

figure = Figure(figsize=(7.6, 4.6), layout="constrained")
ax = figure.subplots()
ax.plot(raw.clusters, raw.iyz_bits, "o:", color="#D55E00", label="the table's own claim")
ax.plot(numbers, of_raw, "o-", color="#D55E00", label="the same groups, in the population")
ax.plot(numbers, of_clean, "s-", color="#0072B2", label="groups that the records support, in the population")
ax.axhline(truth.mutual_information / np.log(2), color="#8a8a8a", linewidth=1)
ax.annotate(
    "all that titles tell in the population",
    (12, truth.mutual_information / np.log(2)),
    ha="right",
    va="bottom",
    color="#666666",
)
ax.set(
    xlabel="number of groups", ylabel="bits about the income", title="4,000 job titles, 40,000 people", ylim=(0, None)
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
figure.savefig("how_many_groups.png", dpi=130)

# %%
# How to read it: the dotted line is what the table claims of its own groups, and it always rises. The solid lines are the
# same groups, judged on people who are not in the table: beyond five groups, the number of kinds, they gain nothing. What
# the dotted line gains there is noise. With more groups, those of the original table even get worse; those of the denoised
# table (blue) do not. The remaining distance to the grey line needs more records.
#
# In a pipeline
# -------------
# :class:`infoplane.BottleneckEncoder` does all of this for every column, chooses the number of groups if you give none,
# and encodes training rows by other folds.

encoder = ip.BottleneckEncoder(n_clusters=5).fit(people[["job"]], people.income)
print("\n".join(encoder.features_[0].descriptions(encoder.classes_.tolist())))
