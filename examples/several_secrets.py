"""
Several secrets, one release
============================

Hide sex and death in the heart table, and see what each of them leaks.

The paper's conclusion names "multi-view learning" and "multi-source privacy problems" as what its framework is for. With an independent
selector several secrets are one secret: I(S';Z) is the weighted mean of the I(S_j;Z), exactly (`Joint.mixed`). The funnel, its exact
solver and its certificates serve them as they are; several tasks are one task of the bottleneck in the same way.
"""

from __future__ import annotations

import numpy as np

import infoplane as ip

BIT = np.log(2.0)


def about(joint: ip.Joint, place: int, name: str) -> ip.Joint:
    """The joint of X and one word of the labels of Y, "woman alive"."""
    words = [str(label).split()[place] for label in joint.y_labels]
    values = sorted(set(words))
    table = joint.p_xy @ np.array([[float(word == value) for value in values] for word in words])
    return ip.Joint.from_matrix(table, joint.x_labels, values, joint.x_names, name)


def main() -> None:
    heart = ip.datasets.heart()
    sex, outcome = about(heart, 0, "sex"), about(heart, 1, "outcome")
    for weight in (1.0, 16.0):
        secrets = ip.Joint.mixed([(weight, sex), (1.0, outcome)])
        found = ip.funnel_at_leakage(secrets, max_iyz=0.005)
        each = ", ".join(f"I({name};Z) {nats / BIT:.5f} bits" for name, nats in found.by_target.items())
        print(f"weight of sex {weight:g}: I(X;Z) {found.ixz / BIT:.4f} bits, {each}; certified: {found.certified}")


if __name__ == "__main__":
    main()
