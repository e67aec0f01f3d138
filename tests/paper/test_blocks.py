"""The two forms of a report."""

from infoplane_paper.blocks import heading, html_page, items, markdown, picture, python, table, text


def test_both_forms_of_a_report(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    blocks = [
        heading(2, "A < B"),
        text("p & q"),
        items(["one", "two"]),
        python("f(x)"),
        table(("a", "b"), [("1 | 2", "<3>")]),
        picture(tmp_path / "a.png", "alt"),
    ]
    said = markdown(blocks)
    assert "## A < B\n\np & q\n\n- one\n- two\n\n```python\nf(x)\n```" in said
    assert "| a | b |\n| --- | --- |\n| 1 \\| 2 | <3> |" in said
    assert said.endswith("![alt](a.png)\n")
    shown = html_page(blocks, "T")
    assert "<h2>A &lt; B</h2>" in shown
    assert "<td>&lt;3&gt;</td>" in shown
    assert 'src="data:image/png;base64,iVBORw==' in shown
    assert "http" not in shown
