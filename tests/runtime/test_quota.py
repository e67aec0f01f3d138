"""A container's quota counts as cores: control groups as files, of both versions."""

import math

import pytest

from infoplane.runtime import threads
from infoplane.runtime.quota import quota


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    return root


V1 = "sys/fs/cgroup/cpu,cpuacct"


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, math.inf),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}, math.inf),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"}, 2),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "5000 100000"}, 1),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "damaged"}, math.inf),
        # the narrowest of the groups around it
        (
            {
                "proc/self/cgroup": "0::/pods/one",
                "sys/fs/cgroup/pods/one/cpu.max": "max 100000",
                "sys/fs/cgroup/pods/cpu.max": "300000 100000",
                "sys/fs/cgroup/cpu.max": "800000 100000",
            },
            3,
        ),
        # another group's limit is not ours
        ({"proc/self/cgroup": "0::/a", "sys/fs/cgroup/b/cpu.max": "100000 100000"}, math.inf),
        # a container that is told its path on the host, and sees its own group as the root
        ({"proc/self/cgroup": "0::/docker/12ab", "sys/fs/cgroup/cpu.max": "400000 100000"}, 4),
        # version 1
        (
            {
                "proc/self/cgroup": "5:memory:/m\n3:cpu,cpuacct:/docker/12ab",
                f"{V1}/docker/12ab/cpu.cfs_quota_us": "250000",
                f"{V1}/docker/12ab/cpu.cfs_period_us": "100000",
            },
            3,
        ),
        (
            {
                "proc/self/cgroup": "3:cpuacct,cpu:/elsewhere",
                f"{V1}/cpu.cfs_quota_us": "100000",
                f"{V1}/cpu.cfs_period_us": "50000",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "1:cpu:/",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            math.inf,
        ),
    ],
)
def test_the_quota_of_files(tmp_path, files, cores):
    assert quota(written(tmp_path, files)) == cores


def test_cores_are_no_more_than_the_quota(with_cores, monkeypatch):
    with_cores(8)
    assert threads.cores() == 8
    monkeypatch.setattr(threads, "quota", lambda: 3.0)
    assert threads.cores() == 3
    with_cores(2)
    monkeypatch.setattr(threads, "quota", lambda: 3.0)
    assert threads.cores() == 2
