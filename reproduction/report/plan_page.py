"""The error for a given guarantee, as lines of text for the report and as a Markdown page."""

import pandas as pd

from reproduction.report.markdown import markdown_page, markdown_table

TITLE = "What a target guarantee costs in accuracy"
EXPLANATION = (
    "Suppose n users each hold one of k values, and you need (eps, delta). Column eps0 is the largest eps0"
    " that k-RR may have behind a shuffler. The next columns are the expected total variation errors of"
    " shuffle+INV and of the central analytic Gaussian with the same guarantee. Column local is the error of"
    " k-RR alone, with eps0 = eps and delta = 0. All errors are without projection, for uniform data. Such"
    " data are the worst case for k-RR. An estimate with an error above 1 is useless."
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
