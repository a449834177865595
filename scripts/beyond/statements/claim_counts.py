"""Which of the paper's statements count, where several rows are one statement."""

import pandas as pd

from scripts.beyond.statements.verdict_rules import CLAIM_VERDICTS


def counted_claims(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the paper's statements that count: of each family one row, and every row without a family.

    ``rows`` has a row for each statement, with the columns verdict and family. A family is one statement in
    several rows: statements that contradict each other, two readings of one sentence, or one comparison made
    twice. Its row is the one whose verdict is best for the paper: the first in `CLAIM_VERDICTS`.
    """
    rank = rows["verdict"].map(CLAIM_VERDICTS.index)  # 0 is the best
    # A row without a family is a family of its own, named by its index.
    family = rows["family"].where(rows["family"] != "", rows.index.to_series())
    return rows.loc[rank.groupby(family, sort=False).idxmin()]
