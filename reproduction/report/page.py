"""What the pages share: templates that escape what comes from data, the paper's symbols, versions."""

import base64
import hashlib
import platform
import re
from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from importlib import metadata
from typing import Any

import jinja2
from markupsafe import Markup, escape

import tightshuffle
from reproduction.report.findings import excess
from reproduction.report.verdict_layout import like, position, shares
from reproduction.verification.printed import decimal_from_log10
from reproduction.verification.verdicts import orders

LIBRARIES = (
    "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "diffprivlib", "scikit-learn",
    "snakemake", "jinja2", "markdown-it-py", "latex2mathml",
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

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SMALLEST_IN_FULL, LARGEST_IN_FULL = Decimal("0.001"), Decimal(10**9)


def render(name: str, parts: Mapping[str, str], values: Mapping[str, Any]) -> str:
    """The page that template ``name`` makes of ``values``; ``parts``: file name of each part -> its text.

    Style sheets and scripts go in as they are, one after the other; everything else is escaped. The page's
    policy allows no script but these, which it names by their hash.
    """
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(parts), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["like"] = lambda value, printed, digits=4: like(printed, value, digits)
    environment.filters.update(
        symbols=symbols, brief=brief, typeset=typeset, ten_to_the=ten_to_the, rounded_down=rounded_down
    )
    environment.globals.update(orders=orders, shares=shares, position=position, excess=excess)
    style, script = (
        "".join(text for part, text in parts.items() if part.endswith(kind)).strip()
        for kind in (".css", ".js")
    )
    digest = hashlib.sha256(script.encode()).digest()
    return environment.get_template(name).render(
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(digest).decode("ascii"),
        **values,
    )


def symbols(text: object) -> Markup:
    """``text`` escaped, the names of the paper's symbols as symbols, its numbers as `typeset` writes them."""
    names = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    escaped = typeset(str(escape(text)))
    return Markup(re.sub(rf"\b({names})\b", lambda match: SYMBOLS[match[0]], escaped))


def typeset(text: str) -> str:
    """``text`` with the page's one notation for small and large numbers: 2.49E-15 becomes 2.49×10⁻¹⁵."""

    def written(found: re.Match[str]) -> str:
        power = "10" + str(int(found[2])).translate(SUPERSCRIPTS)
        return power if found[1] == "1" else f"{found[1]}×{power}"

    return re.sub(r"\b(\d+(?:\.\d+)?)[eE]([+-]?\d+)\b", written, text)


def brief(value: float | str, digits: int = 4) -> str:
    """A number or its decimal text, shortened: 1,000; 0.02235; 10⁻⁶. Other texts stay as they are."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return str(value)
    if not number.is_finite():
        return str(value)
    if number == number.to_integral_value() and abs(number) < LARGEST_IN_FULL:
        return f"{int(number):,}"
    if SMALLEST_IN_FULL <= abs(number) < LARGEST_IN_FULL:
        return f"{float(number):,.{digits}g}" if abs(number) < 10**digits else f"{number:,.0f}"
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return typeset(f"{mantissa.rstrip('0').rstrip('.')}e{exponent}")


def ten_to_the(log10: float | str, digits: int = 3) -> str:
    """10^log10, however small, as `brief` writes it."""
    return brief(str(decimal_from_log10(float(log10))), digits)


def rounded_down(value: str) -> str:
    """A lower bound with two digits: never more than it is."""
    number = Decimal(value)
    unit = Decimal(1).scaleb(number.adjusted() - 1)
    return brief(str(number.quantize(unit, ROUND_FLOOR))) if number else "0"


def versions() -> list[tuple[str, str]]:
    """Name and version of what computed the page: Python, this package, the libraries that are installed."""
    installed = [("Python", platform.python_version()), ("tightshuffle", tightshuffle.__version__)]
    for library in LIBRARIES:
        try:
            installed.append((library, metadata.version(library)))
        except metadata.PackageNotFoundError:
            continue
    return installed
