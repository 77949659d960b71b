"""Overlay documents, and what they mean for one workload."""
