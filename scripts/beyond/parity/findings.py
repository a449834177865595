"""The numbers that texts state about errors at equal privacy."""

import math
from dataclasses import dataclass

import pandas as pd
from scipy import optimize

import tightshuffle
from scripts.beyond.parity.run_parity import POPULAR
from scripts.beyond.parity.summarise_parity import NEARLY, nearly_equal
from scripts.shared.findings import Range, Results, chosen_rows, in_papers_settings, range_of
from scripts.shared.printed import PAPER
from scripts.shared.published_gaussian import published_scale
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, log10_delta_of_scale

PAIRED = "the paper's pairing"  # of estimates: shuffle+INV projected, the Gaussian not
_MEASURED = ["n", "ratio", "low", "high"]  # a ratio and its interval, for so many users


@dataclass(frozen=True)
class UniformError:
    """The TV error of the uniform histogram, at the last setting of a dataset."""

    title: str
    tv: float


@dataclass(frozen=True)
class BudgetRatios:
    """The ratios of one dataset and eps0, over all n and both rules of delta."""

    title: str
    eps0: float
    own: bool  # whether the paper's figures have this dataset and eps0
    informative: int  # settings in which a mechanism beats the uniform histogram
    of: int  # settings
    measured: Range  # of estimates that are not projected
    predicted: Range  # their closed form
    limit: float  # of the closed form, for many users
    projected: Range


@dataclass(frozen=True)
class EqualPrivacy:
    """Mean TV error of shuffle+INV over that of the Gaussian at equal privacy, with eps from `upper`.

    A setting is informative if at least one mechanism, projected, has a smaller error than the uniform
    histogram, which ignores the data. ``low`` and ``high`` are of the informative settings, both estimates
    projected.
    """

    settings: int
    uninformative: int
    of: int  # informative settings
    low: float
    high: float
    nearly: int  # informative settings with nearly the same errors
    nearly_percent: float  # by which nearly the same errors differ at most
    repetitions: int  # behind each mean, at least
    eps0: list[float]
    published: Range | None  # of our rerun of Figures 2, 6 and 7: `PAIRED` estimates at eps = eps0
    paired: Range  # of `PAIRED` estimates in informative settings
    far_percent: float  # by which an unprojected ratio differs from its closed form, at most
    uniform: list[UniformError]
    rows: list[BudgetRatios]


@dataclass(frozen=True)
class PairedRatios:
    """The ratios in the paper's pairing, and in how many settings shuffling has the smaller error."""

    low: float
    high: float
    better: int


@dataclass(frozen=True)
class LargerRatios:
    """Where other informative settings have a larger ratio than all settings like the paper's."""

    dataset: list[str]
    eps0: list[float]
    users: int | None  # at most; None if there is no such setting


@dataclass(frozen=True)
class OtherRatios:
    """The ratios of the informative settings that are not like the paper's."""

    of: int
    low: float
    high: float


@dataclass(frozen=True)
class PapersSettings:
    """The ratios of `EqualPrivacy` in settings like the paper's: its data, n and eps0, with our deltas."""

    of: int
    points: int  # settings without the choice of delta
    deltas: int
    low: float
    high: float
    paired: PairedRatios
    popular: Range  # of the error of the dataset's most popular value
    ten_popular: Range  # of the error of its ten most popular values
    above: LargerRatios
    outside: OtherRatios | None  # None if all informative settings are like the paper's


@dataclass(frozen=True)
class LargestRatio:
    """The ratio of one popular value: measured, with its interval, and the closed form for many users."""

    n: int
    ratio: float
    low: float
    high: float
    limit: float


@dataclass(frozen=True)
class PopularLimit:
    """The closed form for many users of the most popular value's ratio."""

    title: str
    eps0: float
    limit: float


@dataclass(frozen=True)
class PopularValues:
    """The ratios of single values in settings like the paper's."""

    largest: (
        LargestRatio  # of the most popular cell of San Francisco, at eps0 = 6 and the most users
    )
    limits: list[PopularLimit]  # of each of the paper's datasets and eps0s
    table_v: Range  # of the values of Table V one by one, its n and eps0, and both deltas


@dataclass(frozen=True)
class MeasuredRatio:
    """The ratio of one setting like the paper's, with its bootstrap interval.

    The interval is that of this one setting. It does not know that the setting is an extreme of many.
    """

    title: str
    ratio: float
    low: float
    high: float
    n: int
    eps0: float
    delta_rule: str


@dataclass(frozen=True)
class Extremes:
    """The settings with the smallest and with the largest ratio."""

    least: MeasuredRatio
    most: MeasuredRatio


@dataclass(frozen=True)
class PapersExtremes:
    """The extremes of `PapersSettings`."""

    tv: Extremes  # of the total variation error
    popular: Extremes  # of the error of the most popular value


@dataclass(frozen=True)
class UsersEps:
    """The eps of shuffled reports for this many users."""

    n: int
    eps: float


@dataclass(frozen=True)
class AtFloor:
    """eps of both mechanisms at the delta that our rerun gives the Gaussian."""

    delta: float
    said: float  # the eps that both are said to have there
    gaussian: float
    shuffled: list[UsersEps]


@dataclass(frozen=True)
class UnequalPrivacy:
    """eps of the two mechanisms that Figure 2 compares at eps = eps0 = 4, in our rerun.

    The smaller eps protects more, and has the larger error: the comparison handicaps shuffling.
    """

    delta: float
    gaussian: float  # its eps for the histogram
    shuffled: list[UsersEps]  # by the upper bound, at the smallest and at the largest n
    at_floor: AtFloor


def equal_privacy(results: Results) -> EqualPrivacy:
    """The ratios of TV errors over all settings, by comparison: how often, how far, and against what.

    The rows of the table "parity_ratio" are mean errors of shuffle+INV over mean errors of the Gaussian.
    Their column comparison says of which estimates: "unprojected", "projected" (both), `PAIRED` or
    "published". In an informative setting at least one projected estimate has a smaller error than the
    uniform histogram. Raises LookupError if no setting is informative.
    """
    tv = chosen_rows(results["parity_ratio"], metric="tv")
    upper = tv[tv["bound"] == "upper"]
    comparisons = dict(list(upper.groupby("comparison")))
    unprojected = comparisons["unprojected"]
    projected = comparisons["projected"]
    paired = comparisons[PAIRED]
    informative = projected[projected["informative"]]
    if informative.empty:
        raise LookupError("no setting is informative")

    ratios = range_of(informative["ratio"])
    published = tv.loc[tv["comparison"] == "published", "ratio"]
    every_informative = upper[upper["informative"].astype(bool)]
    distances = unprojected["ratio"] / unprojected["predicted"] - 1
    return EqualPrivacy(
        settings=len(projected),
        uninformative=len(projected) - len(informative),
        of=len(informative),
        low=ratios.low,
        high=ratios.high,
        nearly=nearly_equal(informative["ratio"]).sum(),
        nearly_percent=100 * NEARLY,
        repetitions=every_informative["repetitions"].min(),
        eps0=sorted(projected["eps0"].unique()),
        published=None if published.empty else range_of(published),
        paired=range_of(paired.loc[paired["informative"], "ratio"]),
        far_percent=100 * distances.abs().max(),
        uniform=_uniform_errors(projected, results),
        rows=[
            _budget_ratios(rows, results)
            for _, rows in upper.groupby(["dataset", "eps0"], sort=False)
        ],
    )


def _uniform_errors(projected: pd.DataFrame, results: Results) -> list[UniformError]:
    """The TV error of the uniform histogram in the last of the ``projected`` rows of every dataset."""
    errors = []
    for dataset, rows in projected.groupby("dataset", sort=False):
        title = results["titles"].get(str(dataset), dataset)
        errors.append(UniformError(title=title, tv=rows["uniform"].iloc[-1]))
    return errors


def _budget_ratios(rows: pd.DataFrame, results: Results) -> BudgetRatios:
    """The ranges of the ratios of one dataset and eps0. ``rows`` are those of all comparisons."""
    first = rows.iloc[0]
    unprojected = rows[rows["comparison"] == "unprojected"]
    projected = rows[rows["comparison"] == "projected"]
    return BudgetRatios(
        title=results["titles"].get(first["dataset"], first["dataset"]),
        eps0=first["eps0"],
        own=not in_papers_settings(projected, results["papers"]).empty,
        informative=int(projected["informative"].sum()),
        of=len(projected),
        measured=range_of(unprojected["ratio"]),
        predicted=range_of(unprojected["predicted"]),
        limit=unprojected["limit"].iloc[0],
        projected=range_of(projected["ratio"]),
    )


def papers_settings(results: Results) -> PapersSettings:
    """The ratios in settings like the paper's (its dataset, n and eps0), and in others that are informative.

    A row of the table "parity_ratio" is a ratio of mean errors. Taken are those with eps by `upper`. Unless
    stated otherwise, both estimates are projected, and the error is TV. Raises LookupError unless all of the
    paper's settings are in the results.
    """
    papers = results["papers"]
    missing = sorted(set(PAPER) - set(papers))
    if missing:
        raise LookupError(f"not the paper's settings: {', '.join(missing)}")

    upper = chosen_rows(results["parity_ratio"], bound="upper")
    tv = upper[upper["metric"] == "tv"]
    projected = tv[tv["comparison"] == "projected"]
    like_papers = in_papers_settings(projected, papers)
    ratios = range_of(like_papers["ratio"])

    paired = in_papers_settings(tv[tv["comparison"] == PAIRED], papers)["ratio"]
    range_of_paired = range_of(paired)

    every_metric = upper[upper["comparison"] == "projected"]
    most_popular, ten_most_popular = (
        in_papers_settings(chosen_rows(every_metric, metric=metric), papers) for metric in POPULAR
    )

    informative = projected[projected["informative"]]
    others = informative.drop(in_papers_settings(informative, papers).index)
    return PapersSettings(
        of=len(like_papers),
        points=len(like_papers.drop_duplicates(["dataset", "eps0", "n"])),
        deltas=like_papers["delta_rule"].nunique(),
        low=ratios.low,
        high=ratios.high,
        paired=PairedRatios(
            low=range_of_paired.low, high=range_of_paired.high, better=(paired < 1).sum()
        ),
        popular=range_of(most_popular["ratio"]),
        ten_popular=range_of(ten_most_popular["ratio"]),
        above=_larger_ratios(others, ratios.high),
        outside=_other_ratios(others),
    )


def _larger_ratios(others: pd.DataFrame, limit: float) -> LargerRatios:
    """At which datasets, eps0s and numbers of users ``others`` have a ratio above the limit."""
    above = others[others["ratio"] > limit]
    return LargerRatios(
        dataset=sorted(above["dataset"].unique()),
        eps0=sorted(above["eps0"].unique()),
        users=None if above.empty else above["n"].max(),
    )


def _other_ratios(others: pd.DataFrame) -> OtherRatios | None:
    """The number and the range of the ratios of ``others``. None if there is none."""
    if others.empty:
        return None
    ratios = range_of(others["ratio"])
    return OtherRatios(of=len(others), low=ratios.low, high=ratios.high)


def popular_values(results: Results) -> PopularValues:
    """The ratios of errors of single popular values, measured and by the closed form for many users.

    Raises LookupError unless all of the paper's settings are in the results.
    """
    rows = chosen_rows(results["parity_ratio"], bound="upper")
    papers = results["papers"]
    most_popular = chosen_rows(rows, metric="most_popular", comparison="unprojected")
    budgets = in_papers_settings(most_popular, papers).drop_duplicates(["dataset", "eps0"])
    limits = []
    for row in budgets.to_dict("records"):
        title = results["titles"][row["dataset"]]
        limits.append(PopularLimit(title=title, eps0=row["eps0"], limit=row["limit"]))
    largest = _largest_ratio(rows)
    table_v = range_of(_ratios_of_table_v(rows, results["verdicts"]))
    # Not first: where something is missing above, that error says more.
    if set(PAPER) != set(papers):
        raise LookupError("not the paper's settings")
    return PopularValues(largest=largest, limits=limits, table_v=table_v)


def _largest_ratio(rows: pd.DataFrame) -> LargestRatio:
    """The ratio of errors of the most popular cell of San Francisco at eps0 = 6, for the most users.

    Of several rules for delta it is the first. Measured are projected estimates. The limit for many users is
    that of unprojected ones.
    """
    city = chosen_rows(rows, metric="most_popular", dataset="san_francisco", eps0=6.0)
    city = city[city["n"] == city["n"].max()]
    measured = chosen_rows(city, comparison="projected").iloc[0]
    unprojected = chosen_rows(city, comparison="unprojected")
    return LargestRatio(**measured[_MEASURED], limit=unprojected["limit"].iloc[0])


def _ratios_of_table_v(rows: pd.DataFrame, verdicts: pd.DataFrame) -> "pd.Series[float]":
    """The ratios of projected errors of the values in Table V, one by one, at its n and eps0.

    ``rows`` are ratios, ``verdicts`` those on the printed values.
    """
    sizes = verdicts.loc[verdicts["item"] == "Table V", "n"].astype(int).unique()
    errors = chosen_rows(
        rows, metric="individual_error", comparison="projected", dataset="synthetic", eps0=4.0
    )
    return errors.loc[(errors["cell"] > 0) & errors["n"].isin(sizes), "ratio"]


def papers_extremes(results: Results) -> PapersExtremes:
    """The settings like the paper's with the smallest and the largest ratio, by both metrics, projected.

    Raises LookupError unless all of the paper's settings are in the results.
    """
    rows = chosen_rows(results["parity_ratio"], bound="upper", comparison="projected")
    tv = _extremes(chosen_rows(rows, metric="tv"), results)
    popular = _extremes(chosen_rows(rows, metric="most_popular"), results)
    # Not first: where something is missing above, that error says more.
    if set(PAPER) != set(results["papers"]):
        raise LookupError("not the paper's settings")
    return PapersExtremes(tv=tv, popular=popular)


def _extremes(rows: pd.DataFrame, results: Results) -> Extremes:
    """Those of ``rows`` in settings like the paper's that have the smallest and the largest ratio."""
    rising = in_papers_settings(rows, results["papers"]).sort_values("ratio", kind="stable")
    ratios = []
    for _, row in rising.iloc[[0, -1]].iterrows():
        title = results["titles"][row["dataset"]]
        rule = str(row["delta_rule"])
        ratios.append(
            MeasuredRatio(title=title, eps0=row["eps0"], delta_rule=rule, **row[_MEASURED])
        )
    least, most = ratios
    return Extremes(least=least, most=most)


def unequal_privacy(results: Results) -> UnequalPrivacy:
    """eps of the two mechanisms that Figure 2 compares, at delta = 1e-6 and at delta = 1e-30.

    The figure has shuffled reports with eps0 = 4, and the Gaussian noise that our rerun has for (4, 1e-30).
    Its delta is the rerun's floor, as the paper's own delta is 0 at eps = eps0. eps is that of the whole
    histogram, for the shuffled reports by the upper bound, at the smallest and the largest n.

    Raises LookupError unless the paper's synthetic setting is in the results.
    """
    delta = 1e-6
    floor = 1e-30
    eps0 = 4.0
    if "synthetic" not in results["papers"]:
        raise LookupError("not the paper's settings: synthetic")
    rows = chosen_rows(
        results["parity_ratio"], dataset="synthetic", bound="upper", delta=delta, eps0=eps0
    )
    ends = rows.sort_values("n").iloc[[0, -1]][["n", "k", "eps"]].to_dict("records")

    at_floor = []
    for end in ends:
        eps = tightshuffle.epsilon(floor, n=int(end["n"]), k=int(end["k"]), eps0=eps0)
        at_floor.append(UsersEps(n=end["n"], eps=eps))
    return UnequalPrivacy(
        delta=delta,
        gaussian=_eps_of_gaussian(delta, eps0, floor),
        shuffled=[UsersEps(n=end["n"], eps=end["eps"]) for end in ends],
        at_floor=AtFloor(
            delta=floor, said=eps0, gaussian=_eps_of_gaussian(floor, eps0, floor), shuffled=at_floor
        ),
    )


def _eps_of_gaussian(delta: float, said_eps: float, said_delta: float) -> float:
    """eps of the histogram at ``delta`` with the Gaussian noise of our rerun for (said_eps, said_delta).

    The rerun takes the sensitivity 1, but that of a histogram is sqrt(2).
    """
    scale = published_scale(said_eps, said_delta, sensitivity=1.0)

    def excess(eps: float) -> float:
        log10_delta = log10_delta_of_scale(eps, scale=scale, sensitivity=HISTOGRAM_SENSITIVITY)
        return float(log10_delta) - math.log10(delta)

    return float(optimize.brentq(excess, 0.0, 20.0, xtol=1e-10))
