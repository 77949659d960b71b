"""``NamedTuple`` as in ``typing``, made in half the time.

The real one compiles every annotation and throws the result away; for the seventy classes of the compile path that is a tenth
of a cold start. A module that uses this one needs ``from __future__ import annotations``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

    class _Meta(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                if key != "__module__":
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Meta):
        """The base of all classes made here; it is not among their bases afterwards."""
