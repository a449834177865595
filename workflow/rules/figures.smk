# The paper's figures, and the same forms (tv, estimates) for every dataset of your own. Each figure is a module of
# reproduction/figures, which reads, draws and describes it; a rule says from which files, with which settings.
from reproduction.jobs.figures import drawn_by, drawn_files


# The other figures' rules are this one with other files and settings. `use rule` does not hand localrule on.
rule draw_delta_surface:
    "Figure 1: log10 delta over eps and eps0, published and exact side by side."
    input:
        surface="<results>/privacy/delta_surface.csv",
    output:
        **drawn_files("fig1_delta_surface"),
    log:
        "<results>/logs/draw_delta_surface.log",
    benchmark:
        "<results>/benchmarks/draw_delta_surface.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        **drawn_by("delta_surface"),
    script:
        "../../scripts/draw_figure.py"


use rule draw_delta_surface as draw_tv with:
    "Boxplots of the TV distance per n, a panel per budget (Figures 2, 6, 7; any dataset)."
    input:
        trials=lambda wildcards: trial_files("tv", datasets=[wildcards.dataset]),
    output:
        **drawn_files("{prefix}tv_{dataset}"),
    log:
        "<results>/logs/draw_tv/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_tv/{prefix}{dataset}.tsv"
    localrule: True
    params:
        **drawn_by("tv"),
        title=lambda wildcards: DATASETS[wildcards.dataset]["title"],
        protocol=config["protocol"],


use rule draw_delta_surface as draw_checkins with:
    "Figure 3: the check-ins of every city as points and as counts per cell."
    input:
        histograms=expand("<results>/histograms/{dataset}.csv", dataset=GOWALLA),
        checkins=expand("<results>/checkins/{dataset}.parquet", dataset=GOWALLA),
    output:
        **drawn_files("fig3_checkins"),
    log:
        "<results>/logs/draw_checkins.log",
    benchmark:
        "<results>/benchmarks/draw_checkins.tsv"
    localrule: True
    params:
        **drawn_by("checkins"),
        titles=[DATASETS[dataset]["title"] for dataset in GOWALLA],
        boxes=[DATASETS[dataset]["box"] for dataset in GOWALLA],
        grid=config["gowalla"]["grid"],


use rule draw_delta_surface as draw_estimates with:
    "Original, Gaussian and shuffle+INV estimates cell by cell, a row per budget (Figures 4, 5; any dataset)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
        estimates="<results>/estimates/{dataset}.csv",
    output:
        **drawn_files("{prefix}estimates_{dataset}"),
    log:
        "<results>/logs/draw_estimates/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_estimates/{prefix}{dataset}.tsv"
    localrule: True
    params:
        **drawn_by("estimates"),
        title=lambda wildcards: DATASETS[wildcards.dataset]["title"],
        protocol=config["protocol"],


use rule draw_delta_surface as draw_delta_bounds with:
    "delta over eps by every accountant: what is published, what is true, what holds."
    input:
        bounds="<results>/privacy/delta_bounds.csv",
    output:
        **drawn_files("delta_bounds"),
    log:
        "<results>/logs/draw_delta_bounds.log",
    benchmark:
        "<results>/benchmarks/draw_delta_bounds.tsv"
    localrule: True
    params:
        **drawn_by("delta_bounds"),


use rule draw_delta_surface as draw_blanket_regions with:
    "Where the blanket paper calls eq. (3) tight, and how far it is from the true delta."
    input:
        regions="<results>/privacy/blanket_regions.csv",
        tightness="<results>/privacy/blanket_tightness.csv",
    output:
        **drawn_files("blanket_regions"),
    log:
        "<results>/logs/draw_blanket_regions.log",
    benchmark:
        "<results>/benchmarks/draw_blanket_regions.tsv"
    localrule: True
    params:
        **drawn_by("blanket_regions"),


use rule draw_delta_surface as draw_band with:
    "What upper and lower leave open around the datasets that seem to be the worst."
    input:
        band="<results>/privacy/band.csv",
    output:
        **drawn_files("band"),
    log:
        "<results>/logs/draw_band.log",
    benchmark:
        "<results>/benchmarks/draw_band.tsv"
    localrule: True
    params:
        **drawn_by("band"),


use rule draw_delta_surface as draw_gaussian_scale with:
    "The analytic Gaussian's scale over delta: where diffprivlib's saturates."
    input:
        scales="<results>/privacy/gaussian_scale.csv",
    output:
        **drawn_files("gaussian_scale"),
    log:
        "<results>/logs/draw_gaussian_scale.log",
    benchmark:
        "<results>/benchmarks/draw_gaussian_scale.tsv"
    localrule: True
    params:
        **drawn_by("gaussian_scale"),


use rule draw_delta_surface as draw_girgis_rdp with:
    "Girgis' RDP bound beside exact Renyi divergences, and delta after compositions beside the PLD."
    input:
        divergences="<results>/privacy/girgis_rdp.csv",
        composed="<results>/privacy/girgis_composed.csv",
    output:
        **drawn_files("girgis_rdp"),
    log:
        "<results>/logs/draw_girgis_rdp.log",
    benchmark:
        "<results>/benchmarks/draw_girgis_rdp.tsv"
    localrule: True
    params:
        **drawn_by("girgis_rdp"),
        deepest=config["girgis_rdp"]["composed"]["deepest"],


use rule draw_delta_surface as draw_koskela with:
    "A panel of Koskela et al., Figure 1: delta of several rounds over eps."
    input:
        curves="<results>/privacy/koskela_{panel}.csv",
    output:
        **drawn_files("koskela_{panel}"),
    log:
        "<results>/logs/draw_koskela_{panel}.log",
    benchmark:
        "<results>/benchmarks/draw_koskela_{panel}.tsv"
    wildcard_constraints:
        panel="fig1a|fig1b",
    localrule: True
    params:
        **drawn_by("koskela"),
        lowest=lambda wildcards: config["koskela"][wildcards.panel]["lowest"],


use rule draw_delta_surface as draw_audit with:
    "The audit's lower bounds over eps, with the published, the exact and the upper delta."
    input:
        audit="<results>/audit.csv",
    output:
        **drawn_files("audit"),
    log:
        "<results>/logs/draw_audit.log",
    benchmark:
        "<results>/benchmarks/draw_audit.tsv"
    localrule: True
    params:
        **drawn_by("audit"),


use rule draw_delta_surface as draw_parity_tv with:
    "Boxplots of the TV distance per n at equal privacy (Figures 2, 6, 7; any dataset)."
    input:
        trials="<results>/parity/{dataset}.parquet",
    output:
        **drawn_files("{prefix}parity_{dataset}"),
    log:
        "<results>/logs/draw_parity_tv/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_parity_tv/{prefix}{dataset}.tsv"
    localrule: True
    params:
        **drawn_by("parity_tv"),
        title=lambda wildcards: DATASETS[wildcards.dataset]["title"],
        delta=PARITY["delta"][0],


use rule draw_delta_surface as draw_parity_estimates with:
    "Original and estimates at equal privacy, cell by cell (Figures 4, 5; any dataset)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
        estimates="<results>/parity/{dataset}_estimates.csv",
    output:
        **drawn_files("{prefix}parity_estimates_{dataset}"),
    log:
        "<results>/logs/draw_parity_estimates/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_parity_estimates/{prefix}{dataset}.tsv"
    localrule: True
    params:
        **drawn_by("parity_estimates"),
        title=lambda wildcards: DATASETS[wildcards.dataset]["title"],


use rule draw_delta_surface as draw_parity_ratio with:
    "TV error of shuffle+INV over the Gaussian's at equal privacy, over n."
    input:
        ratios="<results>/parity_ratio.csv",
    output:
        **drawn_files("parity_ratio"),
    log:
        "<results>/logs/draw_parity_ratio.log",
    benchmark:
        "<results>/benchmarks/draw_parity_ratio.tsv"
    localrule: True
    params:
        **drawn_by("parity_ratio"),
        titles={name: DATASETS[name]["title"] for name in PARITY_DATASETS},


use rule draw_delta_surface as draw_study_ratio with:
    "Every randomizer's error over the Gaussian's at equal privacy, over n, a panel per k."
    input:
        study="<results>/study/study.csv",
    output:
        **drawn_files("study_ratio"),
    log:
        "<results>/logs/draw_study_ratio.log",
    benchmark:
        "<results>/benchmarks/draw_study_ratio.tsv"
    localrule: True
    params:
        **drawn_by("study_ratio"),


use rule draw_delta_surface as draw_study_best with:
    "The randomizer with the least error, over n and k, a panel per eps."
    input:
        study="<results>/study/study.csv",
    output:
        **drawn_files("study_best"),
    log:
        "<results>/logs/draw_study_best.log",
    benchmark:
        "<results>/benchmarks/draw_study_best.tsv"
    localrule: True
    params:
        **drawn_by("study_best"),


use rule draw_delta_surface as draw_study_grids with:
    "Errors on one city over the number of cells, beside the uniform histogram."
    input:
        grids="<results>/study/grids.csv",
    output:
        **drawn_files("study_grids"),
    log:
        "<results>/logs/draw_study_grids.log",
    benchmark:
        "<results>/benchmarks/draw_study_grids.tsv"
    localrule: True
    params:
        **drawn_by("study_grids"),
        title=DATASETS[config["study"]["grids"]["city"]]["title"],


use rule draw_delta_surface as draw_study_estimators with:
    "Each randomizer's error by estimator, on every dataset."
    input:
        simulation="<results>/study/simulation.csv",
    output:
        **drawn_files("study_estimators"),
    log:
        "<results>/logs/draw_study_estimators.log",
    benchmark:
        "<results>/benchmarks/draw_study_estimators.tsv"
    localrule: True
    params:
        **drawn_by("study_estimators"),
        titles={name: dataset["title"] for name, dataset in PAPERS.items()},
