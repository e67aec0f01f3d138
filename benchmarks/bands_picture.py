"""What is proven of a table and what is known of its population: the two bands of the heart data's bottleneck.

python benchmarks/bands_picture.py --out docs/images/bands.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import infoplane as ip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("bands.png"))
    options = parser.parse_args()
    frontier = ip.sweep(ip.datasets.heart(), ip.bottleneck, np.geomspace(0.02, 0.3, 16), certify=True, progress=True)
    found = frontier.bands()
    print(found)
    frontier.plot(bands=found, title="Heart failure, bottleneck").figure.savefig(options.out, dpi=160)


if __name__ == "__main__":
    main()
