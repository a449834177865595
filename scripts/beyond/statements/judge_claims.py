"""The verdicts on all statements of the paper, on both readings.

The tests are in `statements_about_delta` and `statements_about_errors`, one function per statement.
"""

import os
from collections.abc import Iterable

import pandas as pd

# They register their tests.
from scripts.beyond.statements import statements_about_delta, statements_about_errors
from scripts.beyond.statements.evidence import NoEvidenceError, Reading, read_evidence
from scripts.beyond.statements.statement import TESTS, Test, UntestableError
from scripts.beyond.statements.verdict_rules import (
    ONLY_AT_EQUAL_PRIVACY,
    ONLY_WITH_EXACT_DELTA,
    UNTESTABLE,
    combined_verdict,
    weakest_verdict,
)
from scripts.shared.job import job, write_csv
from scripts.shared.printed import Row, numbered_rows

ONLY_EXACT = {  # module of a test -> the verdict on a statement that holds on the exact reading alone
    statements_about_delta.__name__: ONLY_WITH_EXACT_DELTA,
    statements_about_errors.__name__: ONLY_AT_EQUAL_PRIVACY,
}
COLUMNS = (
    "id",
    "claim",
    "version",
    "where",
    "quote",
    "family",
    "about",
    "test_published",
    "test_exact",
)
RESULT_COLUMNS = (
    *COLUMNS, "statistic_published", "verdict_published", "statistic_exact", "verdict_exact", "verdict",
)  # fmt: skip


def read_claims(path: str | os.PathLike[str]) -> list[Row]:
    """The paper's statements in the file ``path``, claims.csv, in its order: dicts column -> text.

    The columns are `COLUMNS`. Every field but "family" needs a text. The ids must be those of the registered
    tests, each once. Raises ValueError that names the file, and the line with an empty field or the ids at
    fault. Raises OSError if there is no file.
    """
    rows = dict(numbered_rows(path, COLUMNS))
    for line, row in rows.items():
        for name in COLUMNS:
            if name != "family" and not row[name].strip():
                raise ValueError(f"{path}, line {line}: {name} is empty; every row needs it")

    ids = [row["id"] for row in rows.values()]
    repeated = {name for name in ids if ids.count(name) > 1}
    without_test_or_row = set(ids) ^ set(TESTS)
    wrong = repeated or without_test_or_row
    if wrong:
        raise ValueError(
            f"{path}: each id needs one row here, and one function @statement: {sorted(wrong)}"
        )
    return list(rows.values())


def judge_claims(claims: Iterable[Row], published: Reading, exact: Reading) -> pd.DataFrame:
    """The verdicts on the paper's statements ``claims``: a row for each, in their order.

    A statement is a row of claims.csv, a dict column -> text. Its test is run on the ``published`` and on the
    ``exact`` reading. The result has the statement's own columns, then statistic_published,
    verdict_published, statistic_exact, verdict_exact, and verdict. A statistic is what the test found, in
    words. verdict is that of both readings together.
    """
    rows = []
    for row in claims:
        test = TESTS[row["id"]]
        published_statistic, published_verdict = judge(test, published)
        exact_statistic, exact_verdict = judge(test, exact)
        verdicts = {
            "statistic_published": published_statistic,
            "verdict_published": published_verdict,
            "statistic_exact": exact_statistic,
            "verdict_exact": exact_verdict,
            "verdict": combined_verdict(
                published_verdict, exact_verdict, only_exact=ONLY_EXACT[test.__module__]
            ),
        }
        rows.append({**row, **verdicts})
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def judge(test: Test, reading: Reading) -> tuple[str, str]:
    """(what the ``test`` found, in words, and the verdict on its statement) on one reading of the paper.

    A test may return several `Comparisons`, which must hold together. The verdict is then the least
    favourable one. If the statement cannot be tested on this reading, the result is (the reason,
    "untestable").
    """
    try:
        comparisons = test(reading)
    except (NoEvidenceError, UntestableError) as error:
        return str(error), UNTESTABLE
    parts = comparisons if isinstance(comparisons, list) else [comparisons]
    statistic = "; ".join(part.statistic for part in parts)
    return statistic, weakest_verdict([part.verdict for part in parts])


if __name__ == "__main__":
    with job() as snakemake:
        files, params = snakemake.input, snakemake.params
        published, exact = read_evidence(
            values=files.values, cited_bounds=files.cited_bounds, trials=files.trials,
            estimates=files.estimates, parity=files.parity, sensitivity=float(params.sensitivity),
            boxes=params.boxes,
        )  # fmt: skip
        write_csv(judge_claims(read_claims(files.claims), published, exact), snakemake.output[0])
