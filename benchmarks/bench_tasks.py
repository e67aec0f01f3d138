"""Keep income, hide sex on Adult: the certified curve of caps, the usual alternatives in one picture, and bounds attacked on random joints.

    python benchmarks/bench_tasks.py [--attacks 500] [--table docs/benchmarks/tasks.md] [--out tasks.json] [--image docs/images/tasks.png]

Processor seconds of one thread. Alternatives: columns left out, the bottleneck of income alone, the funnel that keeps all of X, halves and
quarters by p(income|x), and, if fairlearn is installed, its CorrelationRemover and its PrototypeRepresentationLearner.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import infoplane as ip
from infoplane.information import NATS_PER_BIT
from joints import ADULT, DATA, SKIPPED, outside
from page import write_block, write_records

ROOT = Path(__file__).parent.parent
CAPS = (0.0, 0.0005, 0.002, 0.005, 0.01, 0.02, 0.04, 0.065)
"""Nats."""

KINDS = {
    "only": "columns left out",
    "bottleneck": "bottleneck of income",
    "funnel": "funnel that keeps all of X",
    "groups": "groups by p(income)",
    "fairlearn": "fairlearn",
}
"""Alternatives, by how their names begin."""

COLUMNS = ["education", "marital_status", "occupation"]


def adult() -> ip.TaskJoint:
    """1,038 letters, 48,842 records."""
    return ip.TaskJoint.from_frame(pd.read_csv(DATA / ADULT["medium"]), COLUMNS, "income", "sex", weight="count")


def told(tasks: ip.TaskJoint, W: np.ndarray) -> tuple[float, float]:
    """I(S;Z) and I(U;Z) in nats."""
    W = np.asarray(W)
    return tuple(ip.information.mutual_information(W @ joint.p_xy) for joint in (tasks.hide, tasks.keep))


def by_label(labels: list[object]) -> np.ndarray:
    """The hard encoder of some labels of the letters."""
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    W = np.zeros((len(places), len(labels)))
    W[[places[label] for label in labels], np.arange(len(labels))] = 1.0
    return W


def opponents(tasks: ip.TaskJoint) -> dict[str, tuple[float, float]]:
    """(I(S;Z), I(U;Z)) of the usual alternatives."""
    letters, found = tasks.keep.x_labels, {}
    for count in (1, 2):
        for some in itertools.combinations(range(3), count):
            labels = [tuple(letter[place] for place in some) for letter in letters]
            found["only " + ", ".join(COLUMNS[place] for place in some)] = told(tasks, by_label(labels))
    for gamma in (0.05, 0.2, 0.4):
        found[f"bottleneck of income, gamma {gamma:g}"] = told(
            tasks, ip.solve(tasks.keep, ip.bottleneck(gamma)).encoder
        )
    hidden = ip.funnel_at_leakage(tasks.hide, 0.002, max_seconds=20.0)
    found["funnel that keeps X, cap 0.002"] = told(tasks, hidden.encoder)
    rich = tasks.keep.p_xy[:, -1] / tasks.keep.p_x
    order, mass = np.argsort(rich), np.empty(len(rich))
    mass[order] = np.cumsum(tasks.p_x[order]) - tasks.p_x[order] / 2
    for bins in (2, 4):
        found[f"{bins} groups by p(income)"] = told(tasks, by_label((mass * bins).astype(int).tolist()))
    return found | fairlearn_made(tasks)


def fairlearn_made(tasks: ip.TaskJoint) -> dict[str, tuple[float, float]]:
    """fairlearn on the one-hot columns: CorrelationRemover, 16 groups along what then predicts income; prototypes, p(z|x) as it stands."""
    try:
        from fairlearn.preprocessing import CorrelationRemover, PrototypeRepresentationLearner
    except ImportError:
        print(f"{SKIPPED}fairlearn, which is not installed.", flush=True)
        return {}
    rows = pd.read_csv(DATA / ADULT["medium"])
    X = pd.get_dummies(rows[COLUMNS]).astype(float)
    weight, male = rows["count"].to_numpy(dtype=float), (rows["sex"] == "Male").to_numpy(dtype=float)
    rich = (rows["income"].str.startswith(">")).to_numpy(dtype=float)
    repeated = X.assign(sex=male).loc[X.index.repeat(rows["count"])]
    made = CorrelationRemover(sensitive_feature_ids=["sex"]).fit(repeated).transform(X.assign(sex=male))
    root = np.sqrt(weight)[:, None]
    score = made @ np.linalg.lstsq(root * made, root[:, 0] * rich, rcond=None)[0]
    order = np.argsort(score)
    place = np.empty(len(score))
    place[order] = np.cumsum(weight[order]) - weight[order] / 2
    group = np.eye(16)[np.minimum((16 * place / weight.sum()).astype(int), 15)]
    both = [np.column_stack([1.0 - value, value]) * weight[:, None] / weight.sum() for value in (male, rich)]
    found = {"fairlearn CorrelationRemover, 16 groups": [group.T @ one for one in both]}
    drawn = np.random.default_rng(0).choice(len(rows), 1_000, p=weight / weight.sum())
    letters = pd.get_dummies(pd.DataFrame(tasks.keep.x_labels, columns=COLUMNS)).astype(float)[X.columns]
    for fairness in (1.0, 10.0):
        learner = PrototypeRepresentationLearner(
            5, reconstruct_weight=0.01, fairness_weight=fairness, random_state=0, max_iter=50
        )
        learner.fit(X.iloc[drawn], rich[drawn].astype(int), sensitive_features=rows["sex"].iloc[drawn])
        W = learner.transform(letters).T
        found[f"fairlearn 5 prototypes, fairness {fairness:g}"] = [W @ tasks.hide.p_xy, W @ tasks.keep.p_xy]
    return {name: tuple(ip.information.mutual_information(table) for table in told) for name, told in found.items()}


def curve(tasks: ip.TaskJoint) -> tuple[list[str], list[ip.CappedTask]]:
    """The certified caps, each asked for by itself, so that its seconds are its own."""
    lines = [
        "| I(S;Z) at most, nats | I(U;Z), nats | gap, nats | beta | clusters | seconds |",
        "|---|---|---|---|---|---|",
    ]
    ip.task_at_leakage(tasks, 0.1)  # compiles
    found = []
    for cap in CAPS:
        began = time.process_time()
        one = ip.task_at_leakage(tasks, cap)
        seconds = time.process_time() - began
        found.append(one)
        lines.append(f"| {cap:g} | {one.iuz:.6f} | {one.gap:.1e} | {one.beta:.3g} | {one.clusters} | {seconds:.1f} |")
        print(lines[-1], flush=True)
    began = time.process_time()
    together = ip.task_curve(tasks, CAPS)
    seconds = time.process_time() - began
    certified = all(one.certified for one in [*found, *together])
    lines += ["", f"All certified to 1e-6: {certified}. The eight together, which share their columns, took {seconds:.0f} s. "
              f"I(U;X) = {tasks.keep.mutual_information:.5f}, I(S;X) = {tasks.hide.mutual_information:.5f}."]  # fmt: skip
    return lines, found


def few_clusters(tasks: ip.TaskJoint) -> list[str]:
    """What fewer clusters cost at one cap, and certified Lagrangians with a small gamma."""
    lines = ["| what | I(U;Z), nats | I(S;Z), nats | clusters | gap, nats | seconds |", "|---|---|---|---|---|---|"]
    asked = [(f"cap 0.01, {k} clusters", lambda k=k: ip.task_at_leakage(tasks, 0.01, clusters=k)) for k in (8, 16, 32)]
    asked += [
        (f"beta 1, gamma {g:g}", lambda g=g: ip.solve(tasks, ip.task_funnel(1.0, gamma=g), certify=True))
        for g in (0.02, 0.005)
    ]
    asked += [("beta 1, gamma by default", lambda: ip.solve(tasks, ip.task_funnel(1.0), certify=True))]
    for name, make in asked:
        began = time.process_time()
        one = make()
        lines.append(
            f"| {name} | {one.iuz:.6f} | {one.isz:.6f} | {one.clusters} | {one.gap:.1e} | {time.process_time() - began:.1f} |"
        )
        print(lines[-1], flush=True)
    return lines


def heart() -> ip.TaskJoint:
    """16 letters, 299 records: keep death, hide sex, which the outcome names together."""
    both = ip.datasets.heart()
    keep, hide = (
        ip.Joint.from_counts(
            np.column_stack(
                [both.counts[:, [word in label.split() for label in both.y_labels]].sum(axis=1) for word in words]
            ),
            x_labels=both.x_labels,
            y_labels=words,
            x_names=both.x_names,
            y_names=name,
        )
        for name, words in (("outcome", ("alive", "died")), ("sex", ("woman", "man")))
    )
    return ip.TaskJoint(keep, hide)


def other_tables(seconds: float) -> list[str]:
    """Heart, and a secret of seven letters on Adult, each within a limit of time."""
    lines = ["| table | asked | I(U;Z), nats | I(S;Z), nats | gap, nats | seconds |", "|---|---|---|---|---|---|"]
    tables = {"heart, 16 x (2, 2), keep death, hide sex": heart()}
    if outside(ADULT["medium"], "Adult"):
        rows = pd.read_csv(DATA / ADULT["medium"])
        tables["Adult, 225 x (2, 7), keep income, hide marital status"] = ip.TaskJoint.from_frame(
            rows, ["education", "occupation"], "income", "marital_status", weight="count"
        )
    for name, tasks in tables.items():
        for asked in ("beta 1", "cap 0", "cap 0.01", "cap 0.03"):
            began, (what, value) = time.process_time(), asked.split()
            if what == "beta":
                one = ip.solve(tasks, ip.task_funnel(float(value)), certify=True, max_seconds=seconds)
            else:
                one = ip.task_at_leakage(tasks, float(value), max_seconds=seconds)
            spent = time.process_time() - began
            lines.append(f"| {name} | {asked} | {one.iuz:.6f} | {one.isz:.6f} | {one.gap:.1e} | {spent:.1f} |")
            print(lines[-1], flush=True)
    return [*lines, "", f"Proofs end after {seconds:g} s; compilations are part of the seconds."]


def sweeps() -> list[str]:
    """Default sweeps of random joints, without proofs: 16 weights from 0.1 to 30."""
    lines = ["| joint | converged | seconds |", "|---|---|---|"]
    for seed, letters, kept, hidden, peaked in ((0, 24, 2, 2, 1.0), (1, 24, 3, 2, 0.3), (2, 12, 3, 4, 1.0)):
        rng = np.random.default_rng(seed)
        p_x = rng.dirichlet(np.full(letters, 2.0))
        tasks = ip.TaskJoint(
            *(
                ip.Joint.from_matrix(p_x[:, None] * rng.dirichlet(np.full(size, peaked), letters), y_names=name)
                for size, name in ((kept, "u"), (hidden, "s"))
            )
        )
        began = time.process_time()
        found = ip.sweep(tasks, ip.task_funnel, np.geomspace(0.1, 30.0, 16), rng=0)
        good = sum(answer.run.status.converged for answer in found.best_answers())
        lines.append(f"| {letters} x ({kept}, {hidden}) | {good} of 16 | {time.process_time() - began:.1f} |")
        print(lines[-1], flush=True)
    return lines


def attacked(count: int) -> list[str]:
    """Random joints of all shapes: bounds against sampled encoders, descents and the solver's own answer. No false bound is allowed."""
    false, certified, rng = 0, 0, np.random.default_rng(0)
    for number in range(count):
        letters, kept, hidden = int(rng.integers(2, 9)), int(rng.integers(2, 4)), int(rng.integers(2, 4))
        peaked = rng.choice([0.05, 0.3, 1.0, 5.0])
        p_x = rng.dirichlet(np.full(letters, rng.choice([0.2, 2.0])))
        p_x = np.maximum(p_x, 1e-12) / np.maximum(p_x, 1e-12).sum()
        keep, hide = (rng.dirichlet(np.full(size, peaked), letters) for size in (kept, hidden))
        if number % 3 == 0:  # zeros, and letters that determine the secret
            keep, hide = (np.where(T < 0.1, 0.0, T) for T in (keep, hide))
            keep, hide = (T / T.sum(axis=1, keepdims=True) for T in (keep, hide))
        tasks = ip.TaskJoint(
            *(ip.Joint.from_counts(p_x[:, None] * T, y_names=name) for T, name in ((keep, "u"), (hide, "s")))
        )
        gamma = float(rng.choice([0.0, 0.01, 0.1]))
        found = ip.solve(
            tasks, ip.task_funnel(float(rng.choice([0.3, 1.0, 4.0])), gamma=gamma), certify=True, max_seconds=5.0
        )
        certified += found.status is ip.Status.CERTIFIED
        encoders = [rng.dirichlet(np.full(6, a), letters).T for a in (0.05, 0.3, 1.0) for _ in range(20)]
        encoders += [np.eye(letters), np.ones((1, letters)), found.encoder]
        false += min(found.problem.values(tasks.joint, encoders)) < found.lower_bound - 1e-12
    line = f"{count} random joints, gamma 0, 0.01 and 0.1: {false} false bounds against 63 encoders each; {certified} certified to 1e-6."
    print(line, flush=True)
    return [line]


def draw(found: list[ip.CappedTask], others: dict[str, tuple[float, float]], image: Path) -> list[str]:
    """The certified curve and the usual alternatives, as a picture; and a table of what they miss."""
    figure = Figure(figsize=(7.5, 5.0), layout="constrained")
    ax = figure.subplots()
    x, y = (
        np.array([value / NATS_PER_BIT for value in values])
        for values in ([o.isz for o in found], [o.iuz for o in found])
    )
    ax.plot(x, y, "-o", ms=4, color="C0", label="certified: the most that can be kept")
    lines = ["| instead | I(S;Z), nats | I(U;Z), nats | the curve there, nats |", "|---|---|---|---|"]
    kinds: dict[str, str] = {}
    for name, (isz, iuz) in sorted(others.items(), key=lambda one: one[1]):
        kind = "groups" if "groups by" in name else name.split()[0]
        first = kind not in kinds
        look = kinds.setdefault(kind, "s^Dv*PX"[len(kinds)])
        at = isz / NATS_PER_BIT, iuz / NATS_PER_BIT
        ax.plot(*at, look, ms=6, color=f"C{1 + [*kinds].index(kind)}", label=KINDS[kind] if first else None)
        short = name.removeprefix(f"{kind} ").removeprefix("of income, ").removeprefix("that keeps X, ")
        crowded = any(abs(x - isz) < 0.006 and 0.0 < y - iuz < 0.016 for x, y in others.values())
        ax.annotate(short.replace("_", " "), at, (6, -8 if crowded else 3), textcoords="offset points", fontsize=6)
        lines.append(
            f"| {name} | {isz:.5f} | {iuz:.5f} | {float(np.interp(isz, [o.isz for o in found], [o.iuz for o in found])):.4f} |"
        )
    ax.set(
        xlabel="told of sex, I(S;Z), bits", ylabel="kept of income, I(U;Z), bits", title="Adult: keep income, hide sex"
    )
    ax.set_xlim(-0.015, 0.36)
    ax.legend(fontsize=8, loc="lower right")
    image.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(image, dpi=130)
    return [
        *lines,
        "",
        "The last column is the chord between certified caps, below the curve itself. The "
        "prototypes (PrototypeRepresentationLearner) were fitted to 1,000 records, 50 iterations: its gradients are slow.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--attacks", type=int, default=500)
    parser.add_argument(
        "--only", choices=("adult", "others", "sweeps", "attacks"), help="leave the other tables as they are"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of each proof on the other tables")
    parser.add_argument(
        "--table", type=Path, default=ROOT / "docs/benchmarks/tasks.md", help="the page, which has the markers"
    )
    parser.add_argument("--out", type=Path, help="the same tables as JSON")
    parser.add_argument("--image", type=Path, default=ROOT / "docs/images/tasks.png")
    options = parser.parse_args()
    if options.only in (None, "adult") and outside(ADULT["medium"], "Adult"):
        tasks = adult()
        lines, found = curve(tasks)
        write_block(options.table, "curve", ["", *lines, ""])
        write_block(options.table, "opponents", ["", *draw(found, opponents(tasks), options.image), ""])
        write_block(options.table, "few", ["", *few_clusters(tasks), ""])
    if options.only in (None, "others"):
        write_block(options.table, "others", ["", *other_tables(options.seconds), ""])
    if options.only in (None, "sweeps"):
        write_block(options.table, "sweeps", ["", *sweeps(), ""])
    if options.only in (None, "attacks"):
        write_block(options.table, "attacks", ["", *attacked(options.attacks), ""])
    if options.out:
        write_records(options.table, options.out)


if __name__ == "__main__":
    main()
