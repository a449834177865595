rule compute_delta_surface:
    "delta over eps and eps0, published and exact (data of Figure 1)."
    input:
        code=code_of("scripts/compute_delta_surface.py"),
    output:
        "results/privacy/delta_surface.csv",
    log:
        "results/logs/compute_delta_surface.log",
    benchmark:
        "results/benchmarks/compute_delta_surface.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        plan=config["delta_surface"],
    script:
        "../../scripts/compute_delta_surface.py"
