# The paper's protocol as printed: errors over all repetitions, and one run cell by cell.
TV = configuration.having("tv", PAPERS)


localrules:
    draw_tv,
    draw_log_tv,
    draw_estimates,
    run_delta_hat_trials,
    draw_delta_hat_trials,
    compute_constants,
    draw_constants,
    draw_gaussian_scale,


rule run_trials:
    "TV distance and individual error of every mechanism: the points of one budget, or of one part of a grid."
    input:
        histogram="<results>/data/histograms/{dataset}.csv",
    output:
        "<results>/trials/{dataset}_{part}.parquet",
    log:
        "<results>/logs/run_trials/{dataset}_{part}.log",
    wildcard_constraints:
        part="eps0-[0-9.e-]+_eps-[0-9.e-]+|grid-[0-9]+",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/run_trials.py"),
        *settings(
            points=lambda wildcards: PARTS[wildcards.dataset][wildcards.part],
            cells=lookup("datasets/{dataset}/individual/cells", within=config, default=[]),
            protocol=config["protocol"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/paper/trials/run_trials.py"


rule estimate_cells:
    "One run of every mechanism per budget, cell by cell (data of Figures 4 and 5)."
    input:
        histogram="<results>/data/histograms/{dataset}.csv",
    output:
        "<results>/trials/estimates/{dataset}.csv",
    log:
        "<results>/logs/estimate_cells/{dataset}.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/estimate_cells.py"),
        *settings(
            budgets=lookup("datasets/{dataset}/estimates/budgets", within=config),
            n=lookup("datasets/{dataset}/estimates/n", within=config),
            protocol=config["protocol"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/paper/trials/estimate_cells.py"


rule draw_tv:
    "Figures 2, 6 and 7: boxplots of the total variation error."
    input:
        lambda wildcards: trial_files("tv", datasets=[wildcards.dataset]),
    output:
        **drawn("{number}tv_{dataset}"),
    log:
        "<results>/logs/draw_tv/{number}{dataset}.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/draw_tv.py"),
        *settings(
            title=lookup("datasets/{dataset}/title", within=config),
            protocol=config["protocol"],
        ),
    script:
        "../../../scripts/paper/trials/draw_tv.py"


rule draw_log_tv:
    "The boxes of Figures 2, 6 and 7 on a logarithmic axis."
    input:
        lambda wildcards: trial_files("tv", datasets=[wildcards.dataset]),
    output:
        **drawn("log_tv_{dataset}"),
    log:
        "<results>/logs/draw_log_tv/{dataset}.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/draw_log_tv.py"),
        *settings(
            title=lookup("datasets/{dataset}/title", within=config),
            protocol=config["protocol"],
        ),
    script:
        "../../../scripts/paper/trials/draw_log_tv.py"


rule draw_estimates:
    "Figures 4 and 5: the estimates, cell by cell."
    input:
        histogram="<results>/data/histograms/{dataset}.csv",
        estimates="<results>/trials/estimates/{dataset}.csv",
    output:
        **drawn("{number}estimates_{dataset}"),
    log:
        "<results>/logs/draw_estimates/{number}{dataset}.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/draw_estimates.py"),
        *settings(
            title=lookup("datasets/{dataset}/title", within=config),
            protocol=config["protocol"],
        ),
    script:
        "../../../scripts/paper/trials/draw_estimates.py"


rule run_delta_hat_trials:
    "The paper's protocol where it is defined: TV errors at (eps, delta-hat) with eps < eps0."
    input:
        histogram="<results>/data/histograms/{dataset}.csv",
        delta_hats="<results>/delta/delta_hat_{dataset}.csv",
    output:
        "<results>/trials/delta_hat/{dataset}.csv",
    log:
        "<results>/logs/run_delta_hat_trials/{dataset}.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/run_delta_hat_trials.py"),
        *settings(
            repetitions=lookup("datasets/{dataset}/delta_hat/repetitions", within=config),
            sensitivities=config["constants"]["sensitivities"],
            floor=config["protocol"]["delta_floor"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/paper/trials/run_delta_hat_trials.py"


rule draw_delta_hat_trials:
    input:
        expand(rules.run_delta_hat_trials.output, dataset=DELTA_HAT),
    output:
        **drawn("delta_hat_trials"),
    log:
        "<results>/logs/draw_delta_hat_trials.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/draw_delta_hat_trials.py"),
        *settings(titles=TITLES),
    script:
        "../../../scripts/paper/trials/draw_delta_hat_trials.py"


rule compute_constants:
    "The errors of Figures 2 and 4 to 7 at both ends of n, under other floors of delta and sensitivities."
    input:
        **{name: f"<results>/data/histograms/{name}.csv" for name in TV},
    output:
        shown(
            "<results>/trials/constants.csv",
            "constants",
            "errors under other floors and sensitivities",
        ),
    log:
        "<results>/logs/compute_constants.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/compute_constants.py"),
        *settings(
            experiments={
                name: {
                    experiment: DATASETS[name][experiment]
                    for experiment in ("tv", "estimates")
                    if DATASETS[name].get(experiment)
                }
                for name in TV
            },
            constants=config["constants"],
            protocol=config["protocol"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/paper/trials/compute_constants.py"


rule draw_constants:
    input:
        "<results>/trials/constants.csv",
    output:
        **drawn("constants"),
    log:
        "<results>/logs/draw_constants.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/draw_constants.py"),
        *settings(titles=TITLES),
    script:
        "../../../scripts/paper/trials/draw_constants.py"


rule compute_gaussian_scale:
    output:
        "<results>/trials/gaussian_scale.csv",
    log:
        "<results>/logs/compute_gaussian_scale.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/compute_gaussian_scale.py"),
    script:
        "../../../scripts/paper/trials/compute_gaussian_scale.py"


rule draw_gaussian_scale:
    input:
        "<results>/trials/gaussian_scale.csv",
    output:
        **drawn("gaussian_scale"),
    log:
        "<results>/logs/draw_gaussian_scale.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/trials/draw_gaussian_scale.py"),
    script:
        "../../../scripts/paper/trials/draw_gaussian_scale.py"


rule trials:
    "The published protocol, also the trials of `grid` (config/scale.yaml), and its figures."
    input:
        trial_files("tv", "individual", "grid"),
        expand(rules.estimate_cells.output, dataset=configuration.having("estimates", DATASETS)),
        expand(rules.run_delta_hat_trials.output, dataset=DELTA_HAT),
        rules.compute_constants.output if TV else [],
        rules.compute_gaussian_scale.output,
        figures_of_stage("trials"),
