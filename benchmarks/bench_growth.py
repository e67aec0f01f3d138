"""Cost against size: an iteration of Blahut-Arimoto as |X|, |Z|, |Y| or all of them grow, with exponents fitted on log axes.

    python benchmarks/bench_growth.py --out results.json --table docs/benchmarks/growth.md

The unit is one vectorised exp of 4,096 numbers, timed in turns with all sizes of a family; one thread. NumPy's iteration is that of
`bench_kernels`, with which the kernel's encoder is compared before a time counts. The picture goes to docs/images beside the page.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bench_kernels import agreed, exps, fresh, kernel_iteration, numpy_iteration
from infoplane.joint.joint import Support
from infoplane.runtime.budget import one_blas_thread
from infoplane.solvers.base import advanced, make_starts, runs_of, seed_sequence
from joints import random_joint
from timing import measured, take_turns

FAMILIES = {
    "|X|": [(n, 24, 24) for n in (1000, 4000, 16_000, 64_000)],
    "|Z|": [(4000, n, 24) for n in (8, 16, 32, 64, 128)],
    "|Y|": [(2000, 32, n) for n in (64, 128, 256, 512)],
    "|X||Z||Y|": [(500, 16, 200), (1000, 24, 300), (2000, 32, 400), (3000, 48, 600)],
}
OURS, NUMPY, UNIT = "infoplane", "NumPy", "one exp of 4,096 numbers"
UNITS = 2000
WORK = 5_000_000  # entries of the encoder, times iterations, that a measurement passes through at least
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "growth.png"


def family(sizes: list[tuple[int, int, int]], rounds: int) -> dict[str, Any]:
    """Units per iteration at every size, ours and NumPy's, and the exponents in the product of the sizes."""
    x = -np.random.default_rng(0).random(4096)
    out = np.empty_like(x)

    def unit() -> None:
        for _ in range(UNITS):
            exps(x, out)

    contestants, many = {UNIT: unit}, {}
    for size in sizes:
        n_x, n_z, n_y = size
        joint = random_joint("smooth", n_x, n_y, np.random.default_rng(0))
        support, W = Support(joint), make_starts(joint, n_z, 1, seed_sequence(0), "random")
        many[size] = max(4, WORK // W.size)
        numpy, looked_at = numpy_iteration(support, W), fresh(support, W)
        advanced(looked_at, 5)
        agreed(support, runs_of(looked_at), numpy(6))
        contestants[OURS, size] = kernel_iteration(support, W, many[size], rounds)
        contestants[NUMPY, size] = lambda numpy=numpy, times=many[size]: numpy(times)
    timed = take_turns(contestants, rounds)
    unit_seconds = np.array(timed.seconds[UNIT]) / UNITS
    found: dict[str, Any] = {"sizes": sizes}
    for name in (OURS, NUMPY):
        cost = [float(np.median(np.array(timed.seconds[name, size]) / many[size] / unit_seconds)) for size in sizes]
        exponent = np.polyfit(np.log([math.prod(size) for size in sizes]), np.log(cost), 1)[0]
        found[name] = {"units": cost, "exponent": float(exponent)}
    return found


def measure(rounds: int = 5) -> dict[str, Any]:
    """Every family."""
    with one_blas_thread():
        return {name: family(sizes, rounds) for name, sizes in FAMILIES.items()}


def draw(found: dict[str, Any]) -> None:
    """Both axes logarithmic; the straight lines have the fitted exponents."""
    figure = Figure(figsize=(8, 5.5), layout="constrained")
    ax = figure.subplots()
    for colour, (name, one) in enumerate(found.items()):
        product = np.array([math.prod(size) for size in one["sizes"]], dtype=float)
        for who, marker, style in ((OURS, "o", "-"), (NUMPY, "x", ":")):
            cost, exponent = np.array(one[who]["units"]), one[who]["exponent"]
            middle = np.exp(np.log(cost).mean()) * (product / np.exp(np.log(product).mean())) ** exponent
            ax.loglog(product, cost, marker, color=f"C{colour}")
            ax.loglog(product, middle, style, color=f"C{colour}", label=f"{who}, {name} grows: exponent {exponent:.2f}")
    ax.set(xlabel="|X||Z||Y|", ylabel=f"time per iteration, in units of {UNIT}", title="An iteration of Blahut-Arimoto")
    ax.legend(fontsize="small")
    figure.savefig(PICTURE, dpi=150)


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone; draws the picture too."""
    draw(found)
    lines = [
        "# Cost against size",
        "",
        "Written by `benchmarks/bench_growth.py`: an iteration of Blahut-Arimoto, one thread, sizes and contestants in turns. The unit is",
        f"{UNIT}; exponents are fitted to |X||Z||Y| on log axes.".replace("|", "\\|"),
        "",
        f"![time per iteration against size, on log axes](../images/{PICTURE.name})",
        "",
        "| what grows | from | to | units, infoplane | units, NumPy | exponent, infoplane | exponent, NumPy |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        first, last = (" x ".join(f"{n:,}" for n in one["sizes"][end]) for end in (0, -1))
        units = (f"{one[who]['units'][0]:.3g} to {one[who]['units'][-1]:.3g}" for who in (OURS, NUMPY))
        exponents = (f"{one[who]['exponent']:.2f}" for who in (OURS, NUMPY))
        lines.append("| " + " | ".join([name.replace("|", "\\|"), first, last, *units, *exponents]) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measured("growth", measure, table)
