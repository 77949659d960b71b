"""Schemas of ours and of Kubernetes: documents in, plain data and diagnostics out."""
