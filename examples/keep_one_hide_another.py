"""
Keep income, hide sex
=====================

An invented table of jobs and marital states, both of which tell about sex. One encoder p(z|x) keeps what predicts income and
hides sex: the curve is the most that can be kept within each cap, proven to 1e-6 nats; its first point tells nothing.

*You will know at the end*: what hiding costs, and why leaving out a column costs more.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

BIT = np.log(2.0)
JOBS, STATES = ("clerk", "nurse", "driver", "manager", "teacher", "farmer"), ("single", "married", "divorced")


def table() -> ip.TaskJoint:
    """p(x, income) and p(x, sex), x a job and a marital state."""
    men = np.array([0.35, 0.12, 0.9, 0.7, 0.3, 0.75])[:, None] + np.array([-0.03, 0.06, -0.1])
    rich = np.array([0.12, 0.2, 0.15, 0.55, 0.3, 0.1])[:, None] + np.array([-0.08, 0.15, -0.02])
    people = np.array([60.0, 25.0, 40.0, 45.0, 30.0, 20.0])[:, None] * np.array([0.35, 0.5, 0.15])
    letters = [(job, state) for job in JOBS for state in STATES]
    made = []
    for share, values, name in ((rich, ("low", "high"), "income"), (men, ("woman", "man"), "sex")):
        counts = np.column_stack([(people * (1.0 - share)).ravel(), (people * share).ravel()])
        made.append(ip.Joint.from_matrix(counts / counts.sum(), letters, values, ("job", "state"), name))
    return ip.TaskJoint(*made)


def told(tasks: ip.TaskJoint, place: int) -> tuple[float, float]:
    """(I(sex;Z), I(income;Z)) in bits if only one column of x is released."""
    values = list(dict.fromkeys(letter[place] for letter in tasks.keep.x_labels))
    W = np.array([[float(letter[place] == value) for letter in tasks.keep.x_labels] for value in values])
    return tuple(ip.Joint.from_matrix(W @ joint.p_xy).mutual_information / BIT for joint in (tasks.hide, tasks.keep))


tasks = table()
curve = ip.task_curve(tasks, np.array([0.0, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1]) * BIT)
for one in curve:
    print(one)

# %%
# Releasing one column alone lies far below the curve at its own leakage.

figure = Figure(figsize=(6.5, 4.2), layout="constrained")
ax = figure.subplots()
ax.plot([one.isz / BIT for one in curve], [one.iuz / BIT for one in curve], "-o", label="the most that can be kept")
for place, name in enumerate(("job", "state")):
    ax.plot(*told(tasks, place), "s", label=f"only the {name}")
ax.set(xlabel="told of sex, I(S;Z), bits", ylabel="kept of income, I(U;Z), bits", title="Keep income, hide sex")
ax.legend()
figure.savefig("keep_one_hide_another.png", dpi=130)
