# The paper's figures, and the same two forms (tv, estimates) for every dataset of the user's own.
# Each figure is a PNG, a PDF and its caption as text.

FIGURE_STYLE = "tightshuffle/tightshuffle.mplstyle"


rule draw_delta_surface:
    "Figure 1: log10 delta over eps and eps0, published and exact side by side."
    input:
        surface="results/privacy/delta_surface.csv",
        code=code_of("scripts/draw_delta_surface.py"),
        style=FIGURE_STYLE,
    output:
        png=report(
            "results/figures/fig1_delta_surface.png",
            caption="../report/delta_surface.rst",
            category="Figures",
            labels={"figure": "fig1", "shows": "log10 delta over eps and eps0"},
        ),
        pdf="results/figures/fig1_delta_surface.pdf",
        txt="results/figures/fig1_delta_surface.txt",
    log:
        "results/logs/draw_delta_surface.log",
    benchmark:
        "results/benchmarks/draw_delta_surface.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../../scripts/draw_delta_surface.py"


rule draw_tv:
    "Boxplots of the TV distance per n, with and without plain shuffle (Figures 2, 6, 7; any dataset)."
    input:
        trials=lambda wildcards: tv_trials(wildcards.dataset),
        code=code_of("scripts/draw_tv.py"),
        style=FIGURE_STYLE,
    output:
        png=report(
            "results/figures/{prefix}tv_{dataset}.png",
            caption="../report/tv.rst",
            category="Figures",
            labels={"figure": "{prefix}tv", "shows": "TV distance per n, {dataset}"},
        ),
        pdf="results/figures/{prefix}tv_{dataset}.pdf",
        txt="results/figures/{prefix}tv_{dataset}.txt",
    log:
        "results/logs/draw_tv/{prefix}{dataset}.log",
    benchmark:
        "results/benchmarks/draw_tv/{prefix}{dataset}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
        protocol=config["protocol"],
    script:
        "../../scripts/draw_tv.py"


rule draw_checkins:
    "Figure 3: the check-ins of every city as points and as counts per cell."
    input:
        histograms=expand("results/histograms/{dataset}.csv", dataset=GOWALLA),
        checkins=expand("results/checkins/{dataset}.parquet", dataset=GOWALLA),
        code=code_of("scripts/draw_checkins.py"),
        style=FIGURE_STYLE,
    output:
        png=report(
            "results/figures/fig3_checkins.png",
            caption="../report/checkins.rst",
            category="Figures",
            labels={"figure": "fig3", "shows": "check-ins of the cities"},
        ),
        pdf="results/figures/fig3_checkins.pdf",
        txt="results/figures/fig3_checkins.txt",
    log:
        "results/logs/draw_checkins.log",
    benchmark:
        "results/benchmarks/draw_checkins.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        titles=[config["datasets"][dataset]["title"] for dataset in GOWALLA],
        boxes=[config["datasets"][dataset]["box"] for dataset in GOWALLA],
        grid=config["gowalla"]["grid"],
    script:
        "../../scripts/draw_checkins.py"


rule draw_estimates:
    "Original, Gaussian and shuffle+INV estimates cell by cell, a row per budget (Figures 4, 5; any dataset)."
    input:
        histogram="results/histograms/{dataset}.csv",
        estimates=lambda wildcards: estimate_files(wildcards.dataset),
        code=code_of("scripts/draw_estimates.py"),
        style=FIGURE_STYLE,
    output:
        png=report(
            "results/figures/{prefix}estimates_{dataset}.png",
            caption="../report/estimates.rst",
            category="Figures",
            labels={"figure": "{prefix}estimates", "shows": "original and estimates, {dataset}"},
        ),
        pdf="results/figures/{prefix}estimates_{dataset}.pdf",
        txt="results/figures/{prefix}estimates_{dataset}.txt",
    log:
        "results/logs/draw_estimates/{prefix}{dataset}.log",
    benchmark:
        "results/benchmarks/draw_estimates/{prefix}{dataset}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
        protocol=config["protocol"],
    script:
        "../../scripts/draw_estimates.py"
