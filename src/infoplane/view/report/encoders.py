"""Encoders as a page shows them: all letters or those typical of each cluster, coinciding clusters in one column, thousandths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoder.encoder import cluster_names, distinct_clusters, typical
from ...information import Array
from ...joint.mixing import target_weights
from ...solution import Solution


def encoder_columns(run: Solution, letters: Any, outcomes: Array, most: int) -> dict[str, Any]:
    """p(z), p(z|x) and p(y|z) in thousandths; one column per cluster, or per group that coincide, in the order of the letters they hold."""
    W, joint = run.encoder, run.joint
    p_zx, p_zy = W * joint.p_x, W @ joint.p_xy / target_weights(joint)
    differ = distinct_clusters(run.encoder, run.joint.p_x)
    groups = differ if len(differ) <= most else differ[: most - 1]
    groups = sorted(groups, key=lambda group: _centre(p_zx[group].sum(axis=0)[letters]))
    rest = sorted(set(range(len(W))) - {z for group in groups for z in group})
    # Clusters without mass hold nothing worth a column, unless a rare letter needs one to have its probabilities add up.
    if rest and W[rest].sum(axis=0)[letters].max(initial=0.0) >= 0.0005:
        groups = [*groups, rest]
    else:
        rest = []
    p_z = [float(p_zx[group].sum()) for group in groups]
    return {
        "clusters": [_column_name(group, group == rest) for group in groups],
        "names": [
            _column_name(group, True)
            if group == rest
            else cluster_names(joint, W[group].sum(axis=0, keepdims=True), 1)[0]
            for group in groups
        ],
        "members": groups,
        "differ": len(differ),
        "p_z": [float(f"{p:.4g}") for p in p_z],
        "cells": [_thousandths(W[group].sum(axis=0)[letters]) for group in groups],
        "posteriors": [
            _thousandths(p_zy[group].sum(axis=0)[outcomes] / max(p, 1e-300))
            for group, p in zip(groups, p_z, strict=True)
        ],
    }


def _column_name(group: list[int], is_rest: bool) -> str:
    if is_rest:
        return f"{len(group)} others"
    return f"z{group[0]}" if len(group) == 1 else f"z{group[0]}×{len(group)}"


def _centre(mass: Array) -> float:
    return float(mass @ np.arange(len(mass))) / max(float(mass.sum()), 1e-300)


def _thousandths(p: Array) -> list[int]:
    whole: list[int] = np.rint(1000.0 * p).astype(int).tolist()
    return whole


def typical_rows(run: Solution, most: int) -> Any:
    """At most so many letters, by index: those that are most typical of each cluster, cluster after cluster, the largest first."""
    groups = distinct_clusters(run.encoder, run.joint.p_x)[:most]
    rows: list[int] = []
    share = max(most // max(len(groups), 1), 1)
    for group in groups:
        rows += typical(run.joint, run.encoder[group].sum(axis=0), share)
    return np.array(list(dict.fromkeys(rows))[:most], dtype=int)


def largest(p: Array, most: int) -> Any:
    """Indices of the largest masses, in the order of the alphabet."""
    return np.sort(np.argsort(-p, kind="stable")[:most])
