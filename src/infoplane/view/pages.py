"""Pages without scripts, each one HTML file that needs nothing else: about a release, and about encoded columns.

The page of a release is for a reviewer, who reads it, fills it in and signs: what it tells about the secret, and what it was not asked. It
prints on paper. Every text from data is escaped by `formatting`.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..encoder.encoder import by_mass, predicted
from ..formatting import counted, filled, html_facts, html_note, html_page, html_table, label_text
from ..information import bits
from ..table.audit import audit

if TYPE_CHECKING:
    import pandas as pd

    from ..joint.joint import Joint
    from ..table.encoded_feature import EncodedFeature
    from ..table.transformers import BottleneckEncoder

SHOWN = 12
"""Released values, worst first, that the page lists."""

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1c2026; background: #fff; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; }
.box { border: 1px solid #59626e; padding: .6rem 1rem; break-inside: avoid; } .box p { margin: .4rem 0; }
.line { display: inline-block; min-width: 14rem; border-bottom: 1px solid #59626e; }
.warning { border-left: 4px solid #9a4b00; padding: .4rem .8rem; }
tr { break-inside: avoid; }
.measures td:nth-child(4) { min-width: 19rem; } .measures td:nth-child(2) { white-space: nowrap; }
@media screen { table { display: block; overflow-x: auto; } }
@media print {
  @page { margin: 12mm; } body { margin: 0; padding: 0; max-width: none; font-size: 8.5pt; } h1 { font-size: 14pt; }
  h2 { break-after: avoid; font-size: 10.5pt; margin-top: 1rem; } .measures td:nth-child(4) { min-width: 72mm; }
}
"""

NOT_SAID = (
    "This is not differential privacy of the data set. It is about what one released value tells, to somebody who knows the table's shares "
    "p(x, s) and sees it once, about the secret of its own record. It says nothing of other columns that are released beside it, nothing "
    "of a second release of the same records, and nothing of values of the table itself that are published elsewhere."
)

QUESTIONS = (
    "Does the reader already know the secret of some records, or columns that tell it?",
    "Are other columns of the same records released, now or before?",
    "Are the same records released again? If so: are draws keyed by id, with the same key?",
    "Who holds the key, and is it kept apart from the release?",
    "Is the table all of the population, or a sample of it?",
)


TABLES: dict[Any, dict[str, str]] = {
    "measure": {
        "measure": "{index}",
        "value": "{value:.4g} {unit}",
        "direction": "{direction}",
        "what it says": "{sentence}",
        "formula, reference": "{formula}; {reference}",
    },
    "value": {
        "z": "z{index}",
        "share": "{p_z:.2%}",
        "expected records": "{expected_records:.3g}",
        "stands for": "{stands_for}",
        "likelier secret": "{likelier_secret}",
        "lift, bits": "{max_lift_bits:+.3f}",
        "least lift, bits": "{min_lift_bits:+.3f}",
    },
    "secret": {
        "secret": "{index}",
        "share": "{prior:.2%}",
        "largest lift, bits": "{max_lift_bits:+.3f}",
        "least lift, bits": "{min_lift_bits:+.3f}",
        "guessed right": "{guessed_right:.2%}",
    },
    "record": {
        "record": "{x}",
        "secret": "{secret}",
        "expected records": "{records:.3g}",
        "largest lift, bits": "{max_lift_bits:+.3f}",
        "mean lift, bits": "{mean_lift_bits:+.3f}",
        "guessed right": "{guessed_right:.2%}",
    },
    "attribute": {
        "column": "{column}",
        "value": "{value}",
        "share": "{share:.2%}",
        "largest lift, bits": "{max_lift_bits:+.3f}",
        "guessed right": "{guessed_right:.2%}",
        "guessed before": "{guessed_before:.2%}",
        "told of it, bits": "{told_of_it_bits:.3f}",
    },
}
"""The columns of the page's tables, by what an audit has a row for, and how each is written."""

OF_RECORDS = (
    "Lifts are those of a record's own secret, by its released value: the largest that it may get, and the mean."
)

OF_ATTRIBUTES = "Of the records with this value: the largest lift of any secret, and the share whose secret the best guess gets right."


def audit_page(joint: Joint, encoder: Any, found: pd.DataFrame, title: str, said: Sequence[str] = ()) -> bytes:
    """The page of an audit by measure, with the worst released values and every value of the secret; ``said`` comes first."""
    secret = ", ".join(joint.y_names)
    facts = [
        ("released", ", ".join(joint.x_names)),
        ("secret", f"{secret}: {counted(joint.shape[1], 'value')}, {bits(joint.entropy_y):.4g} bits"),
        ("records", "not known" if joint.records is None else f"{joint.records:,}"),
    ]
    texts = ("measure", "direction", "what it says", "formula, reference")
    values, secrets, records, attributes = (audit(joint, encoder, by=by) for by in TABLES if by != "measure")
    attributes = attributes.sort_values("max_lift_bits", ascending=False, kind="stable")
    lined = '<span class="line">&nbsp;</span></p>'
    parts = [
        html_facts(facts),
        *(f"<p>{_text(sentence)}</p>" for sentence in said),
        f'<p class="warning">{_text(NOT_SAID)}</p>',
        "<h2>What it tells about the secret</h2>",
        f'<div class="measures">{_listed(found, "measure", texts, shown=len(found))}</div>',
        f"<h2>Released values, worst first</h2>{_order(joint)}",
        _listed(values, "value", ("stands for", "likelier secret"), more="value"),
        f"<h2>By value of the secret</h2>{_listed(secrets, 'secret', ('secret',))}",
        f"<h2>Kinds of records, worst first</h2>{_listed(records, 'record', ('record', 'secret'), OF_RECORDS, 'kind')}",
        "<h2>By value of what is released</h2>",
        _listed(attributes, "attribute", ("column", "value"), OF_ATTRIBUTES, "value", 2 * SHOWN),
        '<h2>Threat model, to be filled in</h2><div class="box">',
        *(f"<p>&#9744; {_text(one)} {lined}" for one in QUESTIONS),
        '</div><h2>Review</h2><div class="box">',
        *(f"<p>{one}: {lined}" for one in ("Purpose of the release", "Decision", "Name, date")),
        "</div>",
    ]
    return _page(title, "".join(parts))


def _page(title: str, body: str) -> bytes:
    """A whole page; ``body`` is HTML already."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{_text(title)}</title><style>{STYLE}</style>"
    )
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><h1>{_text(title)}</h1>{body}</body></html>\n'
    return page.encode("utf-8", "backslashreplace")


def _order(joint: Joint) -> str:
    """How labels of several columns are to be read."""
    several = [("values", joint.x_names), ("secrets", joint.y_names)]
    said = [f"{what} are written in the order {', '.join(names)}" for what, names in several if len(names) > 1]
    return html_note(f"Below, {'; '.join(said)}.") if said else ""


def _listed(
    found: pd.DataFrame, by: str, left: Sequence[str], said: str = "", more: str = "", shown: int = SHOWN
) -> str:
    """The first rows as a table, and a note: what it says, and how many ``more`` of what there are."""
    rows = filled(TABLES[by], found.head(shown).rename_axis("index").reset_index().to_dict("records"))
    if more and len(found) > shown:
        said = f"{said} {counted(len(found) - shown, more)} with smaller lifts not shown.".strip()
    return html_table(list(TABLES[by]), [[*row.values()] for row in rows], left) + (html_note(said) if said else "")


def _text(text: str) -> str:
    return html.escape(label_text(text, 1000))


def encoding_page(encoder: BottleneckEncoder, target: str) -> bytes:
    """The page of a fitted encoder whose classes are those of the column ``target``."""
    blocks = "".join(_block(one, tuple(encoder.classes_.tolist())) for one in encoder.features_)
    return _page(f"Columns in groups that keep what predicts {label_text(target, 60)}", blocks)


def _block(feature: EncodedFeature, classes: tuple[object, ...]) -> str:
    joint = feature.joint
    kept, whole = bits(feature.iyz), bits(joint.mutual_information)
    facts = [
        ("categories", f"{len(feature.counts):,}"),
        ("records", f"{feature.counts.sum():,.0f}"),
        ("groups", f"{feature.clusters:,}"),
        ("I(Y;Z)", f"{kept:z.4f} bits of I(X;Y) = {whole:z.4f}, both denoised"),
    ]
    if feature.groups is not None:
        facts.append(("what the records support", str(feature.groups.denoising)))
    header = ("group", "records", "share of each class", "typical")
    rows = [
        (
            f"z{one.z}",
            f"{one.mass:.1%}",
            predicted(one, classes, 4),
            "; ".join(label_text(feature.labels[x], 40) for x in one.typical),
        )
        for one in sorted(by_mass(joint, feature.encoder, 8), key=lambda one: one.z)
    ]
    said = html_note(f"{counted(feature.clusters, 'group')}, of which all categories are listed by --mapping.")
    return html_page(label_text(feature.name, 80), html_facts(facts), html_table(header, rows, left=header[2:]), said)
