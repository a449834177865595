"""Numbers as titles, axes and captions write them."""

import pandas as pd
import pytest

from reproduction.figures import style, wording


@pytest.mark.parametrize(
    ("written", "value", "text"),
    [
        (wording.short_number, 0, "0"),
        (wording.short_number, 1500, "1.5k"),
        (wording.short_number, 2.5e6, "2.5M"),
        (wording.significant, 0.1, "0.10"),
        (wording.two_digits, [0.41, 0.404, 0.412], "0.40 to 0.41"),
        (wording.two_digits, [0.409, 0.412], "0.41"),
        (wording.listing, [1000], "1,000"),
        (wording.listing, [1, 2000, 3000], "1, 2,000 and 3,000"),
        (wording.listing, range(1, 31), "1 to 30 (30 values)"),
    ],
)
def test_numbers(written, value, text):
    assert written(value) == text


def test_a_setting_has_the_papers_symbols():
    table = pd.DataFrame({"n": [12345, 1], "k": 3, "eps0": 2.25, "count": 40})
    text = wording.setting(table, "n", "k", "eps0", "count")
    assert text == "n = 12,345, k = 3, ε₀ = 2.25, n_x₀ = 40"


def test_folded_keeps_all_words_and_shortens_the_lines():
    text = "TV distance to the original, San Francisco: k = 408 cells, 10 repetitions per box (published)"
    assert wording.folded(text, 7, size=9) == text
    narrow = wording.folded(text, 3, size=9).splitlines()
    assert " ".join(narrow) == text
    assert max(map(len, narrow)) <= 46  # 3 inches hold 46 letters of 9 points


def test_a_row_label_breaks_where_it_must():
    budget = "ε₀ = 2.25, ε = 0.125, δ = 3.2×10⁻²²"
    assert wording.row_label(budget, 3) == budget
    assert wording.row_label(budget, 1.3) == "ε₀ = 2.25, ε = 0.125\nδ = 3.2×10⁻²²"
    assert wording.row_label(budget, 0.8) == "ε₀ = 2.25\nε = 0.125\nδ = 3.2×10⁻²²"


TITLES = ["$x_$", "$\\frac{1$", "$$", "\\", "100 $ and 200 $", "<b>&'\"", "a_b^c", "%s {0}"]


@pytest.mark.parametrize("title", TITLES)
def test_titles_in_figures_are_shown_letter_by_letter(title):
    figure = style.new_figure(1)
    figure.subplots()
    text = figure.suptitle(wording.folded(f"Setting of {wording.literal(title)}, n = 3", 7))
    style.png(figure)  # a formula that is none would be an error here
    assert text._preprocess_math(text.get_text())[0].replace("\n", " ") == f"Setting of {title}, n = 3"
