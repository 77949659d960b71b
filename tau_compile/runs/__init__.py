"""Run identity and run records."""
