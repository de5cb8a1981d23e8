"""Open a page in Chromium without a network."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SIZES = {"desktop": (1280, 900), "phone": (375, 812)}


@contextmanager
def chromium() -> Iterator:
    """A browser, for tests that ``make test-browser`` runs."""
    if not os.environ.get("DPSTATS_REQUIRE_BROWSER"):
        pytest.skip("make test-browser runs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield running
        running.close()


@contextmanager
def tab_of(browser, size: tuple[int, int], file) -> Iterator:
    """A tab with the file; what it logs and asks for elsewhere fails the test."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    tab, trouble = context.new_page(), []
    tab.on("console", lambda message: trouble.append(message.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on(
        "request",
        lambda asked: asked.url.startswith(("file:", "data:")) or trouble.append(asked.url),
    )
    tab.goto(file.as_uri())
    yield tab
    assert not trouble
    context.close()
