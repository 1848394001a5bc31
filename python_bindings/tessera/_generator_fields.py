"""Parameters, inputs and outputs, which a class of generators declares."""
from __future__ import annotations

import enum
from typing import Any, Optional, Sequence, Union

from . import _tessera


class _Field:
    """A class of generators declares it; its instances have a value in its place."""

    name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} of a generator cannot be assigned to")


class GeneratorParam(_Field):
    """A number, text, Type, LoopLevel or member of an Enum that whoever runs the generator may set: factor=3.

    The class of the default is that of all values. `min` and `max` limit a number, `choices` are the texts that are
    allowed.

    >>> @ts.generator("scale")
    ... class Scale:
    ...     factor = ts.GeneratorParam(2, min=1, max=8)
    ...     out = ts.OutputBuffer(int, 1)
    ...     def generate(g):
    ...         g.out[x] = x * g.factor
    >>> Scale.call(generator_params={"factor": 5}).realize([3]).numpy().tolist()
    [0, 5, 10]
    """

    kind = "parameter"

    def __init__(self, default: Any, min: Any = None, max: Any = None, choices: Optional[Sequence[str]] = None) -> None:
        self.enum = type(default) if isinstance(default, enum.Enum) else None
        self.default, self.min, self.max, self.choices = default, min, max, choices
        if self.enum:
            self.default, self.choices = default.name, [member.name for member in self.enum]
        elif isinstance(default, type):
            self.default = {bool: _tessera.Bool(), int: _tessera.Int(32), float: _tessera.Float(32)}.get(default, default)

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        if instance is None:
            return self
        value = instance._core_or_refuse().param(self.name)
        return self.enum[value] if self.enum else value


class _Argument(_Field):
    """An input or output. What is None is open: configure(), or name.type= and name.dim= of the command line, say it."""

    is_output = False
    kind = ""

    def __init__(
        self, type: Any = None, dimensions: Optional[int] = None, count: Union[int, str, None] = None
    ) -> None:
        listed = isinstance(type, (list, tuple))
        self.types = [] if type is None else list(type) if listed else [type]
        self.dimensions, self.count = dimensions, count

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        if instance is None:
            return self
        return instance._value(self.name)


class InputBuffer(_Argument):
    """An image that the caller passes: an ImageParam in generate().

    `count` makes it a list of so many; "open" leaves their number to name.size= of the command line.

    >>> @ts.generator("double")
    ... class Double:
    ...     input, out = ts.InputBuffer(ts.UInt(8), 2), ts.OutputBuffer(ts.UInt(8), 2)
    ...     def generate(g):
    ...         g.out[x, y] = g.input[x, y] * 2
    >>> Double.call(a).realize([3, 2]).numpy().tolist()
    [[0, 2, 4], [6, 8, 10]]
    """

    kind = "buffer"


class InputFunc(_Argument):
    """A Func where the generator is called by another, or an image of which what is read has to be there.

    >>> @ts.generator("double func")
    ... class DoubleFunc:
    ...     input, out = ts.InputFunc(int, 2), ts.OutputBuffer(int, 2)
    ...     def generate(g):
    ...         g.out[x, y] = g.input[x, y] * 2
    >>> DoubleFunc.call(f).realize([3, 2]).numpy().tolist()
    [[0, 2, 4], [20, 22, 24]]
    """

    kind = "func"


class InputScalar(_Argument):
    """A number that the caller passes: a Param in generate().

    >>> @ts.generator("times")
    ... class Times:
    ...     k, out = ts.InputScalar(int, 3, min=1), ts.OutputBuffer(int, 1)
    ...     def generate(g):
    ...         g.out[x] = x * g.k
    >>> Times.call(5).realize([3]).numpy().tolist()
    [0, 5, 10]
    """

    kind = "scalar"

    def __init__(
        self, type: Any = None, default: Any = None, min: Any = None, max: Any = None, count: Union[int, str, None] = None
    ) -> None:
        super().__init__(type, 0, count)
        self.default, self.min, self.max = default, min, max


class _Output(_Argument):
    is_output = True

    def __set__(self, instance: Any, value: Any) -> None:
        instance._assign(self.name, value)


class OutputBuffer(_Output):
    """A Func that generate() defines, or assigns another to; its buffer has dim(), width() and so on.

    A list of types stands for a Func of several values.

    >>> @ts.generator("two values")
    ... class TwoValues:
    ...     out = ts.OutputBuffer([int, ts.UInt(8)], 1)
    ...     def generate(g):
    ...         g.out[x] = (x, ts.u8(x * x))
    >>> [out.numpy().tolist() for out in TwoValues.call().realize([3])]
    [[0, 1, 2], [0, 1, 4]]
    """

    kind = "buffer"


class OutputFunc(_Output):
    """An output whose buffer nothing is asked of.

    >>> @ts.generator("ramp")
    ... class Ramp:
    ...     out = ts.OutputFunc(int, 1)
    ...     def generate(g):
    ...         g.out[x] = x
    >>> Ramp.call()
    <Func out(x): int32>
    """

    kind = "func"


class OutputScalar(_Output):
    """One number: a Func without dimensions, g.result[()] = ...

    >>> @ts.generator("total")
    ... class Total:
    ...     input, result = ts.InputBuffer(int, 1), ts.OutputScalar(int)
    ...     def generate(g):
    ...         g.result[()] = ts.sum(g.input[r])
    >>> Total.call(np.arange(4, dtype=np.int32)).realize([])[()]
    6
    """

    kind = "scalar"

    def __init__(self, type: Any = None, count: Union[int, str, None] = None) -> None:
        super().__init__(type, 0, count)
