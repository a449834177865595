"""The catalogue's rows of the papers' configuration."""

from scripts.shared.catalogue import catalogue
from scripts.shared.configuration import PAPERS, merge, merged

CONFIG = merged([PAPERS])


def rows(**own):
    """Name -> row; ``own``: datasets of your own, by name."""
    datasets = merge(CONFIG, {"datasets": own})["datasets"]
    return catalogue(CONFIG, datasets, CONFIG["datasets"], lambda name: [f"{name}.parquet"])
