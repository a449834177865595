"""The catalogue of figures, and the script that draws any of its rows."""

import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from reproduction.figures import gaussian_scale, style
from reproduction.figures.catalogue import KINDS, SHARED, catalogue
from reproduction.jobs.code import files_of
from reproduction.report.page_figures import SECTIONS
from tests import ROOT
from tests.reproduction.figures.examples import scale_table
from tests.reproduction.figures.rows import CONFIG, rows
from tests.reproduction.jobs.fake_job import fake_job, run_script

FORM_OF = {"parity_tv": ["tv"], "parity_estimates": ["estimates"]}  # they take the form of another figure
ROWS = rows(mine={"kind": "counts", "title": "Mine", "file": "own.csv", "tv": {}, "estimates": {}})
MODULES = sorted({row.module for row in ROWS.values()})


def test_figures_are_in_the_pages_order_and_sections():
    sections = {}
    for name, row in ROWS.items():
        if row.number or "mine" in name:
            sections.setdefault(row.section, []).append(name)
    assert sections == {
        section: names.split()
        for section, names in {
            "own-figures": "parity_mine parity_estimates_mine estimates_mine tv_mine",
            "figures": "fig1_delta_surface fig2_tv_synthetic fig3_checkins fig4_estimates_san_francisco"
            " fig5_estimates_paris fig6_tv_san_francisco fig7_tv_paris",
            "parity": "fig2_parity_synthetic fig4_parity_estimates_san_francisco fig5_parity_estimates_paris"
            " fig6_parity_san_francisco fig7_parity_paris",
        }.items()
    }
    assert {row.section for row in ROWS.values()} == set(SECTIONS)
    assert {row.number for row in ROWS.values() if row.section == "figures"} == set(range(1, 8))


def test_a_row_of_a_dataset_has_its_title_number_files_and_settings():
    row = ROWS["fig6_parity_san_francisco"]
    assert (row.title, row.short) == (
        "Total variation error at equal privacy: San Francisco",
        "Figure 6, equal privacy",
    )
    assert row.inputs == {"trials": "<results>/parity/san_francisco.parquet"}
    assert row.settings == {"title": "San Francisco", "delta": CONFIG["parity"]["delta"][0]}
    assert ROWS["tv_mine"].title == ROWS["tv_mine"].short == "Total variation error: Mine"
    assert ROWS["tv_mine"].inputs == {"trials": ["mine.parquet"]}


def test_what_no_dataset_has_is_no_figure():
    mine = {"kind": "counts", "title": "Mine", "file": "own.csv"}
    config = CONFIG | {"study": CONFIG["study"] | {"grids": {"city": "mine"}}}
    alone = catalogue(config, {"mine": mine}, {}, lambda name: [])
    assert set(ROWS) - set(alone) == {
        name
        for name, row in ROWS.items()
        if row.module in ("checkins", "parity_ratio") or "title" in row.settings
    } - {"study_grids"}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_what_its_module_asks_for_and_no_more(name):
    row = ROWS[name]
    module = import_module(f"reproduction.figures.{row.module}")
    asked = list(signature(module.read).parameters)
    for function in (module.draw, module.caption):
        asked += list(signature(function).parameters)[1:]
    assert set(asked) == {*row.inputs, *row.settings}
    assert set(signature(module.read).parameters) >= set(row.inputs)


def test_every_module_that_draws_has_a_row():
    folder = ROOT / "reproduction/figures"
    drawing = {path.stem for path in folder.glob("*.py") if "\ndef caption(" in path.read_text("utf-8")}
    assert drawing == set(MODULES)


def test_the_code_behind_a_figure_holds_no_other_figure_and_no_row():
    for name in MODULES:
        files = files_of(*SHARED, f"reproduction/figures/{name}.py")
        found = {Path(file).stem for file in files}
        assert found & {*MODULES, "catalogue"} == {name, *FORM_OF.get(name, [])}


def test_rules_read_the_catalogue_without_any_library():
    code = "import sys, reproduction.figures.catalogue; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_a_figure_is_four_whole_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale_table().to_csv("scales.csv", index=False)
    output = {kind: f"scale.{kind}" for kind in KINDS}
    params = {"module": "gaussian_scale", "settings": {}}
    run_script(
        "draw_figure", fake_job("draw_figure", input={"table": "scales.csv"}, output=output, params=params)
    )
    assert {path.name for path in tmp_path.glob("scale.*")} == set(output.values())
    caption = (tmp_path / "scale.txt").read_text(encoding="utf-8")
    assert caption == gaussian_scale.caption(scale_table()) + "\n"
    assert (tmp_path / "scale.png").read_bytes() == style.png(gaussian_scale.draw(scale_table()))
