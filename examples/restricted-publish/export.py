"""Bundle a trained model for release: the model, a manifest with its digest, and a signature of the manifest.

Everything is written to a staging folder. It becomes visible in the output folder when this program has ended well.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import sys
from pathlib import Path


def main() -> None:
    """Write the bundle; without a model there is nothing to export."""
    model = Path(os.environ["TAU_UPSTREAM_CHECKPOINT"])
    if not model.is_file():
        sys.exit(f"there is no model at {model}")
    output = Path(os.environ.get("TAU_OUTPUT_STAGING_DIR") or os.environ["TAU_OUTPUT_DIR"])
    bundle = output / "bundle"
    bundle.mkdir(parents=True)
    shutil.copyfile(model, bundle / "model.pt")
    content = (bundle / "model.pt").read_bytes()
    entry = {"file": "model.pt", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest = json.dumps({"run": os.environ.get("TAU_RUN_ID", "local"), "files": [entry]}, indent=2) + "\n"
    (bundle / "manifest.json").write_text(manifest)
    signature = hmac.new(os.environ["SIGNING_KEY"].encode(), manifest.encode(), hashlib.sha256).hexdigest()
    (bundle / "manifest.sig").write_text(signature + "\n")
    print(f"bundled {len(content)} bytes")


if __name__ == "__main__":
    main()
