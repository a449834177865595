"""Values sent as they are, hidden by dummies alone: laws of their number, their bound, the best law."""
