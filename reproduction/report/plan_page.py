"""What a wanted guarantee costs, as lines of texts for the report's page and as a Markdown page."""

import pandas as pd

from reproduction.report.markdown import markdown_page, markdown_table

TITLE = "What a wanted guarantee costs"
EXPLANATION = (
    "For n users in k cells and a wanted (eps, delta): the largest eps0 that k-RR may have behind a shuffler,"
    " and the expected total variation distance of shuffle+INV, of the central analytic Gaussian with the"
    " same guarantee, and of k-RR alone with eps0 = eps (no shuffler, delta = 0). Uniform data, which is"
    " k-RR's worst; before any projection, so that a distance above 1 means an estimate that is worthless."
)
HEADER = ["n", "k", "eps", "delta", "eps0", "shuffle+INV", "Gaussian", "shuffle+INV / Gaussian", "local"]


def plan_lines(plans: pd.DataFrame) -> list[list[str]]:
    """One line of texts, in the order of `HEADER`, per row of results/parity_plan.csv."""
    return [
        [
            f"{row['n']:,}",
            f"{row['k']:,}",
            f"{row['eps']:g}",
            f"{row['delta']:g}",
            f"{row['eps0']:.3f}" + (" or more" if row["capped"] else ""),
            f"{row['tv_shuffle_inv']:.3g}",
            f"{row['tv_gaussian']:.3g}",
            f"{row['tv_shuffle_inv'] / row['tv_gaussian']:.3f}",
            f"{row['tv_local']:.3g}",
        ]
        for row in plans.to_dict("records")
    ]


def plan_page(plans: pd.DataFrame) -> str:
    """The page for the rows of results/parity_plan.csv."""
    return markdown_page(TITLE, [EXPLANATION, markdown_table(HEADER, plan_lines(plans))])
