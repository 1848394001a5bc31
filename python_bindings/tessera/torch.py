"""Pipelines as operators of PyTorch: on CPUs and on CUDA's GPUs, differentiable, and known to torch.compile.

>>> import tessera as ts, tessera.torch                                                           # doctest: +SKIP
>>> x, im = ts.Var("x"), ts.ImageParam(ts.Float(32), 1, "im")                                     # doctest: +SKIP
>>> double = ts.Func("double")                                                                    # doctest: +SKIP
>>> double[x] = im[x] * 2                                                                         # doctest: +SKIP
>>> ts.torch.op(double, [im])(torch.ones(3))                                                      # doctest: +SKIP
tensor([2., 2., 2.])
"""
import types
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

try:
    import torch as _torch
    import torch.library as _library
except ImportError as e:
    raise ImportError("tessera.torch needs PyTorch 2.4 or later, which is not installed here: pip install torch") from e

from . import _tessera
from ._errors import Error as _Error
from ._op import Derivative as _Derivative, Program as _Program, Shapes as _Shapes, place_of_user as _place_of_user, \
    type_name as _type_name, with_users_line as _with_users_line

__all__ = ["Op", "op", "ops"]

# Operators, and what they hold, live until the process ends.
_tessera._no_leak_warnings()

_NAMESPACE = "tessera"
_ops: "Dict[str, Op]" = {}
_libraries: "Dict[str, Any]" = {}


def ops() -> "Mapping[str, Op]":
    """Returns the operators that this process has, by their names.

    >>> ts.torch.ops()["tessera::double"]                                                             # doctest: +SKIP
    <Op tessera::double(Tensor image) -> Tensor>
    """
    return types.MappingProxyType(_ops)


def _library_of(namespace: str) -> Any:
    """Returns what defines operators in a namespace: they live as long as it does."""
    found = _libraries.get(namespace)
    if found is None:
        found = _libraries[namespace] = _library.Library(namespace, "FRAGMENT")
    return found


def _dtype(type_: Any) -> Any:
    """Returns PyTorch's name for a type of elements."""
    found = getattr(_torch, _type_name(type_), None)
    if found is None:
        raise TypeError(f"this PyTorch has no tensors of {type_}")
    return found


def _schema_type(argument: Any) -> str:
    if argument.is_buffer():
        return "Tensor"
    type_ = argument.type
    return "bool" if type_.is_bool() else "float" if type_.is_float() else "int"


def _take_name(name: Optional[str], program: _Program) -> str:
    """Returns a qualified name that no operator has: the one that is given, or one of the first output's."""
    if name is not None:
        full = name if "::" in name else f"{_NAMESPACE}::{name}"
        if not all(part.isidentifier() for part in full.split("::")) or full.count("::") != 1:
            raise ValueError(f"op: name: {name!r}; wanted an identifier, or \"namespace::identifier\"")
        if full in _ops:
            raise ValueError(f"op: there is an operator {full} already, made at {_ops[full]._defined_at}: names are for the "
                             "whole process; without name= each gets one of its own")
        return full
    base, number = f"{_NAMESPACE}::{program.name}", 1
    full = base
    while full in _ops:
        number += 1
        full = f"{base}_{number}"
    return full


class _Kernel:
    """Runs the pipeline for tensors on one device."""

    def __init__(self, op: "Op", device: str):
        self.op, self.device = op, device
        self.call: Any = None
        self.warm: "set[Any]" = set()

    def prepare(self, device: Any) -> None:
        """Compiles the pipeline. A GPU has to have run it before a capture begins."""
        if self.device == "cuda" and device not in self.warm and _torch.cuda.is_current_stream_capturing():
            raise RuntimeError(f"{self.op.name} is captured before it has run: call it once on this GPU, with tensors of the "
                               "same shapes, so that nothing is compiled or loaded while the CUDA graph is captured")
        if self.call is None:
            self.call = self._users(lambda: self.op._program.callable(self.device))

    def _users(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except _Error as e:
            raise _with_users_line(e, self.op._defined_at) from None

    def run(self, device: Any, arguments: Sequence[Any]) -> None:
        try:
            if self.device == "cuda" and not _HAS_TABLE:
                # Newer tensors say it themselves (DLPack 1.3).
                with _tessera.cuda_stream(_torch.cuda.current_stream(device).cuda_stream):
                    self.call(*arguments)
            else:
                self.call(*arguments)
        except _Error as e:
            raise _with_users_line(e, self.op._defined_at, self.device) from None
        self.warm.add(device)

    def inputs(self, args: Sequence[Any]) -> "Tuple[List[Any], Any]":
        """Returns the inputs as the pipeline takes them, and their device."""
        op, given, device = self.op, list(args), None
        for i in op._tensors:
            tensor = given[i]
            if device is None:
                device = tensor.device
            elif tensor.device != device:
                raise TypeError(f"{op.name}: argument {i} ({op._program.input_names[i]}): a tensor on {tensor.device}; "
                                f"wanted one on {device}, as the tensor before it")
            if tensor.requires_grad:
                given[i] = tensor = tensor.detach()
            if op._makes_dense and not tensor.is_contiguous():
                strides = tensor.stride()
                if tensor.numel() and (strides[-1] != 1 or 0 in strides):
                    given[i] = tensor.contiguous()
        return given, device

    def functional(self, *args: Any) -> Any:
        op = self.op
        given, device = self.inputs(args if op._shapes is not None else args[:op._inputs])
        if device not in self.warm:
            self.prepare(device)
        outputs = op._new_outputs(self.device, given, args)
        for out in outputs:
            if out.numel():
                self.run(device, given + outputs)
                break
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def in_place(self, *args: Any) -> None:
        op = self.op
        given, device = self.inputs(args[:op._inputs])
        outputs = [out.detach() if out.requires_grad else out for out in args[op._inputs:]]
        for name, out in zip(op._program.output_names, outputs):
            if out.device != device:
                raise TypeError(f"{op.name}: output {name}: a tensor on {out.device}; wanted one on {device}, as the inputs")
        if device not in self.warm:
            self.prepare(device)
        if any(out.numel() for out in outputs):
            self.run(device, given + outputs)
            _torch.autograd.graph.increment_version(args[op._inputs:])


# Older ones have no number, but a text.
_number_of: Any = getattr(_torch._C.DispatchKeySet, "raw_repr", repr)


class _Autograd:
    """The kernel that the dispatcher calls before those of devices: it notes what gradients need, where some are wanted.

    set_up, backward: as those of torch.library.register_autograd.
    """

    def __init__(self, op: "Op", set_up: Callable[..., None], backward: Callable[..., Any]):
        self.op = op

        def forward(ctx: Any, keyset: Any, *args: Any) -> Any:
            result = self.below(keyset, args)
            set_up(ctx, args, result)
            return result

        def gradients(ctx: Any, *above: Any) -> Any:
            return (None, *backward(ctx, *above))

        name = f"gradient_of_{op.name.replace('::', '_')}"
        self.function = type(name, (_torch.autograd.Function,),
                             {"forward": staticmethod(forward), "backward": staticmethod(gradients)})
        keys = _torch._C.DispatchKey
        self.of_devices = {getattr(keys, device.upper()): kernel.functional for device, kernel in op._kernels.items()}
        self.next: "Dict[Any, Any]" = {}

    def below(self, keyset: Any, args: Sequence[Any]) -> Any:
        with _torch._C._AutoDispatchBelowAutograd():
            return self.op.overload.redispatch(keyset & _torch._C._after_autograd_keyset, *args)

    def __call__(self, keyset: Any, *args: Any) -> Any:
        if _torch.is_grad_enabled():
            for i in self.op._tensors:
                if args[i].requires_grad:
                    return self.function.apply(keyset, *args)
        # The kernel of a device that is next is called without another turn through the dispatcher.
        number = _number_of(keyset)
        if number not in self.next:
            self.next[number] = self.of_devices.get((keyset & _torch._C._after_ADInplaceOrView_keyset).highestPriorityTypeId())
        kernel = self.next[number]
        return kernel(*args) if kernel is not None else self.below(keyset, args)


_HAS_TABLE = hasattr(_torch.Tensor, "__dlpack_c_exchange_api__")


class Op:
    """A pipeline as an operator of PyTorch: call it with tensors and numbers. `op()` makes one.

    name: its name there, as in torch.ops; schema: what it takes and returns; overload: the operator that
    torch.library knows, for torch.library.opcheck() and the like.

    >>> double = ts.torch.op(double_func, [image], name="double")                                     # doctest: +SKIP
    >>> double.schema                                                                                 # doctest: +SKIP
    '(Tensor image) -> Tensor'
    >>> torch.library.opcheck(double.overload, (torch.ones(2, 3),))                                   # doctest: +SKIP
    """

    name: str
    schema: str
    overload: Any

    def __init__(self, program: _Program, name: str, shape: Any, in_place: bool, makes_dense: bool, defined_at: Any,
                 sizes_by_caller: bool = False, backward: "Optional[_Backward]" = None, no_gradient: Optional[str] = None):
        self.name, self._program, self._defined_at = name, program, defined_at
        self._backward = backward
        self._no_gradient = no_gradient or f"{name} has no gradient: op() makes one of the pipeline that backward= gives"
        self._in_place, self._makes_dense = in_place, makes_dense
        self._sizes_by_caller = sizes_by_caller
        self._inputs = len(program.inputs)
        self._tensors = tuple(i for i, a in enumerate(program.inputs) if a.is_buffer())
        if not self._tensors:
            raise TypeError(f"{program.what}: no input is a tensor: PyTorch would not know where to run it")
        self._dtypes = tuple(_dtype(a.type) for a in program.outputs)
        self._shapes = None if in_place or sizes_by_caller else _Shapes(program, shape)
        self.schema = self._make_schema()
        self._define()

    def _make_schema(self) -> str:
        program = self._program
        parameters = [f"{_schema_type(a)} {name}" for a, name in zip(program.inputs, program.input_names)]
        if self._in_place:
            parameters += [f"Tensor(a{i}!) {name}" for i, name in enumerate(program.output_names)]
            return f"({', '.join(parameters)}) -> ()"
        if self._sizes_by_caller:
            parameters += [f"SymInt[] sizes_{i}" for i in range(len(program.outputs))]
        results = ", ".join(["Tensor"] * len(program.outputs))
        return f"({', '.join(parameters)}) -> {results if len(program.outputs) == 1 else f'({results})'}"

    def _shapes_for(self, device: str, given: Sequence[Any], args: Sequence[Any]) -> Any:
        if self._shapes is None:
            return args[self._inputs:]
        try:
            return self._shapes(device, given)
        except Exception:
            self._check_dimensions(given)
            raise

    def _new_outputs(self, device: str, given: "List[Any]", args: Sequence[Any]) -> "List[Any]":
        """Makes tensors for the outputs, in the ways that take PyTorch the least time."""
        like, same = given[self._tensors[0]], self._shapes and self._shapes.same_as
        if same is None:
            shapes = self._shapes_for(device, given, args)
            return [like.new_empty(shape, dtype=dtype) for shape, dtype in zip(shapes, self._dtypes)]
        like = given[same]
        if like.is_contiguous():
            return [_torch.empty_like(like, dtype=dtype) for dtype in self._dtypes]
        return [like.new_empty(like.shape, dtype=dtype) for dtype in self._dtypes]

    def _check_dimensions(self, given: Sequence[Any]) -> None:
        for i in self._tensors:
            wanted = self._program.inputs[i]
            if given[i].dim() != wanted.dimensions:
                raise TypeError(f"{self.name}: argument {i} ({self._program.input_names[i]}): a tensor of shape "
                                f"{tuple(given[i].shape)}; wanted {wanted.dimensions} dimensions of {wanted.type}")

    def _fake(self, *args: Any) -> Any:
        """Makes tensors without elements, which are what the operator would return."""
        given = args[:self._inputs]
        self._check_dimensions(given)
        if self._in_place:
            return None
        device = given[self._tensors[0]].device
        kind = device.type if device.type in self._program.devices else self._program.devices[0]
        if kind == "cuda" and "cpu" in self._program.devices and not _torch.cuda.is_available():
            kind = "cpu"  # where nothing is compiled for a GPU
        outputs = tuple(_torch.empty(shape, dtype=dtype, device=device)
                        for shape, dtype in zip(self._shapes_for(kind, given, args), self._dtypes))
        return outputs[0] if len(outputs) == 1 else outputs

    def _batch(self, info: Any, axes: Sequence[Optional[int]], *args: Any) -> Any:
        """Runs the operator for each part of a batch, which has that axis of an argument, or none."""
        results = [self.overload(*(a if axis is None else a.select(axis, i) for a, axis in zip(args, axes)))
                   for i in range(info.batch_size)]
        if isinstance(results[0], tuple):
            return tuple(_torch.stack(each) for each in zip(*results)), (0,) * len(results[0])
        return _torch.stack(results), 0

    def _define(self) -> None:
        namespace, name = self.name.split("::")
        self._library = library = _library_of(namespace)
        library.define(f"{name}{self.schema}", tags=(_torch.Tag.pt2_compliant_tag,))
        self.overload = getattr(getattr(_torch.ops, namespace), name).default
        self._kernels = {device: _Kernel(self, device) for device in self._program.devices}
        for device, kernel in self._kernels.items():
            library.impl(name, kernel.in_place if self._in_place else kernel.functional, device.upper())
        _library.register_fake(self.name, self._fake, lib=library)
        if self._in_place:
            library.impl(name, _library.fallthrough_kernel, "Autograd")
        else:
            of = self._backward
            self._autograd = _Autograd(self, of.set_up if of else _note_nothing, of.run if of else self._refuse)
            library.impl(name, self._autograd, "Autograd", with_keyset=True)
            if not self._sizes_by_caller and hasattr(_library, "register_vmap"):
                _library.register_vmap(self.name, self._batch, lib=library)
        _ops[self.name] = self

    def _refuse(self, ctx: Any, *above: Any) -> None:
        raise RuntimeError(self._no_gradient)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overload(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Op {self.name}{self.schema}>"


def _note_nothing(ctx: Any, inputs: "Tuple[Any, ...]", output: Any) -> None:
    pass


class _Backward:
    """The gradient of an operator, by another one."""

    def __init__(self, derivative: _Derivative, program: _Program):
        self.inputs = program.inputs
        self.sources, self.results = derivative.sources, derivative.results
        self.kept = [(kind, i) for kind, i in self.sources if kind == "output" or kind == "input" and self.inputs[i].is_buffer()]
        self.op: "Optional[Op]" = None

    def set_up(self, ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.save_for_backward(*(inputs[i] if kind == "input" else outputs[i] for kind, i in self.kept))
        ctx.numbers = {i: value for i, value in enumerate(inputs) if not self.inputs[i].is_buffer()}
        ctx.sizes = [inputs[i].shape for i in self.results]

    def run(self, ctx: Any, *gradients: Any) -> Tuple[Any, ...]:
        assert self.op is not None
        saved = dict(zip(self.kept, ctx.saved_tensors))
        arguments = [gradients[i] if kind == "gradient" else saved[kind, i] if (kind, i) in saved else ctx.numbers[i]
                     for kind, i in self.sources]
        found = self.op.overload(*arguments, *ctx.sizes)
        results: "List[Any]" = [None] * len(self.inputs)
        for i, gradient in zip(self.results, found if isinstance(found, tuple) else (found,)):
            results[i] = gradient
        return tuple(results)


def op(pipeline: Any, inputs: Optional[Sequence[Any]] = None, *, name: Optional[str] = None,
       shape: "Union[None, int, str, Sequence[int], Callable[..., Any]]" = None, backward: Any = None,
       gradients: Optional[Sequence[str]] = None, in_place: bool = False, copy_strided: bool = True,
       targets: Optional[Mapping[str, Any]] = None) -> Op:
    """Makes an operator of PyTorch of a pipeline: call it with a tensor for each ImageParam and a number for each Param.

    pipeline: a Func or a Pipeline, with its inputs in the order of the operator's arguments; a Callable; a dict of these, as
        {"cpu": ..., "cuda": ...}; or a function of a Target that returns (pipeline, inputs), which may schedule it for
        a GPU where target.has_gpu_feature(). It is compiled for a device when tensors of that device first come.
    name: what it is called in torch.ops, with a namespace or without: names are for the whole process. Without one, it
        is called like its first output, and numbered.
    shape: of the result, in PyTorch's order: a function of the operator's arguments (under torch.compile sizes may be
        symbols: use arithmetic only), the name or number of an input that has the same shape, or a shape. Without it, the
        pipeline is asked which parts of its inputs it reads.
    backward: the pipeline that gives gradients, in the same forms, as (pipeline, inputs) where it has inputs. Its
        inputs that are called like the operator's inputs and outputs are these; the others are the gradients of the outputs.
        Its outputs are the gradients of the inputs that `gradients` names: those of floats, without that.
    in_place: the caller passes tensors for the outputs, too, which the operator writes into; it returns None.
    copy_strided: copies inputs whose innermost axis is not dense, as schedules want it to be; False passes them as they are,
        for a pipeline with im.dim(0).set_stride(Expr()).
    targets: the targets to compile for, {"cpu": "host", "cuda": "host-cuda"} without it.

    Axis j of a tensor of n axes is dimension n - 1 - j. Kernels go on PyTorch's current stream; in a CUDA graph, call
    the operator once before the capture.
    Raises TypeError and ValueError, which say which argument does not fit; CompileError when it is first called.

    >>> leaky = ts.torch.op(forward, [image, slope], backward=(backward, [image, upstream, slope]))   # doctest: +SKIP
    >>> leaky(torch.randn(480, 640, requires_grad=True), 0.25).sum().backward()                       # doctest: +SKIP
    """
    program = _Program(pipeline, inputs, targets, "op")
    if in_place and backward is not None:
        raise ValueError("op: in_place: what is written into tensors of the caller's cannot be differentiated; backward= wants "
                         "the other form")
    if in_place and shape is not None:
        raise ValueError("op: in_place: the caller's tensors have the shape, and shape= is for new ones")
    if gradients is not None and backward is None:
        raise ValueError("op: gradients: there is no backward= that gives them")
    place = _place_of_user()
    full = _take_name(name, program)
    if backward is None:
        return Op(program, full, shape, in_place, copy_strided, place)
    second, of_second = backward if isinstance(backward, tuple) else (backward, None)
    wanted = _Program(second, of_second, targets, "op: backward")
    gradient = _Backward(_Derivative(program, wanted, gradients), program)
    made = Op(program, full, shape, in_place, copy_strided, place, backward=gradient)
    of_backward = f"{full}_backward" if f"{full}_backward" not in _ops else None
    gradient.op = Op(wanted, _take_name(of_backward, wanted), None, False, copy_strided, place, sizes_by_caller=True,
                     no_gradient=f"{full} is differentiated twice: its pipeline backward= gives first derivatives only")
    return made
