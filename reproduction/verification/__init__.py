"""What the papers print and state, and whether it holds."""
