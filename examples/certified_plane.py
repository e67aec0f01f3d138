"""
A certified information plane
=============================

Two curves between which the frontier is *proven* to lie, with few points and with many. Every certified point is a
line that no encoder crosses, and mixtures of the certified encoders lie between the points. With ``points=`` the sweep
chooses its parameters where the two curves are farthest apart.

*You will know at the end*: how to give a frontier with its error, also between the points.

*Added in 0.1.0.*
"""

from __future__ import annotations

import infoplane as ip
from infoplane.view.plot import plot_planes

joint = ip.datasets.heart()
planes = []
for points in (4, 24):
    frontier = ip.sweep(joint, ip.bottleneck, [0.01, 0.32], points=points, certify=True)
    print(f"{points} points: {frontier.enclosure()}")
    planes.append((f"Heart, {points} certified points", frontier))

# %%
# Blue is the area in which the frontier lies. With four points it is narrow; with twenty-four it is too narrow to be seen.

plot_planes(planes, "certified_plane.png")
