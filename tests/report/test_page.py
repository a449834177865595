"""The report page: what it counts and says, that it stands alone, and how it looks in a real browser."""

import re
import shutil
from collections import Counter
from xml.etree import ElementTree

import pytest
from PIL import Image

from scripts.beyond.statements.verdict_rules import CLAIM_VERDICTS
from scripts.paper.values.verdict_counts import read_verdicts
from scripts.report.sections import SECTIONS, TABLE, ShownFigure, figures_of, targets_of_figures
from scripts.report.write_report import HEADLINES, PAGES, in_paper_notation, statements_about
from tests import ROOT
from tests.report.world import (
    ERRATA,
    EVERYTHING,
    FIGURES,
    SETTINGS,
    claim_rows,
    html_page,
    real_verdicts,
    row,
)

# Of the figures on the main page. The companion papers have a page of their own.
NAMES_ON_MAIN_PAGE = [figure["name"] for figure in FIGURES if figure["section"] != "companion"]
# The rows of the main page's table that counts the paper's statements, as an XPath.
STATEMENTS_BY_VERDICT = ".//section[@id='statements']//tbody/tr"
MARKUP = '<img src=x onerror="alert(1)">&'  # which would run a program if it became a tag
PIXELS_OF_PHONE = 390  # the width
PIXELS_OF_SCREEN = 1280
PIXELS_OF_PICTURE = 640
for_each_page = pytest.mark.parametrize("file", PAGES)
for_each_figure = pytest.mark.parametrize("name", NAMES_ON_MAIN_PAGE)


def xml_tree(page):
    """The page as XML, which fails on a tag that is closed in the wrong place or never."""
    # What HTML knows and XML does not.
    page = page.replace("<!doctype html>", "").replace("&nbsp;", " ").replace("&shy;", "")
    page = page.replace(' loading="lazy"', "")
    return ElementTree.fromstring(re.sub(r"<(meta|link|img)\b([^>]*)>", r"<\1\2/>", page))


def texts_of(page, parts):
    """The texts of all ``parts`` (an XPath) of a page, with single spaces, also between cells of a table."""
    found = xml_tree(re.sub("(</t[dh]>)", r"\1 ", page)).findall(parts)
    return [" ".join("".join(part.itertext()).split()) for part in found]


def text_of(page, part="body"):
    """The text that a reader sees in the first ``part`` (an XPath) of a page, with single spaces."""
    return texts_of(page, part)[0]


def overview_under(page, heading):
    """The text of the main page's overview from ``heading``, which it has once, to the next heading."""
    _, text = text_of(page, ".//section[@id='overview']").split(heading)
    return re.split("What does not hold|What to do|Why to trust it", text)[0]


def ids_of(page):
    return [part.get("id") for part in xml_tree(page).findall(".//*[@id]")]


def links_to_pages(pages, file):
    """The links of one of the ``pages`` to any of them, itself included: (file, id of the place or "")."""
    links = [link.get("href").partition("#") for link in xml_tree(pages[file]).iter("a")]
    places = [(linked_file or file, anchor) for linked_file, _, anchor in links]
    return [place for place in places if place[0] in pages]


@pytest.fixture(scope="module")
def pages():
    """All pages of the report: file -> HTML.

    They have every optional part, the real errata, and a note that must not widen them.
    """
    verdicts = real_verdicts()
    verdicts[40]["note"] = "a_long_word_without_any_place_to_break_it_" * 4
    everything = {**EVERYTHING, "errata": ERRATA}
    return {file: html_page(file, verdicts, **everything) for file in PAGES}


@pytest.fixture
def main_page(pages):
    return pages["index.html"]


def test_main_page_has_the_verdict_on_each_printed_value(main_page):
    badges = texts_of(main_page, ".//td[@class='word verdict']/span")
    shown = Counter(badge[2:] for badge in badges)  # after a mark such as ≈ and a space
    assert shown == Counter(row["verdict"] for row in real_verdicts())


def test_last_row_of_the_counts_is_of_all_printed_values():
    match = ["same digits", "close", "close"]
    differ = ["differs", "differs", "inconsistent", "inconsistent"]
    judged = [*match, "consistent", *differ, "not comparable", "not comparable"]
    page = html_page(verdicts=[row(verdict=verdict) for verdict in judged])
    table = ".//section[@id='values']/table[@class='counts']"
    # Values, matching ones, consistent ones, differing ones, those that are not comparable.
    assert text_of(page, f"{table}/tbody/tr[last()]") == "all 10 3 1 4 2"


def test_statements_page_has_a_section_for_each_verdict_the_most_favourable_first():
    """`CLAIM_VERDICTS` are in this order. The table of the statements has them in the reverse one."""
    claims = claim_rows(reversed(CLAIM_VERDICTS))
    page = html_page("statements.html", claim_verdicts=claims)
    sections = xml_tree(page).findall("body/main/section[@id]")
    assert [section.get("id").replace("-", " ") for section in sections] == list(CLAIM_VERDICTS)


def test_section_of_a_verdict_has_its_statements():
    claims = claim_rows(["fails", "holds", "fails"])  # with the ids c1, c2, c3
    page = html_page("statements.html", claim_verdicts=claims)
    rows = xml_tree(page).findall(".//section[@id='fails']//tbody/tr")
    assert [row.get("id") for row in rows] == ["claim-c1", "claim-c3"]
    assert [row.find("td/span").text for row in rows] == ["fails", "fails"]


def test_statement_has_its_test_on_both_readings():
    claims = claim_rows(["mostly holds"], test_published="TV below 0.02", test_exact="none")
    page = html_page("statements.html", claim_verdicts=claims)
    test = text_of(page, ".//section[@id='mostly-holds']//p[@class='small']")
    assert test == "Test as published: TV below 0.02; exactly: none."


def test_main_page_counts_the_statements_by_verdict():
    hold = ["holds", "holds", "mostly holds"]
    hold_on_one_reading = ["holds only with the exact delta", "holds only as published"]
    claims = claim_rows([*hold, *hold_on_one_reading, "fails", "not settled", "untestable"])
    page = html_page(claim_verdicts=claims)
    assert texts_of(page, STATEMENTS_BY_VERDICT) == [
        "hold or mostly hold 3",
        "hold only with the exact delta 1",
        "hold only at equal privacy 0",
        "hold only as published 1",
        "fail 1",
        "cannot be decided 2",
    ]


def test_caption_of_a_figure_counts_the_statements_about_it():
    claims = claim_rows(["holds", "fails", "holds"], about="Figure 1")
    page = html_page(claim_verdicts=claims)
    assert "holds: 2 fails: 1" in text_of(page, ".//figure[@id='fig1_surface']/figcaption")
    assert "statements about" not in text_of(page, ".//figure[@id='fig7_tv_paris']")


def test_statement_of_the_short_version_is_about_figures_with_other_numbers_on_arxiv():
    """Figure 2 of the short version is Figures 4 and 5 on arXiv, and Figure 3 is 6 and 7 there."""
    statement = {"id": "any", "about": "Figures 2, 3 (short)", "verdict": "fails"}
    numbers = []
    for number in range(1, 8):  # of the paper's figures on arXiv
        figure = {"section": "figures", "number": number}
        if statements_about(figure, [statement])["statements"]:
            numbers.append(number)
    assert numbers == [4, 5, 6, 7]


def test_beside_a_figure_stands_what_the_paper_says_and_what_we_get():
    """`HEADLINES` has the id of the statement beside each figure. A reason that comes twice is said once."""
    claims = claim_rows(
        ["holds only with the exact delta"],
        id=HEADLINES[1],
        claim="delta falls",
        statistic_published="true in 2 of 2 cases; true in 2 of 2 cases",
        statistic_exact="it falls 3 times",
    )
    page = html_page(claim_verdicts=claims)
    assert text_of(page, ".//figure[@id='fig1_surface']/p[@class='says']") == (
        "The paper says: δ falls. We get: holds only with the exact delta as published true in 2 of 2 cases,"
        " and exactly it falls 3 times."
    )


def test_every_headline_is_a_statement_about_its_figure():
    claims = read_verdicts(ROOT / "data/published/claims.csv").set_index("id")
    for number, claim in HEADLINES.items():
        assert re.search(rf"Figures? [\d, ]*{number}", claims["about"][claim])


def test_notes_stand_in_one_list_for_all_tables_and_each_mark_leads_to_its_note():
    notes = {"Table II": "the first", "Table IV": "another", "Table V": "the first"}
    page = html_page(verdicts=[row(item=item, note=note) for item, note in notes.items()])
    assert texts_of(page, ".//section[@id='notes']/ol/li") == ["the first", "another"]
    marks = xml_tree(page).findall(".//table[@class='values']//sup/a")
    assert [mark.get("href") for mark in marks] == ["#note-1", "#note-2", "#note-1"]


def test_statements_page_has_no_red_label_where_a_row_of_the_same_family_holds():
    """Two rows of a family are one statement. Only the one that is better for the paper, c1, counts."""
    claims = claim_rows(["holds", "fails"], family="any")
    page = html_page("statements.html", claim_verdicts=claims)
    assert texts_of(page, "body/nav/div[@class='contents']/a") == ["holds (1)", "fails (0)"]
    assert texts_of(page, ".//span[@class='badge bad']") == []
    assert text_of(page, ".//tr[@id='claim-c2']/td").startswith("fails does not count")


def test_main_page_does_not_count_a_failing_row_where_one_of_the_same_family_holds():
    claims = claim_rows(["holds", "fails"], family="any", about="Figure 1")
    page = html_page(claim_verdicts=claims)
    assert "fails" not in text_of(page, ".//figure[@id='fig1_surface']/figcaption")
    counts = texts_of(page, STATEMENTS_BY_VERDICT)
    assert {"hold or mostly hold 1", "fail 0"} < set(counts)


def test_main_page_has_all_sections_in_their_order_and_contents_that_lead_to_them(main_page):
    sections = [name for name in SECTIONS if name != "companion"]  # which has a page of its own
    page = xml_tree(main_page)
    assert [part.get("id") for part in page.findall("body/main/section")] == sections
    links = page.findall("body/nav/div[@class='contents']/a")
    assert [link.get("href") for link in links] == [f"#{name}" for name in sections]


def test_overview_says_what_holds_then_what_does_not_and_what_to_do(main_page):
    headings = texts_of(main_page, ".//section[@id='overview']//h2")
    assert headings == ["What holds #", "What does not hold", "What to do", "Why to trust it"]


def test_overview_has_the_ratios_of_errors_in_the_papers_settings(main_page):
    """The paper has eps0 = 4 and 6 for Paris, 4 for N(0, 2).

    In `EVERYTHING` each ratio has the interval 3.4 to 4.5, which the one for all twelve together widens.
    """
    text = overview_under(main_page, "What holds")
    assert "4.4 to 6.1 times that error" in text
    assert "at 6 points" in text  # two n for each dataset and eps0
    assert "2 values of δ" in text
    assert "tends to 1.25 to 1.25 with many users" in text  # the limit of the most popular value


def test_overview_has_the_range_of_the_rerun(main_page):
    """Of all intervals in `EVERYTHING`, from 0.8 to 92."""
    text = overview_under(main_page, "What holds")
    assert "our rerun of shuffling has 0.80 to 92 times the total variation error" in text


def test_overview_has_the_distance_of_the_best_earlier_bound(main_page):
    # The bound of Balle et al., 10^-3.9693, over that by the privacy blanket, 10^-5.8822.
    assert "82 times smaller than the best" in overview_under(main_page, "What holds")


def test_overview_has_the_largest_gap_of_a_printed_delta(main_page):
    # From the smallest delta that is printed in Table IV to the exact one, which is 2.5e-3 in this test.
    assert "55.6 orders of magnitude" in overview_under(main_page, "What does not hold")


def test_overview_compares_eps_at_the_same_delta(main_page):
    """`EVERYTHING` has the eps of both mechanisms, those of shuffling for 1,000 and 100,000 users."""
    text = overview_under(main_page, "What does not hold")
    of_shuffling = "The shuffled reports have 1.40 for 1,000 users and 0.100 for 100,000 users."
    assert f"has ε = 3.00. {of_shuffling}" in text
    # At the delta of the rerun, 1e-17.
    assert "they have 2.90 and 0.300, where the Gaussian noise is made for 4" in text


def test_overview_has_the_ratios_of_errors_in_other_settings(main_page):
    """In `EVERYTHING` it is 1 + eps0 / 30, but 1 more for N(0, 2) at eps0 = 6, which is not the paper's."""
    text = overview_under(main_page, "What does not hold")
    assert f"{1 + 1 / 30:.2f} to {2 + 6 / 30:.2f} times the total variation error" in text
    # Two n and two delta: for both datasets at eps0 = 1, and for N(0, 2) at eps0 = 6.
    assert "in the 12 other settings" in text


def test_overview_has_the_counts_for_why_to_trust_it(main_page):
    text = overview_under(main_page, "Why to trust it")
    assert "Of the 90" in text  # of the 185 printed values: neither random, zero nor repeated
    assert "Of 9 statements" in text  # one for each of the eight verdicts, and a second that holds
    # The first of three rows alone has violated_jointly=True.
    assert "in 1 of 2 cases by the count alone and 0 of 1 by all counts" in text


def test_table_of_ratios_has_a_row_for_each_dataset_and_eps0(main_page):
    """The row of Paris at eps0 = 6, where the ratio in `EVERYTHING` is 1 + 6 / 30 for two n and two delta."""
    rows = texts_of(main_page, ".//section[@id='parity']//tbody/tr")
    # Dataset (* for the paper's eps0), eps0, ratios, useful settings, limit for many users.
    assert "Paris * 6 1.20 to 1.20 4 of 4 1.25" in rows


def test_main_page_links_from_a_folder_of_its_own():
    """The page is in results/my_own/report."""
    own = SETTINGS | {"results": "results/my_own"}
    page = html_page(settings=own, audit=EVERYTHING["audit"])
    assert set(re.findall(r'"([./]+)docs/', page)) == {"../../../"}
    assert 'href="../attack/audit.csv"' in page


def test_each_command_has_the_files_of_settings_and_the_folder_of_results():
    own = SETTINGS | {
        "results": "results/my_own",
        "configfiles": ["config/quick.yaml", "my own.yaml"],
    }
    page = html_page(settings=own, audit=EVERYTHING["audit"])
    command = "snakemake --configfile config/quick.yaml 'my own.yaml' -- results/my_own"
    assert f"{command}/attack/audit.csv" in text_of(page)
    assert f"{command}/figures/delta_bounds.png" in text_of(page)


@for_each_page
def test_page_begins_with_the_settings_that_are_not_the_papers(pages, file):
    changed = ("datasets.paris.tv.n", "[1000]", "[500]")  # key, the paper's value, ours
    page = html_page(file, settings=SETTINGS | {"changed": [changed]})
    assert "datasets.paris.tv.n: [1000] → [500]" in text_of(page, "body/header/div")
    assert "not the paper's settings" not in text_of(pages[file])  # of a run with the paper's


@for_each_page
def test_page_has_no_id_twice(pages, file):
    ids = ids_of(pages[file])
    assert len(ids) == len(set(ids))


@for_each_page
def test_page_leads_to_all_pages(pages, file):
    assert {linked_file for linked_file, _ in links_to_pages(pages, file)} == set(PAGES)


@for_each_page
def test_links_to_a_place_of_a_page_lead_to_one_of_its_ids(pages, file):
    ids = {page: ids_of(text) for page, text in pages.items()}
    for linked_file, anchor in links_to_pages(pages, file):
        assert anchor == "" or anchor in ids[linked_file]


@for_each_page
def test_page_loads_nothing_when_it_opens(pages, file):
    """It has no script, and addresses of the net only where a reader follows them."""
    page = xml_tree(pages[file])
    assert page.find(".//script") is None
    for part in page.iter():
        assert part.tag == "a" or "http" not in str(part.attrib.values())


def test_every_figure_is_on_one_page(pages):
    sources = [part.get("src") for text in pages.values() for part in xml_tree(text).iter("img")]
    assert sorted(sources) == sorted(f"../figures/{figure['name']}.png" for figure in FIGURES)


def test_a_configuration_with_hardly_any_results_has_a_page():
    bare = xml_tree(html_page(figures=()))
    assert [part.get("href") for part in bare.find("body/nav/div[@class='contents']")] == [
        "#overview", "#values", "#methods", "#experts", "#again",
    ]  # fmt: skip


def has_markup(page):
    """Whether `MARKUP` is in a page as it stands, or has become a tag."""
    return MARKUP in page or xml_tree(page).find(".//*[@onerror]") is not None


def test_markup_in_a_printed_value_is_escaped():
    fields = dict.fromkeys(["eps", "note", "source", "mechanism"], MARKUP)
    # A second value has another source, and so a small table of its own.
    page = html_page(verdicts=[row(printed="0.1", **fields), row(printed="0")])
    assert not has_markup(page)


@pytest.mark.parametrize("file", ["index.html", "statements.html"])
def test_markup_in_a_statement_is_escaped(file):
    """It stands in all columns but those that the page computes with."""
    [claim] = claim_rows(["fails"], verdict_published="fails", verdict_exact="fails")
    free = claim.keys() - {"verdict", "verdict_published", "verdict_exact", "family"}
    claim |= dict.fromkeys(free, MARKUP)
    assert not has_markup(html_page(file, claim_verdicts=[claim]))


@for_each_page
def test_markup_in_a_setting_is_escaped(file):
    changed = [(MARKUP, MARKUP, MARKUP)]  # key, the paper's value, ours
    assert not has_markup(html_page(file, settings=SETTINGS | {"changed": changed}))


def test_ours_is_written_as_the_printed_value():
    for printed, value, shown in (
        ("3.25E-22", "3.2451234e-22", "3.245E-22"), ("0.97", "9.72603e-01", "0.9726"), ("1E-3", "", ""),
        ("0.0001", "9.1e-05", "9.100E-5"), ("0.9", "0.99996", "1.000"), ("123,108", "123026", "123,026"),
        ("7E-400", "7.00012e-400", "7.000E-400"), ("0", "0.000", "0"), ("0", "2.7e-18", "2.700E-18"),
    ):  # fmt: skip
        assert in_paper_notation(value, printed) == shown


@pytest.fixture(scope="module")
def folder_of_pages(tmp_path_factory, pages):
    """The pages as files, with a black picture for each figure in a folder beside theirs."""
    folder = tmp_path_factory.mktemp("a space in the name")
    for name in ("report", "figures"):
        (folder / name).mkdir()
    picture = Image.new("RGB", (PIXELS_OF_PICTURE, 480))
    for figure in FIGURES:
        picture.save(folder / f"figures/{figure['name']}.png")
    for file, text in pages.items():
        # All pictures are loaded at once, not those in sight only, so that a missing one is a complaint.
        (folder / "report" / file).write_text(text.replace('loading="lazy"', ""), encoding="utf-8")
    return folder / "report"


@pytest.fixture(scope="module")
def chromium():
    """The browser, which Playwright steers."""
    api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or pytest.skip("there is no Chromium on this machine")
    with api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


@pytest.fixture
def complaints():
    """What the browser prints on its console, errors of a page and failed requests, since `open_page`."""
    return []


@pytest.fixture
def open_page(chromium, folder_of_pages, complaints):
    """A function that opens a page in a window of this width, and returns it as Playwright's page."""

    def opened(file="index.html", *, width):
        page = chromium.new_page(viewport={"width": width, "height": 900})
        for event in ("console", "pageerror", "requestfailed"):
            page.on(event, lambda found: complaints.append(str(found)))
        page.goto((folder_of_pages / file).as_uri())
        return page

    return opened


def width_of_content(page):
    """The pixels that a page of Playwright needs: more than the window has if something sticks out."""
    return page.evaluate("document.documentElement.scrollWidth")


@pytest.mark.slow
def test_main_page_shows_every_picture(open_page):
    page = open_page(width=PIXELS_OF_SCREEN)
    widths = page.evaluate("[...document.images].map(picture => picture.naturalWidth)")
    assert widths == [PIXELS_OF_PICTURE] * len(NAMES_ON_MAIN_PAGE)  # 0 if one is missing


@pytest.mark.slow
@pytest.mark.parametrize("file", ["index.html", "statements.html"])
@pytest.mark.parametrize("width", [PIXELS_OF_PHONE, PIXELS_OF_SCREEN])
def test_page_is_no_wider_than_the_window(open_page, file, width):
    assert width_of_content(open_page(file, width=width)) <= width


@pytest.mark.slow
def test_main_page_leads_to_the_statements_and_back_without_complaints(open_page, complaints):
    page = open_page(width=PIXELS_OF_SCREEN)
    page.get_by_role("link", name="Every statement").click()
    assert page.url.endswith("/report/statements.html")
    page.get_by_role("link", name="Report", exact=True).click()
    assert page.url.endswith("/report/index.html")
    assert complaints == []


@pytest.mark.slow
@for_each_page
def test_contents_stay_in_sight_on_a_screen(open_page, file):
    page = open_page(file, width=PIXELS_OF_SCREEN)
    page.evaluate("window.scrollTo(0, 400)")
    assert 0 <= page.locator("nav .pages").bounding_box()["y"] < 900  # the window's height
    assert not page.locator(".top").is_visible()  # the link to the top, which nobody needs here


@pytest.mark.slow
@for_each_page
def test_link_to_the_top_leads_there_on_a_phone(open_page, file):
    page = open_page(file, width=PIXELS_OF_PHONE)
    page.evaluate("window.scrollTo(0, 400)")
    page.locator(".top").click()
    assert page.evaluate("window.scrollY") == 0


@pytest.mark.slow
def test_a_table_that_stands_alone_is_not_cut_off_beside_an_empty_column(open_page):
    page = open_page(width=PIXELS_OF_SCREEN)
    cut = page.evaluate("""[...document.querySelectorAll(".scroll")].filter(table =>
        table.scrollWidth > table.clientWidth
        && table.clientWidth < 0.9 * table.parentElement.clientWidth).length""")
    assert page.locator(".groups > .scroll").count() > 3
    assert cut == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "verdicts_on_it"),
    [
        ("index.html", 185),  # one for each printed value
        ("statements.html", 2 * len(EVERYTHING["claim_verdicts"])),  # on two readings
    ],
)
def test_on_a_phone_nothing_decisive_is_hidden(open_page, file, verdicts_on_it):
    # Links of the contents, findings, tables of counts, verdicts, ratios of errors, statements, hints to tap.
    decisive = (
        "nav a, #overview li, .counts td, .cross td, .verdict, #parity td, .statements td, .hint"
    )
    parts = open_page(file, width=PIXELS_OF_PHONE).locator(decisive)
    assert parts.count() > verdicts_on_it
    hidden = parts.evaluate_all("""parts => parts.filter(part => {
        const {left, right} = part.getBoundingClientRect();
        return left < 0 || left >= right || right > window.innerWidth;
    }).map(part => part.textContent)""")
    assert hidden == []


@pytest.mark.slow
@for_each_figure
def test_tap_on_the_hint_makes_a_picture_large_but_not_the_page(open_page, name):
    page = open_page(width=PIXELS_OF_PHONE)
    picture = page.locator(f"#{name} img")
    assert picture.bounding_box()["width"] <= PIXELS_OF_PHONE
    page.locator(f"#{name} .hint").click()
    assert picture.bounding_box()["width"] == 800  # 50rem in style.css
    assert width_of_content(page) <= PIXELS_OF_PHONE


@pytest.mark.slow
@for_each_figure
def test_tap_on_a_large_picture_reaches_the_link_to_its_svg(open_page, name):
    page = open_page(width=PIXELS_OF_PHONE)
    page.locator(f"#{name} .hint").click()  # which makes the picture large
    link = page.locator(f"#{name} .full a:has(img)")
    assert link.get_attribute("href") == f"../figures/{name}.svg"
    # A trial: Playwright does not click, but fails if after 2 seconds something still covers this place.
    page.locator(f"#{name} img").click(trial=True, position={"x": 50, "y": 50}, timeout=2000)


def test_a_row_of_the_literature_shows_the_bound_that_its_column_names(main_page):
    """1.073e-4, from the -3.9693 of cited_bounds.csv; the verdicts have no exact value there."""
    assert "1.073" in text_of(main_page, ".//section[@id='values-table-1']")


def test_a_target_makes_all_figures_of_its_number_on_arxiv_or_at_fps():
    """The paper's version at FPS, the conference, has other numbers: its Figure 2 is 4 and 5 on arXiv."""
    usual = {"stage": "trials", "section": "figures", "title": ""}
    numbers = (0, 1, 3, 4, 5, 6, 7)  # on arXiv; 0 for a figure that the paper does not have
    figures = [ShownFigure(name=f"number_{number}", number=number, **usual) for number in numbers]
    on_arxiv = {f"fig{number}": [f"number_{number}"] for number in numbers if number}
    at_fps = {
        "fps1": ["number_3"],
        "fps2": ["number_4", "number_5"],
        "fps3": ["number_6", "number_7"],
    }
    assert targets_of_figures(figures) == on_arxiv | at_fps


def names_of_figures(papers=(), **sections):
    """The names of the figures that a run makes with the dataset "paris", which has these sections."""
    dataset = {"title": "Paris"} | sections
    return {figure.name for figure in figures_of({"paris": dataset}, papers)}


@pytest.mark.parametrize(
    ("section", "figures"),
    [
        ("tv", {"tv_paris", "log_tv_paris", "parity_ratio"}),
        ("estimates", {"estimates_paris"}),
        ("box", {"fig3_checkins"}),
    ],
)
def test_a_section_of_a_dataset_has_its_figures(section, figures):
    without_dataset = {row.name for row in TABLE if not row.needs}
    assert names_of_figures(**{section: {"n": 1}}) == without_dataset | figures


def test_the_figure_of_our_constants_needs_trials_on_a_dataset_of_the_paper():
    assert "constants" in names_of_figures(papers=["paris"], tv={"n": 1})


def test_a_figure_of_a_dataset_has_the_papers_number_where_there_is_one():
    mine = {"title": "Mine", "tv": {"n": [1]}}
    paris = mine | {"title": "Paris", "figures": {"tv": "fig7"}}
    figures = figures_of({"paris": paris, "mine": mine}, papers=["paris"])
    # Name, stage, section of the page, title and number.
    assert ("fig7_tv_paris", "trials", "figures", "Total variation error: Paris", 7) in figures
    assert ("tv_mine", "trials", "own-figures", "Total variation error: Mine", 0) in figures
    logarithmic = "The boxes on a logarithmic axis"
    assert ("log_tv_paris", "trials", "rerun", f"{logarithmic}: Paris", 0) in figures
    assert ("log_tv_mine", "trials", "own-figures", f"{logarithmic}: Mine", 0) in figures
