"""
Release jobs and schooling, hide sex and race
=============================================

A census table is to be published with schooling, job and hours of work, but must not reveal sex and race. Which release is
best: to leave a column out, to merge values, or to draw from the best mechanism? Here they are all on one plane. The table is
invented, similar to the Adult data: jobs, hours and schooling differ by sex and race.

*You will know at the end*: how to compare releases, what a cap on every released value costs beside one on the average,
and what changes if only income has to be kept.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import infoplane as ip

BIT = np.log(2.0)
SCHOOLING = ["some school", "high school", "college", "degree"]
JOBS = ["craft", "service", "office", "sales", "professional", "manager"]

rng = np.random.default_rng(0)
rows = 20_000
woman = rng.random(rows) < 0.33
race = rng.choice(["White", "Black", "Other"], rows, p=[0.85, 0.1, 0.05])
schooling = np.clip(rng.normal(1.6 - 0.4 * (race == "Black"), 1.0), 0, 3).round().astype(int)
taste = np.where(woman[:, None], [0.3, 1.6, 3.0, 1.0, 1.2, 0.7], [2.2, 0.9, 0.7, 1.1, 1.0, 1.3])
fit = taste * np.exp(np.outer(schooling - 1.5, [-0.5, -0.5, 0.0, 0.0, 0.9, 0.5]))
job = (rng.random(rows)[:, None] > np.cumsum(fit / fit.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
hours = rng.normal(43 - 6 * woman, 9)
score = -4.0 + 0.8 * schooling + 0.25 * job + 0.04 * (hours - 40) + 0.5 * ~woman
people = pd.DataFrame(
    {
        "schooling": np.array(SCHOOLING)[schooling],
        "job": np.array(JOBS)[job],
        "hours": np.where(hours < 40, "part", "full"),
        "sex": np.where(woman, "Female", "Male"),
        "race": race,
        "income": np.where(rng.random(rows) < 1 / (1 + np.exp(-score)), "high", "low"),
    }
)
joint = ip.Joint.from_frame(people, ["schooling", "job", "hours"], ["sex", "race"])
print(joint)

# %%
# The best release for four caps on the average, and for one of them with a cap on every released value: seeing one
# changes the log-probability of no sex and race by more than 0.3 bits. Each has a bound on what any other release could keep.

ours = {
    f"at most {cap:g} bits": ip.release_mechanism(joint, max_leakage=cap * BIT, rng=0, max_seconds=1.0)
    for cap in (0.001, 0.005, 0.02, 0.05)
}
ours["0.02 bits, lift 0.3"] = ip.release_mechanism(
    joint, max_leakage=0.02 * BIT, max_lift=0.3 * BIT, rng=0, max_seconds=1.0
)
for name, one in ours.items():
    print(f"{name}: I(X;Z) {one.utility / BIT:.3f} bits, at most {one.gap / BIT:.1g} below the best")

# %%
# The usual alternatives: a column or two left out, jobs and schooling in coarser groups, level by level and in
# every combination, and values merged so that they leak least (Merge-Two).

collars = {
    "craft": "blue",
    "service": "blue",
    "office": "white",
    "sales": "white",
    "professional": "top",
    "manager": "top",
}
levels = {"job": [collars, dict.fromkeys(JOBS, "any")], "schooling": [{"some school": "none", "high school": "none"}]}
found = ip.compare_releases(joint, ours, dropped=["hours", ["schooling", "hours"]], levels=levels, merged=[4, 8, 16])
print(found.to_frame().round(4).to_string(index=False))

# %%
# Which release to take depends on how much may be told; the sentence says what the next more useful one would cost.

print(found)
print(found.advice(max_leakage=0.02 * BIT))
print(found.advice(max_leakage=0.02 * BIT, max_lift=0.3 * BIT))

# %%
# If the table is published so that others can study income, only what tells about income has to be kept, and only sex is
# hidden here. Utility is then I(U;Z), where U is the income: far fewer bits, and a small cap leaves most of them.

task = ip.TaskJoint.from_frame(people, ["schooling", "job", "hours"], keep="income", hide="sex")
kept = ip.release_mechanism(task, max_leakage=0.005 * BIT, rng=0, max_seconds=1.0)
for_income = ip.compare_releases(task, {"for income": kept, "everything": np.eye(task.hide.shape[0])}, dropped=["job"])
print(for_income.to_frame().round(4).to_string(index=False))

# %%
# The first comparison as a picture. Leaving columns out and grouping them by levels is dominated: less is kept, and more
# is told. Merging to 4 or 8 values tells almost nothing, and keeps about half as much as drawing with 0.001 bits. The cap
# on every released value costs 0.3 bits of utility, and takes the worst case from 1.4 bits to 0.3.

figure = found.plot()
figure.savefig("adult_release.png", dpi=200)
