"""The typed intent of one workload."""
