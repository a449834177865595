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
from tests.report import world
from tests.report.world import EVERYTHING, FIGURES, SETTINGS, claim_rows, html_page, row

FIGURES_OF_INDEX = [figure for figure in FIGURES if figure["section"] != "companion"]


def xml_tree(page):
    """The page as XML, which fails on a tag that is closed in the wrong place or never."""
    # What HTML knows and XML does not.
    page = page.replace("<!doctype html>", "").replace("&nbsp;", " ").replace("&shy;", "")
    page = page.replace(' loading="lazy"', "")
    return ElementTree.fromstring(re.sub(r"<(meta|link|img)\b([^>]*)>", r"<\1\2/>", page))


def text_of(page, part="body"):
    """The text that a reader sees in the first ``part`` (an XPath) of a page, with single spaces."""
    return " ".join("".join(xml_tree(page).find(part).itertext()).split())


@pytest.fixture(scope="module")
def verdicts():
    """Rows of verdicts.csv, one for each of the 185 printed values."""
    return world.real_verdicts()


@pytest.fixture(scope="module")
def whole(verdicts):
    """The report's main page with every optional part, and a note that must not widen it."""
    verdicts[40]["note"] = "a_long_word_without_any_place_to_break_it_" * 4
    return html_page(verdicts, **EVERYTHING)


@pytest.fixture(scope="module")
def statements(verdicts):
    """The page of the paper's statements."""
    return html_page(verdicts, template="statements.html.j2", **EVERYTHING)


@pytest.fixture(scope="module")
def pages(verdicts, whole):
    """All pages of the report: file -> HTML."""
    others = [file for file in PAGES if file != "index.html"]
    texts = {file: html_page(verdicts, template=f"{file}.j2", **EVERYTHING) for file in others}
    return {"index.html": whole} | texts


def test_every_printed_value_has_a_row_and_counts_are_of_matches(verdicts, whole):
    """``whole`` is the main page, ``verdicts`` the made-up verdicts on the 185 values that the paper prints.

    1. Each value has a row with its verdict in a badge.
    2. The last row of the table of counts, named all, has the number of values, and how many match (same
    digits or close), are consistent with the paper, differ (or are inconsistent), or cannot be compared.
    """
    badge = r'verdict"><span class="badge (?:good|bad|plain)">. ([a-z ]+)<'
    counts = Counter(verdict["verdict"] for verdict in verdicts)
    assert Counter(re.findall(badge, whole)) == counts

    match = counts["same digits"] + counts["close"]
    differ = counts["differs"] + counts["inconsistent"]
    expected = [185, match, counts["consistent"], differ, counts["not comparable"]]
    last_row = re.search(r'scope="row">all</th>(.*)</tr>', whole)[1]
    assert list(map(int, re.findall(r"\d+", last_row))) == expected


def test_statements_stand_by_verdict_each_with_its_test(statements):
    """The page of statements has a section per verdict, the most favourable first, and a row per statement.

    ``statements`` is that page of the made-up statements c1 to c8 (`claim_rows`). c1 to c7 have the seven
    verdicts in their order, and c8 holds as c1 does. Each row says how the statement was tested, on both
    readings: as published, with a threshold that has the statement's number, and exactly, where the made-up
    test is "the same" (for c2 "none").
    """
    sections = xml_tree(statements).findall("body/main/section[@id]")
    assert [section.get("id").replace("-", " ") for section in sections] == list(CLAIM_VERDICTS)
    hold, mostly_hold = sections[0].findall(".//tbody/tr"), sections[1].findall(".//tbody/tr")
    assert [statement.get("id") for statement in hold] == ["claim-c1", "claim-c8"]
    for section in sections:
        badges = [statement.find("td/span").text for statement in section.findall(".//tbody/tr")]
        assert set(badges) == {section.get("id").replace("-", " ")}

    test = "td[2]/p[@class='small']"  # in the cell with the reason, which is the row's second td
    assert hold[0].find(test).text == "Test as published: TV below 0.01; exactly: the same."
    assert mostly_hold[0].find(test).text == "Test as published: TV below 0.02; exactly: none."


def test_every_figure_has_the_verdicts_on_the_statements_about_it(whole):
    """1. The main page (``whole``) counts statements by verdict, in a summary and in a figure's caption.

    All eight made-up statements are about Figure 1. Two of them hold, and each of the six other verdicts
    occurs once. No statement is about Figure 7.

    2. Figures of the paper's short version, named with "(short)", have other numbers in the long version on
    arXiv: Figure 2 of the short one is 4 and 5 there, and Figure 3 is 6 and 7. A statement about them is
    shown at the figures with these numbers.
    """
    summary = xml_tree(whole).findall(".//section[@id='statements']//tbody/tr/td")
    # Hold or mostly hold, only exactly, only as published, fail, cannot be decided or tested.
    assert [int(cell.text) for cell in summary] == [3, 1, 1, 1, 2]
    caption = text_of(whole, ".//figure[@id='fig1_surface']/figcaption")
    assert "holds: 2 mostly holds: 1 holds only exactly: 1" in caption
    assert "statements about" not in text_of(whole, ".//figure[@id='fig7_tv_paris']")

    short = [{"id": "short", "about": "Figures 2, 3 (short)", "verdict": "fails"}]
    for number_on_arxiv, count in ((2, 0), (3, 0), (5, 1), (7, 1)):
        figure = {"section": "figures", "number": number_on_arxiv}
        assert len(statements_about(figure, short)["statements"]) == count


def test_beside_a_figure_stands_what_the_paper_says_and_what_we_get(verdicts):
    """`HEADLINES` gives for a figure (by number) the id of the statement that stands beside it on the page.

    Here the third made-up statement (`claim_rows`), "holds only exactly", gets the id of Figure 1. The reason
    for its verdict as published has the same part twice, which the page says once. It writes δ for delta.
    """
    claims = claim_rows()
    claims[2] |= {
        "id": HEADLINES[1],
        "statistic_published": "true in 2 of 2 cases; true in 2 of 2 cases",
    }
    page = html_page(verdicts, **EVERYTHING | {"claim_verdicts": claims})
    beside = text_of(page, ".//figure[@id='fig1_surface']/p[@class='says']")
    assert beside == (
        "The paper says: δ falls, part 3. We get: holds only exactly as published true in 2 of 2 cases,"
        " and exactly because of 3."
    )


def test_every_headline_is_a_statement_about_its_figure():
    claims = read_verdicts(ROOT / "data/published/claims.csv").set_index("id")
    for number, claim in HEADLINES.items():
        assert re.search(rf"Figures? [\d, ]*{number}", claims["about"][claim])


def test_notes_stand_in_one_list_for_all_tables_and_each_mark_leads_to_its_note(verdicts, whole):
    notes = xml_tree(whole).findall(".//section[@id='notes']/ol/li")
    different = {row["note"] for row in verdicts if row["note"]}
    assert len(notes) == len(different)
    marks = xml_tree(whole).findall(".//table[@class='values']//sup/a")
    assert len(marks) == sum(bool(row["note"]) for row in verdicts)
    assert {mark.get("href") for mark in marks} == {f"#{note.get('id')}" for note in notes}


def test_red_labels_are_as_many_as_statements_that_fail(verdicts):
    """Of two rows for one statement (of the same ``family``) only the one better for the paper counts.

    Of the eight made-up statements, c1 and c8 hold, and c7 alone fails. Here c1 and c7 get the same family,
    so the failing row c7 does not count, and no statement fails:

    1. The page of statements has no failing one in its contents, no red label ("badge bad"), and says of c7
       that it does not count.
    2. On the main page, neither the caption of Figure 1, which all are about, nor the summary counts c7.
    """
    claims = claim_rows()
    better, other = claims[0], claims[6]
    better["family"] = other["family"] = "both"  # any text that the two share
    assert (better["verdict"], other["verdict"]) == ("holds", "fails")
    tables = EVERYTHING | {"claim_verdicts": claims}

    page = html_page(verdicts, template="statements.html.j2", **tables)
    contents = [link.text for link in xml_tree(page).findall("body/nav/div[@class='contents']/a")]
    assert contents[0] == "holds (2)"
    assert contents[-1] == "fails (0)"
    red = [part for part in xml_tree(page).iter("span") if part.get("class") == "badge bad"]
    assert red == []
    assert text_of(page, ".//tr[@id='claim-c7']/td").startswith("fails does not count")

    index = html_page(verdicts, **tables)
    assert "fails" not in text_of(index, ".//figure[@id='fig1_surface']/figcaption")
    summary = xml_tree(index).findall(".//section[@id='statements']//tbody/tr/td")
    # Hold or mostly hold, only exactly, only as published, fail, cannot be decided or tested.
    assert [int(cell.text) for cell in summary] == [3, 1, 1, 0, 2]


def test_what_holds_is_said_first_and_with_the_findings_numbers(verdicts, whole):
    """1. The main page (`whole`) has all sections in their order, and contents that lead to them.

    2. Its overview says in this order what holds, what does not, what to do and why to trust it.

    Most numbers follow by hand from the made-up tables `EVERYTHING`. There the ratio of errors, shuffling
    over Gaussian noise, is 1 + eps0 / 30, and the paper has eps0 = 4, for Paris also 6. Where a comment says
    "computed", the library gave the number when the test was written.
    """
    page = xml_tree(whole)
    sections = [name for name in SECTIONS if name != "companion"]  # which has a page of its own
    assert [part.get("id") for part in page.findall("body/main/section")] == sections
    contents = page.findall("body/nav/div[@class='contents']/a")
    assert [link.get("href") for link in contents] == [f"#{name}" for name in sections]

    overview = text_of(whole, "body/main/section[@id='overview']")
    in_this_order = [
        "What holds",
        "1.13 to 1.20",  # at eps0 = 4 and 6
        "6 points",  # pairs of n and eps0: two n, at two eps0 of Paris and one of N(0, 2)
        "2 values of δ",
        "51.1 to 51.2 times as large",  # the error of the most popular value, whose ratio is 50 more
        "82 times",  # computed; the bound of `CITED_BOUNDS` over the true delta
        "What does not hold",
        "55.6 orders of magnitude",  # from the smallest delta printed in Table IV to the made-up 2.5e-3
        "3.05",  # computed; the eps of the Gaussian at delta = 1e-6
        "0.250 for 1,000 users",
        # Computed; the eps of shuffling for 1,000 and for 100,000 users, at delta = 1e-30.
        "they have 2.86 and 0.319, where the Gaussian noise is made for 4",
        # eps0 = 1 of both datasets, and 6 of N(0, 2), whose ratio is 1 more; each at two n and two delta.
        "1.03 to 2.20 times the total variation error of Gaussian noise, in the 12 other settings",
        "What to do",
        "Why to trust it",
        "Of the 90",  # real printed values that are neither random, zero nor repeated
        "Of 8 statements",
        "in 1 of 3 cases",  # of the simulated attack
    ]
    places = [overview.find(text) for text in in_this_order]
    assert -1 not in places, in_this_order[places.index(-1)]
    assert places == sorted(places)
    # Paris at eps0 = 6 in the table of ratios: their range, useful settings, the limit for many users.
    assert re.search(r"<td><strong>1.20 to 1.20</strong></td><td>4 of 4</td><td>1.25</td>", whole)


def test_other_settings_than_the_papers_are_named_first_and_in_each_command(
    verdicts, whole, statements
):
    """The report of a run on two files of settings, with its own folder of results and a changed setting.

    1. The main page is in results/my_own/report: its links lead from there to docs/ and to the results.
    2. The command beside a result names both files of settings, and the result in results/my_own.
    3. The main page and the page of statements begin with a notice of the changed setting, the made-up
       `world.CHANGED`. These pages of a run on the paper's settings (``whole``, ``statements``) have none.
    """
    own = SETTINGS | {
        "results": "results/my_own",
        "configfiles": ["config/quick.yaml", "my own.yaml"],
        "changed": world.CHANGED,
    }
    own_index = html_page(verdicts, settings=own, **EVERYTHING)
    own_statements = html_page(verdicts, settings=own, template="statements.html.j2", **EVERYTHING)

    assert set(re.findall(r'"([./]+)docs/', own_index)) == {"../../../"}
    assert 'href="../attack/audit.csv"' in own_index

    command = "snakemake --configfile config/quick.yaml 'my own.yaml' -- "
    assert f"{command}results/my_own/attack/audit.csv" in text_of(own_index)
    assert f"{command}results/my_own/figures/delta_bounds.png" in text_of(own_index)

    for own_page in (own_index, own_statements):
        notice = text_of(own_page, "body/header/div")
        assert "datasets.paris.tv.budgets: [{eps0: 4, eps: 4}] → [{eps0: 4, eps: 5}]" in notice
    assert "not the paper's settings" not in text_of(whole) + text_of(statements)


def test_pages_are_well_formed_lead_to_each_other_and_load_nothing(pages):
    """``pages``: the report's four pages, file -> HTML. For each of them:

    1. It is well-formed XML (`xml_tree` fails otherwise), and no id occurs twice.
    2. It has links to all pages, itself included, and a link to a place (#) leads to an id of its page.
    3. It has no script, and addresses of the net (http) only in links, so opening it loads nothing.
    """
    trees = {file: xml_tree(text) for file, text in pages.items()}
    ids = {file: [part.get("id") for part in page.iter("*")] for file, page in trees.items()}
    for file, page in trees.items():
        own_ids = [name for name in ids[file] if name]
        assert len(own_ids) == len(set(own_ids))

        linked_pages = set()
        for link in page.iter("a"):
            linked_page, _, anchor = link.get("href").partition("#")
            linked_page = linked_page or file
            if linked_page in trees:
                linked_pages.add(linked_page)
                assert not anchor or anchor in ids[linked_page]
        assert linked_pages == set(trees)

        assert not list(page.iter("script"))
        for part in page.iter():
            assert part.tag == "a" or "http" not in str(part.attrib.values())


def test_every_figure_is_on_one_page(pages):
    sources = [part.get("src") for text in pages.values() for part in xml_tree(text).iter("img")]
    assert sorted(sources) == sorted(f"../figures/{figure['name']}.png" for figure in FIGURES)


def test_a_configuration_with_hardly_any_results_has_a_page():
    bare = xml_tree(html_page([row(printed="0")], figures=()))
    assert [part.get("href") for part in bare.find("body/nav/div[@class='contents']")] == [
        "#overview", "#values", "#methods", "#experts", "#again",
    ]  # fmt: skip


def test_data_are_escaped():
    """HTML in a table or a setting is shown as text, on both pages that have tables: it adds no tag.

    The HTML is ``evil``. It stands in the free texts of a verdict on a printed value (`row` fills in the
    other columns), in a statement of the paper (in all columns but those that the page computes with), and in
    a changed setting.
    """
    evil = '<img src=x onerror="alert(1)">&'
    values = [
        row(eps=evil, note=evil, source=evil, mechanism=evil, printed="0.1"),
        row(printed="0"),  # of another source, so in a small table of its own
    ]
    # family "": no other row has the same statement.
    claim = dict.fromkeys(claim_rows()[0], evil) | {"family": ""}
    claim |= dict.fromkeys(["verdict", "verdict_published", "verdict_exact"], "fails")
    settings = SETTINGS | {"changed": [(evil, evil, evil)]}  # key, the paper's value, ours
    for template in ("index.html.j2", "statements.html.j2"):
        text = html_page(values, settings=settings, template=template, claim_verdicts=[claim])
        assert evil not in text
        assert not [part for part in xml_tree(text).iter() if "onerror" in part.attrib]


def test_ours_is_written_as_the_printed_value():
    for printed, value, shown in (
        ("3.25E-22", "3.2451234e-22", "3.245E-22"), ("0.97", "9.72603e-01", "0.9726"), ("1E-3", "", ""),
        ("0.0001", "9.1e-05", "9.100E-5"), ("0.9", "0.99996", "1.000"), ("123,108", "123026", "123,026"),
        ("7E-400", "7.00012e-400", "7.000E-400"), ("0", "0.000", "0"), ("0", "2.7e-18", "2.700E-18"),
    ):  # fmt: skip
        assert in_paper_notation(value, printed) == shown


@pytest.fixture(scope="module")
def open_page(tmp_path_factory, pages):
    """A function that opens a page of the report in Chromium, by default the main page.

    Its arguments are the width of the window in pixels (the height is 900) and the page's file. It returns
    Playwright's page, and a list to which it appends what the browser prints on its console, errors of a page
    and failed requests. The pages (``pages``: file -> HTML) lie in a folder whose name has a space. Every
    picture in them is black and 640 pixels wide.
    """
    api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or pytest.skip("there is no Chromium on this machine")
    folder = tmp_path_factory.mktemp("any name")
    for name in ("report", "figures"):
        (folder / name).mkdir()
    for figure in FIGURES:
        Image.new("RGB", (640, 480)).save(folder / f"figures/{figure['name']}.png")
    for file, text in pages.items():
        # All pictures are loaded at once, not those in sight only, so that a missing one is a complaint.
        (folder / "report" / file).write_text(text.replace('loading="lazy"', ""), encoding="utf-8")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])

        def opened(width, file="index.html"):
            page, complaints = chromium.new_page(viewport={"width": width, "height": 900}), []
            for event in ("console", "pageerror", "requestfailed"):
                page.on(event, lambda found: complaints.append(str(found)))
            page.goto((folder / "report" / file).as_uri())
            return page, complaints

        yield opened


@pytest.mark.slow
def test_it_opens_with_every_picture_and_without_complaints_and_leads_to_statements_and_back(
    open_page,
):
    """``open_page`` opens the main page in Chromium, 1280 pixels wide, and lists its ``complaints``.

    1. Each figure of the main page (`FIGURES_OF_INDEX`) has its picture, 640 pixels wide (a missing one would
    have 0). Nothing is wider than the window.
    2. Links lead to the page of statements and back, and the browser has complained of nothing.
    """
    page, complaints = open_page(1280)
    pictures = page.evaluate("[...document.images].map(i => i.naturalWidth)")
    assert pictures == [640] * len(FIGURES_OF_INDEX)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.get_by_role("link", name="Every statement").click()
    assert page.url.endswith("/report/statements.html")
    page.get_by_role("link", name="Report", exact=True).click()
    assert page.url.endswith("/report/index.html")
    assert complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("file", PAGES)
def test_the_contents_stay_in_sight(open_page, file):
    """After scrolling down by 400 pixels, a page's contents (its list of links) can be seen or reached.

    1. In a window of 1280 x 900 pixels the list stays in sight, and the link back to the top is hidden.
    2. On a phone, 390 pixels wide, this link (of the class top) leads back to the top, where the list is.

    ``open_page`` opens the page ``file`` in Chromium, and returns it first.
    """
    wide, _ = open_page(1280, file)
    wide.evaluate("window.scrollTo(0, 400)")
    assert 0 <= wide.locator("nav .pages").bounding_box()["y"] < 900
    assert not wide.locator(".top").is_visible()

    phone, _ = open_page(390, file)
    phone.evaluate("window.scrollTo(0, 400)")
    phone.locator(".top").click()
    assert phone.evaluate("window.scrollY") == 0


@pytest.mark.slow
def test_a_table_that_stands_alone_is_not_cut_off_beside_an_empty_column(open_page):
    page, _ = open_page(1280)
    cut = page.evaluate("""[...document.querySelectorAll(".scroll")].filter(table =>
        table.scrollWidth > table.clientWidth
        && table.clientWidth < 0.9 * table.parentElement.clientWidth).length""")
    assert page.locator(".groups > .scroll").count() > 3
    assert cut == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "verdicts_on_it"), [("index.html", 185), ("statements.html", 2 * len(claim_rows()))]
)
def test_on_a_phone_nothing_decisive_is_hidden(open_page, file, verdicts_on_it):
    """Findings, counts, verdicts and links lie inside of the width of a phone, 390 pixels.

    ``open_page`` opens the page ``file`` in Chromium. ``verdicts_on_it`` is the number of verdicts on it: on
    the main page one for each of the 185 printed values, on the page of statements two for each statement.
    """
    page, _ = open_page(390, file)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # Links of the contents, findings, tables of counts, verdicts, ratios of errors, statements, hints to tap.
    decisive = (
        "nav a, #overview li, .counts td, .cross td, .verdict, #parity td, .statements td, .hint"
    )
    boxes = page.evaluate(f"""[...document.querySelectorAll("{decisive}")].map(
        e => [e.textContent, e.getBoundingClientRect().left, e.getBoundingClientRect().right])""")
    assert len(boxes) > verdicts_on_it
    assert [(text, *box) for text, *box in boxes if not 0 <= box[0] < box[1] <= 390] == []


@pytest.mark.slow
def test_a_tap_on_a_figure_makes_it_large_and_a_second_one_opens_its_svg(open_page):
    """On a phone, 390 pixels wide, for each figure of the main page, which ``open_page`` opens in Chromium:

    1. A tap on the hint (of the class hint), which lies over the picture, makes the picture 800 pixels wide
    (50rem in style.css). The page itself grows no wider.
    2. Now the picture is a link to its SVG, and a second tap would reach it. The SVG itself is not opened.
    """
    page, _ = open_page(390)
    for figure in FIGURES_OF_INDEX:
        picture = page.locator(f"#{figure['name']} img")
        assert picture.bounding_box()["width"] <= 390
        page.locator(f"#{figure['name']} .hint").click()
        assert picture.bounding_box()["width"] == 800
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        link = f"#{figure['name']} .full a:has(img)"
        assert page.locator(link).get_attribute("href") == f"../figures/{figure['name']}.svg"
        # A trial: Playwright does not click, but fails if after 2 seconds something still covers this place.
        picture.click(trial=True, position={"x": 50, "y": 50}, timeout=2000)


def test_a_row_of_the_literature_shows_the_bound_that_its_column_names(whole):
    """1.073e-4, from the -3.9693 of cited_bounds.csv; the verdicts have no exact value there."""
    section = xml_tree(whole).find(".//section[@id='values-table-1']")
    assert "1.073" in "".join(section.itertext())


def test_a_figure_has_the_target_of_its_number_on_arxiv_and_of_its_number_at_fps():
    """A target is a name that Snakemake takes for all figures of a number, such as fig4 (arXiv) or fps2.

    The version at FPS (the conference) has fewer figures. Its Figure 1 is 3 on arXiv, its 2 is 4 and 5 there,
    and its 3 is 6 and 7.
    """
    numbers = {"fig1_a": 1, "fig3_b": 3, "fig4_c": 4, "fig5_d": 5, "fig6_e": 6, "fig7_f": 7}
    numbers["audit"] = 0  # not in the paper
    figures = [
        ShownFigure(name=name, stage="stage", section="figures", title=name, number=number)
        for name, number in numbers.items()
    ]
    assert targets_of_figures(figures) == {
        "fig1": ["fig1_a"],
        "fig3": ["fig3_b"],
        "fig4": ["fig4_c"],
        "fig5": ["fig5_d"],
        "fig6": ["fig6_e"],
        "fig7": ["fig7_f"],
        "fps1": ["fig3_b"],
        "fps2": ["fig4_c", "fig5_d"],
        "fps3": ["fig6_e", "fig7_f"],
    }


def test_the_figures_are_those_that_the_datasets_need():
    """`figures_of` says which figures a run makes, from the sections of its datasets in the configuration.

    Each row of `TABLE` is a figure, or one for each dataset. Its ``needs`` is the section that a dataset must
    have for the figure: tv (trials), estimates, or box (of a city); blank if it needs none. The key figures
    gives a dataset's figure its number in the paper. A dataset of your own has no such number, and makes no
    figure about the paper's constants. The expected names are written by hand.
    """
    mine = {"title": "Mine", "tv": {"n": [1]}}
    paris = {"title": "Paris", "tv": {"n": [1]}, "estimates": {"n": 1}, "box": {"south": 1}}
    paris["figures"] = {"tv": "fig7"}
    always = [row.name for row in TABLE if not row.needs]

    both = figures_of({"mine": mine, "paris": paris}, papers=["paris"])
    made = {figure.name: figure for figure in both}
    of_datasets = {"tv_mine", "fig7_tv_paris", "estimates_paris"}
    assert made.keys() == {*always, *of_datasets, "fig3_checkins", "parity_ratio", "constants"}
    # Stage, section, title, and number in the paper.
    assert made["fig7_tv_paris"][1:] == ("trials", "figures", "Total variation error: Paris", 7)
    assert made["tv_mine"][1:] == ("trials", "own-figures", "Total variation error: Mine", 0)

    alone = {figure.name for figure in figures_of({"mine": mine}, papers=[])}
    assert alone == {*always, "tv_mine", "parity_ratio"}
