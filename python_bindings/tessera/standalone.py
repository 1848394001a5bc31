"""Runs libraries that Tessera has compiled where Tessera is not installed: this file is all that it takes.

    import standalone
    brighten = standalone.load("brighten.so").brighten
    brighten(image, factor=1.5, output=result)

An application may bring a copy of it, under any name. Where the package is installed, tessera.load does the same with
the conversions of Callables, which are fifty times as fast, know Buffers and arrays of GPUs, and are not repeated here.

A shared library needs nothing but this file and Python: it carries its runtime, and a description of each function.
A static library or an object is linked into a shared one first, by the C compiler of the system ($CC, or cc). NumPy
is taken for outputs that are allocated here, and where it is installed for arrays of other packages.
"""
from __future__ import annotations

import ctypes
import inspect
import math
import os
import shlex
import struct
import subprocess
import tempfile
import threading
from typing import Any, Callable, Optional, Union

try:
    from ._errors import RunError
except ImportError:

    class RunError(RuntimeError):  # type: ignore[no-redef]
        """A compiled pipeline failed when it ran: a buffer does not fit, for example."""


__all__ = ["link_shared", "load"]

# ---- The structs of tessera_runtime.h ----


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Dimension(ctypes.Structure):
    _fields_ = [("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("device", ctypes.c_uint64),
        ("device_interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("type", _Type),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.c_void_p),  # of _Dimension
        ("padding", ctypes.c_void_p),
    ]


class _Argument(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("type", _Type),
        ("scalar_def", ctypes.c_void_p),
        ("scalar_min", ctypes.c_void_p),
        ("scalar_max", ctypes.c_void_p),
        ("scalar_estimate", ctypes.c_void_p),
        ("buffer_estimates", ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))),
    ]


class _Metadata(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int32),
        ("num_arguments", ctypes.c_int32),
        ("arguments", ctypes.POINTER(_Argument)),
        ("target", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
    ]


_METADATA_VERSION = 1
_SCALAR, _INPUT, _OUTPUT = 0, 1, 2
_HOST_DIRTY, _DEVICE_DIRTY = 1, 2
_INT, _UINT, _FLOAT, _HANDLE, _BFLOAT, _E4M3, _E5M2 = 0, 1, 2, 3, 4, 5, 6

# ---- Types ----

_SCALARS: dict[tuple[int, int], Any] = {
    (_INT, 8): ctypes.c_int8,
    (_INT, 16): ctypes.c_int16,
    (_INT, 32): ctypes.c_int32,
    (_INT, 64): ctypes.c_int64,
    (_UINT, 1): ctypes.c_bool,
    (_UINT, 8): ctypes.c_uint8,
    (_UINT, 16): ctypes.c_uint16,
    (_UINT, 32): ctypes.c_uint32,
    (_UINT, 64): ctypes.c_uint64,
    (_FLOAT, 16): ctypes.c_uint16,
    (_FLOAT, 32): ctypes.c_float,
    (_FLOAT, 64): ctypes.c_double,
    (_BFLOAT, 16): ctypes.c_uint16,
    (_E4M3, 8): ctypes.c_uint8,
    (_E5M2, 8): ctypes.c_uint8,
    (_HANDLE, 64): ctypes.c_void_p,
}
# Letters of the buffer protocol, with the sizes of this machine.
# Names of ml_dtypes.
_ML_DTYPES = {(_BFLOAT, 16): "bfloat16", (_E4M3, 8): "float8_e4m3fn", (_E5M2, 8): "float8_e5m2"}
_FORMATS = {letter: (_INT, 8 * struct.calcsize(letter)) for letter in "bhilqn"}
_FORMATS |= {letter: (_UINT, 8 * struct.calcsize(letter)) for letter in "BHILQN"}
_FORMATS |= {"?": (_UINT, 1), "e": (_FLOAT, 16), "f": (_FLOAT, 32), "d": (_FLOAT, 64), "c": (_UINT, 8)}
# Behind a sign of the order of bytes, an `l` has four.
_STANDARD_FORMATS = _FORMATS | {"l": (_INT, 32), "L": (_UINT, 32)}


def _name_of_type(code: int, bits: int) -> str:
    if (code, bits) == (_UINT, 1):
        return "bool"
    if bits == 8 and code in (_E4M3, _E5M2):
        return "float8_e4m3" if code == _E4M3 else "float8_e5m2"
    return {_INT: "int", _UINT: "uint", _FLOAT: "float", _HANDLE: "handle", _BFLOAT: "bfloat"}[code] + str(bits)


def _type_of_format(text: str) -> Optional[tuple[int, int]]:
    """Returns (code, bits) of a format of the buffer protocol; None where it has no such type."""
    if text and text[0] in "@=<":
        return (_FORMATS if text[0] == "@" else _STANDARD_FORMATS).get(text[1:])
    return _FORMATS.get(text or "B")


def _float16_bits(value: float) -> int:
    return int(struct.unpack("<H", struct.pack("<e", value))[0])


def _bfloat16_bits(value: float) -> int:
    bits: int
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if value != value:
        return bits >> 16 | 0x40
    return min(bits + 0x7FFF + (bits >> 16 & 1), 0xFFFFFFFF) >> 16


def _float8_bits(code: int, value: float) -> int:
    digits, bias, largest, nan = (3, 7, 0x7E, 0x7F) if code == _E4M3 else (2, 15, 0x7B, 0x7E)
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    if value != value:
        return sign | nan
    size = abs(value)
    exponent = max(math.frexp(size)[1] - 1, 1 - bias)
    if size == math.inf or exponent > bias + 2:
        return sign | largest
    return sign | min((exponent + bias - 1 << digits) + round(math.ldexp(size, digits - exponent)), largest)


def _float8_value(code: int, bits: int) -> float:
    # A float16 has all of them; the exponents of e4m3 are 8 less there.
    if code == _E4M3 and bits & 0x7F == 0x7F:
        return math.nan
    half = bits << 8 if code == _E5M2 else (bits & 0x80) << 8 | (bits & 0x7F) << 7
    (value,) = struct.unpack("<e", struct.pack("<H", half))
    return float(value) * (256 if code == _E4M3 else 1)


# ---- Buffers of Python objects ----


class _PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None
_STRIDES, _FORMAT, _WRITABLE = 0x0010 | 0x0008, 0x0004, 0x0001


class _Array:
    """The memory of an array: its address, type, shape and strides in bytes. release() has to be called."""

    __slots__ = ("address", "type", "shape", "strides", "itemsize", "is_readonly", "text", "_view", "_owner")

    def __init__(self, given: Any) -> None:
        self._view: Optional[_PyBuffer] = None
        self._owner = given
        view = _PyBuffer()
        try:
            _get_buffer(given, view, _STRIDES | _FORMAT)
        except (TypeError, BufferError, ValueError):
            return self._of_interface(given)
        self._view = view
        n = view.ndim
        self.address, self.is_readonly, self.itemsize = view.buf or 0, bool(view.readonly), view.itemsize
        self.shape = tuple(view.shape[:n]) if n else ()
        self.strides = tuple(view.strides[:n]) if view.strides and n else _dense_strides(self.shape, self.itemsize)
        self.text = (view.format or b"B").decode()
        self.type = _type_of_format(self.text)
        if self.type is None and hasattr(given, "dtype"):
            self.text = str(given.dtype)

    def _of_interface(self, given: Any) -> None:
        """Arrays whose types the buffer protocol does not have (those of ml_dtypes), and those of other packages."""
        dtype = getattr(given, "dtype", None)
        if not hasattr(given, "__array_interface__") and hasattr(given, "__dlpack__"):
            import numpy

            given = self._owner = numpy.from_dlpack(given)
        interface = getattr(given, "__array_interface__", None)
        if interface is None:
            raise TypeError
        self.address, self.is_readonly = interface["data"]
        self.shape = tuple(interface["shape"])
        self.itemsize = int(interface["typestr"][2:])
        strides = interface.get("strides")
        self.strides = _dense_strides(self.shape, self.itemsize) if strides is None else tuple(strides)
        self.text = str(dtype if dtype is not None else interface["typestr"])
        of_ml_dtypes = [type_ for type_, name in _ML_DTYPES.items() if self.text.endswith(name)]
        self.type = of_ml_dtypes[0] if of_ml_dtypes else _type_of_typestr(interface["typestr"])

    def release(self) -> None:
        if self._view is not None:
            _release_buffer(self._view)
            self._view = None

    def describe(self) -> str:
        name = _name_of_type(*self.type) if self.type else self.text
        dimensions = " x ".join(map(str, reversed(self.shape)))
        return f"an array of shape {self.shape} {name}" + (f" (dimensions {dimensions})" if len(self.shape) > 1 else "")


def _dense_strides(shape: tuple[int, ...], step: int) -> tuple[int, ...]:
    strides: list[int] = []
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


def _type_of_typestr(text: str) -> Optional[tuple[int, int]]:
    if text[0] == ">" and text[2:] != "1":
        return None
    code = {"i": _INT, "u": _UINT, "f": _FLOAT, "b": _UINT}.get(text[1])
    return None if code is None else (code, 1 if text[1] == "b" else 8 * int(text[2:]))


# ---- Functions ----


class Argument:
    """An argument of a function: `name`, `kind` ("input", "output" or "number"), `type`, `dimensions`, and what is known
    of it: `default`, `min`, `max` and `estimate` of a number, `estimates` (min, extent) of a buffer's dimensions.
    """

    def __init__(self, raw: _Argument) -> None:
        self.name = raw.name.decode()
        self.kind = {_SCALAR: "number", _INPUT: "input", _OUTPUT: "output"}[raw.kind]
        self._type = (raw.type.code, raw.type.bits)
        self.type, self.dimensions = _name_of_type(*self._type), raw.dimensions
        self._raw_type, self._dims = _Type(*self._type, 1), _Dimension * max(raw.dimensions, 1)
        self.default, self.min, self.max, self.estimate = (
            self._value_at(pointer) for pointer in (raw.scalar_def, raw.scalar_min, raw.scalar_max, raw.scalar_estimate)
        )
        self.estimates = None
        if raw.kind != _SCALAR and raw.buffer_estimates:
            numbers = [p[0] if p else None for p in raw.buffer_estimates[: 2 * raw.dimensions]]
            pairs = list(zip(numbers[::2], numbers[1::2]))
            self.estimates = pairs if any(n is not None for n in numbers) else None

    def _value_at(self, pointer: Optional[int]) -> Any:
        if not pointer or self._type not in _SCALARS or self._type[0] == _HANDLE:
            return None
        raw = _SCALARS[self._type].from_address(pointer).value
        if self._type == (_FLOAT, 16):
            return struct.unpack("<e", struct.pack("<H", raw))[0]
        if self._type == (_BFLOAT, 16):
            return struct.unpack("<f", struct.pack("<I", raw << 16))[0]
        if self._type in _ML_DTYPES:
            return _float8_value(self._type[0], raw)
        return raw

    def wanted(self) -> str:
        """Returns a text such as "2 dimensions of uint8"."""
        if self.kind == "number":
            return self.type
        return f"{self.dimensions} dimension{'' if self.dimensions == 1 else 's'} of {self.type}"

    def describe(self) -> str:
        """Returns a line for people."""
        text = f"{self.name}: {'output, ' if self.kind == 'output' else ''}{self.wanted()}"
        for word, value in (("default", self.default), ("at least", self.min), ("at most", self.max), ("about", self.estimate)):
            text += "" if value is None else f", {word} {value}"
        if self.estimates:
            extents = ["?" if extent is None else str(extent) for _, extent in reversed(self.estimates)]
            text += f", about ({', '.join(extents)})"
        return text

    def __repr__(self) -> str:
        return f"<Argument {self.describe()}>"


class Function:
    """A compiled function: call it with its inputs, by position or name, and with arrays for its outputs.

    An output may be left out of the positions and named; a shape (a tuple) in place of an array allocates one by
    NumPy, and the call returns it. Axis j of an array of n axes is dimension n - 1 - j.
    """

    def __init__(self, library: Library, argv: Any, metadata: _Metadata) -> None:
        self._library, self._argv = library, argv
        self.__name__ = metadata.name.decode()
        self.target = metadata.target.decode()
        every = [Argument(raw) for raw in metadata.arguments[: metadata.num_arguments]]
        self._has_context = bool(every) and every[0].name == "__user_context"
        self.arguments = every[1:] if self._has_context else every
        self._places = {a.name: i for i, a in enumerate(self.arguments)}
        self._pack = ctypes.c_void_p * len(every)
        self.__signature__ = self._signature()
        lines = [f"    {a.describe()}" for a in self.arguments]
        self.__doc__ = "\n".join([f"{self.__name__}, compiled for {self.target}.", "", *lines])

    def _signature(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters, has_default = [], False
        for a in self.arguments:
            # After an argument with a default, Python wants one for each.
            has_default = has_default or a.default is not None
            default = a.default if a.default is not None or has_default else inspect.Parameter.empty
            parameters.append(inspect.Parameter(a.name, kind, default=default))
        try:
            return inspect.Signature(parameters)
        except ValueError:  # a name that is none in Python
            return inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)])

    def __repr__(self) -> str:
        return f"<Callable {self.__name__}({', '.join(a.name for a in self.arguments)})>"

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = f"({', '.join(a.name for a in self.arguments)})"
        if len(args) > len(self.arguments):
            raise TypeError(f"the Callable takes {len(self.arguments)} arguments, {names}, not {len(args)}")
        given = list(args)
        for i in range(len(args), len(self.arguments)):
            a = self.arguments[i]
            if a.name in kwargs:
                given.append(kwargs.pop(a.name))
            elif a.default is not None:
                given.append(a.default)
            else:
                raise TypeError(f"{self._what(i, a)} of {names} is missing; wanted {a.wanted()}")
        for name in kwargs:
            if name not in self._places:
                raise TypeError(f"{name} is none of the arguments {names}")
            i = self._places[name]
            raise TypeError(f"{self._what(i, self.arguments[i])} of {names} is given twice")
        return given

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._given(args, kwargs)
        pointers = self._pack()
        first = int(self._has_context)
        context = ctypes.c_void_p(0)
        if first:
            pointers[0] = ctypes.addressof(context)
        held, arrays, buffers, made = [], [], [], []
        try:
            for i, (a, value) in enumerate(zip(self.arguments, given)):
                if a.kind == "number":
                    cell = self._number(i, a, value)
                else:
                    if a.kind == "output" and isinstance(value, (tuple, int)):
                        value = self._allocate(i, a, value)
                        made.append(value)
                    array = self._array(i, a, value)
                    arrays.append(array)
                    cell, dims = self._buffer(i, a, array)
                    buffers.append(cell)
                    held.append(dims)
                held.append(cell)
                pointers[first + i] = ctypes.addressof(cell)
            self._library._run(self._argv, pointers, buffers)
        finally:
            for array in arrays:
                array.release()
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def _what(self, i: int, a: Argument) -> str:
        return f"argument {i} ({a.name})"

    def _number(self, i: int, a: Argument, value: Any) -> Any:
        code, bits = a._type
        kind = _SCALARS.get(a._type)
        if kind is None:
            raise TypeError(f"{self._what(i, a)}: numbers of {a.type} cannot be passed")
        try:
            if code == _HANDLE:
                return kind(None if value is None else int(value))
            if a._type == (_UINT, 1):
                return kind(bool(value))
            if code in (_INT, _UINT):
                number = value.__index__()
                cell = kind(number)
                if cell.value != number:
                    raise OverflowError
                return cell
            number = float(value)
            if code == _BFLOAT:
                return kind(_bfloat16_bits(number))
            if bits == 8:
                return kind(_float8_bits(code, number))
            return kind(_float16_bits(number)) if bits == 16 else kind(number)
        except OverflowError:
            raise TypeError(f"{self._what(i, a)}: {value} is no {a.type}") from None
        except (TypeError, ValueError, AttributeError):
            came = f"{value!r}" if len(repr(value)) <= 40 else f"a {type(value).__name__}"
            raise TypeError(f"{self._what(i, a)}: {came} is no {a.type}") from None

    def _allocate(self, i: int, a: Argument, shape: Any) -> Any:
        import numpy

        shape = (shape,) if isinstance(shape, int) else shape
        if len(shape) != a.dimensions:
            raise TypeError(f"{self._what(i, a)}: the shape has {len(shape)} numbers; wanted {a.wanted()}")
        if a._type in _ML_DTYPES:
            import ml_dtypes

            return numpy.empty(shape, getattr(ml_dtypes, _ML_DTYPES[a._type]))
        return numpy.empty(shape, a.type)

    def _array(self, i: int, a: Argument, value: Any) -> _Array:
        try:
            array = _Array(value)
        except (TypeError, ImportError):
            came = f"a {type(value).__name__} is no Buffer and no array"
            raise TypeError(f"{self._what(i, a)}: {came}; wanted {a.wanted()}") from None
        problem = None
        if array.type != a._type or len(array.shape) != a.dimensions:
            problem = f"wanted {a.wanted()}"
        elif array.is_readonly and a.kind == "output":
            problem = "an output is written to, and this array is read-only"
        elif array.shape:
            for stride in array.strides:
                if stride % array.itemsize:
                    problem = f"its strides {array.strides} are no multiples of the size of an element"
            largest = max(*array.shape, *array.strides, -min(array.strides))
            if largest >= 2**31 and (max(array.shape) >= 2**31 or largest // array.itemsize >= 2**31):
                problem = "an extent or a stride needs more than 32 bits"
        if problem:
            text = f"{array.describe()}; " if problem.startswith("wanted") else ""
            array.release()
            raise TypeError(f"{self._what(i, a)}: {text}{problem}")
        return array

    @staticmethod
    def _buffer(i: int, a: Argument, array: _Array) -> tuple[_Buffer, Any]:
        size = array.itemsize
        dims = a._dims(*[(0, extent, stride // size, 0) for extent, stride in zip(array.shape[::-1], array.strides[::-1])])
        flags = 0 if a.kind == "output" else _HOST_DIRTY
        host = array.address or ctypes.addressof(dims)  # of an array without elements: anything
        return _Buffer(0, None, host, flags, a._raw_type, a.dimensions, ctypes.addressof(dims), None), dims


# ---- Libraries ----

_ERROR_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _Runtime:
    """The runtime that a library has within it, or takes from another one. Keeps what it reports.

    Libraries stay loaded, and their runtimes keep the handler that they were given: so there is one object for each
    runtime, which lives as long as the process.
    """

    _known: dict[Optional[int], "_Runtime"] = {}

    @classmethod
    def of(cls, names: Callable[[str], Any]) -> "_Runtime":
        set_handler = names("tessera_set_error_handler")
        address = None if set_handler is None else ctypes.cast(set_handler, ctypes.c_void_p).value
        if address not in cls._known or address is None:
            cls._known[address] = cls(names)
        return cls._known[address]

    def __init__(self, names: Callable[[str], Any]) -> None:
        self._names = names
        self._running = threading.local()
        self._lock = threading.Lock()
        self._calls = 0
        self._elsewhere: list[str] = []  # reports of threads that are none of a caller's
        self._handler = _ERROR_HANDLER(self._keep)
        self._before = None
        set_handler = names("tessera_set_error_handler")
        if set_handler is not None:
            set_handler.argtypes, set_handler.restype = [ctypes.c_void_p], ctypes.c_void_p
            before = set_handler(ctypes.cast(self._handler, ctypes.c_void_p))
            self._before = _ERROR_HANDLER(before) if before else None

    def _keep(self, context: Any, message: bytes) -> None:
        reports = getattr(self._running, "reports", None)
        if reports is None:
            if not self._calls and self._before is not None:
                self._before(context, message)
                return
            reports = self._elsewhere
        reports.append(message.decode(errors="replace"))

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function that returns 0; else RunError with what the runtime has said."""
        with self._lock:
            self._calls += 1
        outer = getattr(self._running, "reports", None)
        reports: list[str] = []
        self._running.reports = reports
        try:
            code = function(*arguments)
        finally:
            self._running.reports = outer
            with self._lock:
                self._calls -= 1
                elsewhere, self._elsewhere = self._elsewhere, []
        if code == 0:
            return
        said = reports or elsewhere
        raise RunError(said[0] if said else f"it returned the error code {code}")

    def finish(self, buffers: list[_Buffer]) -> None:
        """Brings results to the host, and frees what the call has allocated on devices."""
        for b in buffers:
            if b.flags & _DEVICE_DIRTY:
                self._call_of_buffer("tessera_copy_to_host", b)
        for b in buffers:
            if b.device:
                self._call_of_buffer("tessera_device_free", b)

    def _call_of_buffer(self, name: str, b: _Buffer) -> None:
        function = self._names(name)
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.call(function, None, ctypes.addressof(b))


class Library:
    """The functions of a compiled library: its attributes, and `functions` by their names."""

    def __init__(self, path: str) -> None:
        self.path = path
        shared = path
        with tempfile.TemporaryDirectory(prefix="tessera_load_") as folder:
            if _kind_of(path) != "shared":
                shared = link_shared(path, os.path.join(folder, "library.so"))
            names = _dynamic_symbols(shared)
            self._handle, runtime = _open(os.path.abspath(shared))
        # A library without a runtime may have found that of another one.
        libraries = [self._handle] + ([runtime] if runtime else []) + [ctypes.CDLL(None)]
        self._runtime = _Runtime.of(lambda name: next((lib[name] for lib in libraries if _has(lib, name)), None))
        every: dict[str, Function] = {}
        for name in sorted(names):
            function = name.removesuffix("_metadata")
            if function == name or function + "_argv" not in names:
                continue
            describe = self._handle[name]
            describe.restype = ctypes.POINTER(_Metadata)
            metadata = describe().contents
            if metadata.version != _METADATA_VERSION:
                raise RunError(f"{path}: the metadata of {function} is of version {metadata.version}, not {_METADATA_VERSION}")
            argv = self._handle[function + "_argv"]
            argv.argtypes = [ctypes.c_void_p]
            every[metadata.name.decode()] = Function(self, argv, metadata)
        if not every:
            raise RunError(f"{path} describes no function: there is no name_metadata() with a name_argv() beside it")
        # Code for one of several targets is called by the function that chooses.
        variants = {f"{whole}_{_as_name(f.target)}" for whole in every for f in every.values()}
        self.functions = {name: f for name, f in every.items() if name not in variants}

    def _run(self, argv: Any, pointers: Any, buffers: list[_Buffer]) -> None:
        try:
            self._runtime.call(argv, pointers)
        except RunError:
            for b in buffers:
                b.flags &= ~_DEVICE_DIRTY
            self._runtime.finish(buffers)
            raise
        self._runtime.finish(buffers)

    def __getattr__(self, name: str) -> Function:
        functions: dict[str, Function] = self.__dict__.get("functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"{self.__dict__.get('path')} has no function {name}; it has {', '.join(functions)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]

    def __repr__(self) -> str:
        return f"<Library {self.path}: {', '.join(self.functions)}>"


def load(path: Union[str, os.PathLike[str]]) -> Library:
    """Returns the functions of a library that Tessera has compiled (shared, static, or an object), as attributes.

    >>> brighten = standalone.load("brighten.so").brighten
    >>> brighten(image, 1.5, result)

    Numbers and arrays are passed by position or name, arrays without copies; help(brighten) says what it takes. The
    GIL is released while it runs. RunError has the runtime's message.
    """
    return Library(os.fspath(path))


def link_shared(
    library: Union[str, os.PathLike[str]], output: Union[str, os.PathLike[str], None] = None
) -> str:
    """Links a static library or an object into a shared one by the C compiler ($CC, or cc), and returns its path.

    Without `output` that is the library's, with the ending .so.
    """
    library = os.fspath(library)
    output = os.path.splitext(library)[0] + ".so" if output is None else os.fspath(output)
    compiler = shlex.split(os.environ.get("CC") or "cc")
    words = [*compiler, "-shared", "-o", output, "-Wl,-Bsymbolic"]
    words += ["-Wl,--whole-archive", os.path.abspath(library), "-Wl,--no-whole-archive"]
    try:
        done = subprocess.run([*words, "-lstdc++", "-lm", "-lpthread", "-ldl"], capture_output=True, text=True)
    except OSError as e:
        raise RunError(
            f"{library} is no shared library, and the C compiler {compiler[0]} that would link it does not start: {e}"
        ) from None
    if done.returncode:
        raise RunError(f"the C compiler {compiler[0]} cannot link {library}: {done.stderr.strip()}")
    return output


def _as_name(target: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in target)


def _has(library: ctypes.CDLL, name: str) -> bool:
    try:
        library[name]
    except AttributeError:
        return False
    return True


def _kind_of(path: str) -> str:
    with open(path, "rb") as file:
        head = file.read(18)
    if head[:8] == b"!<arch>\n":
        return "archive"
    kind = {1: "object", 3: "shared"}.get(head[16]) if head[:4] == b"\x7fELF" and len(head) == 18 else None
    if kind is None:
        raise RunError(f"{path} is no library")
    if head[4] != 2:
        raise RunError(f"{path} is not for a machine of 64 bits")
    return kind


def _dynamic_symbols(path: str) -> set[str]:
    """Returns the names that a shared library of ELF offers to others."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        (sections,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(count)]
        names: set[str] = set()
        for header in headers:
            if header[1] != 11:  # SHT_DYNSYM
                continue
            text = headers[header[6]][4]
            for at in range(header[4], header[4] + header[5], 24):
                name, _, _, section = struct.unpack_from("<IBBH", data, at)
                if section:
                    names.add(data[text + name : data.index(b"\0", text + name)].decode())
        return names
    except (struct.error, IndexError, ValueError):
        raise RunError(f"{path} is damaged") from None


def _open(path: str) -> tuple[ctypes.CDLL, Optional[ctypes.CDLL]]:
    """Returns the library, and that of the runtime where it has none within it."""
    try:
        return ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL), None
    except OSError as e:
        if "undefined symbol: tessera_" not in str(e):
            raise RunError(f"cannot load {e}") from None
        lacking = str(e)
    package = os.path.dirname(os.path.abspath(__file__))
    found = sorted(name for name in os.listdir(package) if name.startswith("libtessera.so"))
    if not found:
        raise RunError(f"{lacking}: it is compiled with no_runtime, and this package has no runtime")
    runtime = ctypes.CDLL(os.path.join(package, found[0]), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    return ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL), runtime
