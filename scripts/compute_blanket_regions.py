"""What the "tight blanket" paper's theorems promise over eps0, and eq. (3) beside the true delta."""

import numpy as np
import pandas as pd

from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.privacy import blanket, count, histogram

BOUNDS = {"lower": histogram.lower, "upper": histogram.upper}  # of the whole release, for every dataset


def regions(plan):
    """The ends of the theorems' regions and the number of real roots of P and H, a row per eps0."""
    eps0 = axis(plan["eps0"])
    setting = {"n": plan["n"], "k": plan["k"], "count": holders(plan["share"], plan["n"])}
    constants = blanket.kappas(eps0=eps0, **setting)
    roots_p = blanket.critical_polynomial_roots(eps0=eps0, **setting)
    roots_h = blanket.critical_equation_roots(eps0=eps0, **setting)
    ends = {
        "log_kappa_2": constants.log_kappa_2,
        "kappa_4": constants.kappa_4,
        "case_border": blanket.case_border(eps0),
        "roots_P": np.isfinite(roots_p).sum(axis=1),
        "roots_H": np.isfinite(roots_h).sum(axis=1),
    }
    return pd.DataFrame({"eps0": eps0, **setting, **ends})


def tightness(plan):
    """Eq. (3), the count of x0 and the whole release: over eps at one n, and over n at some eps.

    The column ``series`` says which: "eps", "n", or "S_2" for eps = ln(kappa_2) / 2 at every n.
    """
    eps0, k, share = plan["curve"]["eps0"], plan["k"], plan["share"]
    for key, eps in {
        "curve.eps.start": plan["curve"]["eps"]["start"],
        "growth.eps": max(plan["growth"]["eps"]),
    }.items():
        if eps >= eps0:
            raise ValueError(
                f"blanket_regions.{key} must be below curve.eps0 = {eps0}, or delta is 0; got {eps}"
            )
    sizes = np.array(plan["growth"]["n"])
    middle = blanket.kappas(n=sizes, k=k, eps0=eps0, count=holders(share, sizes)).log_kappa_2 / 2
    series = [("eps", eps, plan["n"]) for eps in axis(plan["curve"]["eps"], np.geomspace)]
    series += [("n", eps, n) for eps in plan["growth"]["eps"] for n in sizes]
    series += [("S_2", eps, n) for eps, n in zip(middle, sizes, strict=True)]
    table = pd.DataFrame(series, columns=["series", "eps", "n"])
    table = table.assign(k=k, eps0=eps0, count=holders(share, table["n"].to_numpy()))
    eps, setting = table["eps"].to_numpy(), {name: table[name].to_numpy() for name in ("n", "k", "eps0")}
    held = table["count"].to_numpy()
    constants = blanket.kappas(count=held, **setting)
    table = table.assign(log_kappa_2=constants.log_kappa_2, kappa_4=constants.kappa_4)
    table["equation_3"] = blanket.equation_3(eps, **setting)
    table["surplus"] = blanket.surplus(eps, count=held, **setting)
    for direction in ("forward", "reverse"):
        table[f"count_{direction}"] = count.delta(eps, count=held, direction=direction, **setting)
    for name, bound in BOUNDS.items():
        table[name] = bound(eps, **setting)
    return table


def holders(share, n):
    """How many of the other n - 1 users hold x0: pi(x0) (n - 1), rounded."""
    return np.rint(share * (np.asarray(n) - 1)).astype(int)


def axis(plan, spaced=np.linspace):
    return spaced(plan["start"], plan["stop"], plan["steps"])


if __name__ == "__main__":
    with job(snakemake):
        write_csv(regions(snakemake.params.plan), snakemake.output.regions)
        write_csv(tightness(snakemake.params.plan), snakemake.output.tightness)
