"""The numbers that texts state about the paper's statements, its random values, and its unstated noise."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import pandas as pd

from scripts.beyond.statements import verdict_rules as rules
from scripts.beyond.statements.claim_counts import counted_claims
from scripts.beyond.statements.joint_tables import (
    CONTRADICTED,
    OTHER_NOISE,
    OUR_NUMBERING,
    REJECTED,
    WRONG_FACTORS,
)
from scripts.shared.findings import Results, chosen_rows, gaussian_scales_at

_EPS = 4.0  # of the errors that the paper prints


@dataclass(frozen=True)
class Statements:
    """How many of the paper's statements that count have each verdict."""

    of: int
    hold: int  # or mostly hold
    only_with_exact_delta: int
    only_at_equal_privacy: int
    only_published: int
    fail: int
    undecided: int
    cross: Mapping[Hashable, Mapping[Hashable, int]]  # verdict as published -> exactly -> how many


@dataclass(frozen=True)
class Reading:
    """One reading of a statement."""

    verdict: str
    statistic: str  # the reason, as results/statements/claim_verdicts.csv says it


@dataclass(frozen=True)
class AlmostComparable:
    """The paper's statement on accuracy as it is published."""

    published: Reading


@dataclass(frozen=True)
class JointTests:
    """The tests of all printed random values of a table together."""

    of: int
    rejected: int
    least: float  # the smallest corrected p
    power: list[float]  # percent, at most, for errors that are `WRONG_FACTORS` as large as ours


@dataclass(frozen=True)
class NumberedFit:
    """How printed errors fit a grid whose cells are numbered in one way."""

    p: float
    numbering: str


@dataclass(frozen=True)
class GridsOfCity:
    """How a city's printed errors, all together, fit each of its grids.

    ``p``, its standard error ``error`` and ``corrected`` (Holm over all cities and grids) are for our noise
    and our numbering, by grid. ``other`` is the fit for `OTHER_NOISE` by the numbering with the largest p:
    the best of several, which favours the grid.
    """

    title: str
    p: dict[Hashable, float]
    error: dict[Hashable, float]
    corrected: dict[Hashable, float]
    contradicts_both: bool  # grids, by our noise and numbering
    every_numbering: bool  # whether every numbering is contradicted, by our noise
    other: dict[str, NumberedFit]
    other_fits: bool  # whether none of ``other`` is contradicted


@dataclass(frozen=True)
class Noise:
    """A Gaussian that the paper may have used at eps = 4."""

    delta: float
    sensitivity: float
    scale: float  # in users


@dataclass(frozen=True)
class Grids:
    """How the printed errors of each city fit its grids, and the cities that contradict both."""

    by_city: dict[str, GridsOfCity]
    contradicted: list[GridsOfCity]
    other_noise: Noise


@dataclass(frozen=True)
class NoiseScales:
    """Which scales of the Gaussian fit what is printed at eps = 4."""

    low: float  # in users, the end of the 95 % interval
    high: float


def statements(results: Results) -> Statements:
    """How many of the paper's statements have each verdict, and each pair of verdicts on the two readings.

    ``results`` has the table "claim_verdicts", with the columns verdict (of both readings together),
    verdict_published and verdict_exact. Several of its rows may be one statement. This counts once, with the
    verdict that is best for the paper.
    """
    counted = counted_claims(results["claim_verdicts"])
    counts = counted["verdict"].value_counts().reindex(rules.CLAIM_VERDICTS, fill_value=0)
    # Of each pair (published verdict, exact verdict) the number of statements.
    cross = pd.crosstab(counted["verdict_published"], counted["verdict_exact"])
    occurring = cross.index.union(cross.columns)
    # From the most to the least favourable.
    verdicts = [verdict for verdict in rules.READING_VERDICTS if verdict in occurring]
    return Statements(
        of=counts.sum(),
        hold=counts[[rules.HOLDS, rules.MOSTLY]].sum(),
        only_with_exact_delta=counts[rules.ONLY_WITH_EXACT_DELTA],
        only_at_equal_privacy=counts[rules.ONLY_AT_EQUAL_PRIVACY],
        only_published=counts[rules.ONLY_PUBLISHED],
        fail=counts[rules.FAILS],
        undecided=counts[[rules.UNSETTLED, rules.UNTESTABLE]].sum(),
        cross=cross.reindex(index=verdicts, columns=verdicts, fill_value=0).to_dict("index"),
    )


def almost_comparable(results: Results) -> AlmostComparable:
    """The verdict on the paper's statement that both models are "almost comparable", with its reason.

    ``results`` has the table "claim_verdicts". The reason says in how many comparisons the statement is true
    and false.
    """
    row = chosen_rows(results["claim_verdicts"], id="almost-comparable").iloc[0]
    return AlmostComparable(Reading(row["verdict_published"], row["statistic_published"]))


def joint_tests(results: Results) -> JointTests:
    """How many joint tests there are and are rejected, their smallest corrected p-value, and largest powers.

    A joint test is of all printed random values of one table and mechanism together: whether they can be runs
    of the published protocol. There are two tests of these, each with a statistic of its own. ``results`` has
    the table "joint_tests", with a row for each test. A power, in percent, is how often a test rejects errors
    that are a multiple of ours. There is one for each factor of `WRONG_FACTORS`, whose keys are columns of
    the table. Raises LookupError if there is no test.
    """
    tests = results["joint_tests"]
    if tests.empty:
        raise LookupError("there is no joint test")
    return JointTests(
        of=len(tests),
        rejected=(tests["verdict"] == REJECTED).sum(),
        least=tests["corrected_p"].min(),
        power=[100 * tests[column].max() for column in WRONG_FACTORS],
    )


def grids(results: Results) -> Grids:
    """How the printed errors of each city fit our runs on each of its grids, for two noises of the Gaussian.

    A noise is a delta and a sensitivity of the Gaussian at eps = 4: that of our rerun, and `OTHER_NOISE`,
    which fits the printed errors as well. ``results`` has the table "grids", with a row for each noise, city
    (dataset), grid and numbering of its cells, with p-values and a verdict. It also has the table
    "gaussian_scale", with the scales for sensitivity 1, and "titles", dataset -> title.
    """
    rows = results["grids"]
    rows = rows.assign(contradicted=rows["verdict"] == CONTRADICTED)
    delta, sensitivity = OTHER_NOISE
    is_other_noise = (rows["delta"] == delta) & (rows["sensitivity"] == sensitivity)

    by_city = {}
    for city, with_our_noise in rows[~is_other_noise].groupby("dataset", sort=False):
        with_other_noise = rows[is_other_noise & (rows["dataset"] == city)]
        title = results["titles"].get(str(city), city)
        by_city[str(city)] = _grids_of_city(title, with_our_noise, with_other_noise)

    # A scale is proportional to the sensitivity.
    scale = sensitivity * gaussian_scales_at(results, _EPS, delta)["published"]
    return Grids(
        by_city=by_city,
        contradicted=[city for city in by_city.values() if city.contradicts_both],
        other_noise=Noise(delta, sensitivity, scale),
    )


def _grids_of_city(
    title: str, with_our_noise: pd.DataFrame, with_other_noise: pd.DataFrame
) -> GridsOfCity:
    """How the printed errors of one city, whose name is ``title``, fit our runs on each of its grids.

    ``with_our_noise`` and ``with_other_noise`` are rows of the city in the table "grids", for the Gaussian's
    noise of our rerun and for `OTHER_NOISE`. There is a row for each grid and numbering of its cells, with
    four columns. p is the p-value of the test that the printed errors are like those of our runs, p_error its
    standard error, corrected_p is p by Holm's correction for all cities and grids, and contradicted says
    whether p is so small that the test rejects.

    The fields p, error and corrected are, for each grid, those of our noise and of the numbering that our
    code uses. "contradicts_both" says that the test rejects this numbering on both grids, and
    "every_numbering" that it rejects all numberings on both. "other" has, for each grid, the largest p of the
    other noise and its numbering, and "other_fits" says that the test rejects it on no grid.
    """
    has_our_numbering = with_our_noise["numbering"] == OUR_NUMBERING
    our_numbering = with_our_noise[has_our_numbering].set_index("grid")
    best_numbering = with_other_noise.sort_values("p").groupby("grid").tail(1)
    other = {}
    for row in best_numbering.to_dict("records"):
        other[str(row["grid"])] = NumberedFit(row["p"], row["numbering"])
    return GridsOfCity(
        title=title,
        p=our_numbering["p"].to_dict(),
        error=our_numbering["p_error"].to_dict(),
        corrected=our_numbering["corrected_p"].to_dict(),
        contradicts_both=bool(our_numbering["contradicted"].all()),
        every_numbering=bool(with_our_noise["contradicted"].all()),
        other=other,
        other_fits=not best_numbering["contradicted"].any(),
    )


def noise_scales(results: Results) -> NoiseScales:
    """Which scales of the Gaussian fit the errors printed at eps = 4.

    A scale is the noise's standard deviation in users. Those that fit are a 95 % interval by the likelihood
    ratio, if the printed errors are rounded.

    ``results`` has the tables "noise_scale", with the interval, and "gaussian_scale", with the scales for
    sensitivity 1. Raises LookupError if there is no interval.
    """
    interval = chosen_rows(results["noise_scale"], digits="rounded").iloc[0]
    return NoiseScales(low=interval["low"], high=interval["high"])
