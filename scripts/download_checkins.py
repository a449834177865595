"""Download SNAP's file of Gowalla check-ins."""

from reproduction.data.download import download
from reproduction.jobs.job import job

with job(snakemake):
    url = snakemake.config["gowalla"]["download"]["url"]  # no parameter: a new one reruns nothing
    download(url, snakemake.output[0], md5=snakemake.params.md5)
