"""Which of the paper's statements count, where several rows are one statement."""

import pandas as pd

from scripts.beyond.statements.verdict_rules import CLAIM_VERDICTS


def counted_claims(rows: pd.DataFrame) -> pd.DataFrame:
    """The statements that count: of each family the row that is best for the paper, every other row.

    A family (column ``family``) is one statement in several rows: statements that contradict each other, two
    readings of one sentence, or one comparison made twice. "Best" is first in `CLAIM_VERDICTS`.
    """
    rank = rows["verdict"].map(CLAIM_VERDICTS.index)
    family = rows["family"].where(rows["family"] != "", rows.index.to_series())
    return rows.loc[rank.groupby(family, sort=False).idxmin()]
