"""What the report page shows of the verdicts: counts, gaps between the readings, rows laid out by table.

Everything here takes and returns plain values. Numbers stay decimal strings until they are shown, because
printed and computed deltas go below the smallest float (1e-308).
"""

import math
import re
import struct
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

VERDICTS = ("exact", "close", "consistent", "differs", "inconsistent", "not comparable")
REPRODUCED = ("exact", "close", "consistent")
LETTERS = "abcdefghijklmnopqrstuvwxyz"

PARAMETERS = ("quantity", "dataset", "mechanism", "n", "k", "eps0", "eps", "count", "x0")
NUMBERS = ("reproduced", "exact", "quantile", "low", "high")
COLUMNS = (*PARAMETERS, *NUMBERS, "item", "printed", "source", "kind", "tolerance", "note", "verdict")

# What tells the small tables of one item apart; an item that is not named here is one table.
APART = {
    "Table II": ("mechanism", "n"),
    "Table 1": ("mechanism",),
    "Table IV": ("part", "n", "k", "eps0"),
    "Table V": ("mechanism", "n"),
    "Table VI": ("dataset", "mechanism"),
}


@dataclass(frozen=True)
class Tally:
    """How many of ``total`` printed values got each verdict (``counts``: verdict -> number, all six)."""

    total: int
    counts: dict[str, int]

    @property
    def reproduced(self):
        """Values whose verdict is exact, close or consistent."""
        return sum(self.counts[verdict] for verdict in REPRODUCED)


@dataclass(frozen=True)
class Gap:
    """``orders`` = log10(exact / published) of one row, and that row."""

    orders: float
    row: dict[str, str]


def check(rows, name="verdicts"):
    """Return ``rows`` (a list of dicts of strings) if the page can show them.

    Raises ValueError if there are no rows, or one that names the row (counted from 1, the header not counted)
    and the column: a column is missing, a verdict is unknown, or a number is no finite decimal number.
    """
    if not rows:
        raise ValueError(f"{name}: no rows; make the file again")
    for number, row in enumerate(rows, start=1):
        where = f"{name}, row {number}"
        missing = [column for column in COLUMNS if row.get(column) is None]
        if missing:
            raise ValueError(f"{where}: column {missing[0]} is missing; make the file again")
        if row["verdict"] not in VERDICTS:
            raise ValueError(f"{where}: verdict is {row['verdict']!r}, expected one of {', '.join(VERDICTS)}")
        for column in NUMBERS:
            if row[column] and not _is_number(row[column]):
                raise ValueError(f"{where}: {column} is {row[column]!r}, expected a finite number or nothing")
    return rows


def _is_number(text):
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def tally(rows):
    """Count the verdicts of ``rows``."""
    counts = dict.fromkeys(VERDICTS, 0)
    for row in rows:
        counts[row["verdict"]] += 1
    return Tally(len(rows), counts)


def items(rows):
    """The rows of each item, items in order of their first row: item -> list of rows."""
    found = {}
    for row in rows:
        found.setdefault(row["item"], []).append(row)
    return found


def orders(published, exact):
    """log10(exact / published) of two decimal strings; None where one of them is blank or not positive."""
    if not published or not exact:
        return None
    published, exact = Decimal(published), Decimal(exact)
    if published <= 0 or exact <= 0:
        return None
    return float(exact.log10() - published.log10())


def gaps(rows):
    """The ``Gap`` of every row that has a positive value in both readings."""
    found = ((orders(row["reproduced"], row["exact"]), row) for row in rows)
    return [Gap(gap, row) for gap, row in found if gap is not None]


def like(printed, value, digits=4):
    """``value`` (decimal string) with ``digits`` significant digits, written the way ``printed`` is.

    Whole numbers keep all their digits; a blank stays blank.
    """
    if not value:
        return ""
    number = Decimal(value)
    if number == 0:
        return "0"
    if number == number.to_integral_value() and "." not in value and "e" not in value.lower():
        return f"{int(number):,}" if "," in printed else str(int(number))
    if "e" in printed.lower() or abs(number) < Decimal("0.001"):
        return f"{number:.{digits - 1}E}"
    # Rounded first, so that 0.99996 becomes 1.000 and not 1.0000; then never an exponent.
    rounded = Decimal(f"{number:.{digits - 1}e}")
    return f"{rounded:.{max(0, digits - 1 - rounded.adjusted())}f}"


def common(rows):
    """The parameters with one and the same value in all ``rows``: name -> value (blank ones left out)."""
    values = {name: {row[name] for row in rows} for name in PARAMETERS}
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1 and found != {""}}


def split_source(source):
    """("arXiv Table IV", "varying n") from "arXiv Table IV (varying n)"; the part is "" if there is none."""
    parts = re.findall(r"\((varying [^()]*)\)", source)
    return re.sub(r" *\(varying [^()]*\)", "", source), parts[0] if parts else ""


def sources(rows):
    """Where ``rows`` are printed: source without the part of the table -> number of rows, in order."""
    found = {}
    for row in rows:
        source = split_source(row["source"])[0]
        found[source] = found.get(source, 0) + 1
    return found


def small_tables(rows, apart=()):
    """Cut the rows of one item into small tables: rows that agree in the parameters ``apart``, in order.

    ``apart`` may also name ``part``, the part of the printed table. Without it there is one table.

    Returns a list of dicts: ``part`` (of the printed table, or ""), ``heading`` (name -> value: what tells
    this table apart), ``columns`` (names of the parameters that change inside it), ``rows`` and ``tally``.
    """
    shared = common(rows)
    tables = {}
    for row in rows:
        key = tuple(split_source(row["source"])[1] if name == "part" else row[name] for name in apart)
        tables.setdefault(key, []).append(row)
    return [
        {
            "part": split_source(table[0]["source"])[1] if "part" in apart else "",
            "heading": {name: value for name, value in common(table).items() if name not in shared},
            "columns": [name for name in PARAMETERS if len({row[name] for row in table}) > 1],
            "rows": table,
            "tally": tally(table),
        }
        for table in tables.values()
    ]


def split_note(note):
    """The remarks of a note: it is cut at semicolons, but not inside parentheses."""
    return [part for part in re.split(r"; (?![^(]*\))", note) if part]


def place_notes(tables):
    """Put every remark where it is said once: on all of an item, on one small table, or on marked rows.

    ``tables`` from ``small_tables``. Returns ``(everywhere, tables, marked)``: the remarks that all rows
    share; the tables, each with ``note`` (what is left, if it is the same for all of its rows, else "") and
    with ``mark`` (a letter or "") in its rows; and a dict of letter -> what is left for the marked rows.
    """
    remarks = [[split_note(row["note"]) for row in table["rows"]] for table in tables]
    everywhere = _shared([found for table in remarks for found in table])
    letters, placed = {}, []
    for table, found in zip(tables, remarks, strict=True):
        left = ["; ".join(remark for remark in own if remark not in everywhere) for own in found]
        note = left[0] if len(set(left)) == 1 else ""
        marks = [
            letters.setdefault(text, _letter(len(letters))) if text and text != note else "" for text in left
        ]
        rows = [{**row, "mark": mark} for row, mark in zip(table["rows"], marks, strict=True)]
        placed.append({**table, "rows": rows, "note": note})
    return everywhere, placed, {letter: text for text, letter in letters.items()}


def _shared(found):
    return [remark for remark in found[0] if all(remark in other for other in found)]


def _letter(place):
    """a ... z, aa ... zz, aaa ..."""
    return LETTERS[place % len(LETTERS)] * (place // len(LETTERS) + 1)


def png_size(data):
    """Width and height in pixels of a PNG file's bytes; ValueError if they are no PNG file."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        raise ValueError("expected a PNG file; draw the figure again")
    return struct.unpack(">II", data[16:24])


def position(quantile):
    """A quantile (decimal string) as percent of a scale from 0 to 1, two decimals; None if blank."""
    return None if not quantile else f"{100 * min(1.0, max(0.0, float(quantile))):.2f}"


def shares(counts):
    """Percent of each positive count, three decimals: list of (verdict, percent text)."""
    total = math.fsum(counts.values())
    return [(verdict, f"{100 * count / total:.3f}") for verdict, count in counts.items() if count]
