"""Names that workspaces had before (``formerly``): their runs, folders and mentions still belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tau_compile.policy.model import Overlays, Workspace


def workspace_names(overlays: Overlays) -> dict[str, Workspace]:
    """Every workspace by its name and by its former ones."""
    former = {name: space for space in overlays.workspaces for name in space.formerly}
    return former | {space.name: space for space in overlays.workspaces}


def taken(workspaces: Sequence[Workspace]) -> list[Diagnostic]:
    """A former name that is another workspace's: whose runs those are could not be said."""
    owners = {space.name: space for space in workspaces}
    said = []
    for space in workspaces:
        for name in space.formerly:
            other = owners.setdefault(name, space)
            if other is not space:
                what = "is called so" if other.name == name else "was called so too"
                said.append(
                    error(
                        "TAU743",
                        f"workspace `{space.name}` was formerly `{name}`, and another workspace {what}",
                        space.span,
                        "runs of a name belong to one workspace: remove the name from one `formerly`",
                        (Related(other.span, f"workspace `{other.name}`"),),
                    )
                )
    return said
