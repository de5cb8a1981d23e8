"""Check pages, their links and the fields of records."""

import html
import html.parser
import re


def check_fields(entry, schema, place=""):
    """Every field is one of the schema's, of its type."""
    for name, value in entry.items():
        assert name in schema, f"{place}/{name}"
        if isinstance(schema[name], dict):
            check_fields(value, schema[name], f"{place}/{name}")
        else:
            assert isinstance(value, schema[name]), (place, name, value)


class Links(html.parser.HTMLParser):
    """The addresses of what a page loads."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href")]


def check_is_safe_and_whole(page: str) -> None:
    assert "<script>" not in page
    for tag in ("table", "tr", "td", "th", "p"):
        assert page.count(f"<{tag}>") + page.count(f"<{tag} ") == page.count(f"</{tag}>")


def words(page: str) -> str:
    """The text of a page, without tags and with single spaces."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
