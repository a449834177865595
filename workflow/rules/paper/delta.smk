# delta of one value's count: the printed formulas, Figure 1, and the delta behind every printed one.
DELTA_HAT = configuration.having("delta_hat", DATASETS)
TITLES = {name: dataset["title"] for name, dataset in DATASETS.items()}


localrules:
    compute_printed_deltas,
    draw_delta_surface,
    draw_delta_hat,


rule compute_printed_deltas:
    "log10 delta behind every printed delta, by the formula that gives its digits; the paper's own also exactly."
    input:
        values=source(VALUES),
    output:
        deltas="<results>/delta/printed_deltas.csv",
    log:
        "<results>/logs/compute_printed_deltas.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/delta/compute_printed_deltas.py"),
        *settings(contents=digests([source(VALUES)])),
    script:
        "../../../scripts/paper/delta/compute_printed_deltas.py"


rule compute_delta_surface:
    output:
        "<results>/delta/delta_surface.csv",
    log:
        "<results>/logs/compute_delta_surface.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/delta/compute_delta_surface.py"),
        *settings(surface=config["delta_surface"]),
    script:
        "../../../scripts/paper/delta/compute_delta_surface.py"


# A short job whose output is no result, for `make cluster-check`.
use rule compute_delta_surface as check_cluster with:
    output:
        "<results>/logs/check_cluster.csv",
    log:
        "<results>/logs/check_cluster.log",


rule draw_delta_surface:
    "Figure 1."
    input:
        "<results>/delta/delta_surface.csv",
    output:
        **drawn("fig1_delta_surface"),
    log:
        "<results>/logs/draw_delta_surface.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/delta/draw_delta_surface.py"),
    script:
        "../../../scripts/paper/delta/draw_delta_surface.py"


rule compute_delta_hat:
    "delta-hat, eq. (15), for eps < eps0: as printed and exact."
    input:
        histogram="<results>/data/histograms/{dataset}.csv",
    output:
        shown(
            "<results>/delta/delta_hat_{dataset}.csv",
            "delta-hat",
            "as printed and exact",
        ),
    log:
        "<results>/logs/compute_delta_hat/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(DELTA_HAT),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/delta/compute_delta_hat.py"),
        *settings(
            delta_hat=lambda wildcards: DATASETS[wildcards.dataset]["delta_hat"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/paper/delta/compute_delta_hat.py"


rule draw_delta_hat:
    input:
        expand(rules.compute_delta_hat.output, dataset=DELTA_HAT),
    output:
        **drawn("delta_hat"),
    log:
        "<results>/logs/draw_delta_hat.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/delta/draw_delta_hat.py"),
        *settings(titles=TITLES, floor=config["protocol"]["delta_floor"]),
    script:
        "../../../scripts/paper/delta/draw_delta_hat.py"


rule delta:
    "delta of one value's count, as printed and exact; Figure 1; and delta-hat."
    input:
        rules.compute_printed_deltas.output,
        rules.compute_delta_surface.output,
        expand(rules.compute_delta_hat.output, dataset=DELTA_HAT),
        figures_of_stage("delta"),
