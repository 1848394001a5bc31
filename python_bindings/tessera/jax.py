"""Pipelines as functions of JAX, on CPUs and on CUDA's GPUs: on the memory of its arrays, and called by XLA in what jit compiles.

>>> import tessera as ts, tessera.jax                                                             # doctest: +SKIP
>>> x, im = ts.Var("x"), ts.ImageParam(ts.Float(32), 1, "im")                                     # doctest: +SKIP
>>> double = ts.Func("double")                                                                    # doctest: +SKIP
>>> double[x] = im[x] * 2                                                                         # doctest: +SKIP
>>> ts.jax.op(double, [im])(jax.numpy.ones(3))                                                    # doctest: +SKIP
Array([2., 2., 2.], dtype=float32)
"""
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

try:
    import jax as _jax
    import jax.ffi as _ffi
    import jax.numpy as _jnp
except ImportError as e:
    raise ImportError("tessera.jax needs JAX 0.5 or later, which is not installed here: pip install jax") from e

import numpy as _np

from . import _tessera
from ._errors import Error as _Error
from ._op import Derivative as _Derivative, Program as _Program, Shapes as _Shapes, place_of_user as _place_of_user, \
    type_name as _type_name, with_users_line as _with_users_line

# Functions that JAX has compiled hold their pipelines until the process ends.
_tessera._no_leak_warnings()

__all__ = ["Op", "op"]

# XLA calls the handler of this name, which finds the pipeline by its number.
_TARGET = "tessera_pipeline"
_ffi.register_ffi_target(_TARGET, _tessera._xla_handler(False), platform="cpu")
_ffi.register_ffi_target(_TARGET, _tessera._xla_handler(True), platform="CUDA")


def _dtype(type_: Any) -> Any:
    """Returns JAX's name for a type of elements."""
    return _jnp.dtype(_type_name(type_))


def _device_of(array: Any) -> str:
    """Returns which of a program's devices an array is on."""
    kinds = {device.platform for device in array.devices()} if hasattr(array, "devices") else {"cpu"}
    if kinds <= {"gpu", "cuda"}:
        return "cuda"
    if kinds == {"cpu"}:
        return "cpu"
    raise TypeError(f"an array on {', '.join(sorted(kinds))}: CPUs and CUDA's GPUs are known")


class Op:
    """A pipeline as a function of arrays and numbers. `op()` makes one.

    >>> double = ts.jax.op(double_func, [image])                                                      # doctest: +SKIP
    >>> double(jax.numpy.ones((2, 3)))                                                                # doctest: +SKIP
    Array([[2., 2., 2.],
           [2., 2., 2.]], dtype=float32)
    """

    def __init__(self, program: _Program, shape: Any, copy_strided: bool, defined_at: Any, sizes_by_caller: bool = False):
        self._program, self._defined_at, self._makes_dense = program, defined_at, copy_strided
        self._buffers = [i for i, a in enumerate(program.inputs) if a.is_buffer()]
        self._dtypes = [_dtype(a.type) for a in program.outputs]
        self._shapes = None if sizes_by_caller else _Shapes(program, shape)
        self._derivative: "Optional[Tuple[_Derivative, Op]]" = None
        self._registered: Optional[int] = None
        self.__name__ = program.name

    def __repr__(self) -> str:
        program = self._program
        return f"<Op {self.__name__}({', '.join(program.input_names)}) -> ({', '.join(program.output_names)})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._bind(args, kwargs)
        if self._derivative is None:
            return self._apply(given, None)
        # Numbers are constants there: a pipeline has no gradient for them.
        arrays = [given[i] for i in self._buffers]
        for i, value in enumerate(given):
            if i not in self._buffers and isinstance(value, _jax.core.Tracer):
                raise TypeError(f"{self.__name__}: argument {i} ({self._program.input_names[i]}): a number that is traced; "
                                "wanted a number of Python's, as there is no gradient for it "
                                "(jit(static_argnums=...), or a lambda)")
        return self._differentiable(given)(*arrays)

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "List[Any]":
        names = self._program.input_names
        given = dict(zip(names, args))
        if len(args) > len(names) or set(given) & set(kwargs) or set(given) | set(kwargs) != set(names):
            raise TypeError(f"{self.__name__} takes ({', '.join(names)}): {len(args)} arguments by position and "
                            f"({', '.join(kwargs)}) by name do not fit")
        given.update(kwargs)
        found = [given[name] for name in names]
        for i in self._buffers:
            if not isinstance(found[i], (_jax.Array, _np.ndarray)):
                found[i] = _jnp.asarray(found[i])
            wanted = self._program.inputs[i]
            if found[i].ndim != wanted.dimensions or found[i].dtype != _dtype(wanted.type):
                raise TypeError(f"{self.__name__}: argument {i} ({names[i]}): an array of shape {tuple(found[i].shape)} "
                                f"{found[i].dtype}; wanted {wanted.dimensions} dimensions of {wanted.type}")
        return found

    def _differentiable(self, given: "List[Any]") -> Any:
        """Returns the function of the arrays alone, with its gradient."""
        assert self._derivative is not None
        derivative, backward = self._derivative
        numbers = list(given)

        def with_arrays(arrays: Sequence[Any]) -> "List[Any]":
            filled = list(numbers)
            for i, a in zip(self._buffers, arrays):
                filled[i] = a
            return filled

        @_jax.custom_vjp
        def function(*arrays: Any) -> Any:
            return self._apply(with_arrays(arrays), None)

        def forward(*arrays: Any) -> Any:
            result = function(*arrays)
            return result, (arrays, result)

        def gradient(kept: Any, above: Any) -> Any:
            arrays, result = kept
            inputs = with_arrays(arrays)
            outputs = result if isinstance(result, tuple) else (result,)
            above = above if isinstance(above, tuple) else (above,)
            sources = {"input": inputs, "output": outputs, "gradient": above}
            sizes = [inputs[i].shape for i in derivative.results]
            found = backward._apply([sources[kind][i] for kind, i in derivative.sources], sizes)
            of = dict(zip(derivative.results, found if isinstance(found, tuple) else (found,)))
            # Arrays of integers have gradients of no type that numbers have.
            return tuple(of[i] if i in of else _np.zeros(inputs[i].shape, _jax.dtypes.float0) if not _jnp.issubdtype(
                inputs[i].dtype, _jnp.floating) else _jnp.zeros_like(inputs[i]) for i in self._buffers)

        function.defvjp(forward, gradient)
        return function

    def _apply(self, given: "List[Any]", sizes: Any) -> Any:
        """Runs the pipeline now, or has it run by what jit compiles."""
        if any(isinstance(value, _jax.core.Tracer) for value in given):
            return self._traced(given, sizes)
        kinds = {_device_of(given[i]) for i in self._buffers}
        if len(kinds) > 1:
            raise TypeError(f"{self.__name__}: arrays on {' and '.join(sorted(kinds))}; wanted all of them on one device")
        return self._run(kinds.pop() if kinds else self._program.devices[0], given, sizes)

    def _shapes_of(self, device: str, given: "List[Any]", sizes: Any) -> Any:
        return self._shapes(device, given) if self._shapes is not None else sizes

    def _callable(self, device: str) -> Any:
        """Returns the Callable for a device, which XLA asks for, too."""
        if device not in self._program.devices:
            other = "a GPU" if device == "cuda" else "the CPU"
            have = self._program.devices
            raise TypeError(f"{self.__name__}: its pipeline is for {', '.join(have)}, and its arrays are on {other}: give op() "
                            f"one for \"{device}\" as well, op({{\"cpu\": ..., \"cuda\": ...}}), or move the arrays, "
                            f"jax.device_put(array, jax.devices(\"{have[0]}\")[0])")
        return self._program.callable(device)

    def _traced(self, given: "List[Any]", sizes: Any) -> Any:
        """Has XLA call the pipeline: with arrays as they are, and with numbers that are known by now as attributes."""
        program = self._program
        wanted = "cuda" if _jax.default_backend() in ("gpu", "cuda") else "cpu"
        device = wanted if wanted in program.devices else program.devices[0]
        shapes = [tuple(int(n) for n in shape) for shape in self._shapes_of(device, given, sizes)]
        results = [_jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in zip(shapes, self._dtypes)]
        if wanted in program.devices:
            self._compiled(wanted)
        operands, numbers = [], ""
        for i, (value, argument) in enumerate(zip(given, program.inputs)):
            if i not in self._buffers and not isinstance(value, _jax.core.Tracer):
                numbers += f"{self._bits(i, value):x} "
                continue
            if i not in self._buffers:
                numbers += "- "
                value = _jnp.asarray(value, _dtype(argument.type))
            operands.append(value)
        call = _ffi.ffi_call(_TARGET, results, vmap_method="expand_dims")
        outputs = call(*operands, pipeline=_np.int64(self._number()), numbers=numbers)
        return outputs[0] if len(results) == 1 else tuple(outputs)

    def _bits(self, i: int, value: Any) -> int:
        what = f"{self.__name__}: argument {i} ({self._program.input_names[i]})"
        bits: int = _tessera._number_bits(self._program.inputs[i].type, _np.asarray(value).item(), what)
        return bits

    def _number(self) -> int:
        """Returns the number by which XLA's programs know the pipeline."""
        if self._registered is None:
            self._registered = _tessera._add_xla_pipeline(f"{self.__name__}, made at {self._defined_at}", self._callable)
        return self._registered

    def _compiled(self, device: str) -> Any:
        try:
            return self._callable(device)
        except _Error as e:
            raise _with_users_line(e, self._defined_at) from None

    def _run(self, device: str, given: "List[Any]", sizes: Any) -> Any:
        self._compiled(device)
        shapes = self._shapes_of(device, given, sizes)
        # Memory of ours, which JAX then shares.
        outputs = [_tessera.Buffer(a.type, list(shape)[::-1]) for a, shape in zip(self._program.outputs, shapes)]
        arguments = [value if i in self._buffers else _np.asarray(value).item() for i, value in enumerate(given)]
        for i in self._buffers:
            if self._makes_dense and isinstance(given[i], _np.ndarray):
                arguments[i] = _np.ascontiguousarray(given[i])
        if not any(0 in out.shape for out in outputs):
            self._compute(device, arguments, outputs)
        arrays = [_jnp.from_dlpack(b) for b in outputs]
        found = [a.astype(bool) if a.dtype != dtype else a for a, dtype in zip(arrays, self._dtypes)]
        return found[0] if len(found) == 1 else tuple(found)

    def _compute(self, device: str, arguments: "List[Any]", outputs: "List[Any]") -> None:
        try:
            self._callable(device)(*arguments, *outputs)
        except _Error as e:
            raise _with_users_line(e, self._defined_at, device) from None


def op(pipeline: Any, inputs: Optional[Sequence[Any]] = None, *,
       shape: "Union[None, int, str, Sequence[int], Callable[..., Any]]" = None, backward: Any = None,
       gradients: Optional[Sequence[str]] = None, copy_strided: bool = True, targets: Optional[Mapping[str, Any]] = None) -> Op:
    """Makes a function of JAX of a pipeline: call it with an array for each ImageParam and a number for each Param.

    The arguments are those of tessera.torch.op. Outside of jit and of other transformations the pipeline works on the
    memory of JAX's arrays, on CPUs and on CUDA's GPUs, and JAX shares the memory of the results. In jit XLA calls it, without
    Python: on its own arrays, and on its stream of a GPU. jax.vmap has it called for each part of the batch. A number that is
    traced is an array to XLA, which a pipeline on a GPU has to wait for. With backward=, jax.grad has the gradient of the
    arrays; numbers are constants then.
    Raises TypeError and ValueError, which say which argument does not fit; CompileError when it is first called.

    >>> blur = ts.jax.op(blur_func, [image], shape="image")                                           # doctest: +SKIP
    >>> jax.jit(lambda a: blur(a).sum())(jax.numpy.ones((480, 640)))                                  # doctest: +SKIP
    """
    program = _Program(pipeline, inputs, targets, "op")
    if gradients is not None and backward is None:
        raise ValueError("op: gradients: there is no backward= that gives them")
    place = _place_of_user()
    made = Op(program, shape, copy_strided, place)
    if backward is not None:
        second, of_second = backward if isinstance(backward, tuple) else (backward, None)
        wanted = _Program(second, of_second, targets, "op: backward")
        made._derivative = _Derivative(program, wanted, gradients), Op(wanted, None, copy_strided, place, sizes_by_caller=True)
    return made
