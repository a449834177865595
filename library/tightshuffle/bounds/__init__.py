"""Our bounds on delta: for every dataset, or for one given dataset."""
