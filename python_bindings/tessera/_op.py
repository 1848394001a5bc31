"""What operators of PyTorch and of JAX have in common: a pipeline for each device, its arguments, and the shapes of
its results."""
import keyword
import os
import re
import sys
import threading

from . import _tessera
from ._errors import Error, _without_place

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
TARGETS = {"cpu": "host", "cuda": "host-cuda"}


# ---- Lines of the user's ----


class Place:
    """A line of a program."""

    def __init__(self, filename, lineno):
        self.filename, self.lineno = filename, lineno

    def __str__(self):
        return f"{os.path.basename(self.filename)}:{self.lineno}"


def _folder(module):
    return os.path.join(os.path.dirname(os.path.abspath(module.__file__)), "")


def _foreign_folders():
    """Returns the folders whose lines are not the user's."""
    modules = [sys.modules.get(name) for name in ("torch", "jax", "jaxlib", "functorch")]
    return (_PACKAGE, *(_folder(m) for m in modules if getattr(m, "__file__", None)))


def place_of_user():
    """Returns the innermost line that is neither this package's nor PyTorch's nor JAX's; None if there is none, as in a
    thread of theirs."""
    foreign = (*_foreign_folders(), "<")
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(foreign) and os.path.basename(name) != "threading.py":
            return Place(name, frame.f_lineno)
        frame = frame.f_back
    return None


def with_users_line(error, defined_at):
    """Returns an error of a pipeline with a line of the user's, where its own is one of a library that called the
    pipeline: the line of the call, or else that where the operator was made."""
    if error.filename and not error.filename.startswith(_foreign_folders()):
        return error
    place = place_of_user() or defined_at
    return type(error)(f"{place}: {_without_place(str(error))}", place.filename, place.lineno)


# ---- A pipeline for each device ----


def plain_name(name):
    """Returns a name as an identifier, without the number that makes names of Funcs unique."""
    name = re.sub(r"\W", "_", name.split("$")[0]) or "_"
    if name[0].isdigit():
        name = "_" + name
    return name + "_" if keyword.iskeyword(name) else name


def _unique(names):
    seen = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}_{seen[name] - 1}"


def _outputs_of(pipeline):
    """Returns the outputs of a Func or a Pipeline as Arguments."""
    funcs = pipeline.outputs() if isinstance(pipeline, _tessera.Pipeline) else [pipeline]
    found = []
    for f in funcs:
        types = f.types()
        for i, type_ in enumerate(types):
            name = plain_name(f.name()) + (f"_{i}" if len(types) > 1 else "")
            found.append(_tessera.Argument(name, _tessera.ArgumentKind.OutputBuffer, type_, f.dimensions()))
    return found


def _text_of(argument):
    kind = f"{argument.dimensions} dimensions of " if argument.is_buffer() else ""
    return f"{plain_name(argument.name)}: {kind}{argument.type}"


class Program:
    """A pipeline that is compiled for a device when it is first asked for.

    pipeline: a Func or a Pipeline, with its inputs (ImageParams, Params); a Callable; a dict of Callables, by device; or
    a function of a Target that returns (Func or Pipeline, inputs). `what` names the operator in errors.
    """

    def __init__(self, pipeline, inputs, targets, what):
        self.what = what
        self._lock = threading.Lock()
        self._callables, self._sources = {}, {}
        self._targets = {device: _tessera.Target(str(t)) for device, t in (targets or TARGETS).items()}
        unknown = [device for device in self._targets if device not in TARGETS]
        if unknown:
            raise ValueError(f"{what}: targets: no device is called {unknown[0]!r}; there are \"cpu\" and \"cuda\"")
        if isinstance(pipeline, _tessera.Callable):
            pipeline = {device: pipeline for device in self._targets}
        if isinstance(pipeline, dict):
            arguments = self._take_callables(pipeline, inputs)
        elif isinstance(pipeline, (_tessera.Func, _tessera.Pipeline)):
            if inputs is None:
                raise TypeError(f"{what}: argument 1 (inputs): None; wanted the inputs of the {type(pipeline).__name__} in the "
                                "order of the operator's arguments: ImageParams and Params")
            self._sources = {device: (pipeline, inputs) for device in self._targets}
            arguments = self._arguments_of(pipeline, inputs)
        elif callable(pipeline):
            if inputs is not None:
                raise TypeError(f"{what}: argument 1 (inputs): a function returns its inputs beside its pipeline")
            arguments = self._build_all(pipeline)
        else:
            raise TypeError(f"{what}: argument 0 (pipeline): a {type(pipeline).__name__}; wanted a Func or a Pipeline with its "
                            "inputs, a Callable, a dict of Callables, or a function that builds a pipeline")
        self.inputs = [a for a in arguments if a.is_input()]
        self.outputs = [a for a in arguments if a.is_output()]
        self.name = plain_name(self._name_of(pipeline))
        names = list(_unique(plain_name(a.name) for a in arguments))
        self.input_names, self.output_names = names[:len(self.inputs)], names[len(self.inputs):]

    def _name_of(self, pipeline):
        """Returns the name of the first output, without the number that it has among the values of its Func."""
        if isinstance(pipeline, _tessera.Func):
            return pipeline.name()
        if self._sources:
            built = next(iter(self._sources.values()))[0]
            return built.name() if isinstance(built, _tessera.Func) else built.outputs()[0].name()
        return self.outputs[0].name.split(".")[0]

    @property
    def devices(self):
        return tuple(self._callables or self._sources)

    def _arguments_of(self, pipeline, inputs):
        inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        for i, each in enumerate(inputs):
            if not isinstance(each, (_tessera.ImageParam, _tessera.Param, _tessera.Argument)):
                raise TypeError(f"{self.what}: item {i} of the inputs: a {type(each).__name__}; wanted an ImageParam or a Param")
        return [_tessera.Argument(each) if not isinstance(each, _tessera.Argument) else each for each in inputs] \
            + _outputs_of(pipeline)

    def _take_callables(self, callables, inputs):
        if inputs is not None:
            raise TypeError(f"{self.what}: argument 1 (inputs): a Callable knows its inputs")
        if not callables:
            raise ValueError(f"{self.what}: argument 0 (pipeline): a dict without Callables")
        for device, each in callables.items():
            if device not in TARGETS or not isinstance(each, _tessera.Callable):
                raise TypeError(f"{self.what}: argument 0 (pipeline): {device!r}: a {type(each).__name__}; wanted a Callable for "
                                "\"cpu\", for \"cuda\", or for both")
        self._callables = dict(callables)
        return self._check_same({device: list(each.arguments) for device, each in callables.items()})

    def _build_all(self, build):
        for device, target in self._targets.items():
            built = build(target)
            if not (isinstance(built, (tuple, list)) and len(built) == 2
                    and isinstance(built[0], (_tessera.Func, _tessera.Pipeline))):
                raise TypeError(f"{self.what}: the function that builds the pipeline returned a {type(built).__name__}; wanted "
                                "(pipeline, inputs)")
            self._sources[device] = built
        return self._check_same({device: self._arguments_of(*built) for device, built in self._sources.items()})

    def _check_same(self, arguments):
        """Returns the arguments, which have to be the same on each device."""
        (first, wanted), *rest = arguments.items()
        for device, each in rest:
            ours, others = (tuple(_text_of(a) for a in of) for of in (wanted, each))
            if ours != others:
                raise ValueError(f"{self.what}: the pipelines for {first} and for {device} have other arguments: "
                                 f"({', '.join(ours)}) and ({', '.join(others)})")
        return wanted

    def callable(self, device):
        """Returns the Callable for a device, compiled now if it is not yet."""
        found = self._callables.get(device)
        if found is not None:
            return found
        if device not in self._sources:
            raise TypeError(f"{self.what}: there is no pipeline for {device}; those for {', '.join(self.devices)} are")
        with self._lock:
            if device not in self._callables:
                pipeline, inputs = self._sources[device]
                arguments = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
                self._callables[device] = pipeline.compile_to_callable(arguments, self._targets[device])
            return self._callables[device]


# ---- Gradients ----


class Derivative:
    """Says how a backward pipeline is called: some of its arguments are inputs and outputs of the forward one, by their
    names, and the others are the gradients of the forward one's outputs; its outputs are the gradients of inputs.

    sources: for each of its inputs ("input", "output" or "gradient", position); results: the positions of the inputs whose
    gradients it gives, those that `gradients` names, or all of floats.
    """

    def __init__(self, program, backward, gradients):
        what = program.what
        floats = [name for name, a in zip(program.input_names, program.inputs) if a.is_buffer() and _is_float(a)]
        of = floats if gradients is None else [gradients] if isinstance(gradients, str) else list(gradients)
        for name in of:
            if name not in floats:
                raise ValueError(f"{what}: gradients: {name!r} is no input of floats; those are: {', '.join(floats)}")
        if len(of) != len(backward.outputs):
            raise ValueError(f"{what}: backward has {len(backward.outputs)} outputs ({', '.join(backward.output_names)}); wanted one for "
                             f"each of {', '.join(of)} (gradients= names those that there are)")
        self.results = [program.input_names.index(name) for name in of]
        self.sources = []
        upstream = [i for i, a in enumerate(program.outputs) if _is_float(a)]
        left = list(upstream)
        for name, argument in zip(backward.input_names, backward.inputs):
            if name in program.input_names:
                self.sources.append(("input", program.input_names.index(name)))
            elif name in program.output_names:
                self.sources.append(("output", program.output_names.index(name)))
            elif argument.is_buffer() and left:
                self.sources.append(("gradient", left.pop(0)))
            else:
                raise ValueError(f"{what}: backward takes {name}, which is neither an input ({', '.join(program.input_names)}) nor an output "
                                 f"({', '.join(program.output_names)}) of the operator, nor the gradient of one of its {len(upstream)} "
                                 "outputs")


def _is_float(argument):
    return argument.type.is_float() or argument.type.is_bfloat()


# ---- Shapes of results ----


class Shapes:
    """Says the shapes of a Program's outputs, in NumPy's order of axes, by those of its inputs.

    rule: a function of the inputs that returns a shape, or a list of one for each output; the name or the number of an
    input that has the same shape; a shape; or None: then the pipeline is asked which parts of its inputs it reads.
    """

    def __init__(self, program, rule):
        self.program = program
        outputs = program.outputs
        self._wanted = tuple(a.dimensions for a in outputs)
        self._inferred = None
        if rule is None:
            self._of = self._infer
        elif callable(rule):
            self._of = lambda device, inputs: self._checked(rule(*inputs))
        elif isinstance(rule, (str, int)) and not isinstance(rule, bool):
            position = self._position(rule)
            self._of = lambda device, inputs: (inputs[position].shape,) * len(outputs)
        elif isinstance(rule, (tuple, list)):
            constant = self._checked(rule)
            self._of = lambda device, inputs: constant
        else:
            raise TypeError(f"{program.what}: shape: a {type(rule).__name__}; wanted a function of the inputs, the name or the number "
                            "of an input, or a shape")

    def __call__(self, device, inputs):
        """Returns a shape for each output. The inputs have a shape, or are numbers."""
        return self._of(device, inputs)

    def _position(self, rule):
        names = self.program.input_names
        if isinstance(rule, str) and rule not in names:
            raise ValueError(f"{self.program.what}: shape: no input is called {rule!r}; the inputs are: {', '.join(names)}")
        position = names.index(rule) if isinstance(rule, str) else rule
        if not 0 <= position < len(names):
            raise ValueError(f"{self.program.what}: shape: there is no input {rule}; there are {len(names)}")
        argument = self.program.inputs[position]
        for name, wanted in zip(self.program.output_names, self._wanted):
            if not argument.is_buffer() or argument.dimensions != wanted:
                raise ValueError(f"{self.program.what}: shape: input {names[position]} has {argument.dimensions} dimensions, and output "
                                 f"{name} has {wanted}")
        return position

    def _checked(self, shapes):
        """Returns a shape for each output, of what a function has returned."""
        what = self.program.what
        if not isinstance(shapes, (tuple, list)):
            raise TypeError(f"{what}: shape: a {type(shapes).__name__}; wanted a tuple of numbers")
        if not shapes or not isinstance(shapes[0], (tuple, list)):
            shapes = (shapes,) * len(self._wanted)
        if len(shapes) != len(self._wanted):
            raise ValueError(f"{what}: shape: {len(shapes)} shapes; wanted one for each of the {len(self._wanted)} outputs")
        for name, shape, wanted in zip(self.program.output_names, shapes, self._wanted):
            if len(shape) != wanted:
                raise ValueError(f"{what}: shape: {tuple(shape)} for output {name}, which has {wanted} dimensions")
        return tuple(tuple(shape) for shape in shapes)

    def _infer(self, device, inputs):
        if self._inferred is None:
            self._inferred = infer_shape(self.program, device)
        shape = tuple(axis.of(inputs) for axis in self._inferred)
        return (shape,) * len(self._wanted)


class _Axis:
    """The extent of an axis of the outputs: constant, or (extent of an axis of an input - less) * times // over."""

    def __init__(self, constant=None, position=None, axis=None, less=0, times=1, over=1):
        self.key = (constant, position, axis, less, times, over)

    def of(self, inputs):
        constant, position, axis, less, times, over = self.key
        if constant is not None:
            return constant
        extent = inputs[position].shape[axis]
        if less:
            extent = extent - less
        if times != 1:
            extent = extent * times
        return extent // over if over != 1 else extent


class _Question:
    """An array without memory: a pipeline that gets one says which part of it it would use."""

    def __init__(self, type_, shape):
        step = type_.bytes()
        strides = [step]
        for extent in shape[:0:-1]:
            strides.insert(0, min(strides[0] * extent, step << 24))
        kind = "b" if type_.is_bool() else "f" if type_.is_float() else "i" if type_.is_int() else "u"
        self.__array_interface__ = {"version": 3, "typestr": f"{'|' if step == 1 else '<'}{kind}{step}", "data": (0, False),
                                    "shape": tuple(shape), "strides": tuple(strides[:len(shape)])}


_STEP = 64


def _asked(program, device, sizes, most, number):
    """Returns how many elements of each axis of the inputs outputs of these sizes need, and the sizes themselves, as the
    pipeline wants them. Inputs have `most` elements in each dimension, and numbers are `number`.

    Raises ValueError if elements before the first are needed.
    """
    arguments = [_tessera.Buffer(_Question(a.type, (most,) * a.dimensions)) if a.is_buffer() else number
                 for a in program.inputs]
    outputs = [_tessera.Buffer(_Question(a.type, sizes)) for a in program.outputs]
    program.callable(device)(*arguments, *outputs)
    needed = []
    for a, name, b in zip(program.inputs, program.input_names, arguments):
        mins = tuple(b.mins)[::-1] if a.is_buffer() else ()
        if any(m < 0 for m in mins):
            raise ValueError(f"input {name} is read at {min(mins)}, and an array begins at 0 (a boundary condition would help)")
        needed.append(tuple(m + n for m, n in zip(mins, b.shape)) if a.is_buffer() else ())
    return needed, tuple(outputs[0].shape)


def _rule_of_axis(program, axis, size, base, stepped, beyond):
    """Returns the _Axis for an axis of the outputs that has this size; None if no input depends on it as an axis should.

    base, stepped, beyond: what the inputs have to have for that size, for _STEP more, and for more than there is.
    """
    for position, extents in enumerate(base):
        for j, extent in enumerate(extents):
            more = stepped[position][j] - extent
            # An input is not read beyond its boundary condition, wherever the output ends.
            has_boundary = beyond[position][j] < size
            if more > 0 and more % _STEP == 0:
                over = more // _STEP
                return _Axis(None, position, j, 0 if has_boundary else extent - over * size, 1, over)
            if more > 0 and _STEP % more == 0:
                times = _STEP // more
                return _Axis(None, position, j, 0 if has_boundary else extent - size // times, times, 1)
    return None


def _infer_with(program, device, most, number):
    dimensions = program.outputs[0].dimensions
    wanted = tuple(512 + 4 * _STEP * i for i in range(dimensions))
    base, sizes = _asked(program, device, wanted, most, number)
    rules = []
    for axis, size in enumerate(wanted):
        def asked(n, most):
            return _asked(program, device, wanted[:axis] + (n,) + wanted[axis + 1:], most, number)

        stepped, stepped_sizes = asked(size + _STEP, most)
        if stepped_sizes[axis] == sizes[axis]:
            rules.append(_Axis(constant=sizes[axis]))
            continue
        rule = _rule_of_axis(program, axis, size, base, stepped, asked(size, size // 8)[0])
        if rule is None:
            raise ValueError(f"no input's extent goes with that of axis {axis} of the output")
        rules.append(rule)
    return rules


def infer_shape(program, device):
    """Returns an _Axis for each axis of the outputs, as the pipeline answers what it would read.

    Raises ValueError, which says what to pass, if these answers do not tell.
    """
    try:
        if len({a.dimensions for a in program.outputs}) > 1:
            raise ValueError("the outputs have other numbers of dimensions than one another")
        if any(a.type.is_bfloat() for a in (*program.inputs, *program.outputs)):
            raise ValueError("pipelines of bfloat16 are not asked")
        first, second = (_infer_with(program, device, *given) for given in ((1 << 14, 1), (1 << 13, 2)))
        if [r.key for r in first] != [r.key for r in second]:
            raise ValueError("it depends on numbers, or on inputs in another way than by a difference")
        return first
    except (ValueError, TypeError, Error) as e:
        why = e.message if isinstance(e, Error) else str(e)
        raise ValueError(f"{program.what}: the shape of the result is not known: {why}; pass shape=, such as "
                         "shape=lambda *inputs: inputs[0].shape, or the number of an input that has the same shape") from None
