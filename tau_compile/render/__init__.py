"""From a workload to its manifests."""
