"""Import order is the architecture: a package imports from the layers above it, never from those below.

The test reads the sources. What counts is every relative import: at the head of a module, inside a function (a lazy import may not
hide one against the order), and for types only. Exceptions are listed here, each with its reason.
"""

import ast
import functools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import infoplane
import infoplane_verify

ROOT = Path(infoplane.__file__).parent

LAYERS = (
    ("version", "errors", "checks", "information", "formatting"),
    ("runtime",),
    ("joint", "encoder"),
    ("sampling",),
    ("datasets",),
    ("problem", "task_problem"),
    ("solution", "gaussian"),
    ("kernels",),
    ("posterior",),
    ("certificate",),
    ("solvers",),
    ("solve",),
    ("frontier",),
    ("systems",),
    ("table",),
    ("storage",),
    ("sweep",),
    ("view",),
    ("cli", "__main__"),
)
"""Top to bottom; packages in one line may import each other, but without a cycle. `infoplane_paper` is a package of its own, which the
command line runs: tests/paper/test_imports.py."""

ALLOWED = {
    ("information", "joint"): "types only: entropies take a Joint, and Joint is built on entropies",
    (
        "frontier.frontier",
        "view",
    ): "Frontier.plot and Frontier.report are views of it; matplotlib and altair are extras",
    ("joint.joint", "sampling"): "Joint.denoised makes a joint of a joint; its record is an attribute",
    ("solution", "view"): "Solution.plot_trace is a view of it",
    ("solution", "systems"): "Solution.interval solves the problem again, without a part of the records each time",
    ("posterior.merge_path", "view"): "MergePath.plot: a picture is a view of it",
    ("table.compare_releases", "view"): "ReleaseComparison.plot and ReleaseFrontier.plot are views of them",
    ("table.compare_releases", "storage"): "a release may be named by the file of its mechanism",
    ("frontier.frontier", "systems"): "Frontier.place puts systems beside it",
    ("frontier.frontier", "sweep"): "Frontier.bands sweeps again, without a part of the records each time",
    ("table.transformers", "view"): "BottleneckEncoder.plot is a view of it",
    ("frontier.release", "storage"): "Release.save: the file that a reviewer checks is a view of it",
    ("frontier.frontier", "storage"): "Frontier.save and Frontier.load: a file is a view of it too",
}
"""(module, package) whose import against the order is wanted, and why."""


class Import(NamedTuple):
    """One import: from which module, of which, at which line, and whether inside a function or for types only."""

    source: str
    target: str
    line: int
    how: str


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


NAMES = {name for name, _ in modules()}


def imports_of(name, path):
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    package = [part for part in package if part]

    def visit(node, how):
        for child in ast.iter_child_nodes(node):
            inside = how
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inside = "lazy"
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                inside = "types"
            if isinstance(child, ast.ImportFrom) and child.level:
                base = package[: len(package) - child.level + 1] + ([child.module] if child.module else [])
                for alias in child.names:
                    full = ".".join([*base, alias.name])
                    yield Import(name, full if full in NAMES else ".".join(base), child.lineno, how)
            assert not (isinstance(child, ast.ImportFrom) and (child.module or "").split(".")[0] == "infoplane")
            yield from visit(child, inside)

    return visit(ast.parse(path.read_text()), "head")


@functools.cache
def imports():
    """All of them. Read when a test asks, as every process that runs tests imports this module."""
    return [found for name, path in modules() if name for found in imports_of(name, path)]


def package_of(name):
    return name.split(".")[0]


def rank(name):
    return next(number for number, layer in enumerate(LAYERS) if package_of(name) in layer)


def test_every_module_has_a_layer():
    homeless = {package_of(name) for name in NAMES if name} - {one for layer in LAYERS for one in layer}
    assert not homeless


def test_no_import_goes_against_the_order():
    against = [one for one in imports() if one.target and rank(one.target) > rank(one.source)]
    assert {(one.source, package_of(one.target)) for one in against} <= set(ALLOWED), against


def test_every_exception_is_needed():
    against = {
        (one.source, package_of(one.target)) for one in imports() if one.target and rank(one.target) > rank(one.source)
    }
    assert set(ALLOWED) == against


def folder(name):
    """The folder of a module; a module at the top is its own."""
    parts = name.split(".")
    is_folder = (ROOT / Path(*parts)).is_dir()
    return name if is_folder or len(parts) == 1 else ".".join(parts[:-1])


def cycles(edges):
    """Groups of nodes that reach each other (Tarjan would be quicker; the graph is small)."""
    reach = {node: {node} for edge in edges for node in edge}
    changed = True
    while changed:
        changed = False
        for a, b in edges:
            if not reach[b] <= reach[a]:
                reach[a] |= reach[b]
                changed = True
    return {frozenset(b for b in reach[a] if a in reach[b]) for a in reach} - {frozenset([a]) for a in reach}


def ordered():
    return [one for one in imports() if one.target and (one.source, package_of(one.target)) not in ALLOWED]


def test_no_cycle_between_folders():
    edges = {(folder(one.source), folder(one.target)) for one in ordered()}
    # A folder's own __init__ re-exports from its modules, and a folder may hold another: neither is a cycle between packages.
    apart = {(a, b) for a, b in edges if not (a.startswith(b + ".") or b.startswith(a + ".") or a == b)}
    assert not cycles(apart)


def test_no_cycle_between_modules():
    """Lazy imports count, since one that is needed to break a cycle hides it, unless they are listed; types do not."""
    edges = {
        (one.source, one.target)
        for one in ordered()
        if one.how == "head" or (one.how == "lazy" and one.source not in LAZY)
    }
    inits = {name for name, path in modules() if path.name == "__init__.py"}
    assert not cycles({(a, b) for a, b in edges if a not in inits and b not in inits})


def test_lazy_imports_have_a_reason():
    """Inside the package an import within a function is wanted only where it saves loading an extra, or is listed."""
    lazy = {(one.source, one.target) for one in imports() if one.how == "lazy"}
    assert {source for source, _ in lazy} <= set(LAZY), lazy


LAZY = {
    "cli.encode": "scikit-learn is an extra",
    "table.transformers": "matplotlib is an extra",
    "posterior.merge_path": "matplotlib is an extra",
    "frontier.frontier": "views of a frontier (targets, knee, bands, archive, plot, report) load when they are asked for",
    "frontier.release": "its file is a view of it, as a frontier's is",
    "table.compare_releases": "matplotlib is an extra; a mechanism's file is read if one is named",
    "sweep.compare": "pandas, for its frame",
    "joint.joint": "frames load when a frame is brought, denoising when it is asked for",
    "encoder.encoder": "narwhals, where an encoder is applied to rows",
    "joint.task_joint": "narwhals, as for a Joint: 0.1 s that only frames need",
    "cli.app": "the options of solvers load with the first command, not with the group",
    "view.plot": "pandas, with what is read off a grid",
    "cli.flags": "altair loads when a report is asked for",
    "cli.options": "files are read if JOINT is one, and a plugin is looked for if it is named",
    "solution": "matplotlib is an extra; cross-fitting solves, and loads when it is asked for",
}


def test_only_runtime_imports_numba_and_of_numba_only_what_is_public():
    numbas = {
        (name, line)
        for name, path in modules()
        for line in re.findall(r"^\s*((?:import|from) (?:numba|llvmlite)\b.*)", path.read_text(), re.MULTILINE)
    }
    assert {name for name, _ in numbas} == {"runtime.compiling"}
    assert {line for _, line in numbas} == {"import numba", "from numba.extending import register_jitable"}


BLOCKED = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"infoplane", "infoplane_paper", "scipy", "numba", "pandas"}:
            raise AssertionError(f"the checker imports {name}")

sys.meta_path.insert(0, Blocked())
import infoplane_verify
for found in pkgutil.iter_modules(infoplane_verify.__path__):
    importlib.import_module(f"infoplane_verify.{found.name}")
print(*(one.verdict.name for one in infoplane_verify.verify(sys.argv[1])))
"""
"""A process in which nothing but numpy and the standard library can be imported, checks a file."""


def test_the_checker_shares_nothing_with_what_it_checks(tmp_path):
    """`infoplane_verify` needs numpy and the standard library, and imports nothing else: neither in its sources nor when it runs."""
    package = Path(infoplane_verify.__file__).parent
    outside = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                outside.add(node.module.split(".")[0])
            elif isinstance(node, ast.Import):
                outside |= {alias.name.split(".")[0] for alias in node.names}
    assert outside - set(sys.stdlib_module_names) == {"numpy"}
    infoplane.sweep(infoplane.datasets.paper_uniform(), infoplane.bottleneck, [0.2], certify=True).save(
        tmp_path / "answer.npz"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    command = [sys.executable, "-c", BLOCKED, str(tmp_path / "answer.npz")]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("VERIFIED\n", "")


def test_kernels_import_from_their_own_folder_and_from_what_all_share_only():
    """Machine code on disk rests on it: `runtime/compiling.py` looks for edited sources nowhere else. `information` gives types."""
    shared = {"kernels.common", "runtime", "information"}
    targets = {(folder(one.source), one.target) for one in imports() if package_of(one.source) == "kernels"}
    assert targets
    assert not {(source, target) for source, target in targets if not {folder(target), target} & {source, *shared}}
    assert {target for _, target in targets if package_of(target) == "runtime"} == {"runtime.compiling"}


def test_a_public_class_name_means_one_thing():
    places = {}
    for name, path in modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name)
    assert not {name: where for name, where in places.items() if len(where) > 1}


TESTED_ELSEWHERE = {
    "certificate.funnel.release": "frontier/test_release.py, the function that people call",
    "cli.plugins": "cli/test_options.py",
    "errors": "each error where it is raised",
    "kernels.funnel_proof.capped_boxes": "frontier/test_release.py, against enumerated vertices",
    "kernels.funnel_proof.capped_relaxation": "kernels/funnel_proof/test_capped_cell.py, against HiGHS",
    "kernels.splitting.tables": "types only",
    "certificate.tasks.private": "frontier/test_task_leakage.py, against all vertices, and certificate/tasks/test_boxes.py",
    "kernels.task_proof.box_weights": "certificate/tasks/test_boxes.py, where posteriors are sampled",
    "posterior.task_form": "kernels/task_proof/test_pairs.py and solvers/test_task_portfolio.py",
    "solvers.shared.prover": "solvers/test_envelope.py and solvers/test_columns.py",
    "solvers.task_map": "solvers/test_task_portfolio.py, every solver of tasks",
    "solvers.task_proof": "solvers/test_task_portfolio.py, every solver of tasks, and certificate/tasks/test_boxes.py",
    "view.drawing": "view/test_plot.py (legends, names of systems) and view/report/test_contents.py",
    "view.pages": "cli/test_audit.py, cli/test_release.py and cli/test_encode.py",
    "table.transformers": "table/test_bottleneck_encoder.py and table/test_funnel_release.py",
    "version": "test_package.py",
}
"""Modules without a test file of their name, and where their tests are."""


def test_tests_mirror_the_tree():
    """A new module gets tests/.../test_name.py, or a line in `TESTED_ELSEWHERE`; a line that is no longer true goes."""
    tests = Path(__file__).parent
    written = {name for name, path in modules() if not path.name.startswith("__")}
    checker = Path(infoplane_verify.__file__).parent
    written |= {f"verification.{path.stem}" for path in checker.glob("*.py") if not path.name.startswith("__")}
    unnamed = {
        name
        for name in written
        if not (tests / Path(*name.split("."))).with_name(f"test_{name.split('.')[-1]}.py").exists()
    }
    assert unnamed == set(TESTED_ELSEWHERE)


def test_files_that_the_sources_name_exist():
    """Paths such as `frontier/geometry.py` or docs/howto/verify.md: of the package, of its kernels, or of the whole project."""
    beginnings = (ROOT, ROOT / "kernels", Path(__file__).parents[1])
    named = {
        (source.relative_to(ROOT).as_posix(), path)
        for source in ROOT.rglob("*.py")
        for path in re.findall(r"\b[a-z_]+(?:/[a-z_]+)+\.(?:py|md)\b", source.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert sorted(one for one in named if not any((begin / one[1]).is_file() for begin in beginnings)) == []
