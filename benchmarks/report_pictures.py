"""The pictures and the sizes in docs/howto/report.md: pages of a small, a long and a wide frontier, opened in headless Chromium.

    python benchmarks/report_pictures.py [--out docs/images]

Prints the table of sizes; writes report_wide.png (light) and report_narrow.png (dark). Needs chromium and playwright.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import infoplane as ip

SHOTS = {
    "report_wide.png": {"viewport": {"width": 1400, "height": 1180}, "color_scheme": "light"},
    "report_narrow.png": {"viewport": {"width": 390, "height": 1180}, "color_scheme": "dark"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    out = parser.parse_args().out
    found = shutil.which("chromium")
    if found is None:
        raise SystemExit("chromium is missing: apt-get install -y --no-install-recommends chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "page.html"
        print("| frontier | runs | runs on the page | page |\n|---|---|---|---|")
        for name, frontier in frontiers().items():
            frontier.report(page, title=name)
            print(f"| {name} | {len(frontier):,} | {rows_on(page):,} | {page.stat().st_size / 1e6:.2f} MB |")
            if name == "Heart failure: risk factors and outcome":
                browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
                for file, options in SHOTS.items():
                    photograph(browser, page, out / file, options)
                browser.close()


def frontiers() -> dict[str, ip.Frontier]:
    """A frontier to look at, and two that test the limits."""
    heart = ip.datasets.heart()
    grid = np.geomspace(0.05, 0.5, 16)
    parts = [
        ip.sweep(heart, ip.bottleneck, grid, solver, starts=16, rng=0)
        for solver in ("ib-1", "blahut-arimoto", "merging")
    ]
    long = ip.sweep(heart, ip.bottleneck, np.geomspace(0.05, 1, 200), "blahut-arimoto", starts=60, rng=0, max_iter=300)
    rng = np.random.default_rng(0)
    words = ip.Joint.from_counts(rng.random((5000, 40)) ** 8, x_labels=[f"word {i}" for i in range(5000)])
    run = ip.solve(words, ip.bottleneck(0.5), "blahut-arimoto", starts=1, rng=0, max_iter=20)
    wide = [replace(run, parameter=0.5 + 0.01 * i, encoder=_random(64, 5000, i)) for i in range(40)]
    return {
        "Heart failure: risk factors and outcome": parts[0] + parts[1] + parts[2],
        "200 parameters, 60 starts": long,
        "5,000 letters, 64 clusters, 40 parameters": ip.Frontier(words, wide),
    }


def _random(clusters: int, letters: int, seed: int) -> np.ndarray:
    W = np.random.default_rng(seed).random((clusters, letters)) ** 8
    return W / W.sum(axis=0)


def rows_on(page: Path) -> int:
    import json
    import re

    text = re.search(r'id="contents">(.*?)</script>', page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert text is not None
    return len(json.loads(text.group(1))["table"]["run"])


def photograph(browser: Browser, page: Path, target: Path, options: dict[str, object]) -> None:
    context = browser.new_context(offline=True, device_scale_factor=1, **options)
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("#trace svg")
    tab.wait_for_selector("#posteriors svg")
    tab.screenshot(path=target)
    context.close()


if __name__ == "__main__":
    main()
