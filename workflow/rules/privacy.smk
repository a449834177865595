# delta over eps, n, k and eps0: the printed formula, the bounds, and the curves of the companion papers.
VALUES = "data/published/values.csv"  # what the paper prints
PRIVACY_FIGURES = {  # name: section of the page, title
    "too_small": ("overview", "δ by the paper's formula and its true value"),
    "delta_bounds": ("experts", "δ over ε: published, exact and all bounds"),
    "gaussian_scale": ("experts", "Noise of the analytic Gaussian mechanism"),
    "blanket": ("companion", "Eq. (3) of the authors' blanket paper"),
    "girgis_rdp": ("companion", "Girgis et al.: Rényi differential privacy"),
    "koskela_fig1a": ("companion", "Koskela et al., Figure 1a: strong and weak adversary"),
    "koskela_fig1b": ("companion", "Koskela et al., Figure 1b: clones"),
    "fig1_delta_surface": ("figures", "δ over ε and ε₀"),
}


rule compute_printed_deltas:
    "log10 delta behind every printed delta, by the published formula and exactly; and Corollary 1."
    input:
        values=source(VALUES),
    output:
        deltas="<results>/privacy/printed_deltas.csv",
        corollary="<results>/privacy/corollary_1.csv",
    log:
        "<results>/logs/compute_printed_deltas.log",
    localrule: True
    params:
        contents=digests([source(VALUES)]),
    script:
        "../../scripts/privacy/compute_printed_deltas.py"


rule compute_delta_surface:
    output:
        "<results>/privacy/delta_surface.csv",
    log:
        "<results>/logs/compute_delta_surface.log",
    params:
        surface=config["delta_surface"],
    script:
        "../../scripts/privacy/compute_delta_surface.py"


# A short job whose output is no result, for `make cluster-check`.
use rule compute_delta_surface as check_cluster with:
    output:
        "<results>/logs/check_cluster.csv",
    log:
        "<results>/logs/check_cluster.log",


rule draw_delta_surface:
    "Figure 1."
    input:
        "<results>/privacy/delta_surface.csv",
    output:
        **drawn("fig1_delta_surface"),
    log:
        "<results>/logs/draw_delta_surface.log",
    localrule: True
    script:
        "../../scripts/privacy/draw_delta_surface.py"


rule compute_too_small:
    output:
        "<results>/privacy/too_small.csv",
    log:
        "<results>/logs/compute_too_small.log",
    params:
        surface=config["delta_surface"],
    script:
        "../../scripts/privacy/compute_too_small.py"


rule draw_too_small:
    input:
        "<results>/privacy/too_small.csv",
    output:
        **drawn("too_small"),
    log:
        "<results>/logs/draw_too_small.log",
    localrule: True
    script:
        "../../scripts/privacy/draw_too_small.py"


rule compute_delta_bounds:
    output:
        "<results>/privacy/delta_bounds.csv",
    log:
        "<results>/logs/compute_delta_bounds.log",
    params:
        steps=config["delta_bounds"]["steps"],
        settings=config["delta_bounds"]["settings"],
    script:
        "../../scripts/privacy/compute_delta_bounds.py"


rule draw_delta_bounds:
    input:
        "<results>/privacy/delta_bounds.csv",
    output:
        **drawn("delta_bounds"),
    log:
        "<results>/logs/draw_delta_bounds.log",
    localrule: True
    script:
        "../../scripts/privacy/draw_delta_bounds.py"


rule compute_gaussian_scale:
    output:
        "<results>/privacy/gaussian_scale.csv",
    log:
        "<results>/logs/compute_gaussian_scale.log",
    script:
        "../../scripts/privacy/compute_gaussian_scale.py"


rule draw_gaussian_scale:
    input:
        "<results>/privacy/gaussian_scale.csv",
    output:
        **drawn("gaussian_scale"),
    log:
        "<results>/logs/draw_gaussian_scale.log",
    localrule: True
    script:
        "../../scripts/privacy/draw_gaussian_scale.py"


rule compute_blanket:
    "The authors' blanket paper: where its theorems apply, and eq. (3) beside the bounds."
    output:
        regions="<results>/privacy/blanket_regions.csv",
        tightness="<results>/privacy/blanket_tightness.csv",
    log:
        "<results>/logs/compute_blanket.log",
    script:
        "../../scripts/privacy/compute_blanket.py"


rule draw_blanket:
    input:
        "<results>/privacy/blanket_tightness.csv",
    output:
        **drawn("blanket"),
    log:
        "<results>/logs/draw_blanket.log",
    localrule: True
    script:
        "../../scripts/privacy/draw_blanket.py"


rule compute_girgis:
    "Girgis et al.: the bound on Renyi divergences, and delta after several rounds."
    output:
        divergences="<results>/privacy/girgis_rdp.csv",
        composed="<results>/privacy/girgis_composed.csv",
    log:
        "<results>/logs/compute_girgis.log",
    script:
        "../../scripts/privacy/compute_girgis.py"


rule draw_girgis:
    input:
        divergences="<results>/privacy/girgis_rdp.csv",
        composed="<results>/privacy/girgis_composed.csv",
    output:
        **drawn("girgis_rdp"),
    log:
        "<results>/logs/draw_girgis.log",
    localrule: True
    script:
        "../../scripts/privacy/draw_girgis.py"


rule compute_koskela:
    "Koskela et al., Figure 1: both panels."
    output:
        fig1a="<results>/privacy/koskela_fig1a.csv",
        fig1b="<results>/privacy/koskela_fig1b.csv",
    log:
        "<results>/logs/compute_koskela.log",
    script:
        "../../scripts/privacy/compute_koskela.py"


rule draw_koskela:
    input:
        "<results>/privacy/koskela_{panel}.csv",
    output:
        **drawn("koskela_{panel}"),
    log:
        "<results>/logs/draw_koskela/{panel}.log",
    wildcard_constraints:
        panel="fig1[ab]",
    localrule: True
    script:
        "../../scripts/privacy/draw_koskela.py"


rule privacy:
    "The curves of delta and their figures, and the delta behind every printed one."
    input:
        rules.compute_printed_deltas.output,
        rules.compute_delta_surface.output,
        rules.compute_too_small.output,
        rules.compute_delta_bounds.output,
        rules.compute_gaussian_scale.output,
        rules.compute_blanket.output,
        rules.compute_girgis.output,
        rules.compute_koskela.output,
        files_of(PRIVACY_FIGURES),
    localrule: True
