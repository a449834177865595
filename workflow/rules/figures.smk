# The paper's figures, and the same two forms (tv, estimates) for every dataset of the user's own.
# Each figure is a PNG, a PDF and its caption as text.

FIGURE_STYLE = "tightshuffle/figures/tightshuffle.mplstyle"


rule draw_audit:
    "The audit's lower bounds over eps, with the published, the exact and the upper delta."
    input:
        audit="<results>/audit.csv",
    output:
        png=report(
            "<results>/figures/audit.png",
            caption="../report/audit.rst",
            category="Figures",
            labels={"figure": "audit", "shows": "what an observer of the real protocol sees"},
        ),
        pdf="<results>/figures/audit.pdf",
        txt="<results>/figures/audit.txt",
    log:
        "<results>/logs/draw_audit.log",
    benchmark:
        "<results>/benchmarks/draw_audit.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_audit.py", FIGURE_STYLE),
    script:
        "../../scripts/draw_audit.py"


rule draw_koskela:
    "A panel of Koskela et al., Figure 1: delta of several rounds over eps."
    input:
        curves="<results>/privacy/koskela_{panel}.csv",
    output:
        png=report(
            "<results>/figures/koskela_{panel}.png",
            caption="../report/koskela.rst",
            category="Figures",
            labels={"figure": "koskela_{panel}", "shows": "delta of several rounds over eps"},
        ),
        pdf="<results>/figures/koskela_{panel}.pdf",
        txt="<results>/figures/koskela_{panel}.txt",
    log:
        "<results>/logs/draw_koskela_{panel}.log",
    benchmark:
        "<results>/benchmarks/draw_koskela_{panel}.tsv"
    wildcard_constraints:
        panel="fig1a|fig1b",
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_koskela.py", FIGURE_STYLE),
        lowest=lambda wildcards: config["koskela"][wildcards.panel]["lowest"],
    script:
        "../../scripts/draw_koskela.py"


rule draw_delta_surface:
    "Figure 1: log10 delta over eps and eps0, published and exact side by side."
    input:
        surface="<results>/privacy/delta_surface.csv",
    output:
        png=report(
            "<results>/figures/fig1_delta_surface.png",
            caption="../report/delta_surface.rst",
            category="Figures",
            labels={"figure": "fig1", "shows": "log10 delta over eps and eps0"},
        ),
        pdf="<results>/figures/fig1_delta_surface.pdf",
        txt="<results>/figures/fig1_delta_surface.txt",
    log:
        "<results>/logs/draw_delta_surface.log",
    benchmark:
        "<results>/benchmarks/draw_delta_surface.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_delta_surface.py", FIGURE_STYLE),
    script:
        "../../scripts/draw_delta_surface.py"


rule draw_tv:
    "Boxplots of the TV distance per n, with and without plain shuffle (Figures 2, 6, 7; any dataset)."
    input:
        trials=lambda wildcards: trial_files("tv", datasets=[wildcards.dataset]),
    output:
        png=report(
            "<results>/figures/{prefix}tv_{dataset}.png",
            caption="../report/tv.rst",
            category="Figures",
            labels={"figure": "{prefix}tv", "shows": "TV distance per n, {dataset}"},
        ),
        pdf="<results>/figures/{prefix}tv_{dataset}.pdf",
        txt="<results>/figures/{prefix}tv_{dataset}.txt",
    log:
        "<results>/logs/draw_tv/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_tv/{prefix}{dataset}.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_tv.py", FIGURE_STYLE),
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
        protocol=config["protocol"],
    script:
        "../../scripts/draw_tv.py"


rule draw_checkins:
    "Figure 3: the check-ins of every city as points and as counts per cell."
    input:
        histograms=expand("<results>/histograms/{dataset}.csv", dataset=GOWALLA),
        checkins=expand("<results>/checkins/{dataset}.parquet", dataset=GOWALLA),
    output:
        png=report(
            "<results>/figures/fig3_checkins.png",
            caption="../report/checkins.rst",
            category="Figures",
            labels={"figure": "fig3", "shows": "check-ins of the cities"},
        ),
        pdf="<results>/figures/fig3_checkins.pdf",
        txt="<results>/figures/fig3_checkins.txt",
    log:
        "<results>/logs/draw_checkins.log",
    benchmark:
        "<results>/benchmarks/draw_checkins.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_checkins.py", FIGURE_STYLE),
        titles=[config["datasets"][dataset]["title"] for dataset in GOWALLA],
        boxes=[config["datasets"][dataset]["box"] for dataset in GOWALLA],
        grid=config["gowalla"]["grid"],
    script:
        "../../scripts/draw_checkins.py"


rule draw_estimates:
    "Original, Gaussian and shuffle+INV estimates cell by cell, a row per budget (Figures 4, 5; any dataset)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
        estimates="<results>/estimates/{dataset}.csv",
    output:
        png=report(
            "<results>/figures/{prefix}estimates_{dataset}.png",
            caption="../report/estimates.rst",
            category="Figures",
            labels={"figure": "{prefix}estimates", "shows": "original and estimates, {dataset}"},
        ),
        pdf="<results>/figures/{prefix}estimates_{dataset}.pdf",
        txt="<results>/figures/{prefix}estimates_{dataset}.txt",
    log:
        "<results>/logs/draw_estimates/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_estimates/{prefix}{dataset}.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_estimates.py", FIGURE_STYLE),
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
        protocol=config["protocol"],
    script:
        "../../scripts/draw_estimates.py"


rule draw_delta_bounds:
    "delta over eps by every accountant: what is published, what is true, what holds."
    input:
        bounds="<results>/privacy/delta_bounds.csv",
    output:
        png=report(
            "<results>/figures/delta_bounds.png",
            caption="../report/delta_bounds.rst",
            category="Figures",
            labels={"figure": "delta_bounds", "shows": "delta over eps by every accountant"},
        ),
        pdf="<results>/figures/delta_bounds.pdf",
        txt="<results>/figures/delta_bounds.txt",
    log:
        "<results>/logs/draw_delta_bounds.log",
    benchmark:
        "<results>/benchmarks/draw_delta_bounds.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_delta_bounds.py", FIGURE_STYLE),
    script:
        "../../scripts/draw_delta_bounds.py"


rule draw_blanket_regions:
    "Where the blanket paper calls eq. (3) tight, and how far it is from the true delta."
    input:
        regions="<results>/privacy/blanket_regions.csv",
        tightness="<results>/privacy/blanket_tightness.csv",
    output:
        png=report(
            "<results>/figures/blanket_regions.png",
            caption="../report/blanket_regions.rst",
            category="Figures",
            labels={"figure": "blanket_regions", "shows": "the blanket paper's tight regions"},
        ),
        pdf="<results>/figures/blanket_regions.pdf",
        txt="<results>/figures/blanket_regions.txt",
    log:
        "<results>/logs/draw_blanket_regions.log",
    benchmark:
        "<results>/benchmarks/draw_blanket_regions.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_blanket_regions.py", FIGURE_STYLE),
    script:
        "../../scripts/draw_blanket_regions.py"


rule draw_gaussian_scale:
    "The analytic Gaussian's scale over delta: where diffprivlib's saturates."
    input:
        scales="<results>/privacy/gaussian_scale.csv",
    output:
        png=report(
            "<results>/figures/gaussian_scale.png",
            caption="../report/gaussian_scale.rst",
            category="Figures",
            labels={"figure": "gaussian_scale", "shows": "the analytic Gaussian's scale over delta"},
        ),
        pdf="<results>/figures/gaussian_scale.pdf",
        txt="<results>/figures/gaussian_scale.txt",
    log:
        "<results>/logs/draw_gaussian_scale.log",
    benchmark:
        "<results>/benchmarks/draw_gaussian_scale.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_gaussian_scale.py", FIGURE_STYLE),
    script:
        "../../scripts/draw_gaussian_scale.py"


rule draw_girgis_rdp:
    "Girgis' RDP bound beside exact Renyi divergences, and delta after compositions beside the PLD."
    input:
        divergences="<results>/privacy/girgis_rdp.csv",
        composed="<results>/privacy/girgis_composed.csv",
    output:
        png=report(
            "<results>/figures/girgis_rdp.png",
            caption="../report/girgis_rdp.rst",
            category="Figures",
            labels={"figure": "girgis_rdp", "shows": "Renyi differential privacy of the shuffle model"},
        ),
        pdf="<results>/figures/girgis_rdp.pdf",
        txt="<results>/figures/girgis_rdp.txt",
    log:
        "<results>/logs/draw_girgis_rdp.log",
    benchmark:
        "<results>/benchmarks/draw_girgis_rdp.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_girgis_rdp.py", FIGURE_STYLE),
        deepest=config["girgis_rdp"]["composed"]["deepest"],
    script:
        "../../scripts/draw_girgis_rdp.py"


rule draw_parity_tv:
    "Boxplots of the TV distance per n at equal privacy (Figures 2, 6, 7; any dataset)."
    input:
        trials="<results>/parity/{dataset}.parquet",
    output:
        png=report(
            "<results>/figures/{prefix}parity_{dataset}.png",
            caption="../report/parity_tv.rst",
            category="Figures",
            labels={"figure": "{prefix}parity", "shows": "TV distance per n at equal privacy, {dataset}"},
        ),
        pdf="<results>/figures/{prefix}parity_{dataset}.pdf",
        txt="<results>/figures/{prefix}parity_{dataset}.txt",
    log:
        "<results>/logs/draw_parity_tv/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_parity_tv/{prefix}{dataset}.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_parity_tv.py", FIGURE_STYLE),
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
        delta=PARITY["delta"][0],
    script:
        "../../scripts/draw_parity_tv.py"


rule draw_parity_estimates:
    "Original and estimates at equal privacy, cell by cell (Figures 4, 5; any dataset)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
        estimates="<results>/parity/{dataset}_estimates.csv",
    output:
        png=report(
            "<results>/figures/{prefix}parity_estimates_{dataset}.png",
            caption="../report/parity_estimates.rst",
            category="Figures",
            labels={
                "figure": "{prefix}parity_estimates",
                "shows": "original and estimates at equal privacy, {dataset}",
            },
        ),
        pdf="<results>/figures/{prefix}parity_estimates_{dataset}.pdf",
        txt="<results>/figures/{prefix}parity_estimates_{dataset}.txt",
    log:
        "<results>/logs/draw_parity_estimates/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_parity_estimates/{prefix}{dataset}.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_parity_estimates.py", FIGURE_STYLE),
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
    script:
        "../../scripts/draw_parity_estimates.py"


rule draw_parity_ratio:
    "TV error of shuffle+INV over the Gaussian's at equal privacy, over n."
    input:
        ratios="<results>/parity_ratio.csv",
    output:
        png=report(
            "<results>/figures/parity_ratio.png",
            caption="../report/parity_ratio.rst",
            category="Figures",
            labels={"figure": "parity_ratio", "shows": "shuffle+INV over Gaussian at equal privacy"},
        ),
        pdf="<results>/figures/parity_ratio.pdf",
        txt="<results>/figures/parity_ratio.txt",
    log:
        "<results>/logs/draw_parity_ratio.log",
    benchmark:
        "<results>/benchmarks/draw_parity_ratio.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/draw_parity_ratio.py", FIGURE_STYLE),
        titles={name: DATASETS[name]["title"] for name in PARITY_DATASETS},
    script:
        "../../scripts/draw_parity_ratio.py"
