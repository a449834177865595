"""What `make bench` runs: time and memory of our accountants, of other accountants, and of the trials."""
