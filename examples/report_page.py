"""
From a sweep to a page for the browser
======================================

And to the encoder at a chosen point of the trade-off.

Writes report.html: one file, no network; open it in any browser. Needs the extra [report].
"""

from __future__ import annotations

import numpy as np

import infoplane as ip


def main() -> None:
    joint = ip.datasets.heart()
    grid = np.geomspace(0.05, 0.5, 10)
    frontier = ip.sweep(joint, ip.bottleneck, grid, "blahut-arimoto", starts=4, rng=0)
    frontier = frontier + ip.sweep(joint, ip.bottleneck, grid, "merging")
    frontier.report("report.html", title="Risk factors and outcome of heart failure")

    print(frontier.suggest())
    print()
    print(frontier.at(ixz_bits=0.9, solver="blahut-arimoto"))  # the best I(Y;Z) for 0.9 bits about the risk factors


if __name__ == "__main__":
    main()
