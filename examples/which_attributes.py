"""
Which of my customers' attributes can I publish?
================================================

A table of customers, and a secret that must not be inferred from it. Each attribute alone tells a little about the secret,
together they tell more. What may be published as it is, and what must be blurred?

*For data stewards. You will know at the end*: what every attribute tells about the secret, how much of that is chance, and
what a release under a cap keeps.

The customers are invented: illness depends on the plan and on the age, not on the device; cities differ a little.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import infoplane as ip

BIT = np.log(2)
rng = np.random.default_rng(0)
n = 4000
people = pd.DataFrame(
    {
        "device": rng.choice(["phone", "laptop", "tablet"], n),
        "city": rng.choice(["north", "south", "coast", "hills"], n),
        "age": rng.choice(["young", "middle", "old"], n),
        "plan": rng.choice(["basic", "family", "premium", "trial"], n),
    }
)
risk = 0.1 + 0.25 * (people.age == "old") + 0.3 * (people.plan == "premium") + 0.05 * (people.city == "coast")
people["ill"] = np.where(rng.random(n) < risk, "ill", "well")

# %%
# One by one
# ----------
# What each attribute tells about the secret, in bits, and the p-value of "it tells nothing".

attributes = ["device", "city", "age", "plan"]
alone = {name: ip.Joint.from_frame(people, name, "ill") for name in attributes}
for name, joint in alone.items():
    p = ip.permutation_test(joint, rng=0).p_value
    print(f"{name:7s} {joint.mutual_information / BIT:.4f} bits, p = {p:.3f}")

# %%
# The device may be published as it is; the city tells almost nothing. Age and plan tell something.
#
# Together, under a cap
# ---------------------
# What can be released of age and plan together, if the release tells at most so many bits about the illness? Each answer
# says how far it can be from the best possible one.

both = ip.Joint.from_frame(people, ["age", "plan"], "ill")
caps = [0.001, 0.005, 0.02, 0.05]
kept = [ip.funnel_at_leakage(both, max_iyz=cap * BIT) for cap in caps]
for cap, one in zip(caps, kept, strict=True):
    print(f"at most {cap} bits: {one.ixz / both.entropy_x:.0%} of age and plan is released, certified: {one.certified}")
print(f"in the population, at the cap of {caps[1]}: {ip.leakage_bound(kept[1], both)}")

# %%

figure = Figure(figsize=(11, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
told = [alone[name].mutual_information / BIT for name in attributes]
left.barh(attributes, told, color=["#009E73" if one < 0.003 else "#D55E00" for one in told])
left.set(xlabel="bits told of the illness", title="Each attribute as it is: green may go out")
right.plot(caps, [100 * one.ixz / both.entropy_x for one in kept], "o-", color="#0072B2", linewidth=2)
right.axvline(both.mutual_information / BIT, color="#8a8a8a", linewidth=1)
right.annotate("told if nothing is blurred ", (both.mutual_information / BIT, 50), ha="right", color="#666666")
right.set(
    xlabel="cap on bits told of the illness",
    ylabel="released of age and plan  [%]",
    title="Age and plan, blurred",
    ylim=(0, 105),
)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("which_attributes.png", dpi=130)

# %%
# For a cap on every single released value, rows to hand out, and an audit to sign, see ``release_and_audit.py``.
