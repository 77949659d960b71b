"""From bytes to positioned documents."""
