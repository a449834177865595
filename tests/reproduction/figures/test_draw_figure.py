"""The rules of figures: a script that draws any of them, and code that names one figure's modules only."""

import runpy
from pathlib import Path

from reproduction.figures import gaussian_scale, style
from reproduction.jobs import figures
from reproduction.jobs.code import files_of
from tests import ROOT
from tests.reproduction.figures.examples import scale_table
from tests.reproduction.jobs.fake_job import fake_job

FOLDER = ROOT / "reproduction/figures"
FIGURES = sorted(path.stem for path in FOLDER.glob("*.py") if "\nTITLE" in path.read_text(encoding="utf-8"))
FORM_OF = {"parity_tv": ["tv"], "parity_estimates": ["estimates"]}  # they take the form of another figure


def test_a_figure_is_four_whole_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale_table().to_csv("scales.csv", index=False)
    output = {kind: f"scale.{kind}" for kind in ("pdf", "png", "svg", "txt")}
    inputs, params = {"scales": "scales.csv"}, figures.drawn_by("gaussian_scale")
    job = fake_job("draw_gaussian_scale", input=inputs, output=output, params=params)
    runpy.run_path(str(ROOT / "scripts/draw_figure.py"), {"snakemake": job})
    assert sorted(path.name for path in tmp_path.glob("scale.*")) == list(output.values())
    caption = (tmp_path / "scale.txt").read_text(encoding="utf-8")
    assert caption == gaussian_scale.caption(scale_table()) + "\n"
    assert (tmp_path / "scale.png").read_bytes() == style.png(gaussian_scale.draw(scale_table()))


def test_the_code_behind_a_figure_holds_no_other_figure():
    assert len(FIGURES) == 18
    for name in FIGURES:
        files = files_of(*figures.SHARED, f"reproduction/figures/{name}.py")
        assert {path.stem for path in map(Path, files)} & set(FIGURES) == {name, *FORM_OF.get(name, [])}
