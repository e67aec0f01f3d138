"""
Quickstart: your table in two minutes
=====================================

From a table to one object, one picture and one sentence that says what it means. The same on the command line, in three
lines, is at the end.

*You will know at the end*: how to ask which few groups of a column keep what it says about another column, and how to
read the answer.

*Added in 0.1.0.*
"""

from __future__ import annotations

import shlex

import pandas as pd

import infoplane as ip
from infoplane.cli.app import infoplane

# %%
# A table
# -------
# Any table with a row per record will do. Here is one of 299 heart failure patients: which of four risk factors each
# has, with sex and death. ``infoplane datasets heart --out heart.csv`` writes it; put your own file in its
# place.

infoplane.main(shlex.split("datasets heart --out heart.csv"), standalone_mode=False)
patients = pd.read_csv("heart.csv")
print(patients.sample(4, random_state=0).to_string(index=False))

# %%
# One object
# ----------
# X is what is to be grouped, Y what the groups shall still tell. ``Joint`` counts the pairs.

joint = ip.Joint.from_frame(patients, x="risk_factors", y="outcome")
print(joint)

# %%
# ``sweep`` finds the best groups for every trade-off between few bits about X and many bits about Y. With
# ``certify=True`` it also proves that no other grouping is better.

frontier = ip.sweep(joint, ip.bottleneck, certify=True)
print(frontier.best().tail(5))

# %%
# One picture
# -----------

frontier.plot(
    title="What groups of risk factors tell of the outcome",
    xlabel="I(X;Z): bits about the risk factors",
    ylabel="I(Y;Z): bits about the outcome",
).figure.savefig("quickstart.png", dpi=130)

# %%
# One sentence
# ------------
# Take the point with about one bit, two groups' worth, and say what it keeps.

chosen = frontier.at(ixz_bits=1.0)
share = chosen.iyz / joint.mutual_information
print(f"One bit about the risk factors keeps {share:.0%} of all that they tell of the outcome: no groups keep more.")
print(chosen.labels().map(chosen.cluster_names(1)).value_counts().to_string())

# %%
# That sentence is about *these* 299 records. Would it hold for other patients? Held-out records answer that:

print(str(frontier.suggest()).splitlines()[0])

# %%
# Held-out patients confirm about half of what the table says. More on that:
# :ref:`sphx_glr_gallery_explanation_a_sample_is_not_a_distribution.py`.
#
# The same in three lines of command line
# ---------------------------------------

for line in (
    "frontier heart.csv --x risk_factors --y outcome --points 6 --certify --plot plane.png",
    "solve heart.csv --x risk_factors --y outcome --gamma 0.12 --certify --labels groups.csv",
):
    print(f"$ infoplane {line}")
    infoplane.main(shlex.split(line), standalone_mode=False)

# %%
# The first line was ``infoplane datasets heart --out heart.csv``, above. ``groups.csv`` has the group of every value
# of X.
#
# Go on with :ref:`sphx_glr_gallery_which_problem.py` and :ref:`sphx_glr_gallery_what_does_this_number_mean.py`.
