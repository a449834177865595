"""The README's numbers and pictures are those of the full pipeline."""

import csv
import re

import pytest
from conftest import ROOT

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
    assert f"{reproduced} of the {len(verdicts)} printed values are reproduced" in WORDS
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
    for path in re.findall(r"`(results/[\w/.]+)`", README):
        if not path.startswith("results/bench"):
            assert (full.folder / path).exists(), path
