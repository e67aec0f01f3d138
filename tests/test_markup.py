"""HTML for notebooks: escaped, and in no colours of its own."""

from infoplane import markup


def test_every_text_is_escaped():
    evil = '<script>alert("x")</script>'
    made = markup.page(evil, markup.facts([(evil, evil)]), markup.table((evil,), [(evil,)]), markup.note(evil))
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 6


def test_half_a_surrogate_pair_can_be_encoded():
    assert markup.note("a\ud800").encode()


def test_colours_are_those_of_the_page():
    made = markup.page("t", markup.facts([("a", "b")]), markup.table(("a",), [("1",)]), markup.note("n"))
    assert "#" not in made
    assert "rgb" not in made.replace("in srgb, currentColor", "")
