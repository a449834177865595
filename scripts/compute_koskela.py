"""Compute delta of several rounds over eps, both panels of Koskela et al.'s Figure 1."""

from reproduction.experiments.curves.koskela import koskela_fig1a, koskela_fig1b
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(koskela_fig1a(snakemake.params.settings["fig1a"]), snakemake.output.fig1a)
    write_csv(koskela_fig1b(snakemake.params.settings["fig1b"]), snakemake.output.fig1b)
