"""The two forms of a report."""

from infoplane_paper.report import beside, heading, html_page, items, markdown, picture, python, table, text


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


def test_what_markdown_marks_is_marked_in_html():
    said = text("`f(x)`: **Of 4 < 5**, see [the appendix](appendix-a_b.md), |Z| * 2")
    assert said.html == (
        '<p><code>f(x)</code>: <strong>Of 4 &lt; 5</strong>, see <a href="appendix-a_b.md">the appendix</a>, |Z| * 2</p>'
    )


def test_a_picture_stands_beside_its_table_and_before_it_in_markdown(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    both = beside([picture(tmp_path / "a.png", "alt"), text("words")], table(("a",), [("1",)]))
    assert both.markdown == "![alt](a.png)\n\nwords\n\n| a |\n| --- |\n| 1 |"
    assert both.html.startswith('<div class="beside"><div><a href="a.png"><img')
    assert both.html.endswith("</table></div>")
