"""Test the printed random values together, and each city's on both of its grids."""

import pandas as pd

from reproduction.jobs.job import job, write_csv
from reproduction.protocol.trials import Protocol
from reproduction.verification.joint import compare_grids, joint_tests
from reproduction.verification.printed import read_values
from reproduction.verification.values import read_individual_trials, read_users

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    values = read_values(files.values)
    users = read_users(dict(zip(params.datasets, files.histograms, strict=True)))
    tests = joint_tests(values, read_individual_trials(files.trials), users, seed=params.seed)
    cells = dict(zip(params.cities, map(pd.read_csv, files.cells), strict=True))
    protocol = Protocol(**params.protocol)
    grids = compare_grids(values, cells, params.cities, protocol=protocol, seed=params.seed)
    write_csv(tests, snakemake.output.tests)
    write_csv(grids, snakemake.output.grids)
