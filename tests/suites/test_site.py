"""The documentation site in build/docs: its links lead somewhere, and it is used in a browser.

``make test-browser`` builds it first, and runs the tests that need it.
"""

import functools
import http.server
import importlib
import os
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

import dpstats as dp
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS
from tests.checks.browser import chromium

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "docs"
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src")}
CHAPTERS = ("index", "start", "guides", "guarantees", "reference", "choosing", "coming-from",
            "proofs/index", "intervals", "trust", "reports/auto", "reports/reporting",
            "proofs/ops_objpert", "proofs/tukey", "api/dpstats.dp_ols",
            "api/dpstats.DPResults")  # fmt: skip

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs" / "site").exists(), reason="the tests of an installed package lack it"
)


def module(name: str):
    """Import a module of docs/site."""
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


class Page(HTMLParser):
    """The links, the files that are loaded, and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links, self.loaded, self.anchors = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value)
            elif (tag, name) in LOADED:
                self.loaded.add(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.add(value)


@pytest.fixture(scope="module")
def site() -> dict[str, Page]:
    """All pages of the site that was built, by their paths."""
    if not os.environ.get("DPSTATS_REQUIRE_BROWSER"):
        pytest.skip("make test-browser builds the site and runs it")
    paths = sorted({*SITE.rglob("*.html")} - {*SITE.glob("_static/**/*.html")})
    return {path.relative_to(SITE).as_posix(): Page(path.read_text("utf-8")) for path in paths}


def test_links_point_to_the_places_of_files():
    sources: set[str] = set()
    text = "[a](docs/bounds.md#x) [b](https://e.org) [c](vignettes/auto/README.md) [d](#here)"
    moved = module("pages").relink(text, "README.md", sources)
    assert moved == "[a](bounds.md#x) [b](https://e.org) [c](reports/auto.md) [d](#here)"
    text = "[a](../dpstats/estimators/depth/tukey.py) [b](../tests/noise/test_noise.py)"
    text += " [c](../README.md)"
    moved = module("pages").relink(text, "docs/trust.md", sources)
    assert moved == "[a](proofs/tukey.rst) [b](code/tests/noise/test_noise.rst) [c](index.md)"
    assert sources == {"tests/noise/test_noise.py"}
    with pytest.raises(ValueError, match="Makefile"):
        module("pages").relink("[a](Makefile)", "README.md", sources)


def test_every_guide_is_in_the_navigation():
    groups = [next((ROOT / "docs" / "site").glob(f"{name}.*")) for name in module("pages").SECTIONS]
    trees = [line.strip() for path in groups for line in path.read_text("utf-8").splitlines()]
    guides = [path.stem for path in (ROOT / "docs").glob("*.md")]
    assert [name for name in guides if trees.count(name) != 1] == [], "in one group of docs/site"


def test_formulas_are_typeset():
    pytest.importorskip("sphinx")
    typeset = module("formulas").typeset
    shown = "".join(map(str, typeset("sum_{j<=k} u_j^2 <= e^(-l t) X'X, row_norm, a row's mu")))
    assert shown == (
        "sum<subscript>j≤k</subscript> u<subscript>j</subscript><superscript>2</superscript> ≤ "
        "e<superscript>-l t</superscript> X′X, row_norm, a row's μ"
    )


def test_docstrings_are_read_as_they_are_meant():
    pytest.importorskip("sphinx")
    lines = ["Guarantee. |v| <= 1, a*b*c, z_ and ``|x|``:", "- one", "  more", "two", ">>> a*b*c"]
    module("docstrings").as_rst(None, "function", "f", None, None, lines)
    assert lines == [
        r"**Guarantee.** \|v\| <= 1, a\*b\*c, z\_ and ``|x|``:", "", "- one", "  more", "", "two",
        ">>> a*b*c",
    ]  # fmt: skip


def test_all_links_lead_somewhere(site):
    for name, page in site.items():
        for link in page.links | page.loaded:
            parts = urlsplit(urljoin(f"//site/{name}", link))
            if parts.netloc != "site" or parts.scheme:
                continue
            target = unquote(parts.path).lstrip("/")
            assert (SITE / target).is_file(), f"{name} links to {link}"
            # Pages of source code name functions as their pages do or as modules do.
            if parts.fragment and target.endswith(".html") and not name.startswith("_modules/"):
                assert unquote(parts.fragment) in site[target].anchors, f"{name} links to {link}"


def test_nothing_is_loaded_from_elsewhere(site):
    elsewhere = {link for page in site.values() for link in page.loaded if "//" in link}
    assert elsewhere == set()
    for style in SITE.rglob("*.css"):
        assert "url(http" not in style.read_text("utf-8").replace('"', "")


def test_each_method_and_each_public_name_has_its_page(site):
    methods = module("proofs").methods_by_module()
    named = {method.name for group in methods.values() for method in group}
    assert named == {*METHODS, *GENERALIZED, *INSTRUMENTAL}
    for name in methods:
        assert "<strong>Guarantee" in (SITE / f"proofs/{name.rpartition('.')[2]}.html").read_text()
    for name in set(dp.__all__) - {"METHODS", "SELECTORS"}:
        assert f"api/dpstats.{name}.html" in site["reference.html"].links


@pytest.fixture(scope="module")
def address(site):
    """The site on this machine's loopback address."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *a: None})
    handler = functools.partial(quiet, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(params=[(1280, 900), (390, 844)], ids=["desktop", "phone"])
def tab(request, browser, address):
    """A tab; errors in its console and requests to other places fail the test."""
    width, height = request.param
    opened = browser.new_page(viewport={"width": width, "height": height})
    trouble = []
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("console", lambda said: said.type == "error" and trouble.append(said.text))
    opened.on("request", lambda asked: asked.url.startswith((address, "data:"))
              or trouble.append(asked.url))  # fmt: skip
    yield opened
    assert not trouble
    opened.close()


def test_pages_are_no_wider_than_the_window(tab, address):
    for name in CHAPTERS:
        tab.goto(f"{address}/{name}.html")
        widths = tab.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert widths[0] <= widths[1], name


@pytest.mark.parametrize("width", [1000, 1200, 1300, 1920])
def test_no_line_of_code_is_cut_beside_the_sidebars(browser, address, width):
    tab = browser.new_page(viewport={"width": width, "height": 900})
    blocks = "[...document.querySelectorAll('article pre')]"
    seen = 0
    for name in (*CHAPTERS, "planning", "panels", "data"):
        tab.goto(f"{address}/{name}.html")
        seen += tab.evaluate(f"{blocks}.length")
        cut = tab.evaluate(f"{blocks}.filter(pre => pre.scrollWidth > pre.clientWidth).length")
        assert cut == 0, f"{cut} blocks of {name} at {width} pixels"
    tab.close()
    assert seen > 50


def test_code_of_a_hundred_letters_does_not_wrap_at_1300(browser, address):
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    tab.goto(f"{address}/planning.html")
    letters = tab.evaluate("""() => {
      const pre = document.querySelector('article pre'), style = getComputedStyle(pre);
      const pen = document.createElement('canvas').getContext('2d');
      pen.font = style.font;
      const room = pre.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return room / pen.measureText('m').width;
    }""")
    tab.close()
    assert letters >= 100


def test_the_navigation_leads_to_a_guide_and_a_proof(tab, address):
    for chapter, page, title in (("Guides", "Bounds and ranges", "Bounds and ranges"),
                                 ("Guarantees", "Proofs", "Proofs")):  # fmt: skip
        tab.goto(f"{address}/index.html")
        if tab.viewport_size["width"] < 600:
            tab.get_by_role("button", name="Site navigation").first.click()
        tab.get_by_role("link", name=chapter, exact=True).locator("visible=true").first.click()
        tab.get_by_role("article").get_by_role("link", name=page, exact=True).first.click()
        assert tab.locator("article h1").inner_text().startswith(title)


def test_the_search_is_labelled_and_finds(tab, address):
    tab.goto(f"{address}/index.html")
    tab.keyboard.press("Control+k")
    box = tab.get_by_role("searchbox").locator("visible=true").first
    label = box.get_attribute("aria-label")
    assert label and "search" in label.lower()
    box.fill("absorbed effects")
    box.press("Enter")
    tab.wait_for_url("**/search.html?q=**")
    tab.locator("#search-results li a").first.wait_for()
    found = tab.locator("#search-results li a").all_inner_texts()
    assert any("absor" in text.lower() or "fixed effects" in text.lower() for text in found)
