"""Numbers and labels as people read them."""

import pytest

from infoplane.formatting import (
    alternatives,
    counted,
    html_facts,
    html_note,
    html_page,
    html_table,
    label_text,
    rounded,
    shown,
    shown_lines,
)


def test_one_is_not_a_plural():
    assert (counted(1, "cluster"), counted(2, "cluster"), counted(0, "run")) == ("1 cluster", "2 clusters", "0 runs")
    assert counted(12_000, "run") == "12,000 runs"


def test_no_minus_sign_before_zeros():
    assert (rounded(-1e-9), rounded(-0.5, 2)) == ("0.000000", "-0.50")


def test_labels_are_text_and_not_endless():
    assert label_text(("a", 1)) == "a, 1"
    assert label_text("x" * 200, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("größe 日本 \N{GRINNING FACE}", "größe 日本 \N{GRINNING FACE}"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202eevil", r"\u202eevil"),
        ("\ud800", r"\ud800"),
        ("5\N{NO-BREAK SPACE}km", "5\N{NO-BREAK SPACE}km"),
    ],
)
def test_what_would_command_a_terminal_is_spelled_out(text, expected):
    assert shown(text) == expected
    assert label_text((text, 1)) == f"{expected}, 1"
    assert shown_lines(f"{text}\n.") == f"{expected.replace(chr(92) + 'n', chr(10))}\n."


def test_names_that_might_be_meant_are_the_nearest_of_many():
    """A mistyped column of a wide table listed all its columns, thousands of them."""
    genes = [f"gene_{number:05}" for number in range(60_000)]
    said = alternatives("gene_0421", genes)
    assert said.startswith("one of 60,000 names; the nearest are 'gene_")
    assert said.count("0421'") == 5
    assert len(said) < 200
    assert alternatives("age", ["x", "y"]) == "one of 'x', 'y'"
    assert alternatives("zzz", genes).endswith("the first are " + ", ".join(map(repr, genes[:5])))
    assert len(alternatives("a", ["b" * 10**6])) < 200


def test_every_text_is_escaped():
    evil = '<script>alert("x")</script>'
    made = html_page(evil, html_facts([(evil, evil)]), html_table((evil,), [(evil,)]), html_note(evil))
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 6


def test_half_a_surrogate_pair_can_be_encoded():
    assert html_note("a\ud800").encode()


def test_colours_are_those_of_the_page():
    made = html_page("t", html_facts([("a", "b")]), html_table(("a",), [("1",)]), html_note("n"))
    assert "#" not in made
    assert "rgb" not in made.replace("in srgb, currentColor", "")
