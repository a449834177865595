"""What the pages share: templates that escape what comes from data, the paper's symbols, versions."""

import base64
import hashlib
import platform
import re
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import jinja2
from markupsafe import Markup, escape

import tightshuffle
from tightshuffle.judgement.verdicts import orders
from tightshuffle.report.findings import excess
from tightshuffle.report.layout import like, position, shares

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


def render(name: str, parts: Mapping[str, str], values: Mapping[str, Any]) -> str:
    """The page that template ``name`` makes of ``values``; ``parts``: file name of each part -> its text.

    ``style.css`` and ``report.js`` are the only parts that go in as they are; everything else is escaped. The
    page's policy allows no script but that one, which it names by its hash.
    """
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(parts), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["like"] = lambda value, printed, digits=4: like(printed, value, digits)
    environment.filters.update(symbols=symbols, brief=brief)
    environment.globals.update(orders=orders, shares=shares, position=position, excess=excess)
    script = parts.get("report.js", "").strip()
    digest = hashlib.sha256(script.encode()).digest()
    return environment.get_template(name).render(
        style=Markup(parts["style.css"]),
        script=Markup(script),
        script_hash=base64.b64encode(digest).decode("ascii"),
        **values,
    )


def symbols(text: object) -> Markup:
    """``text`` escaped, the names of the paper's symbols as symbols."""
    names = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    return Markup(re.sub(rf"\b({names})\b", lambda match: SYMBOLS[match[0]], str(escape(text))))


def brief(value: float | str, digits: int = 4) -> float | str:
    """A number or its decimal text, shortened: 1,000; 0.02235; 1e-06. Other texts stay as they are."""
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{int(number):,}" if number.is_integer() else f"{number:.{digits}g}"


def versions() -> list[tuple[str, str]]:
    """Name and version of what computed the page: Python, this package, the libraries that are installed."""
    installed = [("Python", platform.python_version()), ("tightshuffle", tightshuffle.__version__)]
    for library in LIBRARIES:
        try:
            installed.append((library, metadata.version(library)))
        except metadata.PackageNotFoundError:
            continue
    return installed
