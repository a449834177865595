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
from tests.beyond.statements.world import VALUES, exact_reading, setting_with_errors

POINT = {"dataset": "synthetic", "k": 15, "eps0": 4.0, "eps": 4.0, "delta": 1e-30}
SHIFTS = {SHUFFLE: 0, INV: 1, GAUSSIAN: 2}  # of the errors of each mechanism
CELLS = [0, 1, 3]  # 0 for "tv", and those of "individual_error"


def every(**columns):
    """A row for every combination of the values of the columns, and the metric of its cell."""
    rows = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(index=False)
    return rows.assign(metric=np.where(rows["cell"] == 0, "tv", "individual_error"))


def made_up_error(first, shift, cell, repetition):
    """Another one for each mechanism (which has the ``shift``), cell and repetition."""
    return first + shift + cell / 100 + repetition / 1000


def trials(*, experiment, n, repetitions, first_error):
    """Trials as run_trials writes them: a `made_up_error` from ``first_error`` on in the column value."""
    rows = every(mechanism=SHIFTS, cell=CELLS, repetition=range(repetitions))
    shift = rows["mechanism"].map(SHIFTS)
    value = made_up_error(first_error, shift, rows["cell"], rows["repetition"])
    return rows.assign(**POINT, experiment=experiment, n=n, value=value)


# The error at equal privacy of repetition 0, where the upper bound on delta gives eps.
FIRST_ERRORS = pd.DataFrame(
    [
        ("shuffle", "none", 0.5),
        ("shuffle", "inversion", 0.12),
        ("shuffle", "projection", 0.1),
        ("shuffle", "maximum_likelihood", 0.09),
        ("gaussian", "none", 0.11),
        ("gaussian", "projection", 0.08),
    ],
    columns=["mechanism", "estimator", "first_error"],
)


def parity_trials(n):
    """Trials at equal privacy, as run_parity writes them: by two rules of delta, with eps by two bounds.

    An error is that of `FIRST_ERRORS`, times 1 + repetition / 1000, and times 7 for the lower bound.
    """
    rules = {"1e-06": 1e-6, "n^-1.1": n**-1.1}
    settings = every(delta_rule=rules, bound=["upper", "lower"], cell=CELLS, repetition=range(5))
    rows = settings.merge(FIRST_ERRORS, how="cross")
    factor_of_bound = rows["bound"].map({"upper": 1, "lower": 7})
    value = rows["first_error"] * (1 + rows["repetition"] / 1000) * factor_of_bound
    point = POINT | {"n": n, "eps": 0.4, "delta": rows["delta_rule"].map(rules)}
    return rows.assign(**point, value=value)


# A run of Paris. Shares of the users in two cells: the true ones, and the estimates by both mechanisms.
RUN_OF_PARIS = {
    "dataset": "paris", "n": 11190, "delta": 1e-30, "cell": [1, 2], "eps0": 2.0, "eps": 2.0,
    "original": 0.5, INV: [0.9, 0.1], GAUSSIAN: [0.4, 0.7]
}  # fmt: skip


def cited_bounds():
    """A row for each printed delta of the literature, with log10 of the work's own bound as ``cited``."""
    rows = VALUES[(VALUES["quantity"] == "delta") & (VALUES["mechanism"] != OWN)]
    theorem_applies = rows["mechanism"] != "erlingsson"
    return rows.assign(cited=np.where(theorem_applies, -3.0, np.nan))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """(published, exact): both readings of made-up files, which this fixture writes into a new folder."""
    folder = tmp_path_factory.mktemp("evidence")
    # At both n there is a longer experiment with the same settings: in the same file, and in another one.
    tv_1000 = trials(experiment="tv", n=1000, repetitions=5, first_error=10)
    tv_2000 = trials(experiment="tv", n=2000, repetitions=5, first_error=20)
    long_1000 = trials(experiment="individual", n=1000, repetitions=9, first_error=30)
    long_2000 = trials(experiment="individual", n=2000, repetitions=9, first_error=40)
    # In any order.
    first = pd.concat([tv_1000, long_1000, tv_2000]).sample(frac=1, random_state=1)
    first.to_parquet(folder / "a.parquet", index=False)
    long_2000.to_parquet(folder / "b.parquet", index=False)
    pd.concat([parity_trials(1000), parity_trials(2000)]).to_parquet(
        folder / "parity.parquet", index=False
    )
    pd.DataFrame(RUN_OF_PARIS).to_csv(folder / "run.csv", index=False)
    cited_bounds().to_csv(folder / "cited_bounds.csv", index=False)
    VALUES.to_csv(folder / "values.csv", index=False)
    return read_evidence(
        values=folder / "values.csv",
        cited_bounds=folder / "cited_bounds.csv",
        trials=[folder / "a.parquet", folder / "b.parquet"],
        parity=[folder / "parity.parquet"],
        estimates=[folder / "run.csv"],
        sensitivity=1.0,
        boxes={},
    )


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("n", "first_error"), [(1000, 30), (2000, 40)])
def test_errors_are_paired_and_of_the_longer_of_two_experiments(evidence, cell, n, first_error):
    """Those of the experiment with 9 repetitions, in their order, not those of the one with 5.

    The longer one has errors from ``first_error`` on, another one for each mechanism, cell and repetition.
    """
    published, _ = evidence
    selection = Selection("tv" if cell == 0 else "individual_error", {"synthetic": (4,)})
    rows = published.pick(*SHIFTS, selection=selection)
    [row] = rows.query("n == @n and cell == @cell").to_dict("records")
    for mechanism, shift in SHIFTS.items():
        expected = made_up_error(first_error, shift, cell, repetition=np.arange(9))
        np.testing.assert_allclose(row[mechanism], expected, rtol=1e-14)


def test_calibrations_are_the_trials_eps_and_delta_at_eps0(evidence):
    published, exact = evidence
    assert published.calibrations == exact.calibrations == {(4.0, 1e-30)}


def test_a_single_run_is_paired_over_its_cells(evidence):
    published, _ = evidence
    rows = published.pick(INV, GAUSSIAN, selection=Selection("cell_error", {"paris": (2,)}))
    [row] = rows.to_dict("records")
    assert (row["n"], row["k"]) == (11190, 2)
    # Absolute errors of two cells that hold half of the users each.
    np.testing.assert_allclose(row[GAUSSIAN], [0.1, 0.2])
    np.testing.assert_allclose(row[INV], [0.4, 0.4])


def test_exact_settings_have_the_errors_at_the_eps_of_the_upper_bound(evidence):
    """Those for the lower bound are seven times as large. `INV` and `GAUSSIAN` are projected estimates."""
    _, exact = evidence
    first_errors = {SHUFFLE: 0.5, INV: 0.1, LIKELIEST: 0.09, RAW_GAUSSIAN: 0.11, GAUSSIAN: 0.08}
    for name, first_error in first_errors.items():
        assert {errors[0] for errors in exact.settings[name]} == {first_error}


def test_exact_settings_are_of_every_n_rule_of_delta_and_cell(evidence):
    _, exact = evidence
    fixed_delta = exact.settings.query("rule == '1e-06'")
    assert (fixed_delta["delta"] == 1e-6).all()
    power_of_n = exact.settings.query("rule == 'n^-1.1'")
    assert power_of_n["delta"].tolist() == pytest.approx((power_of_n["n"] ** -1.1).tolist())
    assert len(fixed_delta) == len(power_of_n) == 2 * 3  # n, cells


def test_cited_bounds_that_do_not_apply_are_no_numbers(evidence):
    published, _ = evidence
    values = published.values.set_index(["item", "mechanism", "n", "eps"]).sort_index()
    cited = values["log10_cited"]
    assert cited["Table II", "balle", 100, 0.1] == -3.0
    for none in (("Table II", "erlingsson"), ("Table II", "this paper")):
        assert cited[none].isna().all()


def test_missing_settings_are_named():
    reading = exact_reading(setting_with_errors(0.1, 0.2, dataset="synthetic", eps0=4.0))
    missing = Selection(budgets={"synthetic": (4,), "paris": (4, 6)})
    message = r"exact experiments have no tv of .* for paris at eps0 = 4, 6"
    with pytest.raises(NoEvidenceError, match=message):
        reading.pick(GAUSSIAN, INV, selection=missing)
