"""All benchmarks, or those named: one command, results as JSON, and the pages of docs/benchmarks.

    pip install -e ".[bench]"
    python benchmarks/run.py [NAME ...]

Each runs by itself, after the other, so that none disturbs another; an hour in all on two cores.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGES, RESULTS = HERE.parent / "docs" / "benchmarks", HERE / "results"
SCRIPTS = {
    "kernels": "bench_kernels.py",
    "growth": "bench_growth.py",
    "accelerated": "bench_accelerated.py",
    "annealing": "bench_annealing.py",
    "peers": "bench_peers.py",
    "startup": "bench_startup.py",
    "scale": "bench_scale.py",
    "sweep": "bench_sweep.py",
    "portfolio": "portfolio.py",
    "certificate": "bench_certificate.py",
    "consistency": "certificate_consistency.py",
}


def main() -> None:
    """Run, and write the index of the pages there are."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(SCRIPTS)}; default all")
    names = parser.parse_args().names or list(SCRIPTS)
    if unknown := [name for name in names if name not in SCRIPTS]:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(SCRIPTS)}")
    PAGES.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        print(f"-- {name}", flush=True)
        command = [sys.executable, SCRIPTS[name], "--out", RESULTS / f"{name}.json", "--table", PAGES / f"{name}.md"]
        subprocess.run([str(part) for part in command], check=True, cwd=HERE)
        write_index()


def write_index() -> None:
    """A line a page: its title, and the first sentence under it."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `benchmarks/run.py`, one page a script; the same numbers as JSON in `benchmarks/results`.",
        "",
    ]
    for name in SCRIPTS:
        page = PAGES / f"{name}.md"
        if page.exists():
            lines.append(f"- [{page.read_text().splitlines()[0].removeprefix('# ')}]({page.name})")
    (PAGES / "README.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
