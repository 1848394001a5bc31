"""Pipelines as functions of JAX: outside of jit on the memory of its arrays, and inside of jit as callbacks.

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
    import jax.numpy as _jnp
except ImportError as e:
    raise ImportError("tessera.jax needs JAX, which is not installed here: pip install jax") from e

import numpy as _np

from . import _tessera
from ._errors import Error as _Error
from ._op import Derivative as _Derivative, Program as _Program, Shapes as _Shapes, place_of_user as _place_of_user, \
    with_users_line as _with_users_line

# Functions that JAX has compiled hold their pipelines until the process ends.
_tessera._no_leak_warnings()

__all__ = ["Op", "op"]


def _dtype(type_: Any) -> Any:
    """Returns JAX's name for a type of elements."""
    if type_.is_bool():
        return _np.dtype(bool)
    kind = "bfloat" if type_.is_bfloat() else "float" if type_.is_float() else "int" if type_.is_int() else "uint"
    return _jnp.dtype(f"{kind}{type_.bits()}")


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
                raise TypeError(f"{self.__name__}: argument {i} ({self._program.input_names[i]}): a number that is traced; wanted a "
                                "number of Python's, as there is no gradient for it (jit(static_argnums=...), or a lambda)")
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
                raise TypeError(f"{self.__name__}: argument {i} ({names[i]}): an array of shape {tuple(found[i].shape)} {found[i].dtype}; "
                                f"wanted {wanted.dimensions} dimensions of {wanted.type}")
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

    def _traced(self, given: "List[Any]", sizes: Any) -> Any:
        device = self._program.devices[0]
        shapes = [tuple(int(n) for n in shape) for shape in self._shapes_of(device, given, sizes)]
        results = [_jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in zip(shapes, self._dtypes)]

        def run(*values: Any) -> Any:
            on_host = [_np.asarray(value) for value in values]
            numbers = [value if i in self._buffers else value.item() for i, value in enumerate(on_host)]
            outputs = [_np.empty(shape, dtype) for shape, dtype in zip(shapes, self._dtypes)]
            self._compute("cpu", numbers, outputs)
            return outputs[0] if len(outputs) == 1 else tuple(outputs)

        return _jax.pure_callback(run, results[0] if len(results) == 1 else tuple(results), *given, vmap_method="sequential")

    def _run(self, device: str, given: "List[Any]", sizes: Any) -> Any:
        shapes = self._shapes_of(device, given, sizes)
        # Memory of ours, which JAX then shares.
        outputs = [_tessera.Buffer(a.type, list(shape)[::-1]) for a, shape in zip(self._program.outputs, shapes)]
        numbers = [value if i in self._buffers else _np.asarray(value).item() for i, value in enumerate(given)]
        self._compute(device, numbers, outputs)
        arrays = [_jnp.from_dlpack(b) for b in outputs]
        found = [a.astype(bool) if a.dtype != dtype else a for a, dtype in zip(arrays, self._dtypes)]
        return found[0] if len(found) == 1 else tuple(found)

    def _compute(self, device: str, given: "List[Any]", outputs: "List[Any]") -> None:
        if any(0 in out.shape for out in outputs):
            return
        for i in self._buffers:
            if self._makes_dense and isinstance(given[i], _np.ndarray):
                given[i] = _np.ascontiguousarray(given[i])
        try:
            self._program.callable(device)(*given, *outputs)
        except _Error as e:
            raise _with_users_line(e, self._defined_at) from None


def op(pipeline: Any, inputs: Optional[Sequence[Any]] = None, *,
       shape: "Union[None, int, str, Sequence[int], Callable[..., Any]]" = None, backward: Any = None,
       gradients: Optional[Sequence[str]] = None, copy_strided: bool = True, targets: Optional[Mapping[str, Any]] = None) -> Op:
    """Makes a function of JAX of a pipeline: call it with an array for each ImageParam and a number for each Param.

    The arguments are those of tessera.torch.op. Outside of jit and of other transformations the pipeline works on the
    memory of JAX's arrays, on CPUs and on CUDA's GPUs, and JAX shares the memory of the results. In jit it is a callback on
    the host (jax.pure_callback), where arrays of a GPU are copied there and back. jax.vmap runs it for one part of the
    batch after another. With backward=, jax.grad has the gradient of the arrays; numbers are constants then.
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
