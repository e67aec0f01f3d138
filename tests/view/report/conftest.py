"""A frontier whose every label is markup, its page, and a real browser to open it in."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
from browser import Opened, started

NASTY = [
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "${contents}$title{{x}}",
    "a.b[c]['d'](e)",
    "line\u2028separator\u2029paragraph\r\nnewline\x00nul",
    '"\'`\\" & &lt;b&gt;',
    "half \ud800 a surrogate",
]


@pytest.fixture(scope="session")
def marked():
    """Markup in every label, name and solver, two solvers, a run that did not converge, one with a trace."""
    rng = np.random.default_rng(0)
    joint = ip.Joint.from_counts(
        rng.random((8, 3)) ** 3 + 0.01,
        x_labels=NASTY,
        y_labels=NASTY[:3],
        x_names=["<u>x</u></title>"],
        y_names=["<svg onload=\"document.title='owned'\">"],
    )
    swept = ip.sweep(joint, ip.bottleneck, [0.05, 0.1, 0.3, 0.6], "blahut-arimoto", starts=2, rng=0)
    runs = [replace(run, trace=None) for run in swept.runs]
    runs += ip.sweep(joint, ip.bottleneck, [0.05, 0.1], "merging").runs
    runs.append(ip.solve(joint, ip.bottleneck(0.2), "ib-1", starts=1, rng=0))
    runs.append(ip.solve(joint, ip.bottleneck(0.1), "ib-2", starts=1, rng=0, init="random", max_iter=2))
    runs = [replace(run, solver="<b>merging</b>") if run.solver == "merging" else run for run in runs]
    return ip.Frontier(joint, runs, provenance={"solver": NASTY[1], "options": {"<b>": NASTY[0]}, "grid": [0.05, 0.1]})


@pytest.fixture(scope="session")
def nasty():
    return NASTY


@pytest.fixture(scope="session")
def marked_page(marked, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "marked.html"
    marked.report(path, title=NASTY[1] + NASTY[3])
    return path


@pytest.fixture(scope="session")
def chromium():
    with started() as browser:
        yield browser


@pytest.fixture
def opened(chromium):
    pages = []

    def open_page(path, **options):
        pages.append(Opened(chromium, path, **options))
        return pages[-1]

    yield open_page
    for one in pages:
        one.context.close()


@pytest.fixture(scope="module")
def swept():
    return ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.2, 0.4], "blahut-arimoto", starts=3, rng=5)
