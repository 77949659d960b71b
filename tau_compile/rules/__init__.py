"""What may not be rendered, and what may not be written into a tau.yaml."""
