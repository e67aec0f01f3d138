"""Many attacks of one kind, numbered: number n with seed s is the same attack wherever it is made."""

import math
import resource
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from infoplane.runtime import compiling
from infoplane.runtime.budget import clock

from . import (
    arguments,
    calls,
    caps,
    faint_bottlenecks,
    files,
    forgeries,
    funnels,
    kills,
    known,
    private,
    releases,
    tasks,
)

ATTACKS = {
    "calls": calls.attack,
    "arguments": arguments.attack,
    "caps": caps.attack,
    "faint-bottlenecks": faint_bottlenecks.attack,
    "files": files.attack,
    "forgeries": forgeries.attack,
    "funnels": funnels.attack,
    "kills": kills.attack,
    "private": private.attack,
    "releases": releases.attack,
    "tasks": tasks.attack,
}
SECONDS = {
    "calls": 60,
    "arguments": 20,
    "caps": 30,
    "faint-bottlenecks": 120,
    "files": 20,
    "forgeries": 120,
    "funnels": 120,
    "kills": 600,
    "private": 60,
    "releases": 60,
    "tasks": 60,
}
"""An attack that takes longer has found something."""

MEMORY = 6 * 2**30
"""Bytes that an attack may take: a larger allocation has found something."""


@dataclass
class Campaign:
    """What came of it."""

    ended: Counter = field(default_factory=Counter)
    """How attacks ended that broke nothing."""
    findings: list = field(default_factory=list)
    """(number, what was broken)."""

    def run(self, kind, seed, numbers, seconds=float("inf"), tell=None):
        """Attack after attack, until the numbers or the seconds end, or Ctrl-C is pressed."""
        began = time.monotonic()
        with memory_limited(), suppress(KeyboardInterrupt):
            for number in numbers:
                if time.monotonic() - began > seconds:
                    break
                try:
                    with time_limited(SECONDS[kind]):
                        self.ended[ATTACKS[kind](np.random.default_rng([seed, number]))] += 1
                except calls.Broken as broken:
                    self.findings.append((number, str(broken)))
                    if tell is not None:
                        tell(number, broken)
        return self

    @property
    def made(self):
        """How many attacks."""
        return self.ended.total() + len(self.findings)


def made_again():
    """Calls that once broke a promise."""
    for number, call in enumerate(known.CALLS):
        with time_limited(SECONDS["calls"]):
            calls.check(call, np.random.default_rng(number))


@contextmanager
def time_limited(seconds):
    """`Broken` after so many seconds, those of the compiler not counted; only where signals can be used."""
    began = clock()

    def ring(_number, frame):
        left = began + seconds - clock()  # less what was compiled, but for what is being compiled now
        if left < 1.0 and not in_the_compiler(frame):
            raise calls.Broken(f"it took more than {seconds} seconds")
        signal.alarm(max(math.ceil(left), 1))

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def in_the_compiler(frame):
    """Whether numba, or the wait for another process that compiles the same, called what runs now."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("numba.core.") or (module == compiling.__name__ and frame.f_code.co_name != "call"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def memory_limited():
    """No more than `MEMORY` bytes of addresses beyond those that the process has, so that a huge allocation fails."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
