"""What the report's page says."""
