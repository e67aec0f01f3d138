"""
From a table of records to a release
====================================

Labels go in, labels come out.

Which of three answers may be published, and how blurred, if the region of the person must stay hidden?
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import infoplane as ip


def main() -> None:
    rng = np.random.default_rng(0)
    region = rng.choice(["north", "south", "west"], size=2000, p=[0.5, 0.3, 0.2])
    lean = {"north": [0.6, 0.3, 0.1], "south": [0.2, 0.3, 0.5], "west": [0.1, 0.7, 0.2]}
    records = pd.DataFrame(
        {"region": region, "answer": [rng.choice(["yes", "maybe", "no"], p=lean[r]) for r in region]}
    )

    joint = ip.Joint.from_frame(records, x="answer", y="region")
    print(joint)
    release = ip.solve(joint, ip.funnel(beta=4.0), starts=16, rng=0)
    print(release)
    print(release.encoder_frame().round(3))


if __name__ == "__main__":
    main()
