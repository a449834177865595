"""What the statements are tested on: the pipeline's files become paired settings."""

import numpy as np
import pandas as pd
import pytest

from scripts.beyond.statements.evidence import (
    GAUSSIAN,
    INV,
    LIKELIEST,
    RAW_GAUSSIAN,
    SHUFFLE,
    NoEvidenceError,
    Selection,
    read_evidence,
)
from scripts.shared.printed import OWN
from tests.beyond.statements.world import VALUES, errors_of_three, exact_reading

POINT = {"dataset": "synthetic", "k": 15, "eps0": 4.0, "eps": 4.0, "delta": 1e-30}
METRICS = (("tv", 0), ("individual_error", 1), ("individual_error", 3))


def trials(n, repetitions, value, experiment):
    """Made-up trials as run_trials writes them, a data frame with a row for each error, its column value.

    An error is the argument ``value``, + 0, 1 or 2 for `SHUFFLE`, `INV` or `GAUSSIAN`, + cell / 100,
    + repetition / 1000. So each one differs. `POINT` are the columns that all rows share (the dataset, k,
    eps0, eps and delta), and `METRICS` the pairs (metric, cell).
    """
    return pd.DataFrame(
        POINT | {
            "experiment": experiment, "n": n, "mechanism": mechanism, "repetition": repetition,
            "metric": metric, "cell": cell, "value": value + shift + cell / 100 + repetition / 1000
        }
        for shift, mechanism in enumerate((SHUFFLE, INV, GAUSSIAN))
        for metric, cell in METRICS
        for repetition in range(repetitions)
    )  # fmt: skip


def parity_trials(n):
    """Made-up trials at equal privacy, as run_parity writes them for n users: a row for each error.

    Every setting, mechanism, estimator and pair (metric, cell) of `METRICS` has repetitions 0 to 4. A setting
    has one of two rules of delta, and one of two bounds on delta, which gives eps (0.4 in all rows). `POINT`
    has the rest: the synthetic data N(0, 2) at eps0 = 4. An error depends on the mechanism and estimator, is
    seven times as large for the lower bound as for the upper one, and has the factor 1 + repetition / 1000.
    """
    errors = {
        ("shuffle", "none"): 0.5, ("shuffle", "inversion"): 0.12, ("shuffle", "projection"): 0.1,
        ("shuffle", "maximum_likelihood"): 0.09, ("gaussian", "none"): 0.11, ("gaussian", "projection"): 0.08,
    }  # fmt: skip
    return pd.DataFrame(
        POINT | {
            "n": n, "eps": 0.4, "delta_rule": rule, "delta": delta, "bound": bound, "mechanism": mechanism,
            "estimator": estimator, "metric": metric, "cell": cell, "repetition": repetition,
            "value": factor * error * (1 + repetition / 1000)
        }
        for rule, delta in (("1e-06", 1e-6), ("n^-1.1", n**-1.1))
        for bound, factor in (("upper", 1.0), ("lower", 7.0))
        for (mechanism, estimator), error in errors.items()
        for metric, cell in METRICS
        for repetition in range(5)
    )  # fmt: skip


@pytest.fixture
def evidence(tmp_path, monkeypatch):
    """The published and the exact reading of made-up files, which this fixture writes into a new folder.

    `trials` (n, repetitions, value, experiment) are those of the published protocol, with errors from
    ``value`` on. At n = 1000 and at n = 2000 the experiment "tv" has 5 repetitions, and "individual" 9.
    `parity_trials` are those at equal privacy, of 5 repetitions. Of Paris there is one run, with two cells.
    `VALUES` are the paper's printed values, and `OWN` marks those of its own mechanism. log10 of the bounds
    of the cited works is -3, but for "erlingsson".
    """
    monkeypatch.chdir(tmp_path)
    frame = pd.concat(
        [trials(1000, 5, 1.0, "tv"), trials(1000, 9, 2.0, "individual"), trials(2000, 5, 3.0, "tv")]
    )
    # The rows may be in any order.
    frame.sample(frac=1, random_state=1).to_parquet("a.parquet", index=False)
    trials(2000, 9, 4.0, "individual").to_parquet("b.parquet", index=False)
    pd.concat([parity_trials(1000), parity_trials(2000)]).to_parquet("parity.parquet", index=False)

    # Shares of the users in two cells: the true ones, and the estimates by the two mechanisms.
    run = {
        "dataset": "paris", "n": 11190, "delta": 1e-30, "cell": [1, 2], "eps0": 2.0, "eps": 2.0,
        "original": 0.5, INV: [0.9, 0.1], GAUSSIAN: [0.4, 0.7]
    }  # fmt: skip
    pd.DataFrame(run).to_csv("run.csv", index=False)

    cited = VALUES[(VALUES["quantity"] == "delta") & (VALUES["mechanism"] != OWN)]
    cited = cited.assign(cited=-3.0)
    cited.loc[cited["mechanism"] == "erlingsson", "cited"] = None  # the theorem does not apply
    cited.to_csv("cited_bounds.csv", index=False)
    VALUES.to_csv("values.csv", index=False)
    return read_evidence(
        values="values.csv",
        cited_bounds="cited_bounds.csv",
        trials=["a.parquet", "b.parquet"],
        parity=["parity.parquet"],
        estimates=["run.csv"],
        sensitivity=1.0,
        boxes={},
    )


def test_trials_become_paired_samples_and_the_longer_experiment_counts(evidence):
    """Of two experiments with the same setting, `pick` has the one with more repetitions: 9, not 5.

    `evidence` is the published and the exact reading of made-up files, with experiments "tv" (5 repetitions)
    and "individual" (9). Errors in "individual" are 2 at n = 1000 and 4 at n = 2000, + 0, 1 or 2 for the
    mechanism + cell / 100 + repetition / 1000. `METRICS` are pairs (metric, cell). A row of `pick` has an
    array of errors for each mechanism, which are paired: in the same order of the repetitions.
    """
    published, exact = evidence
    for value, n in ((2.0, 1000), (4.0, 2000)):
        for metric, cell in METRICS:
            selection = Selection(metric, {"synthetic": (4,)})
            rows = published.pick(SHUFFLE, INV, GAUSSIAN, selection=selection)
            [row] = rows[(rows["n"] == n) & (rows["cell"] == cell)].to_dict("records")
            for shift, name in enumerate((SHUFFLE, INV, GAUSSIAN)):
                expected = value + shift + cell / 100 + np.arange(9) / 1000
                np.testing.assert_allclose(row[name], expected, rtol=1e-14)
    # ``calibrations`` are the (eps, delta) of the Gaussian in the trials: only one here, with eps = eps0.
    assert published.calibrations == exact.calibrations == {(4.0, 1e-30)}


def test_a_single_run_is_paired_over_its_cells(evidence):
    published, _ = evidence
    rows = published.pick(INV, GAUSSIAN, selection=Selection("cell_error", {"paris": (2,)}))
    [row] = rows.to_dict("records")
    assert (row["n"], row["k"]) == (11190, 2)
    # Absolute errors of two cells that hold half of the users each.
    np.testing.assert_allclose(row[GAUSSIAN], [0.1, 0.2])
    np.testing.assert_allclose(row[INV], [0.4, 0.4])


def test_parity_takes_the_upper_bound_and_names_the_estimates(evidence):
    """Settings of the exact reading are those at equal privacy, where the upper bound on delta gives eps.

    `evidence` has the published and the exact reading of made-up files. ``first_errors`` are the errors in
    these files of repetition 0 for the upper bound. Those for the lower bound are seven times as large. In
    this reading `INV` and `GAUSSIAN` are projected estimates. delta is 1e-6 by one rule, n^-1.1 by the other.
    """
    _, exact = evidence
    rows = exact.settings
    assert len(rows) == 2 * 2 * 3  # two n, two rules of delta, three pairs of metric and cell
    first_errors = {SHUFFLE: 0.5, INV: 0.1, LIKELIEST: 0.09, RAW_GAUSSIAN: 0.11, GAUSSIAN: 0.08}
    for name, error in first_errors.items():
        assert {errors[0] for errors in rows[name]} == {error}
    expected = rows["n"].pow(-1.1).where(rows["rule"] != "1e-06", 1e-6)
    assert [*rows["delta"]] == pytest.approx(expected)


def test_cited_bounds_that_do_not_apply_are_no_numbers(evidence):
    published, _ = evidence
    values = published.values.set_index(["item", "mechanism", "n", "eps"]).sort_index()
    cited = values["log10_cited"]
    assert cited["Table II", "balle", 100, 0.1] == -3.0
    for none in (("Table II", "erlingsson"), ("Table II", "this paper")):
        assert cited[none].isna().all()


def test_what_is_missing_is_said():
    reading = exact_reading(errors_of_three(0.1, 0.2))  # one setting of N(0, 2) at eps0 = 4
    known = Selection(budgets={"synthetic": (4,)})
    assert len(reading.pick(GAUSSIAN, INV, selection=known)) == 1

    missing = Selection(budgets={"synthetic": (4,), "paris": (4, 6)})
    message = r"exact experiments have no tv of .* for paris at eps0 = 4, 6"
    with pytest.raises(NoEvidenceError, match=message):
        reading.pick(GAUSSIAN, INV, selection=missing)
