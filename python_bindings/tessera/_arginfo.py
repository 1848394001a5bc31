"""Describes the inputs and outputs of a generator, for Generator.arginfos()."""
from __future__ import annotations

import enum
from typing import NamedTuple

from ._tessera import Type


class ArgInfoKind(enum.Enum):
    """Says what an input or an output is.

    >>> [info.kind.name for info in Scale().arginfos()]
    ['Buffer', 'Scalar', 'Buffer']
    """

    Scalar = 0
    Function = 1
    Buffer = 2


class ArgInfoDirection(enum.Enum):
    """Says if the caller passes values, or gets them.

    >>> [info.dir.name for info in Scale().arginfos()]
    ['Input', 'Input', 'Output']
    """

    Input = 0
    Output = 1


class ArgInfo(NamedTuple):
    """One input or output; where they are open, `types` is empty and `dimensions` is -1.

    >>> info = Scale().arginfos()[0]
    >>> info.name, info.types, info.dimensions
    ('input', [uint8], 2)
    """

    name: str
    dir: ArgInfoDirection
    kind: ArgInfoKind
    types: list[Type]
    dimensions: int
