"""What `make bench` runs: time and memory of the accountants beside their peers, and of the trials."""
