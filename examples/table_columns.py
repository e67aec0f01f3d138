"""
A column of many categories in few groups
=========================================

Jobs, ages and cities of 6,000 people, and whether they earn much. The encoder groups each column by what it tells about
the income, finds that cities tell nothing, and works in a scikit-learn pipeline like any other transformer.

*For analysts. You will know at the end*: how to compress categorical columns before a model, and how to read the
groups.

The table is invented, so that the truth is known: 300 jobs are of three kinds, ages above 50 earn more, cities do not
matter.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import infoplane as ip

# %%
# The table
# ---------

rng = np.random.default_rng(0)
job, age, city = rng.integers(0, 300, 6000), rng.integers(18, 80, 6000), rng.integers(0, 50, 6000)
p = np.array([0.1, 0.35, 0.6])[job % 3] + 0.25 * (age >= 50)
X = pd.DataFrame({"job": [f"job {one}" for one in job], "age": age, "city": [f"city {one}" for one in city]})
y = np.where(rng.random(6000) < p, "high", "low")
train, test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# Groups that a person can read
# -----------------------------

encoder = ip.BottleneckEncoder(n_clusters=3).fit(train, y_train)
for feature in encoder.features_:
    print(feature.name, *feature.descriptions(encoder.classes_.tolist()), sep="\n   ")

# %%
# The same in a pipeline
# ----------------------
# log p(y|x) for a linear model. Training rows are encoded by the other folds, so that the model does not learn their
# noise.

model = make_pipeline(ip.BottleneckEncoder(output="log_posterior"), StandardScaler(), LogisticRegression())
one_hot = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
for name, one in (("bottleneck", model), ("one-hot", one_hot)):
    loss = log_loss(y_test, one.fit(train, y_train).predict_proba(test))
    print(f"{name}: held-out log-loss {loss:.4f} nats")

# %%
# The picture: every job at the share of high incomes that was counted, in the colour of its group; below, what the
# kinds of jobs truly are. Jobs with few people are scattered widely, and are grouped with those that they resemble.

counted = pd.DataFrame({"job": train.job, "high": y_train == "high"}).groupby("job").high.agg(["mean", "size"])
group = encoder.mapping_.query("feature == 'job'").set_index("category").cluster.reindex(counted.index)
kind = counted.index.str.split().str[1].astype(int) % 3
figure = Figure(figsize=(9, 4.8), layout="constrained")
ax = figure.subplots()
colours = np.array(["#D55E00", "#8a8a8a", "#0072B2"])
height = kind + np.random.default_rng(1).uniform(-0.3, 0.3, len(kind))
ax.scatter(counted["mean"], height, s=3 * counted["size"], c=colours[group.astype(int)], alpha=0.75)
for z, text in enumerate(("grouped as high", "in between", "grouped as low")):
    ax.scatter([], [], color=colours[z], label=text)
ax.set(
    yticks=[0, 1, 2],
    yticklabels=["kind 1: 22%", "kind 2: 47%", "kind 3: 72%"],
    xlabel="share of high incomes, as counted",
    title="300 jobs: what was counted, what they truly are, and their three groups (colours)",
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
figure.savefig("table_columns.png", dpi=130)
