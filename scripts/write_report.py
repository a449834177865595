"""The report page: every printed value beside ours, every figure, in one HTML file without outside parts."""

import base64
import csv
import platform
import re
from importlib import metadata
from pathlib import Path

import jinja2
from _job import job, whole_file
from markupsafe import Markup, escape

import tightshuffle
from tightshuffle import published, report

ENOUGH_REPETITIONS = 1000  # of an experiment with 1 % of the draws outside the central interval
LIBRARIES = (
    "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "diffprivlib", "dp-accounting", "scikit-learn",
    "snakemake", "jinja2",
)  # fmt: skip
FORMS = {
    "delta_surface": "δ over ε and ε₀",
    "checkins": "Check-ins of both cities",
    "tv": "Total variation distance",
    "estimates": "Estimated histograms",
}
BEYOND = {  # figures that are not in the paper, in the page's order: title, short title for the contents
    "delta_bounds": ("δ over ε: published, true, and every bound", "δ and all bounds"),
    "gaussian_scale": ("Scale of the analytic Gaussian over δ", "Gaussian scale"),
    "blanket_regions": ("The blanket paper: where eq. (3) is called tight", "Blanket paper"),
    "girgis_rdp": ("Girgis et al.: Rényi differential privacy", "Girgis et al."),
    "koskela_fig1a": ("Koskela et al., Figure 1a: strong and weak adversary", "Koskela et al., 1a"),
    "koskela_fig1b": ("Koskela et al., Figure 1b: clones", "Koskela et al., 1b"),
}
SECTIONS = {  # anchor: heading, short name in the contents
    "figures": ("Figures of the paper", "Figures"),
    "own-figures": ("Own datasets", "Own datasets"),
    "beyond": ("Beyond the paper: accountants and companion papers", "Beyond the paper"),
}
SYMBOLS = {
    "delta": Markup("<i>δ</i>"),
    "eps": Markup("<i>ε</i>"),
    "eps0": Markup("<i>ε</i><sub>0</sub>"),
    "k": Markup("<i>k</i>"),
    "n": Markup("<i>n</i>"),
    "n_x0": Markup("<i>n</i><sub><i>x</i>₀</sub>"),
    "x0": Markup("<i>x</i><sub>0</sub>"),
}


def read_rows(path):
    """A CSV file as a list of dicts of strings."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_figure(path, datasets):
    """What the page needs of one figure; its caption stands in the .txt file of the same name."""
    path = Path(path)
    data = path.read_bytes()
    try:
        width, height = report.png_size(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    caption = path.with_suffix(".txt").read_text(encoding="utf-8").strip()
    if not caption:
        raise ValueError(f"{path.with_suffix('.txt')}: the caption is empty; draw the figure again")
    number, form, dataset = re.fullmatch(
        r"(?:fig(\d+)_)?(delta_surface|checkins|tv|estimates|.+?)(?:_(.+))?", path.stem
    ).groups()
    first_sentence = " ".join(re.split(r"(?<=[.])\s+", caption)[0].split())
    title, short = BEYOND.get(path.stem, (path.stem, path.stem))
    if form in FORMS:
        title = short = FORMS[form] + (
            f": {datasets.get(dataset, {}).get('title', dataset)}" if dataset else ""
        )
    return {
        "name": path.stem,
        "section": "figures" if number else "own-figures" if form in FORMS else "beyond",
        "label": f"Figure {number}" if number else "",
        "title": title,
        "short": f"Figure {number}" if number else short,
        "alt": f"{title}. {first_sentence}",
        "caption": [" ".join(part.split()) for part in re.split(r"\n\s*\n", caption)],
        "width": width,
        "height": height,
        "data": base64.b64encode(data).decode("ascii"),
        "pdf": f"../figures/{path.stem}.pdf",
        "target": f"fig{number}" if number else path.as_posix(),
    }


def sections(figures):
    """The figures by section, in the order of `SECTIONS` and `BEYOND`; empty sections are left out."""
    places = {name: place for place, name in enumerate(BEYOND)}
    figures = sorted(figures, key=lambda figure: places.get(figure["name"], len(places)))
    found = {name: [figure for figure in figures if figure["section"] == name] for name in SECTIONS}
    return [
        {"anchor": name, "heading": SECTIONS[name][0], "short": SECTIONS[name][1], "figures": own}
        for name, own in found.items()
        if own
    ]


def item_view(name, rows):
    """One item of the verdicts (a printed table, the text, the data) as the template lays it out."""
    notes, tables, marked = report.place_notes(report.small_tables(rows, report.APART.get(name, ())))
    return {
        "name": name,
        "anchor": "values-" + re.sub(r"\W+", "-", name).lower(),
        "tally": report.tally(rows),
        "shared": report.common(rows),
        "tables": tables,
        "notes": notes,
        "marked": marked,
        "sources": report.sources(rows),
        "random": any(row["kind"] == "random" for row in rows),
    }


def finding(rows):
    """How far the published delta of Table IV lies from the exact one; None where no row has both."""
    found = report.gaps([row for row in rows if row["item"] == "Table IV"])
    if not found:
        return None
    return {
        "largest": max(found, key=lambda gap: gap.orders),
        "below": sum(gap.orders > 0 for gap in found),
        "of": len(found),
        "tally": report.tally([row for row in rows if row["item"] == "Table IV"]),
    }


def repetitions(rows, datasets):
    """The fewest repetitions behind a random verdict (the individual errors' runs); None without any."""
    judged = {row["dataset"] for row in rows if row["quantile"]}
    found = [d["individual"]["repetitions"] for name, d in datasets.items() if name in judged]
    return min(found, default=None)


def tolerance(rows, rule):
    """The tolerance of all rows under ``rule`` in words: '5 %'; several ones joined by 'or'."""
    parsed = {published.parse_tolerance(row["tolerance"]) for row in rows}
    return " or ".join(f"{float(100 * share):g} %" for found, share in sorted(parsed) if found == rule)


def symbols(text):
    """``text`` escaped, the names of the paper's symbols as symbols."""
    names = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    return Markup(re.sub(rf"\b({names})\b", lambda found: SYMBOLS[found[0]], str(escape(text))))


def versions():
    """Name and version of what computed the page: Python, this package, the libraries that are installed."""
    found = [("Python", platform.python_version()), ("tightshuffle", tightshuffle.__version__)]
    for library in LIBRARIES:
        try:
            found.append((library, metadata.version(library)))
        except metadata.PackageNotFoundError:
            continue
    return found


def render(template, style, rows, totals, parameters, figures, settings, libraries):
    """The page as one string. ``template`` and ``style`` are texts, ``rows``, ``totals`` and ``parameters``
    rows of CSV files, ``figures`` from ``read_figure``, ``settings`` the config's values, ``libraries``
    pairs of name and version. Everything that comes from data is escaped.
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["like"] = lambda value, printed, digits=4: report.like(printed, value, digits)
    environment.filters["symbols"] = symbols
    environment.globals.update(
        orders=report.orders, shares=report.shares, position=report.position, VERDICTS=report.VERDICTS
    )
    fewest = repetitions(rows, settings["datasets"])
    return environment.from_string(template).render(
        style=Markup(style),
        overall=report.tally(rows),
        items=[item_view(name, found) for name, found in report.items(rows).items()],
        finding=finding(rows),
        reproduced_verdicts=report.REPRODUCED,
        close=tolerance(rows, "digits"),
        central=tolerance(rows, "central"),
        totals=totals,
        parameters=parameters,
        sections=sections(figures),
        settings=settings,
        repetitions=fewest,
        quick=fewest is not None and fewest < ENOUGH_REPETITIONS,
        enough=ENOUGH_REPETITIONS,
        libraries=libraries,
    )


def main(snakemake):
    """Read the rule's inputs, write the page."""
    given, settings = snakemake.input, dict(snakemake.params.items())
    with job(snakemake):
        page = render(
            template=Path(given.template).read_text(encoding="utf-8"),
            style=Path(given.style).read_text(encoding="utf-8"),
            rows=report.check(read_rows(given.verdicts), given.verdicts),
            totals=read_rows(given.totals),
            parameters=read_rows(given.parameters),
            figures=[read_figure(path, settings["datasets"]) for path in given.figures],
            settings=settings,
            libraries=versions(),
        )
        with whole_file(snakemake.output[0]) as path:
            path.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(snakemake)
