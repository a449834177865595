# Curves of the accountants: the data behind the figures on privacy.


rule compute_koskela:
    "delta of several rounds against eps: strong and weak adversary, clones."
    output:
        fig1a="<results>/privacy/koskela_fig1a.csv",
        fig1b="<results>/privacy/koskela_fig1b.csv",
    log:
        "<results>/logs/compute_koskela.log",
    benchmark:
        "<results>/benchmarks/compute_koskela.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/compute_koskela.py"),
        settings=config["koskela"],
    script:
        "../../scripts/compute_koskela.py"


rule compute_delta_surface:
    "delta over eps and eps0, published and exact (data of Figure 1)."
    output:
        "<results>/privacy/delta_surface.csv",
    log:
        "<results>/logs/compute_delta_surface.log",
    benchmark:
        "<results>/benchmarks/compute_delta_surface.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/compute_delta_surface.py"),
        settings=config["delta_surface"],
    script:
        "../../scripts/compute_delta_surface.py"


rule compute_delta_bounds:
    "delta over eps: the count of x0, the whole histogram and every bound of the literature."
    output:
        "<results>/privacy/delta_bounds.csv",
    log:
        "<results>/logs/compute_delta_bounds.log",
    benchmark:
        "<results>/benchmarks/compute_delta_bounds.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/compute_delta_bounds.py"),
        settings=config["delta_bounds"],
    script:
        "../../scripts/compute_delta_bounds.py"


rule compute_blanket_regions:
    "Where the blanket paper calls eq. (3) tight, and eq. (3) beside the true delta."
    output:
        regions="<results>/privacy/blanket_regions.csv",
        tightness="<results>/privacy/blanket_tightness.csv",
    log:
        "<results>/logs/compute_blanket_regions.log",
    benchmark:
        "<results>/benchmarks/compute_blanket_regions.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/compute_blanket_regions.py"),
        settings=config["blanket_regions"],
    script:
        "../../scripts/compute_blanket_regions.py"


rule compute_band:
    "lower, tight and upper over k, n and eps / eps0: what the bounds leave open."
    output:
        "<results>/privacy/band.csv",
    log:
        "<results>/logs/compute_band.log",
    benchmark:
        "<results>/benchmarks/compute_band.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/compute_band.py"),
        settings=config["band"],
    script:
        "../../scripts/compute_band.py"


rule compute_gaussian_scale:
    "The analytic Gaussian's scale over delta, exact and diffprivlib's."
    output:
        "<results>/privacy/gaussian_scale.csv",
    log:
        "<results>/logs/compute_gaussian_scale.log",
    benchmark:
        "<results>/benchmarks/compute_gaussian_scale.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/compute_gaussian_scale.py"),
        settings=config["gaussian_scale"],
    script:
        "../../scripts/compute_gaussian_scale.py"


rule compute_girgis_rdp:
    "Girgis' RDP bound over the order, exact Renyi divergences, and delta after compositions."
    output:
        divergences="<results>/privacy/girgis_rdp.csv",
        composed="<results>/privacy/girgis_composed.csv",
    log:
        "<results>/logs/compute_girgis_rdp.log",
    benchmark:
        "<results>/benchmarks/compute_girgis_rdp.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/compute_girgis_rdp.py"),
        settings=config["girgis_rdp"],
    script:
        "../../scripts/compute_girgis_rdp.py"


EVERYTHING += [
    *rules.compute_koskela.output,
    *rules.compute_delta_surface.output,
    *rules.compute_delta_bounds.output,
    *rules.compute_blanket_regions.output,
    *rules.compute_band.output,
    *rules.compute_gaussian_scale.output,
    *rules.compute_girgis_rdp.output,
]
