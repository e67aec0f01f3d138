"""What the groups of encoded columns hold, as one HTML page that needs nothing else."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..encoder.encoder import by_mass, predicted
from ..formatting import counted, html_facts, html_note, html_page, html_table, label_text, rounded
from ..information import bits

if TYPE_CHECKING:
    from ..table.bottleneck_encoder import BottleneckEncoder
    from ..table.encoded_feature import EncodedFeature

STYLE = "body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
"""Of the page; tables have the style of `formatting`."""


def encoding_page(encoder: BottleneckEncoder, target: str) -> str:
    """The page of a fitted encoder whose classes are those of the column ``target``."""
    title = f"Columns in groups that keep what predicts {label_text(target, 60)}"
    blocks = "".join(_block(one, tuple(encoder.classes_.tolist())) for one in encoder.features_)
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
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
