"""Write the gallery, and copy the documents' pictures, small enough to commit: `make pictures`."""

import re
from pathlib import Path

from PIL import Image

from scripts.report.sections import SECTIONS, ShownFigure, figures_of, in_page_order
from scripts.shared.configuration import PAPERS_FILE, datasets_of, merged

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "results/figures"
GALLERY = ROOT / "docs/gallery.md"
# Sections of the report's page whose figures the gallery shows.
SHOWN = ("figures", "overview", "rerun", "delta-hat", "parity")
HEAD = """\
# Gallery: what a run makes

`make pictures` wrote this page: the pictures and captions are those of a run.
"""
WIDTH = 720


def gallery(figures: Path) -> str:
    """The text of docs/gallery.md, with the captions in the folder ``figures``.

    A section of the report's page has a heading, and each of its figures a title, a picture and its caption.
    """
    datasets = datasets_of(merged([PAPERS_FILE]))
    shown = in_page_order(figures_of(datasets, datasets)).values()
    parts = [HEAD]
    for section in SHOWN:
        parts.append(f"## {SECTIONS[section]}\n")
        parts += [_entry(figure, figures) for figure in shown if figure.section == section]
    return "\n".join(parts)


def _entry(figure: ShownFigure, figures: Path) -> str:
    """The title, picture and caption of a figure."""
    number = f"Figure {figure.number}. " if figure.number else ""
    caption = (figures / f"{figure.name}.txt").read_text(encoding="utf-8").strip()
    file = f"images/{figure.name}.png"
    if (ROOT / "library/docs" / file).exists():  # a document of the library shows it, too
        file = f"../library/docs/{file}"
    return f"**{number}{figure.title}**\n\n![{figure.title}]({file})\n\n{caption}\n"


def small_picture(picture: Image.Image) -> Image.Image:
    """The picture with `WIDTH` pixels per row and 256 colours; with fewer colours a rare one turns grey.

    The octree makes files that are 40 % smaller than Pillow's default, but a background that is nearly white.
    The corner of a picture is background, so its colour becomes white.
    """
    height = round(WIDTH * picture.height / picture.width)
    small = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    indexed = small.quantize(256, method=Image.Quantize.FASTOCTREE)
    palette = indexed.getpalette()
    background = indexed.getpixel((0, 0))
    palette[3 * background : 3 * background + 3] = [255, 255, 255]
    indexed.putpalette(palette)
    return indexed


def renew_pictures() -> None:
    """Each picture that a document shows, from the figure of the same name."""
    documents = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("library/docs/*.md")]
    for document in documents:
        text = document.read_text(encoding="utf-8")
        for file, name in set(re.findall(r"\]\(((?:docs/)?images/(\w+)\.png)\)", text)):
            large = Image.open(FIGURES / f"{name}.png").convert("RGB")
            small_picture(large).save(document.parent / file, optimize=True)


if __name__ == "__main__":
    GALLERY.write_text(gallery(FIGURES), encoding="utf-8")
    renew_pictures()
