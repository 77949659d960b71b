"""From objects to text."""
