"""Mechanisms as files: JSON that a person can read and a program need not trust.

    {"format": "infoplane mechanism", "version": 1, "kind": "encoder", "target": [...], "classes": [...], "note": "...",
     "features": [{"name", "columns", "letters": [...], "keys", "rows", "labels" or "encoder", "clusters", "descriptions"}]}

``letters`` has an object for each column: ``{"kind": "categories", "values": [...], "missing": true}``, or ``{"kind": "intervals",
"edges": [...], "missing": false}``; with several columns ``keys`` are the combinations that were met, numbered in row-major order.
``labels`` is the cluster of every row of the table, the last that of what was never met; a random mechanism has ``encoder``, p(z|x) row
by row. Nothing of a file is used before kinds, sizes, ranges and sums were checked; an error says where the file is wrong.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from ..checks import SUM_TOLERANCE
from ..errors import InvalidMechanismError
from ..formatting import shortened
from ..information import IntArray
from ..joint.tables import LARGEST_TABLE
from ..table.mechanism import CategoryLetters, IntervalLetters, Letters, Mechanism, MechanismFeature, ProductLetters
from .files import check_regular, path_of, to_json, whole_file

FORMAT, VERSION = "infoplane mechanism", 1
"""How a file begins; the version rises with every change that an older reader would take for something else."""

KINDS = ("encoder", "release")

Fits = Callable[[Any], bool]

LARGEST = 2**28
"""Bytes of a file that are read: 256 MB, about five million categories."""


def write_mechanism(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism, whole or not at all."""
    record = {
        "format": FORMAT,
        "version": VERSION,
        "kind": mechanism.kind,
        "target": list(mechanism.target),
        "classes": list(mechanism.classes),
        "note": mechanism.note,
        "features": [_feature_record(one) for one in mechanism.features],
    }
    text = json.dumps(to_json(record), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    with whole_file(path_of("a mechanism", path)) as file:
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")


def _feature_record(one: MechanismFeature) -> dict[str, Any]:
    letters = one.letters
    keys, parts = (letters.keys, letters.parts) if isinstance(letters, ProductLetters) else (None, (letters,))
    return {
        "name": one.name,
        "columns": list(one.columns),
        "letters": [_letters_record(part) for part in parts],
        "rows": one.rows,
        "clusters": list(one.clusters),
        "descriptions": list(one.descriptions),
        **({} if keys is None else {"keys": keys.to_numpy()}),
        **({"labels": one.encoder.argmax(axis=0)} if one.deterministic else {"encoder": one.encoder.T}),
    }


def _letters_record(part: CategoryLetters | IntervalLetters) -> dict[str, Any]:
    if isinstance(part, IntervalLetters):
        return {"kind": "intervals", "edges": list(part.edges), "missing": part.has_missing}
    return {"kind": "categories", "values": part.values.tolist(), "missing": part.has_missing}


def read_mechanism(path: str | os.PathLike[str]) -> Mechanism:
    """Read a mechanism; an `InvalidMechanismError` says where the file is no such thing."""
    place = path_of("a mechanism", path)
    try:
        check_regular(place)
        with place.open("rb") as file:
            text = file.read(LARGEST + 1)
        record = None if len(text) > LARGEST else json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except OSError as error:
        raise InvalidMechanismError(f"{place} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidMechanismError(
            f"{place} is no JSON file that could be read: {shortened(str(error), 100)}."
        ) from error
    if len(text) > LARGEST:
        raise InvalidMechanismError(f"{place}: a mechanism has at most {LARGEST:,} bytes; found more.")
    return _Reader(str(place)).mechanism(record)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


class _Reader:
    """Checks as it goes; ``where`` says which part of the file is looked at."""

    def __init__(self, place: str) -> None:
        self.place = place

    def wrong(self, where: str, expected: str, found: Any) -> NoReturn:
        raise InvalidMechanismError(f"{self.place}: {where} must be {expected}; found {shortened(repr(found), 60)}.")

    def mechanism(self, record: Any) -> Mechanism:
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise InvalidMechanismError(f'{self.place} is no mechanism: it does not say "format": "{FORMAT}".')
        if record.get("version") != VERSION:
            self.wrong("version", f"{VERSION}, which this infoplane reads", record.get("version"))
        kind = record.get("kind")
        if kind not in KINDS:
            self.wrong("kind", " or ".join(map(repr, KINDS)), kind)
        features = self.items(record, "features")
        if not features:
            self.wrong("features", "a list that is not empty", features)
        made = tuple(self.feature(one, f"features[{at}]") for at, one in enumerate(features))
        if len({one.name for one in made}) < len(made):
            self.wrong("features", "of different names", [one.name for one in made])
        return Mechanism(
            kind, self.texts(record, "target"), self.scalars(record, "classes"), made, self.text(record, "note")
        )

    def feature(self, record: Any, where: str) -> MechanismFeature:
        if not isinstance(record, dict):
            self.wrong(where, "an object", record)
        columns = self.names(record, "columns", where)
        parts = self.items(record, "letters", where)
        if len(parts) != len(columns):
            self.wrong(f"{where}.letters", f"{len(columns)} objects, one for each column", len(parts))
        letters = self.letters(
            [self.part(one, f"{where}.letters[{at}]") for at, one in enumerate(parts)], record, where
        )
        clusters = self.names(record, "clusters", where)
        encoder = self.encoder(record, len(clusters), where)
        rows = self.whole(record, "rows", encoder.shape[1] - 1, where)
        if len(rows) != letters.size:
            self.wrong(f"{where}.rows", f"{letters.size} numbers, one for each letter", len(rows))
        said = self.texts(record, "descriptions", where)
        if said and len(said) != len(clusters):
            self.wrong(f"{where}.descriptions", f"{len(clusters)} texts, or none", len(said))
        return MechanismFeature(self.text(record, "name", where), columns, letters, rows, encoder, clusters, said)

    def part(self, record: Any, where: str) -> CategoryLetters | IntervalLetters:
        if not isinstance(record, dict) or not isinstance(record.get("missing"), bool):
            self.wrong(where, "an object that says whether values may be missing", record)
        if record.get("kind") == "intervals":
            edges = self.items(record, "edges", where)
            if not all(_is_number(edge) for edge in edges):
                self.wrong(f"{where}.edges", "finite numbers", edges)
            if any(low >= high for low, high in pairwise(edges)):
                self.wrong(f"{where}.edges", "increasing", edges)
            return IntervalLetters(tuple(float(edge) for edge in edges), record["missing"])
        if record.get("kind") != "categories":
            self.wrong(f"{where}.kind", "'categories' or 'intervals'", record.get("kind"))
        values = self.scalars(record, "values", where)
        if len(set(values)) < len(values):
            self.wrong(f"{where}.values", "different", values)
        return CategoryLetters(pd.Index(values, dtype=None if values else object), record["missing"])

    def letters(self, parts: list[CategoryLetters | IntervalLetters], record: dict[str, Any], where: str) -> Letters:
        if len(parts) == 1:
            return parts[0]
        combinations = math.prod(part.size for part in parts)
        if not 0 < combinations < 2**62:
            self.wrong(f"{where}.letters", "of fewer than 2**62 combinations", combinations)
        keys = self.whole(record, "keys", combinations, where)
        if len(np.unique(keys)) < len(keys):
            self.wrong(f"{where}.keys", "different", keys.tolist())
        return ProductLetters(tuple(parts), pd.Index(keys))

    def encoder(self, record: dict[str, Any], clusters: int, where: str) -> Any:
        """p(z|x), (|Z|, columns)."""
        if "labels" in record:
            labels = self.whole(record, "labels", clusters, where)
            if not len(labels) or len(labels) * clusters > LARGEST_TABLE:
                self.wrong(
                    f"{where}.labels",
                    f"not empty, and of at most {LARGEST_TABLE:,} cells with the clusters",
                    len(labels),
                )
            W = np.zeros((clusters, len(labels)))
            W[labels, np.arange(len(labels))] = 1.0
            return W
        rows = self.items(record, "encoder", where)
        for at, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != clusters or not all(_is_number(p) and p >= 0 for p in row):
                self.wrong(f"{where}.encoder[{at}]", f"{clusters} numbers that are not negative", row)
            if abs(math.fsum(row) - 1.0) > SUM_TOLERANCE:
                self.wrong(f"{where}.encoder[{at}]", "numbers that sum to 1", math.fsum(row))
        if not rows:
            self.wrong(f"{where}.encoder", "a list that is not empty", rows)
        W = np.array(rows, dtype=float).T
        return W / W.sum(axis=0)

    # -- kinds of values -------------------------------------------------------------------------------------------------

    def value(self, record: dict[str, Any], key: str, where: str, kind: type, expected: str) -> Any:
        if not isinstance(record.get(key), kind):
            self.wrong(f"{where}.{key}".lstrip("."), expected, record.get(key))
        return record[key]

    def items(
        self, record: dict[str, Any], key: str, where: str = "", fits: Fits = lambda _: True, one: str = ""
    ) -> Any:
        """A list of values that are each what ``one`` says."""
        values = self.value(record, key, where, list, "a list")
        for at, value in enumerate(values):
            if not fits(value):
                self.wrong(f"{where}.{key}[{at}]".lstrip("."), one, value)
        return values

    def text(self, record: dict[str, Any], key: str, where: str = "") -> str:
        return str(self.value(record, key, where, str, "a text"))

    def texts(self, record: dict[str, Any], key: str, where: str = "") -> tuple[str, ...]:
        return tuple(self.items(record, key, where, lambda one: isinstance(one, str), "a text"))

    def names(self, record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        found = self.texts(record, key, where)
        if not found or len(set(found)) < len(found):
            self.wrong(f"{where}.{key}", "different names, one at least", found)
        return found

    def scalars(self, record: dict[str, Any], key: str, where: str = "") -> tuple[Any, ...]:
        said = "a text, a finite number, true or false"
        return tuple(self.items(record, key, where, lambda one: isinstance(one, (str, bool)) or _is_number(one), said))

    def whole(self, record: dict[str, Any], key: str, below: int, where: str) -> IntArray:
        def fits(one: Any) -> bool:
            return isinstance(one, int) and not isinstance(one, bool) and 0 <= one < below

        return np.array(self.items(record, key, where, fits, f"a whole number from 0 to {below - 1}"), dtype=np.int64)


def _is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1.7e308
