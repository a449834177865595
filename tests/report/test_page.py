"""The report page: what it counts and says, that it stands alone, and how it looks in a real browser."""

import re
import shutil
from collections import Counter
from xml.etree import ElementTree

import pytest
from PIL import Image

from scripts.report.write_report import like
from tests.report import world
from tests.report.world import EVERYTHING, FIGURES, SETTINGS, claim_rows, page_of, row


def tree(page):
    """The page as XML, which fails on a tag that is closed in the wrong place or never."""
    for html, xml in (("<!doctype html>", ""), ("&nbsp;", " "), ("&shy;", ""), (' loading="lazy"', "")):
        page = page.replace(html, xml)
    return ElementTree.fromstring(re.sub(r"<(meta|link|img)\b([^>]*)>", r"<\1\2/>", page))


def words(page):
    return " ".join("".join(tree(page).find("body").itertext()).split())


@pytest.fixture(scope="module")
def verdicts():
    return world.real_verdicts()


@pytest.fixture(scope="module")
def whole(verdicts):
    """The page with every optional part, and a note that must not widen it."""
    verdicts[40]["note"] = "a_long_word_without_any_place_to_break_it_" * 4
    return page_of(verdicts, **EVERYTHING)


def test_every_printed_value_has_a_row_and_counts_are_of_matches(verdicts, whole):
    badges = Counter(re.findall(r'verdict"><span class="badge (?:good|bad)">. ([a-z ]+)<', whole))
    counts = Counter(found["verdict"] for found in verdicts)
    assert badges == counts
    total = re.search(r'scope="row">all</th>(.*)</tr>', whole)[1]
    match, drawn = counts["same digits"] + counts["close"], counts["consistent"]
    assert re.findall(r"\d+", total) == [str(n) for n in (185, match, drawn, 185 - match - drawn)]


def test_what_holds_is_said_first_and_all_with_the_findings_numbers(verdicts, whole):
    text = words(whole)
    said = [
        "In the paper's own 12 settings, at equal privacy, the error of shuffling is 1.13 to 1.20 times",
        "the true δ is 82 times smaller than the best of them.",
        "The printed δ is too small, by up to 55.6 orders of magnitude",  # as the verdicts are made up
        "Corollary 1, read literally, is not always too small, but no guarantee.",
        "The paper compares at unequal privacy, which handicaps its own method.",
        "the Gaussian noise of our rerun has ε = 3.05. The shuffled reports have 0.250 for 1,000 users",
        "1.03 to 2.20 times the error of Gaussian noise over all our 24 settings",
        "Of the six randomizers that we compared, when whole reports are shuffled, it has the smallest error",
        "Of the 90 printed values that are neither random nor zero nor repeated, ",
        "Of 8 statements in the paper, 3 hold or mostly hold, 1 fail, and 2 cannot be decided.",
        "It contradicts the printed δ in 1 of them, with 99.9 % confidence, and our bound in none.",
        "Where the paper prints 2.49×10⁻¹⁵, the attack shows at least 0.0059.",
        "fit neither the uniform grid (p = 0.0027) nor the stepped one",
    ]
    places = [text.find(sentence) for sentence in said]
    assert -1 not in places, said[places.index(-1)]
    assert places == sorted(places)
    assert re.search(r"<td><strong>1.20 to 1.20</strong></td><td>4 of 4</td><td>1.25</td>", whole)


def test_other_settings_than_the_papers_are_named_first_and_in_each_command(verdicts, whole):
    own = SETTINGS | {"results": "results/my_own", "configfiles": ["config/quick.yaml", "my own.yaml"]}
    page = page_of(verdicts, settings=own | {"changed": world.CHANGED}, **EVERYTHING)
    text = words(page)
    assert set(re.findall(r'"([./]+)docs/', page)) == {"../../../"}
    assert 'href="../attack/audit.csv"' in page
    notice = text.index("These are not the paper's settings.")
    assert notice < text.index("What holds")
    assert "datasets.paris.tv.budgets: [{eps0: 4, eps: 4}] → [{eps0: 4, eps: 5}]" in text
    command = "snakemake --configfile config/quick.yaml 'my own.yaml' -- "
    assert f"{command}results/my_own/attack/audit.csv" in text
    assert f"{command}results/my_own/figures/delta_bounds.png" in text
    assert "not the paper's settings" not in words(whole)


def test_it_is_well_formed_loads_nothing_and_escapes_data(verdicts, whole):
    page = tree(whole)
    ids = [part.get("id") for part in page.iter() if part.get("id")]
    links = [part.get("href") for part in page.iter("a")]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    bare = tree(page_of([row(printed="0")], figures=()))  # a configuration with hardly any results
    assert [part.get("href") for part in bare.find("body/header/nav")] == [
        "#overview", "#methods", "#values", "#again",
    ]  # fmt: skip
    assert len(list(page.iter("figure"))) == len(FIGURES) + 1  # and the drawing
    assert {part.get("src") for part in page.iter("img")} == {f"../figures/{f['name']}.png" for f in FIGURES}
    assert not list(page.iter("script"))
    assert not [part for part in page.iter() if part.tag != "a" and "http" in str(part.attrib.values())]
    evil = '<img src=x onerror="alert(1)">&'
    values = [row(eps=evil, note=evil, source=evil, mechanism=evil, printed="0.1"), row(printed="0")]
    claims = [dict.fromkeys(claim_rows()[0], evil) | {"verdict": "fails", "verdict_published": "fails"}]
    claims[0] |= {"verdict_exact": "fails", "family": ""}
    text = page_of(values, settings=SETTINGS | {"changed": [(evil,) * 3]}, claim_verdicts=claims)
    assert evil not in text
    assert not [part for part in tree(text).iter() if "onerror" in part.attrib]


def test_ours_is_written_as_the_printed_value():
    for printed, value, shown in (
        ("3.25E-22", "3.2451234e-22", "3.245E-22"), ("0.97", "9.72603e-01", "0.9726"), ("1E-3", "", ""),
        ("0.0001", "9.1e-05", "9.100E-5"), ("0.9", "0.99996", "1.000"), ("123,108", "123026", "123,026"),
        ("7E-400", "7.00012e-400", "7.000E-400"), ("0", "0.000", "0"), ("0", "2.7e-18", "2.700E-18"),
    ):  # fmt: skip
        assert like(value, printed) == shown


@pytest.fixture(scope="module")
def browser(tmp_path_factory, whole):
    """A function that opens the page in a window of this width and gives it, and what it had to say."""
    api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or pytest.skip("there is no Chromium on this machine")
    folder = tmp_path_factory.mktemp("results")
    for name in ("report", "figures"):
        (folder / name).mkdir()
    for figure in FIGURES:
        Image.new("RGB", (640, 480)).save(folder / f"figures/{figure['name']}.png")
    (folder / "report/index.html").write_text(whole.replace('loading="lazy"', ""), encoding="utf-8")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])

        def opened(width):
            page, said = chromium.new_page(viewport={"width": width, "height": 900}), []
            for event in ("console", "pageerror", "requestfailed"):
                page.on(event, lambda found: said.append(str(found)))
            page.goto((folder / "report/index.html").as_uri())
            return page, said

        yield opened


@pytest.mark.slow
def test_it_opens_with_every_picture_and_without_complaints(browser):
    page, said = browser(1280)
    assert page.evaluate("[...document.images].map(i => i.naturalWidth)") == [640] * len(FIGURES)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert said == []


@pytest.mark.slow
def test_on_a_phone_nothing_decisive_is_hidden(browser):
    """Findings, counts and every verdict lie inside of 390 pixels."""
    page, _ = browser(390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    decisive = "#overview li, .counts td, .cross td, .verdict, #parity td, .statements td"
    boxes = page.evaluate(f"""[...document.querySelectorAll("{decisive}")].map(
        e => [e.textContent, e.getBoundingClientRect().left, e.getBoundingClientRect().right])""")
    assert len(boxes) > 185 + len(claim_rows())
    assert [box for box in boxes if not 0 <= box[1] < box[2] <= 390] == []
