"""The bounds that the papers offer."""
