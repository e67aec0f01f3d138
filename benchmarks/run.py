"""All benchmarks, or those named: one command, results as JSON, and the pages of the docs.

    pip install -e ".[bench]"
    python benchmarks/run.py [NAME ...]

They run one after the other, each in a process of its own, so that none disturbs another; more than an hour in all on two cores.
Tables that are not part of the repository (`joints.DATA`) are left out where they are missing; the last lines name what was.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from joints import SKIPPED

HERE = Path(__file__).parent
DOCS, RESULTS = HERE.parent / "docs", HERE / "results"
PAGES = DOCS / "benchmarks"
SCRIPTS = {
    "kernels": "bench_kernels.py",
    "growth": "bench_growth.py",
    "accelerated": "bench_accelerated.py",
    "annealing": "bench_annealing.py",
    "merging": "bench_merging.py",
    "partition": "bench_partition.py",
    "estimators": "bench_estimators.py",
    "releases": "bench_releases.py",
    "released_rows": "bench_released_rows.py",
    "qif": "bench_qif.py",
    "attacker": "bench_attacker.py",
    "peers": "bench_peers.py",
    "startup": "bench_startup.py",
    "compilation": "bench_compilation.py",
    "scale": "bench_scale.py",
    "sweep": "bench_sweep.py",
    "portfolio": "portfolio.py",
    "certificate": "bench_certificate.py",
    "consistency": "certificate_consistency.py",
    "columns": "bench_columns.py",
    "slots": "bench_slots.py",
    "recheck": "bench_recheck.py",
    "generation": "bench_generation.py",
    "efficiency": "bench_efficiency.py",
    "theory": "bench_theory.py",
    "related": "bench_related.py",
    "words": "bench_words.py",
    "clever_bottleneck": "bench_clever_bottleneck.py",
    "clever_solvers": "bench_clever_solvers.py",
    "sampling": "sampling.py",
    "coverage": "bench_coverage.py",
    "tasks": "bench_tasks.py",
}
IN_PAGES = {"columns": DOCS / "explanation/exact_funnel.md", "theory": DOCS / "explanation/theory.md"}
"""Benchmarks whose tables are part of another page of the docs, between markers."""
BY_THEMSELVES = ("splitting", "builds", "clever")
"""Pages of scripts that are run on their own: `splitting_size.py` and `splitting_columns.py` write one block each of the first,
`compare_builds.py` the table of the second, `clever.py` the third from the results of others."""


def main() -> None:
    """Run, and write the index of the pages there are."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(SCRIPTS)}; default all")
    names = parser.parse_args().names or list(SCRIPTS)
    if unknown := [name for name in names if name not in SCRIPTS]:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(SCRIPTS)}")
    PAGES.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(exist_ok=True)
    skipped: list[str] = []
    for name in names:
        print(f"-- {name}", flush=True)
        skipped += [f"{name}: {what}" for what in run(name)]
        write_index()
    for line in skipped:
        print(f"{SKIPPED}{line}")


def run(name: str) -> list[str]:
    """Run one benchmark, show what it prints, and return what it skipped; ends the program if it fails."""
    page = ["--page", IN_PAGES[name]] if name in IN_PAGES else ["--table", PAGES / f"{name}.md"]
    command = [sys.executable, SCRIPTS[name], "--out", RESULTS / f"{name}.json", *page]
    skipped = []
    with subprocess.Popen([str(part) for part in command], cwd=HERE, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            if line.startswith(SKIPPED):
                skipped.append(line.removeprefix(SKIPPED).strip())
    if process.returncode:
        raise SystemExit(f"the benchmark {name} failed with exit code {process.returncode}")
    return skipped


def write_index() -> None:
    """One line per page: its title, as a link."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `benchmarks/run.py`, one page per script; the same numbers are in `benchmarks/results` as JSON.",
        "",
    ]
    for name in (*SCRIPTS, *BY_THEMSELVES):
        page = IN_PAGES.get(name, PAGES / f"{name}.md")
        if page.exists():
            link = os.path.relpath(page, PAGES)
            lines.append(f"- [{page.read_text().splitlines()[0].removeprefix('# ')}]({link})")
    (PAGES / "README.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
