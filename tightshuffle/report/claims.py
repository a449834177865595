"""The statements of the paper's text and their verdicts as a Markdown page."""

from collections.abc import Iterable

from tightshuffle.judgement.printed import Row
from tightshuffle.report.markdown import markdown_page, markdown_table

TITLE = "What the paper's text says, and whether it holds"
LEGEND = (
    "Published: the paper's formulas and protocol. Exact: the true delta of the whole histogram, and "
    "experiments at equal (eps, delta). The rules are in data/published/README.md."
)


def claims_page(rows: Iterable[Row]) -> str:
    """The statements as one table: claim, where, the readings' verdicts, the verdict, why."""
    header = ["claim", "where", "published", "exact", "verdict", "why"]
    lines = [
        [
            row["claim"],
            f"{row['version']}: {row['section']}; {row['about']}",
            row["verdict_published"],
            row["verdict_exact"],
            f"**{row['verdict']}**",
            row["why"],
        ]
        for row in rows
    ]
    escaped = [[text.replace("|", "\\|") for text in line] for line in lines]
    return markdown_page(TITLE, [LEGEND, markdown_table(header, escaped)])
