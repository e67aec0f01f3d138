"""From the command to the answer: `infoplane solve heart` in a process of its own, caches warm, against importing what it stands on.

python benchmarks/bench_startup.py --out results.json --table docs/benchmarks/startup.md
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from timing import measured, shown, take_turns

COMMANDS = ("solve heart --problem bottleneck --gamma 0.2", "solve heart --problem funnel --beta 3.5")
YARDSTICK = [sys.executable, "-c", "import numpy, scipy.sparse, numba"]
IMPORT = [sys.executable, "-c", "import infoplane"]
UNWANTED = "import infoplane, sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
HEAVY = ("matplotlib", "altair", "sklearn", "pandas", "distributed", "dask", "plotly")


def process(command: list[str]) -> Callable[[], str]:
    """Runs it, and returns what it printed. Bytecode is kept, as after an installation, even where the machine is told not to."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def measure(rounds: int = 11) -> dict[str, Any]:
    """Ratios to the bare imports, and which heavy packages `import infoplane` brings."""
    commands = {
        command: process([sys.executable, "-m", "infoplane.cli", *command.split(), "--json"]) for command in COMMANDS
    }
    timed = take_turns({**commands, "imports": process(YARDSTICK), "infoplane": process(IMPORT)}, rounds)
    if not all(json.loads(timed.answers[command])["converged"] for command in COMMANDS):
        raise AssertionError("the answer whose time was taken is not one")
    loaded = json.loads(process([sys.executable, "-c", UNWANTED])())
    return {
        **{command: timed.ratio(command, "imports") for command in COMMANDS},
        "import infoplane": timed.ratio("infoplane", "imports"),
        "heavy": [name for name in HEAVY if name in loaded],
    }


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    rows = "".join(f"| `infoplane {command}` | {shown(found[command])} |\n" for command in COMMANDS)
    return (
        "# From the command to the answer\n\n"
        "Written by `benchmarks/bench_startup.py`: whole processes in turns, bytecode and kernels cached. The unit is\n"
        '`python -c "import numpy, scipy.sparse, numba"`.\n\n'
        "| process | times the unit |\n|---|---|\n"
        f"{rows}"
        f"| `import infoplane` | {shown(found['import infoplane'])} |\n\n"
        f"Of {', '.join(HEAVY)}, `import infoplane` loads {', '.join(found['heavy']) or 'none'}.\n"
    )


if __name__ == "__main__":
    measured("startup", measure, table)
