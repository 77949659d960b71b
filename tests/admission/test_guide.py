"""The page about admission checks: its overlays load, and its message is the one that a cluster would give."""

from __future__ import annotations

import re

from tau_compile.render.admission import policies_of
from tests.admission.worlds import CLUSTER, changed, job, overlays
from tests.support.celcheck import celcheck
from tests.support.tools import ROOT

PAGE = (ROOT / "docs" / "guide" / "admission.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_overlays_and_the_message_are_real() -> None:
    found = overlays(*BLOCKS, CLUSTER)
    objects = policies_of(found, found.clusters[0], found.workspaces[0])
    large = changed(job(), "spec/completions", 20)
    answer = celcheck(objects, [job(), changed(large, "spec/parallelism", 20)])
    (refused,) = [d for d in answer.decisions[1] if d.verdict == "deny"]
    assert answer.refusals(0) == []
    assert (
        f"    ValidatingAdmissionPolicy '{refused.policy}' with binding '{refused.policy}' denied request: "
        f"{refused.message}\n" in PAGE
    )


def test_accounts_and_links_exist() -> None:
    found = overlays(*BLOCKS, CLUSTER)
    (policy, *_) = policies_of(found, found.clusters[0], found.workspaces[0])
    condition = policy["spec"]["matchConditions"][0]["expression"]
    for account in re.findall(r"`((?:kueue|kuberay|kube)-system/[a-z-]+)`", PAGE):
        assert f"'system:serviceaccount:{account.replace('/', ':')}'" in condition
    for page, anchor in re.findall(r"]\(([^)#]+)#([^)]+)\)", PAGE):
        assert f'<a id="{anchor}">' in (ROOT / "docs" / "guide" / page).read_text(encoding="utf-8")
