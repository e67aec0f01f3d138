"""The built site, page by page in a real browser, from the disk: `python -m pytest .ci/test_site.py` after the README's `sphinx-build`."""

from pathlib import Path

import pytest

from browser import started

SITE = Path(__file__).parent.parent / "site"
PAGES = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)


@pytest.fixture(scope="module")
def page():
    """One tab without a network; ``said`` is what it complained about, and what it asked for and did not get from the site."""
    with started() as browser:
        opened = browser.new_context(offline=True).new_page()
        opened.said = []
        opened.on("console", lambda line: line.type == "error" and opened.said.append(line.text))
        opened.on("pageerror", lambda error: opened.said.append(str(error)))
        opened.on("requestfailed", lambda request: opened.said.append(f"missing: {request.url}"))
        opened.on(
            "request",
            lambda request: (
                request.url.startswith((SITE.as_uri(), "data:")) or opened.said.append(f"elsewhere: {request.url}")
            ),
        )
        yield opened


def test_there_is_a_site():
    assert {"index.html", "search.html", "genindex.html"} <= {path.name for path in PAGES}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(SITE)))
def test_a_page_is_whole_and_silent(page, path):
    page.said.clear()
    page.goto(path.as_uri())
    missing = page.evaluate("[...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)")
    assert page.said == []
    assert missing == []


def test_search_finds_a_name(page):
    page.said.clear()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=funnel_at_leakage")
    found = page.locator("#search-results li a", has_text="funnel_at_leakage").first
    found.wait_for()
    found.click()
    page.wait_for_url("**/infoplane.funnel_at_leakage.html*")
    assert "funnel_at_leakage" in page.locator("h1").inner_text()
    assert page.said == []


def test_formulas_are_drawn(page):
    """Where a page has formulas MathJax draws them, from a file of the site."""
    path = next(path for path in PAGES if 'class="math' in path.read_text(encoding="utf-8"))
    page.goto(path.as_uri())
    page.locator(".math mjx-container svg").first.wait_for(state="attached")
