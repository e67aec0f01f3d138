"""
A column of many categories in few groups
=========================================

In a pipeline: what predicts the class is kept, what the records do not support is not.

Jobs and ages predict an income; a city does not. The encoder finds that out, and groups 300 jobs by what they say of the income.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import infoplane as ip


def people(rows: int = 6000) -> tuple[pd.DataFrame, np.ndarray]:
    """A made-up table: jobs are of three kinds, ages above 50 earn more, cities do not matter."""
    rng = np.random.default_rng(0)
    job, age, city = rng.integers(0, 300, rows), rng.integers(18, 80, rows), rng.integers(0, 50, rows)
    p = np.array([0.1, 0.35, 0.6])[job % 3] + 0.25 * (age >= 50)
    X = pd.DataFrame({"job": [f"job {one}" for one in job], "age": age, "city": [f"city {one}" for one in city]})
    return X, np.where(rng.random(rows) < p, "high", "low")


def main() -> None:
    X, y = people()
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)

    # Groups that a person can read.
    encoder = ip.BottleneckEncoder(n_clusters=3).fit(train, y_train)
    for feature in encoder.features_:
        print(feature.name, *feature.descriptions(encoder.classes_.tolist()), sep="\n   ")
    print(encoder.mapping_.head())

    # The same in a pipeline: log p(y|x) for a linear model. Training rows are encoded by the other folds.
    model = make_pipeline(ip.BottleneckEncoder(output="log_posterior"), StandardScaler(), LogisticRegression())
    one_hot = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
    for name, one in (("bottleneck", model), ("one-hot", one_hot)):
        loss = log_loss(y_test, one.fit(train, y_train).predict_proba(test))
        print(f"{name}: held-out log-loss {loss:.4f} nats")

    # The best hard groups of the denoised column, with the most that any groups can keep.
    joint = ip.Joint.from_samples(train.job.tolist(), y_train.tolist()).denoised()
    print(ip.partition(joint, clusters=3))
    print(ip.partition_curve(joint, clusters=5).to_frame().round(4).to_string(index=False))


if __name__ == "__main__":
    main()
