"""docs/images/transitions.png: the certified heart frontier, with every phase transition where bisection found it.

python benchmarks/transitions_picture.py docs/images/transitions.png

Prints them, too.
"""

from __future__ import annotations

import sys

import numpy as np

import infoplane as ip
from infoplane.view.plot import plot_planes

if __name__ == "__main__":
    joint = ip.datasets.heart()
    found = ip.transitions(joint, 0.02)
    for change in found:
        print(change)
    frontier = ip.sweep(joint, ip.bottleneck, np.geomspace(0.02, 0.4, 40), certify=True)
    plot_planes([("Heart, certified bottleneck", frontier)], sys.argv[1], found)
