"""The calculator in a real browser: the package's numbers again, and a page that everybody can use."""

import json
import re
import shlex
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import tightshuffle
from tests.library.numerics.test_positive_part import EDGES, distribution_at_an_edge, exact_log
from tests.reproduction.jobs.fake_job import fake_job, run_script
from tests.reproduction.report import browser
from tests.reproduction.report.test_report_browser import CONTRAST
from tightshuffle import methods
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds.binary import binary
from tightshuffle.bounds.cover import Cover, ln_delta
from tightshuffle.cli.parser import make_parser
from tightshuffle.collection import Collection, Dummies, Group
from tightshuffle.gaussian import exact_scale, log10_delta_of_scale
from tightshuffle.literature import count as count_of_x0
from tightshuffle.planning import expected_tv_gaussian
from tightshuffle.randomizers import BY_KEY, parse
from tightshuffle.randomizers.expected_errors import errors

ROOT = Path(__file__).resolve().parents[3]
SIZES = {"subset": (":3", ":17"), "hash": (":2", ":16")}
NAMES = tuple(key + size for key in BY_KEY for size in SIZES.get(key, ("",)))  # all that the page offers
browsing = pytest.mark.skipif(browser.find() is None, reason="no Chromium on this machine")
PART = "reproduction/report/calculator/"
FILES = [
    *("reproduction/report/page/style.css", f"{PART}calculator.html.j2", f"{PART}calculator.css"),
    *(f"{PART}{name}.js" for name in ("engine", "binary", "randomizers", "bounds", "cover")),
    *(f"{PART}{name}.js" for name in ("texts", "collection", "calculator")),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page as its rule makes it; its path."""
    path = tmp_path_factory.mktemp("report") / "calculator.html"
    job = fake_job(
        "write_calculator", input={"parts": [str(ROOT / file) for file in FILES]}, output=[str(path)]
    )
    run_script("write_calculator", job)
    return path


@pytest.fixture(scope="module")
def tab():
    with browser.Browser() as found:
        yield found


def numbers(tab, expression):
    """A list of numbers from the page; infinities survive."""
    text = tab.run(f"JSON.stringify({expression}, (_, x) => typeof x === 'number' ? String(x) : x)")
    return np.array(json.loads(text.replace("Infinity", "inf").replace("NaN", "nan")), dtype=float)


def made(name, k, eps0):
    """The expression that makes a randomizer in the page."""
    kind, _, number = str(name).partition(":")
    given = {"k": int(k), "eps0": float(eps0), "size": int(number or 0)}
    return f"shuffle.randomizer({kind!r}, {json.dumps(given)})"


def settle(tab, page, settings="", **window):
    """Open the page with these settings in its address, and wait for the result."""
    tab.open(page, **window)
    tab.run(f"location.hash = {settings!r}")
    tab.run(
        "new Promise(done => { const look = () => { const found = document.getElementById('results');"
        " if (found.getAttribute('aria-busy') === 'false') done(); else setTimeout(look, 20); };"
        " setTimeout(look, 400); })"
    )


def text_of(tab, identity):
    return tab.run(f"document.getElementById({identity!r}).textContent")


def cells(tab, identity):
    """The rows of a table of two columns."""
    rows = f"[...document.getElementById('{identity}').tBodies[0].rows]"
    return dict(tab.run(f"{rows}.map(row => [...row.cells].map(cell => cell.textContent))"))


def shown(text):
    """The numbers of a text; 1.2×10⁻⁴ and 12,000 are one each."""
    plain = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")).replace("×10", "e")
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", plain)
    return [float(number) for number in re.findall(r"(?<![\w₀.])\d+(?:\.\d+)?(?:e-?\d+)?", plain)]


def test_page_is_one_file_with_the_same_bytes_every_time(page, tmp_path):
    again = tmp_path / "calculator.html"
    inputs = {"parts": [str(ROOT / file) for file in FILES]}
    run_script("write_calculator", fake_job("write_calculator", input=inputs, output=[str(again)]))
    text = again.read_text("utf-8")
    assert text == page.read_text("utf-8")
    assert str(ROOT) not in text
    found = re.findall(r'(?:src|href)="(?!https://doi[.]org/)([^"]*)"', text)
    assert found == ["data:,", "#results", "index.html"]


@browsing
@pytest.mark.slow
def test_500_random_settings_agree_with_the_package_and_no_bound_is_on_the_wrong_side(tab, page):
    # k-RR with k = 2 has bounds and a test of its own: subset:1 is the same randomizer without them.
    rng = np.random.default_rng(20261122)
    size = 500
    names = rng.choice(NAMES, size)
    k = np.exp(rng.uniform(np.log(2), np.log(4000), size)).astype(int)
    k = np.where(names == "subset:17", np.maximum(k, 18), np.where(names == "subset:3", np.maximum(k, 4), k))
    names = np.where((names == "grr") & (k == 2), "subset:1", names)
    n = (10 ** rng.uniform(0, 8, size)).astype(int)
    eps0 = 10 ** rng.uniform(-1.5, 1.1, size)
    eps = eps0 * rng.uniform(size=size) ** 3
    tab.open(page)
    # Lower bounds are slow, nine laws each: those of some settings.
    for method, kept in (("upper", np.arange(size)), ("lower", np.arange(150))):
        ours, theirs = np.empty((2, len(kept)))
        for name in np.unique(names[kept]):
            own = kept[names[kept] == name]
            setting = {"n": n[own], "k": k[own], "eps0": eps0[own], "randomizer": str(name)}
            ours[own] = methods.delta(method, eps[own], **setting)
        for place in kept:
            own = made(names[place], k[place], eps0[place])
            call = f"[shuffle.{method}({own}, {float(eps[place])!r}, {int(n[place])})]"
            theirs[place] = numbers(tab, call)[0]
        if method == "upper":
            ours_upper, theirs_upper = ours, theirs
    # Deeper than 10^-10000 rounding counts: there the package itself gives a setting alone another logarithm,
    # by 1.4e-14 of it, than the same setting among others.
    allowed = np.maximum(1e-9, 1e-13 * np.abs(ours_upper))
    assert np.all(np.isfinite(ours_upper))
    assert np.all(np.abs(theirs_upper - ours_upper) <= allowed)
    assert np.all(theirs <= ours_upper[:150])
    assert np.all(ours <= theirs_upper[:150])


@browsing
@pytest.mark.slow
def test_two_values_have_the_bracket_of_the_package_up_to_its_width(tab, page, monkeypatch):
    rng = np.random.default_rng(20261123)
    size = 120
    n = (10 ** rng.uniform(0, 12, size)).astype(int)
    eps0 = 10 ** rng.uniform(-1.5, 1.4, size)
    spread = np.sqrt(np.exp(eps0) / n) * np.minimum(1, eps0)
    eps = np.minimum(rng.uniform(0, 7, size) * spread, 0.99 * eps0)
    tab.open(page)
    ours = np.array(binary(eps, n=n, eps0=eps0, width=1e-3))
    monkeypatch.setattr("tightshuffle.bounds.binary._MOST", 3000)  # datasets that the page looks at
    widths = np.subtract(*reversed(binary(eps, n=n, eps0=eps0, width=1e-3)))
    for place, (low, high) in enumerate(ours.T):
        own = made("grr", 2, eps0[place])
        asked = f"{own}, {float(eps[place])!r}, {int(n[place])}"
        theirs = numbers(tab, f"[shuffle.lower({asked}), shuffle.upper({asked})]")
        # Each side holds the truth: two brackets that do not overlap contradict each other.
        assert theirs[0] <= high + 1e-12, asked
        assert low <= theirs[1] + 1e-12, asked
        assert theirs[1] - theirs[0] <= widths[place] + 1e-5, asked


@browsing
@pytest.mark.slow
def test_two_values_and_few_users_are_exact(tab, page):
    tab.open(page)
    for n in (1, 2, 5, 30):
        for eps0 in (0.2, 1.5, 6.0):
            asked = f"{made('grr', 2, eps0)}, {0.4 * eps0!r}, {n}"
            found = numbers(tab, f"[shuffle.lower({asked}), shuffle.upper({asked})]")
            low, high = binary(0.4 * eps0, n=n, eps0=eps0)
            assert found == pytest.approx([low, high], abs=1e-10)


@browsing
@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        *("k=2&eps0=4", "k=2&eps0=20", "k=408&eps0=4", "k=10&eps0=28", "k=1e9&eps0=0.01", "k=1e6&eps0=20"),
        *("k=408&eps0=20&randomizer=hash", "k=408&eps0=12&randomizer=hadamard"),
    ],
)
def test_a_million_million_users_take_few_evaluations(tab, page, settings):
    """Nodes and combinations, not seconds: they are the same on every machine."""
    tab.open(page)
    before = "globalThis.evaluated = 0; for (const name of ['sin', 'log1p']) { const own = Math[name];"
    tab.run(f"{before} Math[name] = (x) => (globalThis.evaluated++, own(x)); }}")
    tab.run(f"location.hash = 'n=1e12&delta=1e-6&{settings}'")
    tab.run(
        "new Promise(done => { const look = () => results.getAttribute('aria-busy') === 'false'"
        " ? done() : setTimeout(look, 20); setTimeout(look, 400); })"
    )
    assert tab.run("globalThis.evaluated") < 2e7


@browsing
@pytest.mark.slow
def test_laws_at_the_edge_of_rounding_end_and_hold_the_truth(tab, page):
    tab.open(page)
    rng = np.random.default_rng(24)
    distributions = EDGES + [(*distribution_at_an_edge(rng), int(rng.integers(1, 9))) for _ in range(200)]
    given = json.dumps([(list(values), list(chances), n) for values, chances, n in distributions])
    found = numbers(tab, f"{given}.map(law => engine.logPositivePart(...law))")
    for distribution, (low, high) in zip(distributions, found, strict=True):
        truth = exact_log(*distribution)
        assert low <= truth <= high, distribution
        assert truth == -np.inf or high - low <= np.log1p(1e-4), distribution
    for name, k, eps0, eps, n in (("grr", 3, 50, 49.95, 1), ("subset:2", 3, 40, 39.99996, 3)):
        setting = {"n": n, "k": k, "eps0": eps0, "randomizer": name}
        for side, method in enumerate(("lower", "upper")):
            ours = numbers(tab, f"[shuffle.{method}({made(name, k, eps0)}, {eps}, {n})]")[0]
            theirs = methods.delta(("upper", "lower")[side], eps, **setting)
            assert (ours <= theirs + 1e-12) if method == "lower" else (ours >= theirs - 1e-12)


@browsing
@pytest.mark.slow
@pytest.mark.parametrize("settings", ["n=1e12&k=2&eps0=1&delta=1e-6", "n=1e7&k=100&eps0=50&delta=1e-6"])
def test_without_the_published_formula_where_it_takes_too_long(tab, page, settings):
    settle(tab, page, settings)
    assert "published" not in text_of(tab, "bounds")
    assert "The published formula is left out" in text_of(tab, "bounds-note")


def random_collections(seed, number):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        most = 10 ** rng.uniform(0, 8)
        groups = []
        for place in range(rng.integers(1, 6)):
            users = max(1, int(most * rng.uniform() ** 2))
            colluding = int(rng.integers(0, users // 3 + 1)) if rng.random() < 0.4 else 0
            share = 1.0 if rng.random() < 0.4 else float(rng.uniform(0.01, 1))
            eps0 = float(10 ** rng.uniform(-1, 1.1))
            groups.append(Group(f"group {place + 1}", users, eps0, share, colluding))
        number = int(rng.integers(0, most + 2)) if rng.random() < 0.5 else 0
        poisson = float(rng.uniform(0, 5) * 10 ** rng.uniform(-2, 2)) if rng.random() < 0.5 else 0.0
        k = int(np.exp(rng.uniform(np.log(2), np.log(4000))))
        place = int(rng.integers(len(groups)))
        eps = float(groups[place].eps0 * rng.uniform() ** 2)
        dummies = Dummies(number=number, poisson_per_value=poisson)
        yield Collection(k, groups, dummies=dummies), groups[place].name, eps


def in_the_page(collection):
    """The same collection as the page's scripts take it."""
    groups = [
        {"users": group.hidden, "eps0": group.eps0, "share": group.participation}
        for group in collection.groups
    ]
    sent = collection.dummies
    given = {"k": collection.k, "groups": groups, "added": sent.number, "poisson": sent.poisson_per_value}
    return json.dumps(given)


def log10_delta_of_random_values(collection, name, eps):
    """The lower bound of a dataset of random values, which the page has."""
    k, own = collection.k, next(group for group in collection.groups if group.name == name)
    q = np.exp(-own.eps0) / (1 + (k - 1) * np.exp(-own.eps0))
    gains = k * q * np.array([np.exp(own.eps0) - np.exp(eps), 1 - np.exp(eps + own.eps0), 1 - np.exp(eps)])
    taking = [(group.hidden - (group is own), group.participation) for group in collection.groups]
    cover = Cover.of([*taking, (collection.dummies.number, 1.0)], k * collection.dummies.poisson_per_value)
    found = ln_delta(gains[None], np.array([[1, 1, k - 2]]) / k, cover, round_up=False)
    return float(found[0]) / np.log(10)


@browsing
@pytest.mark.slow
def test_200_random_collections_agree_with_the_package(tab, page):
    tab.open(page)
    for collection, name, eps in random_collections(20261123, 200):
        place = int(name.split()[1]) - 1
        given = f"{in_the_page(collection)}, {place}, {eps!r}"
        low, high = numbers(tab, f"[cover.bound(-1, {given}), cover.bound(1, {given})]")
        wanted = log10_delta_of_random_values(collection, name, eps), collection.one_round(eps, group=name)
        assert [low, high] == pytest.approx(wanted, rel=0, abs=np.log10(1 + 1e-3)), given
        assert low <= wanted[1], given


@browsing
@pytest.mark.slow
def test_eps_of_random_collections_is_the_smallest_by_the_package(tab, page):
    tab.open(page)
    for collection, name, _ in random_collections(20261124, 20):
        given = f"{in_the_page(collection)}, {int(name.split()[1]) - 1}, -6"
        low, high = numbers(tab, f"[cover.epsilon(-1, {given}), cover.epsilon(1, {given})]")
        enough, less = collection.one_round([high, high * (1 - 1e-4)], group=name)
        assert enough <= -6 + 1e-9, given
        assert high == 0 or less > -6, given
        assert low <= high


@browsing
@pytest.mark.slow
def test_few_users_of_very_many_values_have_a_close_bracket(tab, page):
    """Rough lower bounds are far below close ones here: a search by them found 1.6e-6, not 0.03075."""
    tab.open(page)
    app = Collection(k=10**6, groups=(Group("group 1", 15, 1.0, 0.5), Group("group 2", 15, 0.9)))
    low, high = numbers(
        tab, f"[cover.epsilon(-1, {in_the_page(app)}, 0, -6), cover.epsilon(1, {in_the_page(app)}, 0, -6)]"
    )
    assert low <= high <= 1.001 * low


GROUPS = "group=old%20app&users=60000&budget=2&share=&group=new%20app&users=40000&budget=4&share=0.3"
COMPUTED = (
    "new Promise(done => { const box = document.getElementById('collection'); const look = () =>"
    " box.getAttribute('aria-busy') === 'false' ? done() : setTimeout(look, 20); setTimeout(look, 400); })"
)


@browsing
@pytest.mark.slow
def test_groups_in_the_address_have_the_packages_eps_and_lines_that_run(tab, page):
    settle(tab, page, f"k=100&delta=1e-6&{GROUPS}&added=300&poisson=5")
    tab.run(COMPUTED)
    app = Collection(
        k=100,
        groups=(Group("old app", 60_000, eps0=2.0), Group("new app", 40_000, eps0=4.0, participation=0.3)),
        dummies=Dummies(number=300, poisson_per_value=5.0),
    )
    rows = "[...document.getElementById('collection-table').tBodies[0].rows]"
    found = tab.run(f"{rows}.map(row => [...row.cells].map(cell => cell.textContent))")
    assert [row[0] for row in found] == ["old app", "new app"]
    for name, high, low, fails in found:
        assert float(high) == pytest.approx(app.epsilon(1e-6, group=name), rel=1e-4)
        assert float(low) <= app.epsilon(1e-6, group=name, bound="lower") * (1 + 1e-4)
        assert float(low) > 0.8 * float(high)
        assert float(fails) == app.if_the_shuffler_fails(name)
    assert "The largest ε is that of “new app”" in text_of(tab, "collection-answer")
    *lines, last = text_of(tab, "collection-python").splitlines()
    space = {}
    exec("\n".join(lines), space)
    assert eval(last, space) == pytest.approx(float(found[1][1]), rel=1e-4)
    assert tab.complaints() == []


@browsing
@pytest.mark.slow
def test_groups_are_entered_with_the_keyboard_and_nothing_is_assumed(tab, page):
    settle(tab, page, "k=100&delta=1e-6")
    tab.run("document.querySelector('#collection summary').focus()")
    tab.press("Enter", text="\r", code=13)
    tab.run("new Promise(done => setTimeout(done, 200))")
    assert text_of(tab, "collection-answer") == "Enter the users and ε₀ of every group."
    assert not tab.run("document.getElementById('collection-results').checkVisibility()")
    assert tab.run("location.hash") == "#k=100&delta=1e-6"

    def enter(*values):
        for value in values:
            tab.press("Tab", code=9)
            for character in value:
                # 46, the code of ".", is the key Delete.
                tab.press(character, text=character, code=190 if character == "." else ord(character))

    enter("a", "1000", "2", "0.5")
    tab.press("Tab", code=9)  # with one group there is none to remove
    assert tab.run("document.activeElement.id") == "add-group"
    tab.press("Enter", text="\r", code=13)
    assert tab.run("document.activeElement.id") == "group-2"
    enter("500", "3")
    tab.run("new Promise(done => setTimeout(done, 400))")
    tab.run(COMPUTED)
    app = Collection(k=100, groups=(Group("a", 1000, 2.0, 0.5), Group("group 2", 500, 3.0)))
    assert shown(text_of(tab, "collection-answer"))[0] == pytest.approx(
        max(app.epsilon(1e-6, group=name) for name in ("a", "group 2")), rel=1e-4
    )
    answer, address = text_of(tab, "collection-answer"), tab.run("location.hash")
    settle(tab, page, address)
    tab.run(COMPUTED)
    assert text_of(tab, "collection-answer") == answer
    tab.run("document.querySelector('#groups button').click()")
    tab.run("new Promise(done => setTimeout(done, 400))")
    tab.run(COMPUTED)
    assert "group=a" not in tab.run("location.hash")


@browsing
@pytest.mark.slow
def test_a_wrong_group_says_what_the_field_may_be(tab, page):
    settle(tab, page, "group=a&users=0&budget=60&share=2&group=a&users=5&budget=1&share=&added=-1&poisson=x")
    tab.run("new Promise(done => setTimeout(done, 400))")
    for name, words in (
        ("users-1", "from 1 to 10¹²"),
        ("budget-1", "at most 50"),
        ("share-1", "at most 1"),
        ("group-2", "Two groups are called a"),
        ("added", "from 0 to 10¹²"),
        ("poisson", "10¹²/k"),
    ):
        assert words in text_of(tab, f"error-{name}")
        assert tab.run(f"document.getElementById({name!r}).getAttribute('aria-invalid')") == "true"
    assert tab.run("document.querySelectorAll('#collection [aria-invalid]').length") == 6
    assert "marked" in text_of(tab, "collection-answer")
    assert not tab.run("document.getElementById('collection-results').checkVisibility()")


@browsing
@pytest.mark.slow
def test_what_stands_beside_the_bracket_agrees_with_the_package(tab, page):
    tab.open(page)
    names = [
        found["name"] for found in tab.run("beside.literature('grr').map(found => ({name: found.name}))")
    ]
    for eps, n, k, eps0, count in (
        (0.1, 1000, 10, 1.0, 5),
        (0.05, 100_000, 408, 4.0, 244),
        (0.3, 100, 10, 2.0, 80),
        (0.2, 5000, 2, 0.4, 2500),
        (1.0, 10**6, 50, 6.0, 20_000),
        (0.001, 10**6, 3, 0.3, 0),
    ):
        setting = {"n": n, "k": k, "eps0": eps0}
        found = numbers(tab, f"beside.literature('grr').map(one => one.bound({eps}, {json.dumps(setting)}))")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideRange)
            wanted = np.array([methods.delta(name, eps, **setting) for name in names])
        # The clones' bracket is 1e-4 wide on the page, 1e-6 in the package.
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-4)
        published = numbers(tab, f"[beside.published({eps}, {json.dumps(setting)}, {count})]")[0]
        assert published == pytest.approx(
            count_of_x0.delta(eps, **setting, count=count, form="published"), rel=1e-9, abs=1e-6
        )
        sigma = numbers(tab, f"[beside.sigma({eps}, -6)]")[0]
        assert sigma == pytest.approx(exact_scale(eps, 1e-6, sensitivity=np.sqrt(2)), rel=1e-6)
        for name in NAMES:
            if name.startswith("subset") and int(name.partition(":")[2]) >= k:
                continue
            error = numbers(tab, f"[beside.distance({made(name, k, eps0)}, {n})]")[0]
            own = parse(name, k=k, eps0=eps0)
            assert error == pytest.approx(k / 2 * float(errors(own, 1 / k, n=n)), rel=1e-12)
    for eps, mu in ((0.0, 0.3), (1.0, 0.01), (0.5, 0.1), (2.0, 4.0), (0.1, 1e-3)):
        found = numbers(tab, f"[beside.gaussian({eps}, {mu})]")[0]
        assert found == pytest.approx(log10_delta_of_scale(eps, scale=1 / mu), rel=1e-8, abs=1e-8)


@browsing
@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ("n=1e5&k=408&eps0=4&delta=1e-6", {"n": 10**5, "k": 408, "eps0": 4.0}),
        (
            "n=20000&k=30&eps0=3&delta=1e-6&randomizer=subset&size=4&colluding=5000",
            {"n": 20_000, "k": 30, "eps0": 3.0, "randomizer": "subset:4", "colluding": 5000},
        ),
    ],
)
def test_the_answer_is_the_packages_and_its_lines_run(tab, page, settings, given):
    settle(tab, page, settings)
    low, high = float(text_of(tab, "low")), shown(text_of(tab, "answer"))[0]
    wanted = [tightshuffle.epsilon(1e-6, method=method, **given) for method in ("lower", "upper")]
    assert (low, high) == pytest.approx(wanted, rel=1e-4)
    assert low <= wanted[1]
    assert high >= wanted[0]
    lines = text_of(tab, "python").splitlines()
    assert lines[0] == "import tightshuffle"
    from_lines = [eval(line, {"tightshuffle": tightshuffle}) for line in lines[1:]]
    assert from_lines == [pytest.approx(value, rel=1e-12) for value in reversed(wanted)]
    found = cells(tab, "errors")
    sigma = exact_scale(wanted[1], 1e-6, sensitivity=np.sqrt(2))
    gaussian = next(float(value) for name, value in found.items() if "Gaussian" in name)
    assert gaussian == pytest.approx(expected_tv_gaussian(given["n"], given["k"], sigma), rel=1e-3)
    command, *printed = text_of(tab, "command").splitlines()
    make_parser().parse_args(shlex.split(command)[1:])
    assert len(printed) == ("randomizer" not in given)
    for line in printed:
        done = subprocess.run(shlex.split(line), cwd=ROOT, capture_output=True, text=True, check=True)
        digits, power = cells(tab, "bounds")["published formula (not a bound)"].split("×10")
        power = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
        assert float(done.stdout) == pytest.approx(np.log10(float(digits)) + power, abs=5e-3)


@browsing
@pytest.mark.slow
def test_a_wanted_eps_gives_the_plan_of_the_package(tab, page):
    settle(tab, page, "n=1e5&k=408&given=eps&eps=0.5&delta=1e-6")
    plan = eval(text_of(tab, "python").splitlines()[1], {"tightshuffle": tightshuffle})
    assert shown(text_of(tab, "answer"))[0] == pytest.approx(plan.eps0, rel=1e-4)
    assert next(iter(cells(tab, "errors").values())) == f"{plan.tv['shuffle+INV']:.4g}"


@browsing
@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        "k=408&eps=0.5&error=0.05",
        "k=30&eps=1&error=0.01&randomizer=hash&size=4&colluding=500",
        "k=3&eps=3&error=0.5",
    ],
)
def test_a_wanted_error_gives_the_users_of_the_package(tab, page, settings):
    settle(tab, page, f"given=error&n=nonsense&delta=1e-6&{settings}")
    plan = eval(text_of(tab, "python").splitlines()[1], {"tightshuffle": tightshuffle})
    assert shown(text_of(tab, "answer"))[:2] == pytest.approx([plan.n, plan.eps0], rel=1e-4)
    assert next(iter(cells(tab, "errors").values())) == f"{plan.tv['shuffle+INV']:.4g}"
    command = text_of(tab, "command").splitlines()[0]  # the published formula's may follow
    make_parser().parse_args(shlex.split(command)[1:])
    assert [name for name in ("n", "eps0", "count") if tab.run(f"{name}.checkVisibility()")] == []


@browsing
@pytest.mark.slow
def test_an_error_that_nobody_reaches_is_said(tab, page):
    settle(tab, page, "given=error&k=408&eps=0.5&delta=1e-6&error=1e-12")
    assert "10¹²" in text_of(tab, "answer")
    assert not tab.run("document.getElementById('curve').checkVisibility()")


@browsing
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_page_is_silent_alone_readable_and_not_wider_than_the_window(tab, page, width, scheme):
    settle(tab, page, f"n=1000&k=10&eps0=2&delta=1e-4&{GROUPS}", width=width, height=844, scheme=scheme)
    tab.run(COMPUTED)
    tab.run("document.getElementById('points').open = true")
    assert tab.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert tab.complaints() == []
    assert {address.partition("#")[0] for address in tab.requests()} == {page.as_uri()}
    assert [text for text in tab.run(CONTRAST) if text["ratio"] < 4.5] == []


@browsing
@pytest.mark.slow
def test_every_field_has_a_name_and_the_keyboard_reaches_all_that_is_shown(tab, page):
    settle(tab, page, f"randomizer=hash&n=1000&k=10&eps0=2&delta=1e-4&{GROUPS}")
    tab.run(COMPUTED)
    tree = tab.ask("Accessibility.getFullAXTree")["nodes"]
    roles = {"textbox", "combobox", "radio", "button", "link", "img", "table", "form", "region"}
    nameless = [
        node["role"]["value"]
        for node in tree
        if not node["ignored"] and node["role"]["value"] in roles and not node.get("name", {}).get("value")
    ]
    assert nameless == []
    reached = []
    for _ in range(50):
        tab.press("Tab", code=9)
        reached.append(tab.run("document.activeElement.name || document.activeElement.textContent"))
        assert tab.run("getComputedStyle(document.activeElement).outlineStyle") in ("solid", "auto", "none")
    assert reached[0] == "Skip to the results"
    order = ["given", "randomizer", "size", "n", "k", "eps0", "delta", "colluding"]
    assert [name for name in reached if name in order][: len(order)] == order
    assert {"Copy the shell lines", "Copy the Python lines", "Add a group", "Remove group 2"} <= set(reached)


@browsing
@pytest.mark.slow
def test_wrong_input_says_what_the_field_may_be(tab, page):
    settle(tab, page, "n=12.5&k=1&eps0=-1&delta=2&colluding=x")
    for name, symbol, end in (
        ("n", "n", "10¹²"),
        ("k", "k", "10⁹"),
        ("eps0", "ε₀", "50"),
        ("delta", "δ", "1e-300"),
        ("colluding", "colluding users", "n − 1"),
    ):
        error = text_of(tab, f"error-{name}")
        assert f"{symbol} must be " in error
        assert end in error
        assert tab.run(f"document.getElementById('{name}').getAttribute('aria-invalid')") == "true"
        assert f"error-{name}" in tab.run(
            f"document.getElementById('{name}').getAttribute('aria-describedby')"
        )
    settle(tab, page, "n=abc&k=4&eps0=1&delta=0.1")
    assert tab.run("[...document.querySelectorAll('[aria-invalid]')].map(field => field.name)") == ["n"]
    assert "marked" in text_of(tab, "answer")
    assert not tab.run("document.getElementById('curve').checkVisibility()")


@browsing
@pytest.mark.slow
def test_a_typed_setting_is_in_the_address_and_the_address_brings_it_back(tab, page):
    settle(tab, page, "n=1000&k=10&eps0=2&delta=1e-4")
    tab.run("document.getElementById('k').select(); document.getElementById('k').focus()")
    for digit in "12":
        tab.press(digit, text=digit, code=ord(digit))
    tab.run("new Promise(done => setTimeout(done, 1500))")
    address = tab.run("location.hash")
    assert "k=12&" in address
    answer = text_of(tab, "answer")
    settle(tab, page, address)
    assert text_of(tab, "answer") == answer
    assert shown(answer)[0] == pytest.approx(tightshuffle.epsilon(1e-4, n=1000, k=12, eps0=2), rel=1e-4)


EXAMPLES = "[...document.querySelectorAll('.example')].filter(x => x.checkVisibility()).map(x => x.id)"


@browsing
@pytest.mark.slow
def test_an_example_is_named_until_its_field_is_entered(tab, page):
    settle(tab, page)
    assert text_of(tab, "setting").startswith("Example: 100,000 users, 408 values")
    assert len(tab.run(EXAMPLES)) == 5
    assert tab.run("location.hash") == ""
    settle(tab, page, "n=1000&k=10")
    assert text_of(tab, "setting").startswith("Your setting: 1,000 users, 10 values")
    assert tab.run(EXAMPLES) == ["field-randomizer", "field-eps0", "field-delta"]
    assert tab.run("location.hash") == "#n=1000&k=10"


@browsing
@pytest.mark.slow
def test_the_link_that_skips_to_the_results_keeps_the_settings(tab, page):
    settle(tab, page, "n=1000&k=10&eps0=2&delta=1e-4")
    tab.run("document.querySelector('.skip').click()")
    tab.run("new Promise(done => setTimeout(done, 400))")
    assert tab.run("n.value") == "1000"
    assert tab.run("location.hash") == "#n=1000&k=10&eps0=2&delta=1e-4"


@browsing
@pytest.mark.slow
def test_no_empty_frame_or_table_is_shown_while_the_page_computes(tab, page):
    tab.open(page)
    tab.run("location.hash = 'n=1e7&k=50&eps0=7&delta=1e-6'")
    frames = tab.run(
        "new Promise(done => requestAnimationFrame(() => done(["
        "document.querySelectorAll('#curve path').length > 0 || document.getElementById('curve').textContent,"
        "bounds.checkVisibility() ? bounds.tBodies[0].rows.length : null])))"
    )
    assert frames[0] in (True, "computing …")
    assert frames[1] != 0


@browsing
@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_screen_shows_an_answer(tab, page, width):
    settle(tab, page, width=width, height=844)
    assert tab.run("document.getElementById('answer-note').getBoundingClientRect().bottom") < 844
    assert shown(text_of(tab, "answer"))[0] == pytest.approx(
        tightshuffle.epsilon(1e-6, n=100_000, k=408, eps0=4), rel=1e-4
    )
