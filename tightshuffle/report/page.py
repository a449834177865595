"""What the pages share: templates that escape what comes from data, the paper's symbols, versions."""

import base64
import hashlib
import platform
import re
from importlib import metadata
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

import tightshuffle
from tightshuffle.report import findings
from tightshuffle.report import verdicts as report

LIBRARIES = (
    "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "diffprivlib", "scikit-learn",
    "snakemake", "jinja2",
)  # fmt: skip
SYMBOLS = {
    "delta": Markup("<i>δ</i>"),
    "eps": Markup("<i>ε</i>"),
    "eps0": Markup("<i>ε</i><sub>0</sub>"),
    "k": Markup("<i>k</i>"),
    "n": Markup("<i>n</i>"),
    "n_x0": Markup("<i>n</i><sub><i>x</i>₀</sub>"),
    "x0": Markup("<i>x</i><sub>0</sub>"),
}


def parts_of(paths):
    """The page's parts as texts: name of the file -> its text."""
    return {Path(path).name: Path(path).read_text(encoding="utf-8") for path in paths}


def render(name, parts, values):
    """The page that template ``name`` of ``parts`` (from ``parts_of``) makes of ``values`` (a dict).

    ``style.css`` and ``report.js`` are the only parts that go in as they are; all else is escaped. The
    page's policy allows no script but that one, which it names by its hash.
    """
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(parts), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["like"] = lambda value, printed, digits=4: report.like(printed, value, digits)
    environment.filters.update(symbols=symbols, brief=brief)
    environment.globals.update(
        orders=report.orders, shares=report.shares, position=report.position, excess=findings.excess
    )
    script = parts.get("report.js", "").strip()
    digest = hashlib.sha256(script.encode()).digest()
    return environment.get_template(name).render(
        style=Markup(parts["style.css"]),
        script=Markup(script),
        script_hash=base64.b64encode(digest).decode("ascii"),
        **values,
    )


def symbols(text):
    """``text`` escaped, the names of the paper's symbols as symbols."""
    names = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    return Markup(re.sub(rf"\b({names})\b", lambda found: SYMBOLS[found[0]], str(escape(text))))


def brief(value, digits=4):
    """A number or its decimal text, shortened: 1,000; 0.02235; 1e-06; other texts as they are."""
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{int(number):,}" if number.is_integer() else f"{number:.{digits}g}"


def versions():
    """Name and version of what computed the page: Python, this package, the libraries that are installed."""
    found = [("Python", platform.python_version()), ("tightshuffle", tightshuffle.__version__)]
    for library in LIBRARIES:
        try:
            found.append((library, metadata.version(library)))
        except metadata.PackageNotFoundError:
            continue
    return found


def checksum(path):
    """One file as the provenance lists it: path as the workflow names it, size in bytes, sha256."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"path": Path(path).as_posix(), "bytes": Path(path).stat().st_size, "sha256": digest}
