"""Every statement has a test or a reason, and both readings of the whole list get their verdicts."""

import pytest

from reproduction.verification.claims import registry
from reproduction.verification.claims.claims_file import COLUMNS, read_claims
from reproduction.verification.claims.evidence import NoEvidenceError
from reproduction.verification.claims.verdict_rules import FAILS, HOLDS, UNTESTABLE, Outcome
from tests import ROOT
from tests.reproduction.verification.claims import fabricated

CLAIMS = read_claims(ROOT / "data/published/claims.csv")


def test_the_list_says_none_exactly_where_there_is_no_test():
    assert not set(registry.TESTS) & set(registry.UNTESTABLE)
    for row in CLAIMS:
        tests = registry.TESTS.get(row["id"], ("", ""))
        for column, test in zip(("test_published", "test_exact"), tests, strict=True):
            assert (row[column] != "none") == callable(test), (row["id"], column)


@pytest.fixture
def two_claims(monkeypatch):
    monkeypatch.setattr(registry, "UNTESTABLE", {"b": "nobody measured it"})
    return [{**dict.fromkeys(COLUMNS, "x"), "id": name} for name in ("a", "b")]


def outcome(verdict):
    return lambda reading: Outcome(verdict, f"{reading.name} 1", f"it is {verdict}")


def test_rows_carry_both_readings_and_the_reasons(monkeypatch, two_claims):
    monkeypatch.setattr(registry, "TESTS", {"a": (outcome(HOLDS), outcome(FAILS))})
    rows = registry.judge_claims(two_claims, fabricated.published(), fabricated.exact())
    assert all(tuple(row) == registry.RESULT_COLUMNS for row in rows)
    first, second = rows
    assert (first["verdict_published"], first["verdict_exact"]) == (HOLDS, FAILS)
    assert (first["statistic_published"], first["statistic_exact"]) == ("published 1", "exact 1")
    assert first["verdict"] == "holds only as published"
    assert first["why"] == "As published, it is holds. Exactly, it is fails."
    assert second["verdict"] == UNTESTABLE
    assert second["why"] == "Untestable: nobody measured it."


def test_missing_evidence_is_untestable_and_says_what_is_missing(monkeypatch, two_claims):
    def missing(reading):
        raise NoEvidenceError("the config has no paris")

    monkeypatch.setattr(registry, "TESTS", {"a": (missing, "it was not run")})
    row = registry.judge_claims(two_claims, fabricated.published(), fabricated.exact())[0]
    assert row["verdict"] == UNTESTABLE
    assert row["why"] == (
        "As published, untestable: the config has no paris. Exactly, untestable: it was not run."
    )


@pytest.mark.parametrize("tests", [{}, {"a": (outcome(HOLDS),) * 2, "c": (outcome(HOLDS),) * 2}])
def test_a_claim_without_a_test_or_a_test_without_a_claim_stops(monkeypatch, two_claims, tests):
    monkeypatch.setattr(registry, "TESTS", tests)
    with pytest.raises(ValueError, match=r"each id of claims\.csv needs a test or a reason"):
        registry.judge_claims(two_claims, fabricated.published(), fabricated.exact())


@pytest.mark.slow
def test_nothing_runs_means_no_verdicts_about_errors(monkeypatch):
    """Without experiments only what needs none is judged, and nothing stops."""
    monkeypatch.setattr(registry.privacy, "bracket", fabricated.bracket)
    rows = registry.judge_claims(CLAIMS, fabricated.published(), fabricated.exact())
    verdicts = {row["id"]: row["verdict"] for row in rows}
    assert verdicts["almost-comparable"] == UNTESTABLE
    assert verdicts["eps-trend"] == UNTESTABLE  # no printed values either
    assert verdicts["figure-1-caption"] == HOLDS
    assert verdicts["figure-1-text"] == FAILS
