"""Generators in Python: pipelines with parameters, compiled for other programs.

    import tessera as ts

    @ts.generator("brighten")
    class Brighten:
        factor = ts.GeneratorParam(2)
        input = ts.InputBuffer(ts.UInt(8), 2)
        offset = ts.InputScalar(int)
        output = ts.OutputBuffer(ts.UInt(8), 2)

        def generate(g):
            x, y = ts.vars("x y")
            g.output[x, y] = ts.u8_sat(ts.i32(g.input[x, y]) * g.factor + g.offset)

    if __name__ == "__main__":
        ts.main()

`python brighten.py -g brighten -o . target=host factor=3` writes brighten.a and brighten.h; `--help` says what else
there is. `Brighten.call(image, 3)` makes its Func part of another pipeline.
"""
from __future__ import annotations

import enum
import linecache
import os
import sys
import traceback
from typing import Any, Callable, NoReturn, Optional, Sequence, Union

from . import _tessera
from ._arginfo import ArgInfo as ArgInfo, ArgInfoDirection as ArgInfoDirection, ArgInfoKind as ArgInfoKind
from ._errors import ArgumentError, Error
from ._generator_context import GeneratorContext as GeneratorContext, active_generator_context as active_generator_context
from ._generator_fields import (GeneratorParam as GeneratorParam, InputBuffer as InputBuffer, InputFunc as InputFunc,
                                InputScalar as InputScalar, OutputBuffer as OutputBuffer, OutputFunc as OutputFunc,
                                OutputScalar as OutputScalar, _Argument, _Field, _Output)
from ._tessera import AutoschedulerParams, Target, Type

__all__ = [
    "ArgInfo",
    "ArgInfoDirection",
    "ArgInfoKind",
    "Generator",
    "GeneratorContext",
    "GeneratorParam",
    "GeneratorStub",
    "InputBuffer",
    "InputFunc",
    "InputScalar",
    "OutputBuffer",
    "OutputFunc",
    "OutputScalar",
    "active_generator_context",
    "alias",
    "call_generator",
    "create_callable_from_generator",
    "generator",
    "main",
]

# The generators of this process: by its name the class, and parameters that are set.
_registered: dict[str, tuple[type[Generator], dict[str, Any]]] = {}


def _text(value: Any) -> Any:
    """Returns the value of a parameter as the command line takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (int, str, Type, _tessera.LoopLevel)):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, type):
        return {bool: "bool", int: "int32", float: "float32"}.get(value, value)
    return str(value)


class Generator:
    """The base that @generator gives a class. Parameters, inputs and outputs are its attributes.

    configure() may add inputs and outputs; generate() defines the outputs; schedule() may schedule them. An instance
    is used once. `generator_params` are values of parameters, and of name.type, name.dim and name.size.

    >>> class Squares(ts.Generator):
    ...     out = ts.OutputBuffer(int, 1)
    ...     def generate(g):
    ...         g.out[x] = x * x
    >>> Squares().pipeline().realize([4]).numpy().tolist()
    [0, 1, 4, 9]
    """

    _name: Optional[str] = None
    _written: Any = None
    _core: Any
    _values: dict[str, Any]
    _added: dict[str, _Field]
    _given: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})  # the inputs that call() passes

    def __init__(
        self, generator_params: Optional[dict[str, Any]] = None, context: Optional[GeneratorContext] = None
    ) -> None:
        self._make(generator_params, context, (), {})

    def _make(
        self,
        generator_params: Optional[dict[str, Any]],
        context: Optional[GeneratorContext],
        inputs: tuple[Any, ...],
        by_name: dict[str, Any],
    ) -> None:
        params = _texts(generator_params)
        self.__dict__["_given"] = inputs, by_name
        context = context or GeneratorContext.current()
        self._begin(None)
        self._begin(
            _tessera._make_generator(self, self._name or type(self).__name__, context.target(), context.autoscheduler_params())
        )
        self._core.set_params(params)

    # ---- For the user's methods ----

    def configure(self) -> None:
        """Adds inputs and outputs, or says what is open; unless overridden, nothing.

        >>> class Masked(Scale):
        ...     def configure(g):
        ...         g.add_input("mask", ts.InputBuffer(bool, 2))
        >>> [argument.name for argument in Masked().arguments()]
        ['input', 'offset', 'mask']
        """

    def generate(self) -> None:
        """Defines the outputs.

        >>> class Squares(ts.Generator):
        ...     out = ts.OutputBuffer(int, 1)
        ...     def generate(g):
        ...         g.out[x] = x * x
        >>> Squares.call().realize([4]).numpy().tolist()
        [0, 1, 4, 9]
        """
        raise NotImplementedError(f"{type(self).__name__} has no generate()")

    def schedule(self) -> None:
        """Schedules what generate() has defined; unless overridden, nothing.

        >>> class InVectors(Scale):
        ...     def schedule(g):
        ...         g.out.vectorize(x, g.natural_vector_size(ts.UInt(8)))
        >>> InVectors(context=ts.GeneratorContext("x86-64-linux-avx2")).pipeline().print_loop_nest()
        produce out:
          for out.outermost in [0, 0]:
            for out.y:
              for out.x:
                vectorized out.x_i in [0, 31]:
                  out(...) = ...
        """

    def target(self) -> Target:
        """Returns the target that the pipeline is compiled for.

        >>> Scale(context=ts.GeneratorContext("x86-64-linux-avx2")).target()
        Target("x86-64-linux-avx2")
        """
        return self._core_or_refuse().target()

    def natural_vector_size(self, type: Any) -> int:
        """Returns how many values of the type a vector register of the target holds.

        >>> Scale(context=ts.GeneratorContext("x86-64-linux-avx2")).natural_vector_size(ts.UInt(8))
        32
        """
        return self.target().natural_vector_size(type)

    def using_autoscheduler(self) -> bool:
        """Returns True if an autoscheduler makes the schedule: then leave yours out.

        >>> Scale(context=ts.GeneratorContext("host", "Mullapudi2016")).using_autoscheduler()
        True
        """
        return self._core_or_refuse().using_autoscheduler()

    def autoscheduler(self) -> AutoschedulerParams:
        """Returns the AutoschedulerParams.

        >>> Scale(context=ts.GeneratorContext("host", "Mullapudi2016")).autoscheduler()
        <AutoschedulerParams autoscheduler=Mullapudi2016>
        """
        return self._core_or_refuse().autoscheduler()

    def context(self) -> GeneratorContext:
        """Returns the GeneratorContext: for generators that this one calls.

        >>> Scale(context=ts.GeneratorContext("x86-64-linux-avx2")).context().target()
        Target("x86-64-linux-avx2")
        """
        return GeneratorContext(self.target(), self.autoscheduler())

    def add_requirement(self, condition: Any, *message: Any) -> None:
        """Requires that the caller meets the condition; else the compiled function fails with the message.

        >>> class Positive(Scale):
        ...     def schedule(g):
        ...         g.add_requirement(g.offset >= 0, "the offset is", g.offset)
        >>> Positive().compile_to_callable()(a, -1, np.zeros((2, 3), np.uint8))
        Traceback (most recent call last):
            ...
        tessera._errors.RunError: ...Requirement failed: offset >= 0: the offset is -1
        """
        self._core_or_refuse().add_requirement(condition, *message)

    def add_input(self, name: str, input: _Argument) -> None:
        """Adds an input, in configure(): add_input("mask", InputBuffer(bool, 2)).

        >>> class Masked(Scale):
        ...     def configure(g):
        ...         g.add_input("mask", ts.InputBuffer(bool, 2))
        >>> [argument.name for argument in Masked().arguments()]
        ['input', 'offset', 'mask']
        """
        self._add(name, input, _Argument, "an input")

    def add_output(self, name: str, output: _Output) -> None:
        """Adds an output, in configure().

        >>> class WithDouble(Scale):
        ...     def configure(g):
        ...         g.add_output("double", ts.OutputBuffer(ts.UInt(8), 2))
        ...     def generate(g):
        ...         super().generate()
        ...         g.double[x, y] = g.out[x, y] * 2
        >>> WithDouble.call(a, 1)
        (<Func out(x, y): uint8>, <Func double(x, y): uint8>)
        """
        self._add(name, output, _Output, "an output")

    # ---- For callers ----

    @classmethod
    def call(cls, *inputs: Any, generator_params: Optional[dict[str, Any]] = None, **by_name: Any) -> Any:
        """Returns the outputs as Funcs, one or a tuple, of these inputs, which are in order or have names.

        A Func, ImageParam, Buffer or array, whose last axis is dimension 0, stands for a buffer, a number, Expr or Param
        for a number. Raises TypeError where an input is missing, or is none of the generator's.

        >>> Scale.call(a, offset=1, generator_params={"factor": 5}).realize([3, 2]).numpy().tolist()
        [[1, 6, 11], [16, 21, 26]]
        """
        made = cls.__new__(cls)
        made._make(generator_params, None, inputs, by_name)
        return _outputs_of(made._core, inputs, by_name)

    def arginfos(self) -> list[ArgInfo]:
        """Returns an ArgInfo for each input and each output, in the order of their declarations.

        >>> [info.name for info in Scale().arginfos()]
        ['input', 'offset', 'out']
        """
        self._core_or_refuse().configure_now()
        kinds = {"scalar": ArgInfoKind.Scalar, "func": ArgInfoKind.Function, "buffer": ArgInfoKind.Buffer}
        infos = []
        for name, field in self._arguments():
            known = self._core_or_refuse().argument(name)
            dimensions = known.dimensions()
            direction = ArgInfoDirection.Output if field.is_output else ArgInfoDirection.Input
            infos.append(ArgInfo(name, direction, kinds[field.kind], known.types(), -1 if dimensions is None else dimensions))
        return infos

    def compile_to_callable(self) -> _tessera.Callable:
        """Returns the pipeline, compiled for this process: a Callable of the inputs and outputs.

        >>> call, result = Scale().compile_to_callable(), np.empty((2, 3), np.uint8)
        >>> call(a, 1, result)
        >>> result.tolist()
        [[1, 3, 5], [7, 9, 11]]
        """
        return self._core_or_refuse().compile_to_callable()

    def pipeline(self) -> _tessera.Pipeline:
        """Returns the Pipeline, scheduled by the autoscheduler if there is to be one.

        >>> Scale().pipeline()
        <Pipeline of out>
        """
        return self._core_or_refuse().pipeline()

    def arguments(self) -> list[_tessera.Argument]:
        """Returns the arguments of the compiled function but for the outputs: for compile_to() of the Pipeline.

        >>> Scale().arguments()
        [<Argument input: 2 dimensions of uint8>, <Argument offset: int32>]
        """
        self.pipeline()
        return self._core_or_refuse().arguments()

    # ---- For the core ----

    def _begin(self, core: Any) -> None:
        self.__dict__.update(_core=core, _values={}, _added={})

    def _core_or_refuse(self) -> _tessera._Generator:
        core: Optional[_tessera._Generator] = self.__dict__.get("_core")
        if core is None:
            raise Error(f"{type(self).__name__} is no generator that is being made, or its pipeline is complete")
        return core

    @classmethod
    def _fields(cls) -> list[tuple[str, _Field]]:
        """Returns the name and field of each declaration, bases first."""
        fields: dict[str, _Field] = {}
        for base in reversed(cls.__mro__):
            for name, field in vars(base).items():
                if isinstance(field, _Field):
                    fields[name] = field
                elif name in fields:
                    del fields[name]
        return list(fields.items())

    def _declared(self) -> list[tuple[str, _Field]]:
        """Returns the declarations of this instance."""
        declared: list[tuple[str, _Field]] = []
        position = 0
        for name, field in self._fields():
            if isinstance(field, _Argument) and not field.is_output:
                field = self._as_given(name, field, position)
                position += 1
            declared.append((name, field))
        return declared

    def _as_given(self, name: str, field: _Argument, position: int) -> _Argument:
        """Returns the input as the caller's value makes it: a Func for a buffer is one in generate(), and a number has a type."""
        inputs, by_name = self._given
        value = inputs[position] if position < len(inputs) else by_name.get(name)
        if isinstance(field, InputScalar) and not field.types and field.count is None and value is not None:
            number = InputScalar(_tessera.Expr(value).type(), field.default, field.min, field.max)
            number.name = name
            return number
        if field.kind != "buffer" or field.count is not None or not isinstance(value, _tessera.Func):
            return field
        func = InputFunc(field.types, field.dimensions)
        func.name = name
        return func

    def _add(self, name: str, field: _Argument, wanted: type[_Argument], what: str) -> None:
        if not isinstance(field, wanted) or (wanted is _Argument and field.is_output):
            raise TypeError(f"add: {field!r} is not {what}")
        if hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has an attribute {name} already")
        if not field.is_output:
            field = self._as_given(name, field, sum(not f.is_output for _, f in self._arguments()))
        field.name = name
        self._core_or_refuse().add(name, field)
        self._added[name] = field

    def __getattr__(self, name: str) -> Any:
        added = self.__dict__.get("_added") or {}
        if name in added:
            return self._value(name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        field = (self.__dict__.get("_added") or {}).get(name)
        if field is not None:
            field.__set__(self, value)
            return
        object.__setattr__(self, name, value)

    def _value(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        return self._core_or_refuse().argument(name)

    def _assign(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise AttributeError(f"the output {name} can be assigned to in generate()")
        self._values[name] = value
        self._core.assign(name, value)

    def _arguments(self) -> list[tuple[str, _Argument]]:
        declared = [*self._declared(), *self._added.items()]
        return [(name, field) for name, field in declared if isinstance(field, _Argument)]

    def _generate(self) -> None:
        core = self._core_or_refuse()
        for name, field in self._arguments():
            self._values[name] = core.output(name) if field.is_output else core.input(name)
        with self.context():  # of the generators that this one calls
            self.generate()

    def _configure(self) -> None:
        with self.context():
            self.configure()

    def _schedule(self) -> None:
        with self.context():
            self.schedule()


def _outputs_of(core: Any, inputs: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
    """Passes inputs, in order and by name, and returns the outputs: a Func, or a tuple of them."""
    core.configure_now()
    names = core.input_names()
    given, by_name = list(inputs), dict(by_name)
    for name in names[len(inputs) :]:
        if name not in by_name:
            raise ArgumentError(f"{core.name()}: the input {name} is missing; it has {', '.join(names)}")
        given.append(by_name.pop(name))
    if by_name or len(given) > len(names):
        extra = f"no input {next(iter(by_name))}" if by_name else f"{len(names)} inputs, not {len(given)}"
        raise ArgumentError(f"{core.name()} has {extra}; it has {', '.join(names)}")
    core.bind_inputs(given)
    funcs = core.funcs()
    return funcs[0] if len(funcs) == 1 else tuple(funcs)


def _texts(generator_params: Optional[dict[str, Any]]) -> dict[str, Any]:
    """Returns the values of parameters as the command line takes them."""
    if generator_params is not None and not hasattr(generator_params, "items"):
        raise ArgumentError(f"generator_params: a {type(generator_params).__name__}; wanted a dict of names and values")
    return {name: _text(value) for name, value in (generator_params or {}).items()}


def _make_by_name(
    name: str, params: dict[str, Any], context: GeneratorContext, inputs: tuple[Any, ...], by_name: dict[str, Any]
) -> tuple[Optional[Generator], _tessera._GeneratorBase]:
    """Makes the generator of this name, for these inputs. Returns its instance in Python, which owns the core; None in C++."""
    if name in _registered:
        cls, given = _registered[name]
        made = cls.__new__(cls)
        made._make({**given, **params}, context, inputs, by_name)
        return made, made._core
    core = _tessera._make_registered(name, context.target(), context.autoscheduler_params())
    core.set_params(params)
    return None, core


def call_generator(name: str, *inputs: Any, generator_params: Optional[dict[str, Any]] = None, **by_name: Any) -> Any:
    """Returns the outputs, as Generator.call() does, of the generator of this name: in Python, or in C++ of a plugin.

    >>> doubled = ts.call_generator("scale", im, 1)
    >>> doubled.dimensions()
    2
    """
    context = GeneratorContext.current()
    _made, core = _make_by_name(name, _texts(generator_params), context, inputs, by_name)
    return _outputs_of(core, inputs, by_name)


def _fill_stub(module: Any, name: str) -> None:
    """Gives the Python module of a generator in C++ its functions."""

    def call(*inputs: Any, generator_params: Optional[dict[str, Any]] = None, **by_name: Any) -> Any:
        return call_generator(name, *inputs, generator_params=generator_params, **by_name)

    def create_callable(
        context: Union[GeneratorContext, Target, None] = None, generator_params: Optional[dict[str, Any]] = None
    ) -> _tessera.Callable:
        return create_callable_from_generator(context or GeneratorContext.current(), name, generator_params)

    call.__doc__ = f"Returns the outputs of the generator {name} as Funcs, one or a tuple, of these inputs."
    create_callable.__doc__ = f"Returns the pipeline of the generator {name}, compiled for this process."
    module.call, module.create_callable = call, create_callable


def _default_name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ == "__main__" else f"{cls.__module__}.{cls.__qualname__}"


def _register(name: str, cls: type[Generator], params: dict[str, Any]) -> None:
    """Lets this process find a generator by its name, also in C++."""
    _registered[name] = (cls, params)
    _tessera._register_generator(name)


def generator(name: Any = None) -> Any:
    """Registers a class as a generator: @generator("brighten"). Another one of that name is replaced.

    Without a name it is that of the class, after its module's unless it is the script itself. The class need not
    derive from Generator.

    >>> @ts.generator("squares")
    ... class Squares:
    ...     out = ts.OutputBuffer(int, 1)
    ...     def generate(g):
    ...         g.out[x] = x * x
    >>> ts.create_callable_from_generator(ts.GeneratorContext(), "squares")
    <Callable out(out)>
    """

    def register(cls: Any) -> Any:
        if not issubclass(cls, Generator):
            members = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
            cls = type(cls.__name__, (cls, Generator), members)
        cls._name = name if isinstance(name, str) else _default_name(cls)
        cls._written = _tessera._here()
        _register(cls._name, cls, {})
        return cls

    if isinstance(name, type):
        return register(name)
    return register


def alias(**names: dict[str, Any]) -> Callable[[Any], Any]:
    """Registers a generator under more names, with parameters set: @alias(half={"factor": 2}).

    >>> Triple = ts.alias(triple={"factor": 3})(Scale)     # @ts.alias(...) above @ts.generator(...)
    >>> result = np.empty((2, 3), np.uint8)
    >>> ts.create_callable_from_generator(ts.GeneratorContext(), "triple")(a, 0, result)
    >>> result.tolist()
    [[0, 3, 6], [9, 12, 15]]
    """

    def register(cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, Generator)):
            raise TypeError("@alias stands above @generator")
        for name, params in names.items():
            _register(name, cls, {param: _text(value) for param, value in params.items()})
        return cls

    return register


class GeneratorStub:
    """A generator that is called by its name: one of Python's, or one of C++ in a plugin.

    Its pipeline becomes a part of the caller's. An input that is given nothing becomes an argument of the caller's
    compiled function. `context` is that of the innermost `with` unless one is given.

    >>> scaled = ts.GeneratorStub("scale").set("factor", 3).input("input", a).input("offset", 1)
    >>> scaled.output("out").realize([3, 2]).numpy().tolist()
    [[1, 4, 7], [10, 13, 16]]
    """

    def __init__(self, name: str, context: Optional[GeneratorContext] = None) -> None:
        self._made, self._core = _make_by_name(name, {}, context or GeneratorContext.current(), (), {})

    def set(self, parameter: str, value: Any) -> GeneratorStub:
        """Sets a parameter, and returns this object.

        >>> ts.GeneratorStub("scale").set("factor", 3).pipeline()
        <Pipeline of out>
        """
        self._core.set_params({parameter: _text(value)})
        return self

    def input(self, name: str, value: Any) -> GeneratorStub:
        """Gives an input a Func, an image, an array or a number, or a list where it is one; returns this object.

        >>> bright = ts.GeneratorStub("scale").input("input", im).input("offset", p)
        >>> [argument.name for argument in bright.output("out").infer_arguments()]
        ['im', 'p']
        """
        self._core.bind_input(name, value)
        return self

    def output(self, name: str) -> _tessera.Func:
        """Returns the Func of an output.

        >>> ts.GeneratorStub("scale").output("out")
        <Func out(x, y): uint8>
        """
        funcs = self.outputs(name)
        if len(funcs) == 1:
            return funcs[0]
        raise Error(f"the output {name} is {len(funcs)} Funcs; ask for outputs()")

    def outputs(self, name: str) -> list[_tessera.Func]:
        """Returns the Funcs of an output that is a list.

        >>> ts.GeneratorStub("scale").outputs("out")
        [<Func out(x, y): uint8>]
        """
        return list(self._core.output_funcs(name))

    def pipeline(self) -> _tessera.Pipeline:
        """Returns the Pipeline of all outputs.

        >>> ts.GeneratorStub("scale").input("input", a).pipeline().outputs()
        [<Func out(x, y): uint8>]
        """
        return self._core.pipeline()


def create_callable_from_generator(
    context: Union[GeneratorContext, Target], name: str, generator_params: Optional[dict[str, Any]] = None
) -> _tessera.Callable:
    """Returns the pipeline of the generator of this name, compiled for this process. `context`: or a Target.

    >>> ts.create_callable_from_generator(ts.GeneratorContext(), "scale", {"factor": 3})
    <Callable out(input, offset, out)>
    """
    if not isinstance(context, GeneratorContext):
        context = GeneratorContext(context)
    params = _texts(generator_params)
    if name in _registered:
        cls, given = _registered[name]
        return cls({**given, **params}, context).compile_to_callable()
    return _tessera._create_callable(name, context.target(), context.autoscheduler_params(), params)


def main(arguments: Optional[Sequence[Any]] = None) -> NoReturn:
    """Runs the command line of generators with sys.argv, or these words, and exits: with 1 after a failure.

    `-h` describes it, and the generators that are registered.

    >>> try:
    ...     ts.main(["-g", "scale", "-o", ".", "target=host"])
    ... except SystemExit as end:
    ...     print(end.code)
    0
    >>> sorted(os.listdir())
    ['scale.a', 'scale.h']
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    sys.stdout.flush()
    code = _tessera._generator_main([str(word) for word in words])
    sys.exit(code)


def _message_of(error: Any, tb: Any) -> str:
    """Returns one sentence of an exception, with the user's line."""
    package = os.path.join(os.path.dirname(__file__), "")
    text = getattr(error, "message", None) if isinstance(error, Error) else None
    where = (error.filename, error.lineno) if text is not None and error.filename else None
    frames = [f for f in traceback.extract_tb(tb) if not f.filename.startswith(package)]
    if text is None:
        text = "".join(traceback.format_exception_only(type(error), error)).strip()
    if where is None and isinstance(error, SyntaxError):
        return text
    if where is None and frames:
        where = (frames[-1].filename, frames[-1].lineno)
    if where is None:
        return text
    source = linecache.getline(*where).strip()
    return f"{os.path.basename(where[0])}:{where[1]}: {text}" + (f"\n  {source}" if source else "")
