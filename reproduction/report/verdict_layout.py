"""How the report page lays out the verdicts: rows by table, numbers as printed, notes said once.

Numbers stay decimal strings until they are shown, because printed and computed deltas go below the smallest
float (1e-308).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pandas as pd

from reproduction.verification.printed import Row
from reproduction.verification.verdicts import VerdictCounts, count_verdicts
from tightshuffle.number_text import plain

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PARAMETERS = ("quantity", "dataset", "mechanism", "n", "k", "eps0", "eps", "count", "x0")

# The parameters that distinguish the small tables of an item; any other item is one table.
APART = {
    "Table II": ("mechanism", "n"),
    "Table 1": ("mechanism",),
    "Table IV": ("part", "n", "k", "eps0"),
    "Table V": ("mechanism", "n"),
    "Table VI": ("dataset", "mechanism"),
}


@dataclass(frozen=True)
class SmallTable:
    """Rows of one item that belong together on the page."""

    part: str  # of the printed table, or ""
    heading: Row  # name -> value of the parameters that distinguish this table
    columns: list[str]  # the parameters that change inside it
    rows: list[Row]  # with the key ``mark`` (a letter or "") once the notes are placed
    counts: VerdictCounts
    note: str = ""


def rows_by_item(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """item -> its rows, items in order of their first row."""
    items: dict[str, list[Row]] = {}
    for row in rows:
        items.setdefault(row["item"], []).append(row)
    return items


def like(printed: str, value: str, digits: int = 4) -> str:
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
    return plain(number, digits, noughts=True)


def common(rows: Iterable[Row]) -> Row:
    """The parameters with the same value in all ``rows``: name -> value (blank ones left out)."""
    rows = list(rows)
    values = {name: {row[name] for row in rows} for name in PARAMETERS}
    return {name: next(iter(seen)) for name, seen in values.items() if len(seen) == 1 and seen != {""}}


def split_source(source: str) -> tuple[str, str]:
    """("arXiv Table IV", "varying n") from "arXiv Table IV (varying n)"; the part is "" if there is none."""
    parts = re.findall(r"\((varying [^()]*)\)", source)
    return re.sub(r" *\(varying [^()]*\)", "", source), parts[0] if parts else ""


def count_sources(rows: Iterable[Row]) -> dict[str, int]:
    """Where ``rows`` are printed: source without the part of the table -> number of rows, in order."""
    return dict(Counter(split_source(row["source"])[0] for row in rows))


def small_tables(rows: Iterable[Row], apart: Sequence[str] = ()) -> list[SmallTable]:
    """Cut the rows of one item into small tables: rows that agree in the parameters ``apart``, in order.

    ``apart`` may also name ``part``, the part of the printed table. Without it there is one table.
    """
    rows = list(rows)
    shared = common(rows)
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = tuple(split_source(row["source"])[1] if name == "part" else row[name] for name in apart)
        groups.setdefault(key, []).append(row)
    return [
        SmallTable(
            part=split_source(group[0]["source"])[1] if "part" in apart else "",
            heading={name: value for name, value in common(group).items() if name not in shared},
            columns=[name for name in PARAMETERS if len({row[name] for row in group}) > 1],
            rows=group,
            counts=count_verdicts(pd.DataFrame(group)),
        )
        for group in groups.values()
    ]


def split_note(note: str) -> list[str]:
    """The remarks of a note: it is cut at semicolons, but not inside parentheses."""
    return [part for part in re.split(r"; (?![^(]*\))", note) if part]


def place_notes(tables: Sequence[SmallTable]) -> tuple[list[str], list[SmallTable], dict[str, str]]:
    """Put every remark where it is said once: on all of an item, on one small table, or on marked rows.

    Returns ``(everywhere, tables, marked)``: the remarks that all rows share; the tables, each with ``note``
    (what is left, if it is the same for all of its rows, else "") and with ``mark`` (a letter or "") in its
    rows; and a dict of letter -> what is left for the marked rows.
    """
    remarks = [[split_note(row["note"]) for row in table.rows] for table in tables]
    first, *further = [own for table in remarks for own in table]
    everywhere = [remark for remark in first if all(remark in own for own in further)]
    letters: dict[str, str] = {}
    placed = []
    for table, own_remarks in zip(tables, remarks, strict=True):
        left = ["; ".join(remark for remark in own if remark not in everywhere) for own in own_remarks]
        note = left[0] if len(set(left)) == 1 else ""
        marks = [
            letters.setdefault(text, _letter(len(letters))) if text and text != note else "" for text in left
        ]
        rows = [{**row, "mark": mark} for row, mark in zip(table.rows, marks, strict=True)]
        placed.append(replace(table, rows=rows, note=note))
    return everywhere, placed, {letter: text for text, letter in letters.items()}


def _letter(place: int) -> str:
    """a ... z, aa ... zz, aaa ..."""
    return LETTERS[place % len(LETTERS)] * (place // len(LETTERS) + 1)


def position(quantile: str) -> str | None:
    """A quantile (decimal string) as percent of a scale from 0 to 1, two decimals; None if blank."""
    return None if not quantile else f"{100 * min(1.0, max(0.0, float(quantile))):.2f}"


def shares(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Percent of each positive count, three decimals: list of (verdict, percent text)."""
    total = sum(counts.values())
    return [(verdict, f"{100 * count / total:.3f}") for verdict, count in counts.items() if count]
