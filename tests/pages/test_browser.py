"""Reports in a real browser: Chromium without a window, driven by Playwright; skipped without them."""

import re
import shutil
from xml.etree import ElementTree

import pytest
from support.stored_pages import HOSTILE, fill, hostile_file, payload

from omkl.pages.document import document
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
    """The file of a report on a hostile and a plain data set, and the data that it carries."""
    folder = tmp_path_factory.mktemp("report")
    plan = fill([*ALGOS, f"store={folder / 'store'}"], [hostile_file(folder), "wdbc"])
    file = folder / "page.html"
    file.write_text(document(run_page(plan, ALGOS, f"omkl report {HOSTILE}")), encoding="utf-8")
    return file


@pytest.fixture
def page(chromium, report):
    """The report, open; at the end nothing was said on the console and nothing was fetched."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True)
    context.set_default_timeout(300_000)  # milliseconds; a loaded machine is slow
    opened, faults = context.new_page(), []
    opened.on("console", lambda said: faults.append(said.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
    fetched = []
    opened.on("request", lambda request: fetched.append(request.url))
    opened.goto(report.as_uri())
    opened.wait_for_selector("html[data-ready]")
    yield opened
    context.close()
    assert faults == []
    assert [url for url in fetched if not url.startswith(("data:", "blob:"))] == [report.as_uri()]


def shown(page, column):
    """The texts of a column of the first table, without the rows that are hidden."""
    rows = page.locator("#s1-1 tbody tr:not(.detail):visible")
    return [row.locator("td").nth(column).inner_text().strip() for row in rows.all()]


def figure(page):
    """The learning curves, drawn."""
    box = page.locator("figure", has=page.locator("option", has_text="mistake rate (%)")).first
    box.scroll_into_view_if_needed()
    box.locator(".plot[data-drawn]").wait_for()
    return box


def test_sorting_filtering_and_details(page):
    first = shown(page, 3)
    numbers = [float(re.search(r"[\d.]+", text)[0]) for text in first]
    sort = page.locator("#s1-1 th .sort", has_text="mistake %")
    sort.click()
    assert [float(re.search(r"[\d.]+", text)[0]) for text in shown(page, 3)] == sorted(numbers)
    assert page.locator("#s1-1 th[aria-sort=ascending]").count() == 1
    sort.focus()
    page.keyboard.press("Enter")  # as a click
    assert [float(re.search(r"[\d.]+", text)[0]) for text in shown(page, 3)] == sorted(numbers)[::-1]
    sort.click()
    assert shown(page, 3) == first
    page.locator("#s1-1 input").fill("omkc -wdbc")
    assert shown(page, 2) == ["OMKC(D,D)", "OMKC(S,S)"]
    assert page.locator("#s1-1 .count").inner_text() == "2 of 6 rows"
    page.locator("#s1-1 input").fill("")
    page.locator("#s1-1 select").select_option("wdbc")
    assert shown(page, 1) == ["wdbc"] * 3
    page.locator("#s1-1 button.more:visible").first.click()
    detail = page.locator("#s1-1 tr.detail").inner_text()
    assert "omkl run algo=omkc_dd data=wdbc pool=paper16" in detail
    assert "A & B <i>" in detail


def test_names_are_shown_as_they_are(page):
    assert HOSTILE in page.locator(".command code").first.inner_text()
    assert shown(page, 1)[0] == HOSTILE
    assert page.locator("img, main script").count() == 0
    curves = figure(page)
    assert curves.locator("option", has_text="<img src=x").count() == 1
    # In a picture the names go through the plotting library, which reads some markup.
    with page.expect_download() as download:
        curves.get_by_role("button", name="SVG").click()
    svg = ElementTree.parse(download.value.path())
    assert HOSTILE in "".join(svg.getroot().itertext())
    assert {part.tag.rpartition("}")[2] for part in svg.iter()}.isdisjoint({"image", "img", "script", "a"})


def test_hovering_and_keys_give_the_numbers_of_the_store(page, report):
    curves = figure(page)
    carried = payload(report.read_text(encoding="utf-8"))
    (own,) = [one for one in carried["figures"].values() if one["name"] == "curves"]
    line = own["panels"][0]["views"][0]["lines"][0]
    last = f"{line['mean'][-1]:.2f} ± {line['std'][-1]:.2f}"
    cell = page.locator("#s1-1 tbody tr").first.locator("td").nth(3).inner_text()
    assert cell.replace("* ", "") == last
    plot = curves.locator(".plot")
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + box["height"] / 2)
    hovered = plot.locator(".hoverlayer")
    hovered.get_by_text("OMKC(D,D)").wait_for()
    assert f"OMKC(D,D) : {last}" in hovered.text_content()
    plot.focus()
    page.keyboard.press("ArrowLeft")
    assert f"examples {line['x'][-1]:.0f}: OMKC(D,D) {last}" in curves.locator(".spoken").inner_text()


def test_the_legend_the_measures_and_the_axes(page):
    curves = figure(page)
    drawn = "() => document.querySelector('.plot').data.map(trace => trace.name)"
    assert "OMKC(S,S)" in page.evaluate(drawn)
    key = curves.locator(".legend button", has_text="OMKC(S,S)")
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    assert "OMKC(S,S)" not in page.evaluate(drawn)
    key.click(modifiers=["Shift"])
    assert [name for name in page.evaluate(drawn) if name] == ["OMKC(S,S)"]
    curves.get_by_label("measure").select_option("n_sv_sum")
    curves.locator(".plot[data-drawn$='n_sv_sum']").wait_for()
    curves.get_by_label("panel").select_option(label="wdbc")
    curves.locator(".plot[data-drawn^='wdbc']").wait_for()
    curves.get_by_label("log y").check()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.plot')].some(p => p.layout?.yaxis?.type === 'log')"
    )
    curves.get_by_label("measure").select_option("seconds")
    curves.locator(".plot[data-drawn$='seconds']").wait_for()


def test_the_csv_and_the_pictures_are_saved(page, report):
    carried = payload(report.read_text(encoding="utf-8"))
    with page.expect_download() as download:
        page.locator("#s1-1 button.csv").click()
    assert download.value.suggested_filename == "results.csv"
    saved = download.value.path().read_bytes().decode()
    assert saved == carried["tables"]["s1-1"]["csv"]
    with page.expect_download() as download:
        figure(page).get_by_role("button", name="PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_dark_and_narrow_and_printed(chromium, report):
    context = chromium.new_context(
        viewport={"width": 390, "height": 800}, color_scheme="dark", is_mobile=True, has_touch=True
    )
    page = context.new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
    assert not page.locator("nav ol").is_visible()
    figure(page)
    assert page.evaluate("document.querySelector('.plot').layout.paper_bgcolor") == "#16181c"
    page.wait_for_function("() => [...document.querySelectorAll('.plot')].every(p => p.dataset.drawn)")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#s1-1 .tools").is_visible()
    context.close()
