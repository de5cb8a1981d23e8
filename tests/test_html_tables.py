"""Tables as HTML: what is written stands in its cell, and nothing in it is markup."""

from statsmodels.iolib.table import SimpleTable

from dpstats.html_tables import html_notes, html_of, html_table

EVIL = "<script>alert(1)</script>&"
SAFE = "&lt;script&gt;alert(1)&lt;/script&gt;&amp;"


def test_every_text_is_escaped():
    page = html_table([[EVIL, EVIL]], ["a", EVIL], EVIL) + html_notes([EVIL, EVIL])
    assert "<script>" not in page and page.count(SAFE) == 6


def test_a_table_of_statsmodels_keeps_its_cells():
    table = SimpleTable([["x", "0.5000"], [EVIL, "  1"]], ["", "coef"], title="Estimates")
    assert html_of(table) == html_table([["x", "0.5000"], [EVIL, "1"]], ["", "coef"], "Estimates")
    assert "<script>" in table.as_html(), "statsmodels escapes by now"


def test_without_headers_no_cell_is_a_heading():
    assert "<th>" not in html_table([["a", "b"]])


def test_no_notes_are_no_paragraph():
    assert html_notes([]) == ""
