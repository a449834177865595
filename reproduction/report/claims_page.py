"""The statements of the paper's text and their verdicts as a Markdown page."""

import pandas as pd

from reproduction.report.markdown import markdown_page, markdown_table
from reproduction.verification.verdicts import cross_claims

TITLE = "What the paper's text says, and whether it holds"
LEGEND = (
    "Published is what the paper's formulas and protocol give. Exact is the true delta of the whole "
    "histogram, and the errors at equal (eps, delta). LV and SV are the long and the short "
    "version. The rules are in data/published/README.md."
)
FAMILIES = (
    "The table counts statements by verdict. Some rows count as one statement: rows that contradict each "
    "other, two readings of one sentence, or one comparison made twice. The row that is best for the paper "
    "counts."
)


def claims_page(rows: pd.DataFrame) -> str:
    """The counts, published x exact, and the statements: claim, quote, the readings' verdicts, why."""
    counts = cross_claims(rows)
    header = ["published \\ exact", *counts]
    cross = [[first, *(str(number) for number in line.values())] for first, line in counts.items()]
    lines = [
        [
            row["claim"],
            f"\u201c{row['quote']}\u201d {row['where']}; {row['about']}".removesuffix("; text"),
            row["verdict_published"],
            row["verdict_exact"],
            f"**{row['verdict']}**",
            row["why"],
        ]
        for row in rows.to_dict("records")
    ]
    escaped = [[text.replace("|", "\\|") for text in line] for line in lines]
    statements = markdown_table(["claim", "where", "published", "exact", "verdict", "why"], escaped)
    return markdown_page(TITLE, [LEGEND, FAMILIES, markdown_table(header, cross), statements])
