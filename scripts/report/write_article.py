"""The reproduction article: the texts for its template, and the PDF by Typst.

The template takes its numbers from findings.json and formats them.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import typst

import tightshuffle
from scripts.beyond.study.labels import LABELS
from scripts.beyond.study.write_designs import LARGEST_USEFUL_TV
from scripts.paper.values.verdict_counts import read_verdicts
from scripts.report.article_tables import (
    failing_statements,
    methods_as_texts,
    number_of_zeros,
    printed_tables,
)
from scripts.report.write_report import with_cited_bounds
from scripts.shared.job import job, write_bytes
from tightshuffle.number_text import plain, span
from tightshuffle.side import Side

MAIN = "article.typ"  # the template among the parts
TABLES = ("study", "verdicts", "claim_verdicts", "cited_bounds", "parameters")

Values = dict[str, Any]  # texts, and lists and dicts of them


def article_values(
    tables: Mapping[str, pd.DataFrame],
    histograms: Mapping[str, pd.DataFrame],
    captions: Mapping[str, str],
    settings: Mapping[str, Any],
) -> Values:
    """What the article's template reads beside the findings: name -> a text, or lists and dicts of texts.

    Parameters
    ----------
    tables: the tables of results/ by name: study (errors of the randomizers, numbers), and with every column
        as text verdicts (on the paper's printed values), claim_verdicts (on its statements), cited_bounds
        (log10 delta by bounds of the literature) and parameters (the paper's Table III)
    histograms: dataset -> its histogram, with a row per cell
    captions: figure -> its caption, of which two paragraphs are shown: what the figure is, and its settings
    settings: datasets (the paper's: name -> section of the configuration), changed (the settings that are not
        the paper's, as (key, the paper's value, ours)), and the configuration's protocol, parity and seed
    """
    datasets = settings["datasets"]
    titles = {name: dataset["title"] for name, dataset in datasets.items()}
    # Printed deltas of earlier work get the value of the bound that the paper names, as their exact value.
    verdicts = with_cited_bounds(tables["verdicts"], tables["cited_bounds"])
    return {
        "version": tightshuffle.__version__,
        "changed": [list(difference) for difference in settings["changed"]],
        "captions": {name: text.split("\n\n")[:2] for name, text in captions.items()},
        "study": _study_as_texts(tables["study"]),
        "printed": printed_tables(verdicts, titles),
        "zeros": number_of_zeros(verdicts),
        "parameters": tables["parameters"].drop(columns="source").to_numpy().tolist(),
        "failing": failing_statements(tables["claim_verdicts"]),
        "methods": methods_as_texts(datasets, histograms),
        "protocol": settings["protocol"],
        "parity": settings["parity"],
        "seed": settings["seed"],
    }


def set_article(parts: Mapping[str, bytes], values: Values) -> bytes:
    """The article as the bytes of a PDF; the same arguments give the same bytes.

    ``parts``: file name -> content, of the template article.typ (`MAIN`) and of the files that it reads:
    findings.json, style, references and figures as SVG. The template reads ``values`` as a file, values.json.
    Raises ValueError with the message of Typst, which sets the article, on an error or a warning.
    """
    # Typst takes main.typ for the template.
    files = {name: content for name, content in parts.items() if name != MAIN}
    files |= {"main.typ": parts[MAIN], "values.json": json.dumps(values).encode()}
    compile_files: Any = typst.compile_with_warnings  # its type hints allow single files only
    try:
        pdf, warnings = compile_files(files, format="pdf", ignore_system_fonts=True, timestamp=0)
    except typst.TypstError as error:
        raise ValueError(f"{MAIN}: {error}") from error
    if warnings:
        raise ValueError(f"{MAIN}: {'; '.join(str(warning) for warning in warnings)}")
    return bytes(pdf)


def _study_as_texts(study: pd.DataFrame) -> Values:
    """The study of randomizers behind a shuffler, for the article: numbers as texts, and two tables of texts.

    The table by_eps has a row per eps: in how many settings an estimate is useful (its expected total
    variation error is at most `LARGEST_USEFUL_TV` for the best randomizer), and what k-RR gives in these. The
    table by_n has a row per randomizer, with the ratio of its error to that of the central Gaussian at every
    n, for the eps closest to 1, the first rule of delta and the middle k.

    ``study`` has a row for every setting (n, k, eps and delta_rule) and randomizer. Its errors are tv behind
    a shuffler, local_tv without one, and ratio = tv / the central Gaussian's tv.
    """
    # A table per column of the study, with a row per setting and a column per randomizer.
    keys = ["n", "k", "eps", "delta_rule"]
    tv, local, ratio, eps0 = (
        study.pivot(index=keys, columns="randomizer", values=name)
        for name in ("tv", "local_tv", "ratio", "eps0")
    )
    # One row per setting: k-RR, which is named grr, beside the smallest error of all randomizers. above is
    # the relative excess of k-RR, and without how many times larger the smallest error is without a shuffler.
    least = tv.min(axis=1)
    columns = {
        "above": tv["grr"] / least - 1,
        "without": local.min(axis=1) / least,
        "ratio": ratio["grr"],
        "eps0": eps0["grr"],
        "useful": least <= LARGEST_USEFUL_TV,
    }
    settings = pd.DataFrame(columns).reset_index()
    useful = settings[settings["useful"]]
    by_eps = []
    for value, rows in useful.groupby("eps"):
        in_all = (settings["eps"] == value).sum()
        by_eps.append([f"{value:g}", f"{len(rows)} of {in_all}", *_krr_as_texts(rows)])

    all_k = sorted(set(study["k"]))
    middle_k = all_k[len(all_k) // 2]
    eps = min(study["eps"], key=lambda value: abs(value - 1))
    first = study[(study["delta_rule"] == study["delta_rule"].iloc[0]) & (study["eps"] == eps)]
    shown = first[first["k"] == middle_k].pivot(index="randomizer", columns="n", values="ratio")
    by_n = []
    for key, name in LABELS.items():
        if key in shown.index:
            by_n.append([name, *map(_ratio_as_text, shown.loc[key])])

    return {
        "settings": len(settings),
        "useful": len(useful),
        "useless": f"{LARGEST_USEFUL_TV:g}",
        "above": _excess_in_words(useful),
        "n": span(study["n"], "{:,}".format),
        "k": span(study["k"], "{:,}".format),
        "deltas": [str(rule) for rule in study["delta_rule"].unique()],
        "by_eps": by_eps,
        "eps": f"{eps:g}",
        "delta": f"{first['delta'].iloc[0]:.0e}",
        "middle_k": f"{middle_k:,}",
        "sizes": [f"{int(n):,}" for n in shown],
        "by_n": by_n,
    }


def _ratio_as_text(ratio: float) -> str:
    """The ratio with three significant digits, or without decimals from 100 on."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _krr_as_texts(settings: pd.DataFrame) -> list[str]:
    """k-RR in several settings of the study, one per row, as four texts.

    These are: by how many percent its error exceeds the smallest one (column above), the range of the ratio
    of its error to the central Gaussian's (ratio), how many times larger the smallest error is without a
    shuffler (without), and the range of its eps0.
    """
    # Without k = 2: our Gaussian ignores that two counts sum to n, so k-RR can be better there.
    ratios = settings.loc[settings["k"] > 2, "ratio"]
    return [
        "at most " + _excess_in_words(settings),
        span(ratios, "{:.2f}".format) if len(ratios) else "–",
        "at least " + plain(settings["without"].min(), 2, side=Side.LOWER, noughts=True),
        span(settings["eps0"], "{:.1f}".format),
    ]


def _excess_in_words(settings: pd.DataFrame) -> str:
    """By how many percent, rounded up to tenths, k-RR's error exceeds the smallest one, at most: '3.2 %'.

    The column above of ``settings`` has this excess as a share. The text is a dash if there are no settings.
    1e-9 is for quotients that are whole tenths but for a rounding error.
    """
    return f"{math.ceil(1000 * settings['above'].max() - 1e-9) / 10:g} %" if len(settings) else "–"


if __name__ == "__main__":
    with job() as snakemake:
        files, settings = snakemake.input, dict(snakemake.params.items())
        read = [files.findings, *files.parts, *files.figures]
        parts = {Path(file).name: Path(file).read_bytes() for file in read}
        captions = {
            Path(file).stem: Path(file).read_text("utf-8").strip() for file in files.captions
        }
        tables = {name: read_verdicts(files[name]) for name in TABLES if name != "study"}
        tables["study"] = pd.read_csv(files.study)
        histograms = {Path(file).stem: pd.read_csv(file) for file in files.histograms}
        values = article_values(tables, histograms, captions, settings)
        write_bytes(set_article(parts, values), snakemake.output[0])
