"""The report, the article and the numbers that they state."""
