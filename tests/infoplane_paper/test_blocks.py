"""The two forms of a report."""

from infoplane_paper.blocks import Code, Heading, Items, Picture, Table, Text, html_page, markdown


def test_both_forms_of_a_report(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    blocks = [
        Heading(2, "A < B"),
        Text("p & q"),
        Items(["one", "two"]),
        Code("f(x)"),
        Table(("a", "b"), [("1 | 2", "<3>")]),
        Picture("a.png", "alt"),
    ]
    text = markdown(blocks)
    assert "## A < B\n\np & q\n\n- one\n- two\n\n```python\nf(x)\n```" in text
    assert "| a | b |\n| --- | --- |\n| 1 \\| 2 | <3> |" in text
    assert text.endswith("![alt](a.png)\n")
    shown = html_page(blocks, "T", tmp_path)
    assert "<h2>A &lt; B</h2>" in shown
    assert "<td>&lt;3&gt;</td>" in shown
    assert 'src="data:image/png;base64,iVBORw==' in shown
    assert "http" not in shown
