"""The README's numbers and pictures are those of the full pipeline."""

import csv
import math
import re

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.pipeline import documents
from tightshuffle.privacy import count, histogram

pytestmark = pytest.mark.pipeline

README = (ROOT / "README.md").read_text()
WORDS = re.sub(r"\s+", " ", README)


@pytest.fixture(scope="module")
def verdicts(full):
    with open(full.folder / "results/report/verdicts.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_headline(full, verdicts):
    reproduced = sum(row["verdict"] in ("exact", "close", "consistent") for row in verdicts)
    assert f"**Reproduced:** {reproduced} of the {len(verdicts)} printed values" in WORDS
    page = (full.folder / "results/report/index.html").read_text()
    assert f"Reproduced {reproduced} of {len(verdicts)} printed values" in page
    said = re.search(r"too small by up to ([\d.]+) orders of magnitude in the paper's own Table IV", WORDS)[1]
    assert f"by up to {said} orders of magnitude" in re.sub(r"\s+", " ", page)


def test_what_is_not_reproduced(verdicts):
    missed = [row for row in verdicts if row["verdict"] in ("differs", "inconsistent")]
    cells = sorted((row["item"], row["mechanism"], row["n"], row["eps"]) for row in missed)
    assert cells == [
        ("Table II", "balle", "100", "0.4"),
        *(("Table II", "this paper", "1000", eps) for eps in ("0.01", "0.1", "0.2", "0.3", "0.4")),
        ("Table IV", "this paper", "50", "0.1"),
        ("Table IV", "this paper", "50", "1.0"),
        ("Table V", "shuffle+INV", "100000", "4"),
    ]
    unknown = {(row["item"], row["mechanism"]) for row in verdicts if row["verdict"] == "not comparable"}
    assert unknown == {("Table 1", "koskela")}


def test_table_of_deltas():
    rows = re.findall(r"\| eps = ([\d.]+) \| (\S+) \| (\S+) \| (\S+) to (\S+) \|", README)
    assert len(rows) == 3
    setting = {"n": 100, "k": 10, "eps0": 2.0}
    for eps, *said in rows:
        logs = [count.delta(float(eps), count=80, form=form, **setting) for form in ("published", "exact")]
        logs += [bound(float(eps), **setting) for bound in (histogram.lower, histogram.upper)]
        assert said == [f"{10**value:.2e}" for value in logs]


def test_pictures(full):
    """Equal pictures, but for what another version of the drawing library might change."""
    from matplotlib import image

    for path in re.findall(r"\(docs/images/(\w+)\.png\)", README):
        shown = image.imread(ROOT / f"docs/images/{path}.png")
        made = image.imread(full.folder / f"results/figures/{path}.png")
        assert shown.shape == made.shape, f"{path}: run `make pictures`"
        assert abs(shown - made).mean() < 0.01, f"{path}: run `make pictures`"


def test_what_comes_out_exists(full):
    figures = re.findall(r"`((?:koskela|girgis|blanket|gaussian|delta)_\w+)`", README)
    assert len(figures) >= 6
    for name in figures:
        for kind in ("png", "pdf", "txt"):
            assert (full.folder / f"results/figures/{name}.{kind}").stat().st_size > 100


# docs/parity.md -------------------------------------------------------------------------------

LEVELS = ("Intervals of 95 %", "within 5 % of 1", "within 5 % on")  # chosen, not measured
PARITY = re.sub(r"\s+", " ", (ROOT / "docs/parity.md").read_text())


def ratio_lines(ratios):
    """The lines of the table of ratios: the smallest and the largest of every dataset and eps0."""
    upper = ratios[(ratios["metric"] == "tv") & (ratios["bound"] == "upper")]
    lines = []
    for (dataset, eps0), rows in upper.groupby(["dataset", "eps0"]):
        parts = dict(list(rows.groupby("comparison")))
        plain = parts["unprojected"]
        spans = [plain["ratio"], plain["predicted"], plain["limit"]]
        spans += [parts[name]["ratio"] for name in ("projected", "maximum likelihood")]
        texts = [f"{span.min():.2f} to {span.max():.2f}" for span in spans]
        texts[2] = f"{plain['limit'].iloc[0]:.2f}"
        lines.append(f"| {dataset} | {eps0:g} | {' | '.join(texts)} |")
    return lines


def ratio_sentences(ratios):
    """Every other measured number of docs/parity.md, in the words around it."""
    tv = ratios[ratios["metric"] == "tv"]
    upper = tv[tv["bound"] == "upper"]
    plain = upper[upper["comparison"] == "unprojected"]
    covered = ((plain["low"] <= plain["predicted"]) & (plain["predicted"] <= plain["high"])).mean()
    far = (plain["ratio"] / plain["predicted"] - 1).abs().max()
    steep = plain[(plain["dataset"] == "synthetic") & (plain["eps0"] == 6)]
    worst = steep.loc[steep["ratio"].idxmax()]
    assert (worst["n"], worst["delta_rule"]) == (5000, "1e-06")
    assert round(5000 / (math.exp(6) + 14)) == 12
    late = steep[(steep["n"] == 100_000) & (steep["delta_rule"] == "1e-06")].iloc[0]
    keys = ["dataset", "n", "eps0", "delta_rule", "comparison"]
    both = tv.dropna(subset="bound").pivot(index=keys, columns="bound", values="ratio")
    change = (both["upper"] / both["lower"] - 1).abs().max()
    published = tv[tv["comparison"] == "published"]["ratio"]
    return [
        f"in {covered:.0%} of the {len(plain)} unprojected settings".replace("%", " %"),
        f"by at most {far:.1%}.".replace("%", " %"),
        f"({worst['ratio']:.2f}, closed form {worst['predicted']:.2f}, eps = {worst['eps']:.2f})",
        f"the closed form is down to {late['predicted']:.2f}, towards the limit {late['limit']:.2f}.",
        f"for comparison: {published.min():.1f} to {published.max():.0f} times.",
        f"no ratio changes by more than {math.ceil(1000 * change) / 10:.1f} %",
    ]


def plan_lines(full):
    """The lines of the table of what a wanted guarantee costs."""
    table = (full.folder / "results/parity_plan.md").read_text().splitlines()
    lines = [line for line in table if line.startswith("|")]
    assert len(lines) == 2 + 12
    return lines


def test_docs_of_parity_say_what_was_measured(full):
    ratios = pd.read_csv(full.folder / "results/parity_ratio.csv")
    said = [*ratio_lines(ratios), *ratio_sentences(ratios), *plan_lines(full)]
    rest = PARITY
    for words in said:
        assert words in PARITY, words
        rest = rest.replace(words, " ")
    for words in LEVELS:
        rest = rest.replace(words, " ")
    assert [found.text for found in documents.results(rest)] == [], "numbers that no result stands behind"
    rows = ratios[(ratios["bound"] == "upper") & (ratios["comparison"] == "unprojected")]
    rows = rows[rows["metric"] == "tv"]
    near = (rows["predicted"] - 1).abs() <= 0.05
    share = near.groupby([rows["dataset"], rows["eps0"]]).mean()
    everywhere = [("paris", 1), ("san_francisco", 1), ("synthetic", 1), ("paris", 2), ("san_francisco", 2)]
    assert all(share[place] == 1 for place in [*everywhere, ("san_francisco", 4)])
    assert share["san_francisco", 6] == share["synthetic", 6] == 0
