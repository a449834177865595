"""Which budget, how many users, which parameter and which design a guarantee needs, and the error."""
