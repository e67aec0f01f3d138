"""Pages without scripts, each one HTML file that needs nothing else: about a release, and about encoded columns.

The page of a release is for a reviewer, who reads it, fills it in and signs: what it tells about the secret, and what it was not asked. It
prints on paper. Every text from data is escaped by `formatting`.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..encoder.encoder import by_mass, predicted
from ..formatting import counted, html_facts, html_note, html_page, html_table, label_text, rounded
from ..information import bits
from ..table.audit import audit

if TYPE_CHECKING:
    import pandas as pd

    from ..joint.joint import Joint
    from ..table.bottleneck_encoder import BottleneckEncoder
    from ..table.encoded_feature import EncodedFeature

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


def audit_page(joint: Joint, encoder: Any, found: pd.DataFrame, title: str, said: Sequence[str] = ()) -> bytes:
    """The page of an audit by measure, with the worst released values and every value of the secret; ``said`` comes first."""
    secret = ", ".join(joint.y_names)
    facts = [
        ("released", ", ".join(joint.x_names)),
        ("secret", f"{secret}: {counted(joint.shape[1], 'value')}, {bits(joint.entropy_y):.4g} bits"),
        ("records", "not known" if joint.records is None else f"{joint.records:,}"),
    ]
    columns = ("measure", "value", "direction", "what it says", "formula, reference")
    lines = [
        (str(name), f"{row.value:.4g} {row.unit}", row.direction, row.sentence, f"{row.formula}; {row.reference}")
        for name, row in found.iterrows()
    ]
    parts = [
        f"<h1>{_text(title)}</h1>",
        html_facts(facts),
        *(f"<p>{_text(sentence)}</p>" for sentence in said),
        f'<p class="warning">{_text(NOT_SAID)}</p>',
        "<h2>What it tells about the secret</h2>",
        f'<div class="measures">{html_table(columns, lines, left=(columns[0], *columns[2:]))}</div>',
        f"<h2>Released values, worst first</h2>{_order(joint)}",
        _values(joint, encoder),
        f"<h2>By value of the secret</h2>{_secrets(joint, encoder)}",
        "<h2>Kinds of records, worst first</h2>",
        _records(joint, encoder),
        f"<h2>By value of what is released</h2>{_attributes(joint, encoder)}",
        f"<h2>Threat model, to be filled in</h2>{_questions()}",
        f'<h2>Review</h2><div class="box">{_signature()}</div>',
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{_text(title)}</title><style>{STYLE}</style>"
    )
    page = f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
    return page.encode("utf-8", "backslashreplace")


def _order(joint: Joint) -> str:
    """How labels of several columns are to be read."""
    several = [("values", joint.x_names), ("secrets", joint.y_names)]
    said = [f"{what} are written in the order {', '.join(names)}" for what, names in several if len(names) > 1]
    return html_note(f"Below, {'; '.join(said)}.") if said else ""


def _values(joint: Joint, encoder: Any) -> str:
    values = audit(joint, encoder, by="value")
    columns = ("z", "share", "expected records", "stands for", "likelier secret", "lift, bits", "least lift, bits")
    rows = [
        (
            f"z{z}",
            f"{row.p_z:.2%}",
            f"{row.expected_records:.3g}",
            row.stands_for,
            row.likelier_secret,
            f"{row.max_lift_bits:+.3f}",
            f"{row.min_lift_bits:+.3f}",
        )
        for z, row in values.head(SHOWN).iterrows()
    ]
    more = _more(values, "value").strip()
    return html_table(columns, rows, left=columns[3:5]) + (html_note(more) if more else "")


def _secrets(joint: Joint, encoder: Any) -> str:
    columns = ("secret", "share", "largest lift, bits", "least lift, bits", "guessed right")
    rows = [
        (
            str(s),
            f"{row.prior:.2%}",
            f"{row.max_lift_bits:+.3f}",
            f"{row.min_lift_bits:+.3f}",
            f"{row.guessed_right:.2%}",
        )
        for s, row in audit(joint, encoder, by="secret").head(SHOWN).iterrows()
    ]
    return html_table(columns, rows, left=columns[:1])


def _records(joint: Joint, encoder: Any) -> str:
    found = audit(joint, encoder, by="record")
    columns = ("record", "secret", "expected records", "largest lift, bits", "mean lift, bits", "guessed right")
    rows = [
        (
            str(row.x),
            str(row.secret),
            f"{row.records:.3g}",
            f"{row.max_lift_bits:+.3f}",
            f"{row.mean_lift_bits:+.3f}",
            f"{row.guessed_right:.2%}",
        )
        for row in found.head(SHOWN).itertuples()
    ]
    said = "Lifts are those of a record's own secret, by its released value: the largest that it may get, and the mean."
    return html_table(columns, rows, left=columns[:2]) + html_note(said + _more(found, "kind"))


def _attributes(joint: Joint, encoder: Any) -> str:
    found = audit(joint, encoder, by="attribute").sort_values("max_lift_bits", ascending=False, kind="stable")
    columns = ("column", "value", "share", "largest lift, bits", "guessed right", "guessed before", "told of it, bits")
    rows = [
        (
            str(row.column),
            str(row.value),
            f"{row.share:.2%}",
            f"{row.max_lift_bits:+.3f}",
            f"{row.guessed_right:.2%}",
            f"{row.guessed_before:.2%}",
            f"{row.told_of_it_bits:.3f}",
        )
        for row in found.head(2 * SHOWN).itertuples()
    ]
    said = "Of the records with this value: the largest lift of any secret, and the share whose secret the best guess gets right."
    return html_table(columns, rows, left=columns[:2]) + html_note(said + _more(found, "value", 2 * SHOWN))


def _more(found: pd.DataFrame, what: str, shown: int = SHOWN) -> str:
    """How many more there are than the page lists."""
    more = len(found) - shown
    return f" {counted(more, what)} with smaller lifts not shown." if more > 0 else ""


def _questions() -> str:
    lines = "".join(f'<p>&#9744; {_text(one)} <span class="line">&nbsp;</span></p>' for one in QUESTIONS)
    return f'<div class="box">{lines}</div>'


def _signature() -> str:
    return "".join(
        f'<p>{_text(one)}: <span class="line">&nbsp;</span></p>'
        for one in ("Purpose of the release", "Decision", "Name, date")
    )


def _text(text: str) -> str:
    return html.escape(label_text(text, 1000))


PLAIN_STYLE = "body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
"""Of the page; tables have the style of `formatting`."""


def encoding_page(encoder: BottleneckEncoder, target: str) -> str:
    """The page of a fitted encoder whose classes are those of the column ``target``."""
    title = f"Columns in groups that keep what predicts {label_text(target, 60)}"
    blocks = "".join(_block(one, tuple(encoder.classes_.tolist())) for one in encoder.features_)
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{PLAIN_STYLE}</style>'
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body><h1>{html.escape(title)}</h1>{blocks}</body></html>\n'
    )


def _block(feature: EncodedFeature, classes: tuple[object, ...]) -> str:
    joint = feature.joint
    facts = [
        ("categories", f"{len(feature.counts):,}"),
        ("records", f"{feature.counts.sum():,.0f}"),
        ("groups", f"{feature.clusters:,}"),
        (
            "I(Y;Z)",
            f"{rounded(bits(feature.iyz), 4)} bits of I(X;Y) = {rounded(bits(joint.mutual_information), 4)}, both denoised",
        ),
    ]
    if feature.groups is not None:
        facts.append(("what the records support", str(feature.groups.denoising)))
    header = ("group", "records", "share of each class", "typical")
    # Typical categories of a group that the page lists.
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
