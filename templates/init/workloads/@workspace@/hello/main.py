"""Say hello from the cluster."""

import os
import platform

run = os.environ.get("TAU_RUN_ID", "a laptop")
print(f"Hello from {run}: Python {platform.python_version()} on {os.cpu_count()} CPUs.")
