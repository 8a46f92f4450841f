"""Reports in a real browser: Chromium without a window, driven by Playwright; skipped without them."""

import shutil

import pytest
from support.stored_pages import HOSTILE, fill, hostile_file

from omkl.pages.documents import document
from omkl.pages.runs import run_page

pytestmark = pytest.mark.browser
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ALGOS = ["algo=omkc_dd,omkc_ss", "yardsticks=[majority]", "reps=3"]


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install 'omkl[browser]'"
    )
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"needs a browser: none of {', '.join(PROGRAMS)} is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The file of a report on a hostile and a plain data set."""
    folder = tmp_path_factory.mktemp("report")
    plan = fill([*ALGOS, f"store={folder / 'store'}"], [hostile_file(folder), "wdbc"])
    file = folder / "page.html"
    file.write_text(document(run_page(plan, ALGOS, f"omkl report {HOSTILE}")), encoding="utf-8")
    return file


@pytest.fixture(params=[{}, {"viewport": {"width": 400, "height": 800}, "color_scheme": "dark"}])
def page(chromium, report, request):
    """The report, open, on a wide and on a narrow dark screen.

    At the end nothing was said on the console, and nothing was fetched.
    """
    wide = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", "accept_downloads": True}
    context = chromium.new_context(**wide | request.param)
    context.set_default_timeout(300_000)  # milliseconds; a loaded machine is slow
    opened, faults, fetched = context.new_page(), [], []
    opened.on("console", lambda said: faults.append(said.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
    opened.on("request", lambda request: fetched.append(request.url))
    opened.goto(report.as_uri())
    yield opened
    context.close()
    assert faults == []
    assert [url for url in fetched if not url.startswith(("data:", "blob:"))] == [report.as_uri()]


def test_nothing_is_wider_than_the_screen_and_figures_follow_the_theme(page):
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    look = "getComputedStyle(document.querySelector('figure svg')).filter"
    assert (page.evaluate(look) != "none") == (width == 400)  # which is dark
    assert page.locator("figure svg text", has_text="mistake rate (%)").count() == 1
    figure, drawn = page.locator("figure").first, page.locator("figure svg").first
    assert drawn.bounding_box()["width"] >= 0.98 * figure.bounding_box()["width"]


def test_a_table_scrolls_and_the_names_of_its_rows_stay(page):
    scrolled = page.locator(".scroll").first
    before = page.locator("td.name").first.bounding_box()["x"]
    scrolled.evaluate("part => part.scrollTo(part.scrollWidth, 0)")
    box = page.locator("td.name").first.bounding_box()
    assert 0 <= box["x"] <= before
    assert box["x"] + box["width"] <= page.viewport_size["width"]
    rule = (
        "getComputedStyle(document.querySelectorAll('.scroll')[0].querySelectorAll('tbody tr')[{}].cells[0])"
    )
    tops = [page.evaluate(rule.format(at) + ".borderTopWidth") for at in range(6)]
    assert tops == ["0px", "0px", "0px", "1px", "0px", "0px"]  # where a data set begins


def test_a_table_is_saved_as_csv_and_the_origin_opens(page):
    with page.expect_download() as download:
        page.locator("a[download]").first.click()
    assert download.value.suggested_filename == "results.csv"
    assert download.value.path().read_text("utf-8").startswith("data,")
    origin = page.get_by_text("Made with")
    assert not origin.is_visible()
    page.locator("summary").click()
    assert origin.is_visible()


def test_a_print_is_light(page):
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
