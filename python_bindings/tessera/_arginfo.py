"""What a generator says of its inputs and outputs: Generator.arginfos()."""
from __future__ import annotations

import dataclasses
import enum

from ._tessera import Type


class ArgInfoKind(enum.Enum):
    """Says what an input or an output is."""

    Scalar = 0
    Function = 1
    Buffer = 2


class ArgInfoDirection(enum.Enum):
    """Says if the caller passes values, or gets them."""

    Input = 0
    Output = 1


@dataclasses.dataclass(frozen=True)
class ArgInfo:
    """One input or output; where they are open, `types` is empty and `dimensions` is -1."""

    name: str
    dir: ArgInfoDirection
    kind: ArgInfoKind
    types: list[Type]
    dimensions: int
