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
    """The ratios over all settings. Raises LookupError if none is informative."""
    tv = chosen_rows(results["parity_ratio"], metric="tv")
    upper = tv[tv["bound"] == "upper"]
    comparisons = dict(list(upper.groupby("comparison")))
    plain, projected, paired = (comparisons[name] for name in ("unprojected", "projected", PAIRED))
    informative = projected[projected["informative"]]
    if informative.empty:
        raise LookupError("no setting is informative")

    ratios = range_of(informative["ratio"])
    published = tv.loc[tv["comparison"] == "published", "ratio"]
    every_informative = upper[upper["informative"].astype(bool)]
    far = (plain["ratio"] / plain["predicted"] - 1).abs().max()
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
        far_percent=100 * far,
        uniform=_uniform_errors(projected, results),
        rows=[
            _budget_ratios(rows, results)
            for _, rows in upper.groupby(["dataset", "eps0"], sort=False)
        ],
    )


def _uniform_errors(projected: pd.DataFrame, results: Results) -> list[UniformError]:
    errors = []
    for dataset, rows in projected.groupby("dataset", sort=False):
        title = results["titles"].get(str(dataset), dataset)
        errors.append(UniformError(title=title, tv=rows["uniform"].iloc[-1]))
    return errors


def _budget_ratios(rows: pd.DataFrame, results: Results) -> BudgetRatios:
    """The ratios of one dataset and eps0, all comparisons of which are in ``rows``."""
    first = rows.iloc[0]
    plain = rows[rows["comparison"] == "unprojected"]
    projected = rows[rows["comparison"] == "projected"]
    return BudgetRatios(
        title=results["titles"].get(first["dataset"], first["dataset"]),
        eps0=first["eps0"],
        own=not in_papers_settings(projected, results["papers"]).empty,
        informative=int(projected["informative"].sum()),
        of=len(projected),
        measured=range_of(plain["ratio"]),
        predicted=range_of(plain["predicted"]),
        limit=plain["limit"].iloc[0],
        projected=range_of(projected["ratio"]),
    )


def papers_settings(results: Results) -> PapersSettings:
    """The ratios in settings like the paper's, and in the others.

    Raises LookupError unless all of the paper's settings are in the results.
    """
    papers = results["papers"]
    missing = sorted(set(PAPER) - set(papers))
    if missing:
        raise LookupError(f"not the paper's settings: {', '.join(missing)}")

    upper = chosen_rows(results["parity_ratio"], bound="upper")
    tv = upper[upper["metric"] == "tv"]
    projected = tv[tv["comparison"] == "projected"]
    of_paper = in_papers_settings(projected, papers)
    ratios = range_of(of_paper["ratio"])

    paired = in_papers_settings(tv[tv["comparison"] == PAIRED], papers)["ratio"]
    paired_range = range_of(paired)
    popular = upper[upper["comparison"] == "projected"]
    one, ten = (in_papers_settings(chosen_rows(popular, metric=name), papers) for name in POPULAR)

    informative = projected[projected["informative"]]
    others = informative.drop(in_papers_settings(informative, papers).index)
    return PapersSettings(
        of=len(of_paper),
        points=len(of_paper.drop_duplicates(["dataset", "eps0", "n"])),
        deltas=of_paper["delta_rule"].nunique(),
        low=ratios.low,
        high=ratios.high,
        paired=PairedRatios(
            low=paired_range.low, high=paired_range.high, better=(paired < 1).sum()
        ),
        popular=range_of(one["ratio"]),
        ten_popular=range_of(ten["ratio"]),
        above=_larger_ratios(others, ratios.high),
        outside=_other_ratios(others),
    )


def _larger_ratios(others: pd.DataFrame, limit: float) -> LargerRatios:
    """Where ``others`` have a ratio above the limit."""
    above = others[others["ratio"] > limit]
    return LargerRatios(
        dataset=sorted(above["dataset"].unique()),
        eps0=sorted(above["eps0"].unique()),
        users=None if above.empty else above["n"].max(),
    )


def _other_ratios(others: pd.DataFrame) -> OtherRatios | None:
    if others.empty:
        return None
    ratios = range_of(others["ratio"])
    return OtherRatios(of=len(others), low=ratios.low, high=ratios.high)


def popular_values(results: Results) -> PopularValues:
    """The ratios of popular values. Raises LookupError unless all of the paper's settings are there."""
    rows = chosen_rows(results["parity_ratio"], bound="upper")
    papers = results["papers"]
    most_popular = chosen_rows(rows, metric="most_popular", comparison="unprojected")
    limits = []
    budgets = in_papers_settings(most_popular, papers).drop_duplicates(["dataset", "eps0"])
    for row in budgets.to_dict("records"):
        title = results["titles"][row["dataset"]]
        limits.append(PopularLimit(title=title, eps0=row["eps0"], limit=row["limit"]))
    largest = _largest_ratio(rows)
    table_v = range_of(_ratios_of_table_v(rows, results["verdicts"]))
    if set(PAPER) != set(papers):
        raise LookupError("not the paper's settings")
    return PopularValues(largest=largest, limits=limits, table_v=table_v)


def _largest_ratio(rows: pd.DataFrame) -> LargestRatio:
    """Of the most popular cell of San Francisco at eps0 = 6, the most users and the first delta."""
    city = chosen_rows(rows, metric="most_popular", dataset="san_francisco", eps0=6.0)
    city = city[city["n"] == city["n"].max()]
    measured = chosen_rows(city, comparison="projected").iloc[0]
    limit = chosen_rows(city, comparison="unprojected")["limit"].iloc[0]
    return LargestRatio(
        n=measured["n"],
        ratio=measured["ratio"],
        low=measured["low"],
        high=measured["high"],
        limit=limit,
    )


def _ratios_of_table_v(rows: pd.DataFrame, verdicts: pd.DataFrame) -> "pd.Series[float]":
    """Of its values one by one, at its n and eps0."""
    sizes = verdicts.loc[verdicts["item"] == "Table V", "n"].astype(int).unique()
    errors = chosen_rows(
        rows, metric="individual_error", comparison="projected", dataset="synthetic", eps0=4.0
    )
    return errors.loc[(errors["cell"] > 0) & errors["n"].isin(sizes), "ratio"]


def papers_extremes(results: Results) -> PapersExtremes:
    """The extremes of both ratios. Raises LookupError unless all of the paper's settings are there."""
    rows = chosen_rows(results["parity_ratio"], bound="upper", comparison="projected")
    tv = _extremes(chosen_rows(rows, metric="tv"), results)
    popular = _extremes(chosen_rows(rows, metric="most_popular"), results)
    if set(PAPER) != set(results["papers"]):
        raise LookupError("not the paper's settings")
    return PapersExtremes(tv=tv, popular=popular)


def _extremes(rows: pd.DataFrame, results: Results) -> Extremes:
    rising = in_papers_settings(rows, results["papers"]).sort_values("ratio", kind="stable")
    ratios = []
    for row in rising.iloc[[0, -1]].to_dict("records"):
        ratios.append(
            MeasuredRatio(
                title=results["titles"][row["dataset"]],
                ratio=row["ratio"],
                low=row["low"],
                high=row["high"],
                n=row["n"],
                eps0=row["eps0"],
                delta_rule=str(row["delta_rule"]),
            )
        )
    least, most = ratios
    return Extremes(least=least, most=most)


def unequal_privacy(results: Results) -> UnequalPrivacy:
    """eps of both mechanisms of Figure 2 at two deltas: 1e-6, and the floor of our rerun.

    At the floor nobody can answer that (4, 1e-30) is what both have. Raises LookupError unless the paper's
    synthetic setting is in the results.
    """
    delta, floor, eps0 = 1e-6, 1e-30, 4.0
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
    """eps at ``delta`` of the histogram with the noise that our rerun has for (said_eps, said_delta)."""
    scale = published_scale(said_eps, said_delta, 1.0)

    def excess(eps: float) -> float:
        log10_delta = log10_delta_of_scale(eps, scale=scale, sensitivity=HISTOGRAM_SENSITIVITY)
        return float(log10_delta) - math.log10(delta)

    return float(optimize.brentq(excess, 0.0, 20.0, xtol=1e-10))
