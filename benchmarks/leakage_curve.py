"""Most utility I(X;Z) for each leakage I(Y;Z): heart exactly, with Merge-Two's best at the same caps; Adult against a sweep.

    python benchmarks/leakage_curve.py [heart] [adult] [curve] [--seconds 60] [--page docs/explanation/exact_funnel.md] [--images
    docs/images]

`heart`: 36 caps. `adult`: 225 x 10 at caps of 0.001, 0.01 and 0.1 bits, `--seconds` of the clock each, against time sharing between the
runs of a sweep over 40 betas. `curve`: Adult at 12 caps, a quarter of the time each, and its picture.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip
from infoplane.certificate.funnel.privacy import perfect_privacy
from infoplane.frontier.leakage import funnel_at_leakage, funnel_curve
from infoplane.information import NATS_PER_BIT, bits
from joints import ADULT, adult, outside
from page import write_block

SHOWN = (0.0001, 0.001, 0.01, 0.03, 0.1, 0.2)

CAPS = (0.001, 0.01, 0.1)
"""Bits, for Adult against a sweep."""

BETAS = np.geomspace(1.2, 1000.0, 40)
"""Of that sweep."""


def merged(joint: ip.Joint) -> np.ndarray:
    """(leakage, utility) in nats of every partition on Merge-Two's path, and on the paths that weigh utility by 20 betas."""
    paths = [ip.merge_two(joint)]
    paths += [ip.merge_two(joint, criterion="lagrangian", beta=float(beta)) for beta in np.geomspace(1.0, 1000.0, 20)]
    return np.hstack([np.vstack([path.iyz, path.ixz]) for path in paths])


def heart(_seconds: float, images: Path) -> list[str]:
    """36 caps, each certified to 1e-5."""
    joint = ip.datasets.heart()
    hidden = perfect_privacy(joint)
    grid = np.unique(np.append(np.geomspace(2e-4, 0.29, 30), SHOWN)) * NATS_PER_BIT
    began = time.process_time()
    curve = funnel_curve(joint, grid, tol=1e-5)
    seconds = time.process_time() - began
    greedy = merged(joint)
    own = ip.merge_two(joint)
    lines = [
        "| I(Y;Z) at most, bits | exact I(X;Z), bits | gap, nats | beta | Merge-Two, bits | best of 21 merge paths, bits |",
        "|---|---|---|---|---|---|",
        f"| 0 | {bits(hidden.utility):.6f} | {hidden.upper_bound - hidden.utility:.0e} | | "
        f"{bits(own.ixz[own.iyz <= 1e-12].max()):.4f} | {bits(greedy[1, greedy[0] <= 1e-12].max()):.4f} |",
    ]
    for found in curve:
        eps = found.max_iyz
        print(found, flush=True)
        if np.isclose(bits(eps), SHOWN).any():
            lines.append(
                f"| {bits(eps):g} | {bits(found.solution.ixz):.6f} | {found.gap:.0e} | {found.beta:.3g} | "
                f"{bits(own.ixz[own.iyz <= eps].max()):.4f} | {bits(greedy[1, greedy[0] <= eps].max()):.4f} |"
            )
    utility = np.array([found.solution.ixz for found in curve])
    slopes = np.diff(utility) / np.diff(grid)
    cells = np.array([found.cells for found in curve])
    lines += [
        "",
        f"{len(curve)} caps in {seconds:.0f} s of one thread, {np.median(cells):,.0f} cells a cap in the median, {cells.max():,} at most; "
        f"all certified to 1e-5: {all(found.certified for found in curve)}; rising: {bool((np.diff(utility) > 0).all())}; slopes falling: "
        f"{bool((np.diff(slopes) < 1e-5 / np.diff(grid).min()).all())}. {hidden}.",
    ]
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    ax = figure.subplots()
    ax.plot(
        bits(np.append(0.0, grid)),
        bits(np.append(hidden.utility, utility)),
        "-",
        color="C0",
        label="exact frontier, every point certified",
    )
    ax.plot([0.0], [bits(hidden.utility)], "D", color="C0", label="perfect privacy")
    order = np.argsort(own.iyz)
    ax.plot(bits(greedy[0]), bits(greedy[1]), ".", color="0.75", ms=4, label="other greedy merge paths")
    ax.plot(bits(own.iyz[order]), bits(own.ixz[order]), "s", color="black", ms=4, label="Merge-Two")
    ax.set(
        xlabel="leakage I(Y;Z), bits",
        ylabel="utility I(X;Z), bits",
        title="Heart: what may be said of X for what is told of Y",
        xlim=(-0.008, 0.31),
        ylim=(0.0, 4.0),
    )
    ax.legend(loc="lower right")
    figure.savefig(images / "exact_funnel.png", dpi=150)
    return lines


def against_a_sweep(seconds: float, _images: Path) -> list[str]:
    """Adult at three caps."""
    joint = adult("small")
    began, clock = time.process_time(), time.perf_counter()
    frontier = ip.sweep(joint, ip.funnel, BETAS, rng=0)
    sweep = f"{time.process_time() - began:.0f} s of processor time, {time.perf_counter() - clock:.0f} s of the clock"
    lines = [
        "### Adult, by leakage",
        "",
        f"Education and occupation (225 letters) against sex and race (10), {seconds:g} s of the clock for each cap.",
        "",
        "| cap on I(Y;Z), bits | I(X;Z): sweep and time sharing | `funnel_at_leakage` | at most, bits | beta | processor, s | clock, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for cap in CAPS:
        shared = frontier.at(iyz_bits=cap, max_seconds=1e-3)
        began, clock = time.process_time(), time.perf_counter()
        found = funnel_at_leakage(joint, cap * NATS_PER_BIT, max_seconds=seconds)
        assert found.iyz <= cap * NATS_PER_BIT
        lines.append(
            f"| {cap:g} | {bits(shared.ixz):.4f} | {bits(found.ixz):.4f} | {bits(found.upper_bound):.4f} | {found.beta:.3g} | "
            f"{time.process_time() - began:.0f} | {time.perf_counter() - clock:.0f} |"
        )
        print(lines[-1], flush=True)
    return [*lines, "", f"The sweep of {len(BETAS)} betas in [{BETAS[0]:g}, {BETAS[-1]:g}] took {sweep}."]


def curve_of_adult(seconds: float, images: Path) -> list[str]:
    """Adult at 12 caps: what was found, and what cannot be exceeded."""
    caps = np.geomspace(1e-3, 0.2, 12) * NATS_PER_BIT
    began, clock = time.process_time(), time.perf_counter()
    curve = funnel_curve(adult("small"), caps, max_seconds=seconds / 4.0)
    spent = f"{time.process_time() - began:.0f} s of processor time, {time.perf_counter() - clock:.0f} s of the clock"
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    ax = figure.subplots()
    found, above = (bits(np.array([getattr(one, name) for one in curve])) for name in ("ixz", "upper_bound"))
    ax.fill_between(bits(caps), found, above, color="C0", alpha=0.25, lw=0, label="what is not known")
    ax.plot(bits(caps), found, ".-", color="C0", label="released")
    ax.set(xscale="log", xlabel="leakage I(Y;Z) at most, bits", ylabel="utility I(X;Z), bits")
    ax.set_title("Adult: education and occupation, hiding sex and race")
    ax.legend(loc="lower right")
    figure.savefig(images / "adult_leakage.png", dpi=150)
    lines = ["| I(Y;Z) at most, bits | I(X;Z), bits | at most, bits | beta | clusters |", "|---|---|---|---|---|"]
    lines += [
        f"| {bits(one.max_iyz):.4f} | {bits(one.ixz):.4f} | {bits(one.upper_bound):.4f} | {one.beta:.3g} | {one.clusters} |"
        for one in curve
    ]
    picture = "![Adult, by leakage: found and proven](../images/adult_leakage.png)"
    return [picture, "", *lines, "", f"{len(curve)} caps: {spent}."]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="heart, adult, curve; default all")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the clock, for each cap of Adult")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--images", type=Path, default=Path())
    options = parser.parse_args()
    parts = {"heart": (heart, "leakage"), "adult": (against_a_sweep, "adult"), "curve": (curve_of_adult, "adult curve")}
    for name in options.parts or parts:
        measure, block = parts[name]
        if name != "heart" and not outside(ADULT["small"], name):
            continue
        lines = measure(options.seconds, options.images)
        print("\n".join(lines))
        if options.page:
            write_block(options.page, block, lines)


if __name__ == "__main__":
    main()
