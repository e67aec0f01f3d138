"""How much processor time the system leaves a process, in cores: ceil(quota / period) of its control group.

A container with ``--cpus 2`` sees all cores of its machine and may run on each, but on all together no more than two cores' time in every
period; threads beyond that only wait for one another. Version 2 of control groups writes "quota period" into ``cpu.max``, version 1 two
numbers of microseconds into two files. A group has no more than the groups around it, so all are read up to the root; a container sees its
own group as the root, whatever path its processes are told.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

FOLDERS = ("cpu", "cpu,cpuacct", "cpuacct,cpu")
"""Where version 1 is mounted, below ``sys/fs/cgroup``: distributions differ."""


@functools.cache
def quota(root: Path = Path("/")) -> float:
    """Cores' worth of time that this process has, rounded up; infinity where nothing limits it, or nothing is known.

    It is read once: the files are many, and whoever changes a quota starts the process again.
    """
    shares = [share for folder in _groups(root) for share in (_of_version_2(folder), _of_version_1(folder))]
    return max(1.0, float(math.ceil(least))) if math.isfinite(least := min(shares, default=math.inf)) else math.inf


def _groups(root: Path) -> Iterator[Path]:
    """The folders of the process's control groups, and of those around them; folders that are not there limit nothing."""
    mounted = root / "sys" / "fs" / "cgroup"
    said = ""
    with suppress(OSError):
        said = (root / "proc" / "self" / "cgroup").read_text(encoding="utf-8")
    paths = {
        (controllers, path)
        for _, controllers, path in (line.split(":", 2) for line in said.split() if line.count(":") > 1)
    }
    for controllers, path in sorted(paths | {("", "/"), ("cpu", "/")}):
        within = PurePosixPath(path.lstrip("/"))
        tops = [mounted, mounted / "unified"] if not controllers else [mounted / name for name in FOLDERS]
        if not controllers or "cpu" in controllers.split(","):
            yield from (top / folder for top in tops for folder in (within, *within.parents))


def _of_version_2(folder: Path) -> float:
    with suppress(OSError, ValueError):
        quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        return int(quota) / int(period)  # "max" is no number: no limit
    return math.inf


def _of_version_1(folder: Path) -> float:
    with suppress(OSError, ValueError):
        quota, period = (
            int((folder / name).read_text(encoding="utf-8")) for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        )
        return quota / period if quota > 0 and period > 0 else math.inf  # -1 is no limit
    return math.inf
