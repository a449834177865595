"""The two mechanisms of the paper: k-RR with its estimate, and the analytic Gaussian."""
