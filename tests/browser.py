"""A real browser, and a page of a report in it."""

import contextlib
import os
import shutil

import pytest


@contextlib.contextmanager
def started():
    """Debian's Chromium, driven by playwright; only INFOPLANE_NO_BROWSER lets tests that need it be skipped."""
    if os.environ.get("INFOPLANE_NO_BROWSER"):
        pytest.skip("INFOPLANE_NO_BROWSER is set")
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.fail(
            "these tests need a browser: apt-get install -y --no-install-recommends chromium. "
            "Set INFOPLANE_NO_BROWSER=1 to skip them knowingly."
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Opened:
    """A page in the browser, offline, and everything that it asked for or complained about."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(offline=True, accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.address = path.as_uri()
        self.page.goto(self.address)
        self.settle()

    def settle(self):
        """Until the charts are drawn: the picture of the plane and the ring around the chosen run."""
        self.page.wait_for_function("document.querySelector('#plane svg, #plane canvas') !== null")
        self.page.wait_for_function("document.querySelector('#cells svg, #no-encoder:not([hidden])') !== null")

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def quiet(self):
        """Nothing was asked for but the page itself, and nothing was said on the console."""
        assert self.requests == [self.address]
        assert self.complaints == []
