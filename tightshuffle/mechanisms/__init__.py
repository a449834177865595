"""Local randomizers and the Gaussian mechanism; the errors of their estimates, also in closed form."""
