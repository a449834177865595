"""The numbers that texts state about errors at equal privacy."""

from dataclasses import dataclass
from statistics import NormalDist

import pandas as pd

from scripts.shared.findings import (
    Range,
    Results,
    chosen_rows,
    in_papers_settings,
    range_of,
    rounded_outwards,
)
from scripts.shared.printed import PAPER

PAIRED = "the paper's pairing"  # of estimates: shuffle+INV projected, the Gaussian not
_RATIO_AND_INTERVAL = ["n", "ratio", "low", "high"]  # for n users


@dataclass(frozen=True)
class UniformError:
    """The TV error of the uniform histogram, at the last setting of a dataset."""

    title: str
    tv: float


@dataclass(frozen=True)
class BudgetRatios:
    """Ratios of TV errors (shuffle+INV over the Gaussian) of one dataset and eps0, over all n and deltas."""

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
    repetitions: int  # behind each mean, at least
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
    simultaneous: (
        Range  # with 95 % confidence all true ratios lie in it; rounded outwards to two digits
    )
    paired: PairedRatios
    popular: Range  # of the error of the dataset's most popular value
    ten_popular: Range  # of the error of its ten most popular values
    above: LargerRatios
    outside: OtherRatios | None  # None if all informative settings are like the paper's


@dataclass(frozen=True)
class PopularValues:
    """The ratios of single values in settings like the paper's."""

    limit: (
        Range  # of the most popular value: the closed form for many users, over datasets and eps0s
    )
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
    """What texts state on mean TV errors at equal privacy: those of shuffle+INV over those of the Gaussian.

    A row of the table "parity_ratio" is such a ratio. A setting is a dataset, n, eps0 and delta, and its eps
    is that of our upper bound. The column comparison says of which estimates: "unprojected", "projected"
    (both are) or `PAIRED` (shuffle+INV is projected, the Gaussian is not). A setting is informative if at
    least one mechanism, projected, has a smaller error than the uniform histogram, which ignores the data.

    The numbers of the result are:

    - settings: how many settings there are
    - of, uninformative: how many of them are informative, and how many are not
    - low, high: the range of the projected ratio over the informative settings
    - repetitions: the fewest behind a mean in an informative setting
    - paired: the range of this ratio over the informative settings
    - far_percent: by how many percent an unprojected ratio differs from its closed form, at most
    - uniform: for each dataset, the TV error of the uniform histogram
    - rows: for each dataset and eps0, the ranges of its ratios

    Raises LookupError if no setting is informative.
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
    every_informative = upper[upper["informative"].astype(bool)]  # of all comparisons
    # By which share each unprojected ratio is above its closed form.
    distances = unprojected["ratio"] / unprojected["predicted"] - 1
    return EqualPrivacy(
        settings=len(projected),
        uninformative=len(projected) - len(informative),
        of=len(informative),
        low=ratios.low,
        high=ratios.high,
        repetitions=every_informative["repetitions"].min(),
        paired=range_of(paired.loc[paired["informative"], "ratio"]),
        far_percent=100 * distances.abs().max(),
        uniform=_uniform_errors(projected, results),
        rows=[
            _ratios_of_dataset_and_eps0(rows, results)
            for _, rows in upper.groupby(["dataset", "eps0"], sort=False)
        ],
    )


def _uniform_errors(projected: pd.DataFrame, results: Results) -> list[UniformError]:
    """For each dataset, its title and the TV error of the uniform histogram in its last setting.

    ``projected`` has a row for each setting, with the columns dataset and uniform. ``results["titles"]`` is
    dataset -> title.
    """
    errors = []
    for dataset, rows in projected.groupby("dataset", sort=False):
        title = results["titles"].get(str(dataset), dataset)
        errors.append(UniformError(title=title, tv=rows["uniform"].iloc[-1]))
    return errors


def _ratios_of_dataset_and_eps0(rows: pd.DataFrame, results: Results) -> BudgetRatios:
    """The ranges of the ratios of TV errors, shuffle+INV over the Gaussian, of one dataset and eps0.

    ``rows`` are all ratios of the dataset and eps0, over n and delta, with eps by our upper bound. Their
    column comparison says of which estimates. The fields of the result are:

    - title (of the dataset) and eps0
    - own: whether the paper's figures have this dataset and eps0
    - of: the number of settings (n and delta)
    - informative: in how many of them at least one projected estimate beats the uniform histogram
    - measured, projected: the ranges of the ratio before and after projection
    - predicted: the range of the closed form of the ratio before projection
    - limit: that closed form for many users
    """
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


def _simultaneous_range(rows: pd.DataFrame) -> Range:
    """The range of the ratios with intervals that hold for all ``rows`` together, in two digits.

    Each row has a ratio with the ends of its own 95 % interval, low and high. An interval for all rows
    together (Bonferroni) is wider by a quotient of normal quantiles. The range is rounded outwards.
    """
    normal = NormalDist()
    wider = normal.inv_cdf(1 - 0.05 / (2 * len(rows))) / normal.inv_cdf(1 - 0.05 / 2)
    below = rows["ratio"] - wider * (rows["ratio"] - rows["low"])
    above = rows["ratio"] + wider * (rows["high"] - rows["ratio"])
    return rounded_outwards(below.min(), above.max())


def papers_settings(results: Results) -> PapersSettings:
    """The ratios of errors, shuffle+INV over the Gaussian at equal privacy, in settings like the paper's.

    A row of the table "parity_ratio" is a ratio of mean errors. Taken are those with eps by our upper bound.
    A setting is a dataset, n, eps0 and delta. It is like the paper's if dataset and eps0 are in
    ``results["papers"]`` (dataset -> the eps0s of its figures). A dataset is only there if its n are the
    paper's, too. delta is our choice.

    The fields on settings like the paper's are:

    - of: the number of these settings
    - points: the number of their combinations of dataset, n and eps0
    - deltas: the number of choices of delta
    - low, high: the range of the ratio of total variation (TV) errors, both estimates projected
    - simultaneous: the same with intervals that hold for all these ratios together
    - paired: the same with shuffle+INV projected and the Gaussian not, as in the paper. better is the number
      of settings in which shuffle+INV has the smaller error
    - popular, ten_popular: the ranges of two further ratios, both estimates projected: of the error of the
      most popular value, and of the mean error of the ten most popular values

    Two fields are on the other settings that are informative: at least one projected estimate has a smaller
    TV error than the uniform histogram.

    - above: where the ratio of TV errors, both projected, is larger than ``high``
    - outside: the number of these settings and the range of the ratio, None if there is no such setting

    Raises LookupError unless all of the paper's settings are in the results.
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

    every_metric = in_papers_settings(upper[upper["comparison"] == "projected"], papers)
    most_popular = chosen_rows(every_metric, metric="most_popular")
    ten_most_popular = chosen_rows(every_metric, metric="ten_most_popular")

    informative = projected[projected["informative"]]
    not_papers = informative.drop(in_papers_settings(informative, papers).index)
    return PapersSettings(
        of=len(like_papers),
        points=len(like_papers.drop_duplicates(["dataset", "eps0", "n"])),
        deltas=like_papers["delta_rule"].nunique(),
        low=ratios.low,
        high=ratios.high,
        simultaneous=_simultaneous_range(like_papers),
        paired=PairedRatios(
            low=range_of_paired.low, high=range_of_paired.high, better=(paired < 1).sum()
        ),
        popular=range_of(most_popular["ratio"]),
        ten_popular=range_of(ten_most_popular["ratio"]),
        above=_settings_with_larger_ratios(not_papers, ratios.high),
        outside=_number_and_range_of_ratios(not_papers),
    )


def _settings_with_larger_ratios(rows: pd.DataFrame, high: float) -> LargerRatios:
    """Where the column ratio of ``rows`` is above ``high``: the datasets, the eps0s, and the most users n."""
    above = rows[rows["ratio"] > high]
    return LargerRatios(
        dataset=sorted(above["dataset"].unique()),
        eps0=sorted(above["eps0"].unique()),
        users=None if above.empty else above["n"].max(),
    )


def _number_and_range_of_ratios(rows: pd.DataFrame) -> OtherRatios | None:
    """The number of ``rows``, and the range of their column ratio. None if there is no row."""
    if rows.empty:
        return None
    ratios = range_of(rows["ratio"])
    return OtherRatios(of=len(rows), low=ratios.low, high=ratios.high)


def popular_values(results: Results) -> PopularValues:
    """The ratios of errors of single popular values: shuffle+INV over the Gaussian at equal privacy.

    The table "parity_ratio" has a row for each ratio, and those with eps by our upper bound are taken. The
    fields of the result are:

    - limit: the range, over the paper's datasets and eps0s, of the closed form of the most popular value's
      ratio for many users, before projection
    - table_v: the range of the measured ratios of the values in the paper's Table V, one by one

    Raises LookupError unless all of the paper's settings are in the results.
    """
    rows = chosen_rows(results["parity_ratio"], bound="upper")
    papers = results["papers"]
    most_popular = chosen_rows(rows, metric="most_popular", comparison="unprojected")
    limit = range_of(in_papers_settings(most_popular, papers)["limit"])
    table_v = range_of(_ratios_of_table_v(rows, results["verdicts"]))

    # Only now: where a row is missing above, the LookupError of `chosen_rows` says more.
    if set(PAPER) != set(papers):
        raise LookupError("not the paper's settings")
    return PopularValues(limit=limit, table_v=table_v)


def _ratios_of_table_v(rows: pd.DataFrame, verdicts: pd.DataFrame) -> "pd.Series[float]":
    """The ratios of errors, shuffle+INV over the Gaussian, of each value in the paper's Table V.

    They are of projected estimates, at the n and eps0 of the table. ``rows`` has all ratios. ``verdicts`` has
    a row for each value that the paper prints, with all columns as texts.
    """
    sizes = verdicts.loc[verdicts["item"] == "Table V", "n"].astype(int).unique()
    errors = chosen_rows(
        rows, metric="individual_error", comparison="projected", dataset="synthetic", eps0=4.0
    )
    return errors.loc[(errors["cell"] > 0) & errors["n"].isin(sizes), "ratio"]


def papers_extremes(results: Results) -> PapersExtremes:
    """Of settings like the paper's, those with the smallest and the largest ratio of errors, by two metrics.

    The ratio is shuffle+INV over the Gaussian at equal privacy (eps by our upper bound), both projected. The
    metrics are tv (total variation error) and popular (error of the most popular value). Each extreme has its
    setting, and its ratio with a bootstrap interval.

    Raises LookupError unless all of the paper's settings are in the results.
    """
    rows = chosen_rows(results["parity_ratio"], bound="upper", comparison="projected")
    tv_rows = chosen_rows(rows, metric="tv")
    popular_rows = chosen_rows(rows, metric="most_popular")
    # Only now: where a row is missing above, the LookupError of `chosen_rows` says more.
    if set(PAPER) != set(results["papers"]):
        raise LookupError("not the paper's settings")
    return PapersExtremes(
        tv=_smallest_and_largest_ratio(tv_rows, results),
        popular=_smallest_and_largest_ratio(popular_rows, results),
    )


def _smallest_and_largest_ratio(rows: pd.DataFrame, results: Results) -> Extremes:
    """The smallest and the largest ratio of errors in settings like the paper's, each with its setting.

    ``rows`` has a ratio for each setting, shuffle+INV over the Gaussian, by one metric. A setting is like the
    paper's if ``results["papers"]``, dataset -> eps0s, has its dataset and eps0. The fields of an extreme are
    title (of the dataset, from ``results["titles"]``), n, eps0, delta_rule (how delta is chosen: a number or
    a power of n), ratio, and low and high, the ends of its bootstrap interval.
    """
    rising = in_papers_settings(rows, results["papers"]).sort_values("ratio", kind="stable")
    ratios = []
    for _, row in rising.iloc[[0, -1]].iterrows():
        title = results["titles"][row["dataset"]]
        rule = str(row["delta_rule"])
        measured = row[_RATIO_AND_INTERVAL]
        ratios.append(MeasuredRatio(title=title, eps0=row["eps0"], delta_rule=rule, **measured))
    least, most = ratios
    return Extremes(least=least, most=most)


def unequal_privacy(results: Results) -> UnequalPrivacy:
    """The true eps of the two mechanisms that the paper's Figure 2 compares, at two deltas.

    The mechanisms are shuffled k-RR with eps0 = 4, and the Gaussian with the noise that our rerun of the
    figure has for (eps, delta) = (4, 1e-17). The paper says that both have eps = 4. Its own delta is 0 at
    eps = eps0, for which no Gaussian noise is enough, so our rerun takes 1e-17 instead.

    eps is that of the whole histogram: for the Gaussian exact, and for shuffled k-RR by our upper bound, at
    the smallest and at the largest n. ``delta``, ``gaussian`` and ``shuffled`` are at delta = 1e-6, and
    ``at_floor`` has the same at delta = 1e-17, with the stated eps (said). The table "unequal_privacy" in
    ``results`` has a row for each mechanism, n and delta.

    Raises LookupError unless the paper's synthetic setting is in the results.
    """
    if "synthetic" not in results["papers"]:
        raise LookupError("not the paper's settings: synthetic")
    table = results["unequal_privacy"]
    gaussian = chosen_rows(table, mechanism="gaussian").set_index("delta")["eps"]
    shuffled = chosen_rows(table, mechanism="shuffle")
    floor, delta = gaussian.index.sort_values()
    return UnequalPrivacy(
        delta=delta,
        gaussian=gaussian[delta],
        shuffled=_eps_by_users(chosen_rows(shuffled, delta=delta)),
        at_floor=AtFloor(
            delta=floor,
            said=shuffled["eps0"].iloc[0],
            gaussian=gaussian[floor],
            shuffled=_eps_by_users(chosen_rows(shuffled, delta=floor)),
        ),
    )


def _eps_by_users(rows: pd.DataFrame) -> list[UsersEps]:
    """The columns n and eps of each row."""
    return [UsersEps(n=int(row["n"]), eps=row["eps"]) for row in rows.to_dict("records")]
