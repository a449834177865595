"""What the runs at equal privacy say: mean errors and ratios, with bootstrap intervals and closed forms.

Individual errors are averaged over the dataset's cells within each repetition. The bootstrap draws
repetitions, the same ones for every setting and mechanism of one dataset and number of users, so that ratios
keep the pairing of the runs.
"""

import numpy as np
import pandas as pd

from tightshuffle.experiments.published import seed_of
from tightshuffle.mechanisms.expected import gaussian_errors, krr_errors, plain_errors, ratio_limit
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale

SETTING = ["dataset", "n", "k", "eps0", "delta_rule", "delta", "bound", "eps"]
SERIES = [*SETTING, "mechanism", "estimator", "metric"]
MEANS = [
    "dataset", "n", "k", "eps0", "delta", "eps", "bound", "mechanism", "estimator", "metric",
    "mean", "low", "high", "repetitions", "delta_rule", "predicted",
]  # fmt: skip
RATIOS = [*SETTING, "comparison", "metric", "ratio", "low", "high", "repetitions", "predicted", "limit"]
COMPARISONS = {  # name: the estimators of shuffle and of the Gaussian, which stands below the line
    "unprojected": ("inversion", "none"),
    "projected": ("projection", "projection"),
    "maximum likelihood": ("maximum_likelihood", "projection"),
}
PUBLISHED = "published"  # the comparison of the published protocol's own trials


def bootstrap(values, *, resamples, confidence, seed, of=lambda means: means):
    """Percentile interval of a function of column means, rows drawn with replacement.

    Parameters
    ----------
    values : shape (repetitions, series);  ``confidence``: of the two-sided interval, in (0, 1)
    of : from means of shape (..., series) to (..., m)

    Returns
    -------
    (estimate, low, high), each of shape (m,).
    """
    values = np.asarray(values, dtype=float)
    rows = len(values)
    chosen = np.random.default_rng(seed).multinomial(rows, np.full(rows, 1 / rows), size=resamples)
    # Not `@`: the last digits of BLAS depend on the number of threads.
    drawn = of(np.einsum("br,rs->bs", chosen / rows, values))
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return of(values.mean(axis=0)), low, high


def summarise(trials, counts, *, resamples, confidence, seed):
    """(means, ratios) of one dataset and number of users: frames with the columns `MEANS` and `RATIOS`.

    Parameters: ``trials`` as `parity.run_point` gives them; ``counts`` the dataset's histogram (k,), whose
    shares the closed forms take; ``seed`` the root seed.
    """
    wide = _wide(trials)
    settings = wide.columns.to_frame(index=False)
    first = settings.iloc[0]
    how = {
        "resamples": resamples,
        "confidence": confidence,
        "seed": seed_of(seed, stage="parity bootstrap", dataset=first["dataset"], n=int(first["n"])),
    }
    mean, low, high = bootstrap(wide.to_numpy(), **how)
    means = settings.assign(mean=mean, low=low, high=high, repetitions=len(wide))
    shares = np.asarray(counts) / np.sum(counts)
    cells = sorted(set(trials["cell"]) - {0})
    means["predicted"] = _predicted(settings, shares, cells)

    top, bottom, ratios = _pairs(means)
    ratio, low, high = bootstrap(wide.to_numpy(), **how, of=lambda m: m[..., top] / m[..., bottom])
    ratios = ratios.assign(ratio=ratio, low=low, high=high, repetitions=len(wide))
    ratios["predicted"] = means["predicted"].to_numpy()[top] / means["predicted"].to_numpy()[bottom]
    limits = {eps0: ratio_limit(shares, eps0) for eps0 in settings["eps0"].unique()}
    limited = (ratios["comparison"] == "unprojected") & (ratios["metric"] == "tv")
    ratios["limit"] = ratios["eps0"].map(limits).where(limited)
    return means[MEANS], ratios[RATIOS]


def published_ratios(trials, *, resamples, confidence, seed):
    """shuffle+INV over Gaussian by the published protocol: rows of `RATIOS` from one point's trials."""
    rows = trials[trials["metric"] == "tv"]
    wide = rows.pivot(index="repetition", columns="mechanism", values="value")[["shuffle+INV", "gaussian"]]
    first = rows.iloc[0]
    seed = seed_of(seed, stage="published bootstrap", dataset=first["dataset"], n=int(first["n"]))
    ratio, low, high = bootstrap(
        wide.to_numpy(),
        resamples=resamples,
        confidence=confidence,
        seed=seed,
        of=lambda means: means[..., :1] / means[..., 1:],
    )
    row = {name: first[name] for name in ("dataset", "n", "k", "eps0", "eps")}
    row |= {"delta": rows["delta"].median(), "comparison": PUBLISHED, "metric": "tv"}
    row |= {"ratio": ratio[0], "low": low[0], "high": high[0], "repetitions": len(wide)}
    return pd.DataFrame([row]).reindex(columns=RATIOS)


def _wide(trials):
    """Values as (repetitions, series): cells averaged, a column per setting, mechanism, estimator, metric."""
    averaged = trials.groupby([*SERIES, "repetition"], sort=True)["value"].mean()
    return averaged.unstack("repetition").T


def _pairs(means):
    """Positions of numerators and denominators in ``means``, and their settings and comparisons."""
    key = [*SETTING, "metric"]
    indexed = means.reset_index(names="position").set_index(["mechanism", "estimator"])[["position", *key]]
    found = []
    for name, (shuffle, gaussian) in COMPARISONS.items():
        pairs = indexed.loc[("shuffle", shuffle)].merge(
            indexed.loc[("gaussian", gaussian)], on=key, validate="one_to_one", suffixes=("", "_below")
        )
        found.append(pairs.assign(comparison=name))
    found = pd.concat(found, ignore_index=True)
    top, bottom = (found[name].to_numpy() for name in ("position", "position_below"))
    return top, bottom, found[[*SETTING, "comparison", "metric"]]


def _predicted(settings, shares, cells):
    """The closed form of every series' mean; nan where there is none: projections, maximum likelihood."""
    values = []
    for row in settings.itertuples():
        match row.mechanism, row.estimator:
            case "shuffle", "none":
                errors = plain_errors(shares, n=row.n, eps0=row.eps0)
            case "shuffle", "inversion":
                errors = krr_errors(shares, n=row.n, eps0=row.eps0)
            case "gaussian", "none":
                sigma = exact_scale(row.eps, row.delta, sensitivity=HISTOGRAM_SENSITIVITY)
                errors = gaussian_errors(row.k, n=row.n, sigma=sigma)
            case _:
                errors = np.full(row.k, np.nan)
        values.append(errors.sum() / 2 if row.metric == "tv" else errors[np.array(cells) - 1].mean())
    return np.array(values)
