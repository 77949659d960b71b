"""Derives the JSON Schemas in ``schemas/kubernetes`` from the Go modules of Kubernetes, Kueue and KubeRay.

``make schemas`` writes them, ``python -m schemas.derive --check`` says whether they are fresh. A newer
upstream version or another kind is a line in ``kinds.py``. Developers' tool: nothing else imports it.
"""
