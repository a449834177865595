"""The report, the article, the calculator and the numbers that they state."""
