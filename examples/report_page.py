"""
A sweep as a page for the browser
=================================

From a sweep to one HTML file that needs no network: hover, click a point, read its encoder. And the encoder at a
chosen point of the trade-off. Needs the extra ``[report]``.

*You will know at the end*: how to give a frontier to somebody who has no Python.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np

import infoplane as ip

joint = ip.datasets.heart()
grid = np.geomspace(0.05, 0.5, 10)
frontier = ip.sweep(joint, ip.bottleneck, grid, "blahut-arimoto", starts=4, rng=0)
frontier = frontier + ip.sweep(joint, ip.bottleneck, grid, "merging")
frontier.report("report.html", title="Risk factors and outcome of heart failure")

# %%
# What the page suggests, in words, and the best I(Y;Z) for 0.9 bits about the risk factors:

print(str(frontier.suggest()).splitlines()[0])
print(frontier.at(ixz_bits=0.9, solver="blahut-arimoto"))

# %%
# The plane of the page, drawn here by matplotlib: soft encoders of Blahut-Arimoto, and hard ones by greedy merging.

frontier.plot(title="Soft encoders and merged ones").figure.savefig("report_plane.png", dpi=130)
