"""Two pictures of the heart data's certified bottleneck: its bands, and its phase transitions.

    python benchmarks/heart_pictures.py [bands] [transitions] [--images docs/images]

`bands`: what is proven of the table, and what is known of its population. `transitions`: every phase transition where bisection found it.
Both print what they draw.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import infoplane as ip

HEART = ip.datasets.heart()


def bands(images: Path) -> None:
    frontier = ip.sweep(HEART, ip.bottleneck, np.geomspace(0.02, 0.3, 16), certify=True, progress=True)
    found = frontier.bands()
    print(found)
    frontier.plot(bands=found, title="Heart failure, bottleneck").figure.savefig(images / "bands.png", dpi=160)


def transitions(images: Path) -> None:
    found = ip.transitions(HEART, 0.02)
    print(*found, sep="\n")
    frontier = ip.sweep(HEART, ip.bottleneck, np.geomspace(0.02, 0.4, 40), certify=True)
    ax = frontier.plot(transitions=found, title="Heart, certified bottleneck")
    ax.figure.savefig(images / "transitions.png", dpi=150)


PARTS = {"bands": bands, "transitions": transitions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="bands, transitions; default both")
    parser.add_argument("--images", type=Path, default=Path())
    options = parser.parse_args()
    for name in options.parts or PARTS:
        PARTS[name](options.images)


if __name__ == "__main__":
    main()
