"""Reports in a real browser: Chromium without a window, driven by Playwright; skipped without them."""

import re
import shutil

import pytest
from support.stored_pages import HOSTILE, fill, hostile_file, payload

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
    wide = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True}
    context = chromium.new_context(**wide | request.param)
    context.set_default_timeout(300_000)  # milliseconds; a loaded machine is slow
    opened, faults, fetched = context.new_page(), [], []
    opened.on("console", lambda said: faults.append(said.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
    opened.on("request", lambda request: fetched.append(request.url))
    opened.goto(report.as_uri())
    opened.wait_for_selector("html[data-ready]")
    yield opened
    context.close()
    assert faults == []
    assert [url for url in fetched if not url.startswith(("data:", "blob:"))] == [report.as_uri()]


def shown(page, kind):
    """The texts of a column of the first table, without the rows that are hidden."""
    return [
        cell.inner_text().strip()
        for cell in page.locator(f"#s1-1 tbody tr:not(.detail):visible td.{kind}").all()
    ]


def test_sorting_filtering_details_and_the_csv(page, report):
    numbers = [float(re.search(r"[\d.]+", text)[0]) for text in shown(page, "marks")]
    sort = page.locator("#s1-1 th.marks .sort")
    for expected in (sorted(numbers), sorted(numbers)[::-1], numbers):
        sort.focus()
        page.keyboard.press("Enter")  # as a click
        assert [float(re.search(r"[\d.]+", text)[0]) for text in shown(page, "marks")] == expected
    page.locator("#s1-1 input").fill("omkc -wdbc")
    assert page.locator("#s1-1 .count").inner_text() == "2 of 6 rows"
    page.locator("#s1-1 input").fill("")
    page.locator("#s1-1 select").select_option("wdbc")
    assert len(shown(page, "marks")) == 3
    page.locator("#s1-1 button.more:visible").first.click()
    detail = page.locator("#s1-1 tr.detail").inner_text()
    assert "omkl run algo=omkc_dd data=wdbc pool=paper16" in detail
    assert "A & B <i>" in detail
    with page.expect_download() as download:
        page.locator("#s1-1 button.csv").click()
    assert download.value.suggested_filename == "results.csv"
    carried = payload(report.read_text(encoding="utf-8"))
    assert download.value.path().read_bytes().decode() == carried["s1-1"]["csv"]


def test_the_measure_is_seen_on_every_screen_and_figures_follow_the_theme(page):
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for kind in ("stick", "marks"):
        box = page.locator(f"#s1-1 tbody tr:not(.detail) td.{kind}").first.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    dark = width == 400
    look = "getComputedStyle(document.querySelector('.plot svg')).filter"
    assert (page.evaluate(look) != "none") == dark
    if dark:
        page.locator("nav summary").click()  # the list of sections is closed at first
    page.locator("button.theme").click()
    assert (page.evaluate(look) != "none") != dark
    assert page.locator(".plot svg text", has_text="mistake rate (%)").count() == 1


def test_what_hides_at_the_right_says_so_and_a_curve_is_as_wide_as_the_page(page):
    hidden = "part => part.scrollWidth > part.clientWidth + 1"
    for part in page.locator(".scroll, .plot").all():
        hint = part.locator("xpath=preceding-sibling::*[1]")
        assert hint.is_visible() == part.evaluate(hidden)
        part.evaluate("part => part.scrollTo(part.scrollWidth, 0)")
        hint.wait_for(state="hidden")
    plot, drawn = page.locator(".plot").first, page.locator(".plot svg").first
    assert drawn.bounding_box()["width"] >= 0.98 * plot.bounding_box()["width"]
    assert "omkc_dd" in shown(page, "text")


def test_a_print_is_light_and_without_tools(page):
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#s1-1 .tools").is_visible()
