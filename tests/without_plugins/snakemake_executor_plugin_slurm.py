"""First on a path, this hides Snakemake's plugin of the same name, a package: Snakemake skips what is none.

The plugin imports pandas, a second of every start, and only tests/workflow/test_cluster.py needs it.
"""
