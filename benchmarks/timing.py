"""What benchmarks share: times that can be compared (contestants take turns in one process), the checker, and the command line."""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Timed:
    """Seconds of each contestant, one entry per round; answers of the last round."""

    seconds: dict[str, list[float]]
    answers: dict[str, Any]

    def ratio(self, slow: str, fast: str) -> dict[str, float]:
        """How many times longer ``slow`` took: median of the rounds' ratios, and quartiles."""
        ratios = np.array(self.seconds[slow]) / np.array(self.seconds[fast])
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        return {"median": float(middle), "low": float(low), "high": float(high), "rounds": len(ratios)}


def take_turns(
    contestants: Mapping[str, Callable[[], Any]],
    rounds: int,
    warm: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> Timed:
    """Run every contestant once per round, so that a busy moment of the machine hits all of them; one unmeasured round first."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    answers: dict[str, Any] = {}
    if warm:
        for run in contestants.values():
            run()
    for _ in range(rounds):
        for name, run in contestants.items():
            began = clock()
            answers[name] = run()
            seconds[name].append(clock() - began)
    return Timed(seconds, answers)


def checker() -> ModuleType:
    """tests/verify.py: the independent checker that an answer must pass before its time counts."""
    spec = importlib.util.spec_from_file_location("verify", Path(__file__).parent.parent / "tests" / "verify.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(ratio: Mapping[str, float]) -> str:
    """A ratio with its quartiles."""
    return f"{ratio['median']:.3g} ({ratio['low']:.3g}-{ratio['high']:.3g})"


def keep(path: Path, name: str, value: Any) -> None:
    """One section of the results file, beside what other benchmarks have written there."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    kept[name] = value
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def one_by_one(out: Path, keys: Iterable[str], measure: Callable[[str], Any]) -> dict[str, Any]:
    """The results that a JSON file has, and those that it lacks, each written to it as soon as it is there."""
    results = json.loads(out.read_text()) if out.exists() else {}
    for key in keys:
        if key not in results and (found := measure(key)) is not None:
            results[key] = found
            out.write_text(json.dumps(results, indent=1))
            print(key, found, flush=True)
    return results


def publish(text: str, page: Path | None) -> None:
    """Print a page, and write it where it is wanted."""
    print(text)
    if page:
        page.write_text(text)


def resumable(doc: str, out: str) -> argparse.ArgumentParser:
    """The command line of a benchmark that goes on from the results that there are."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(out), help="results so far; continued if it exists")
    parser.add_argument("--table", type=Path, help="page of the docs")
    return parser


def measured(name: str, measure: Callable[..., Any], table: Callable[[Any], str], **options: Any) -> None:
    """The command line that benchmarks share: measure, keep the results as JSON, print the page and write it.

    ``options`` are further options with their defaults, numbers or tuples of numbers, that ``measure`` takes by name.
    """
    parser = argparse.ArgumentParser()
    for option, default in options.items():
        several = isinstance(default, tuple)
        kind = type(default[0] if several else default)
        flag = f"--{option.replace('_', '-')}"
        parser.add_argument(flag, type=kind, nargs="+" if several else None, default=default, help=f"default {default}")
    parser.add_argument("--out", type=Path, help="JSON file; other benchmarks' sections in it are kept")
    parser.add_argument("--table", type=Path, help="page of the docs")
    arguments = parser.parse_args()
    found = measure(**{option: getattr(arguments, option) for option in options})
    if arguments.out:
        keep(arguments.out, name, found)
    publish(table(found), arguments.table)
