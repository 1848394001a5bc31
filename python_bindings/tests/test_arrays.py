import array
import copy
import ctypes
import gc
import io
import pickle
import weakref

import numpy as np
import pytest

import tessera as ts

x, y = ts.vars("x y")


def address(a):
    return a.__array_interface__["data"][0]


class WithDLPack:
    """An array of NumPy's that offers DLPack alone, of the newest version or without versions."""

    def __init__(self, a, version=True, device=(1, 0)):
        self.a, self.version, self.device, self.asked = a, version, device, None

    def __dlpack__(self, **keywords):
        if not self.version and keywords:
            raise TypeError("unexpected keyword argument")
        self.asked = keywords
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.device


class WithInterface:
    def __init__(self, **interface):
        self.__array_interface__ = interface


# ---- In ----

def producers(a):
    yield a
    yield memoryview(a)
    yield WithDLPack(a)
    yield WithDLPack(a, version=False)
    yield WithInterface(**a.__array_interface__)
    yield a.view(Array)


def test_every_protocol_shares_memory():
    a = np.arange(12, dtype=np.int16).reshape(3, 4)
    for producer in producers(a):
        b = ts.Buffer(producer)
        assert b.shape == (3, 4) and (b.width(), b.height()) == (4, 3) and b.type() == ts.Int(16)
        assert address(b) == address(a), producer
        b[3, 1] = -5
        assert a[1, 3] == -5
        a[1, 3] = 7
        assert b[3, 1] == 7


def test_a_callable_writes_through_every_protocol():
    im = ts.ImageParam(ts.Int(16), 2, "im")
    f = ts.Func("f")
    f[x, y] = im[x, y] * 2
    call = f.compile_to_callable([im])
    a = np.arange(12, dtype=np.int16).reshape(3, 4)
    for producer in producers(a):
        for out in producers(np.zeros_like(a)):
            call(producer, out)
            assert (np.asarray(ts.Buffer(out)) == 2 * a).all()


def test_dlpack_is_asked_for_the_newest_version_without_a_copy():
    producer = WithDLPack(np.zeros(3))
    ts.Buffer(producer)
    assert producer.asked == {"max_version": (1, 1), "copy": False}


@pytest.mark.parametrize("name", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                  "float16", "float32", "float64"])
def test_all_types(name):
    a = np.ones((2, 3), name)
    for producer in producers(a):
        if name == "float16" and isinstance(producer, memoryview):
            continue
        b = ts.Buffer(producer)
        assert b.dtype == a.dtype and b[2, 1] == 1
        assert np.asarray(b).dtype == a.dtype and np.from_dlpack(b).dtype == a.dtype
        assert b.__array_interface__["typestr"] == a.dtype.str


def test_memory_without_axes_of_its_own():
    assert ts.Buffer(b"abc")[1] == ord("b")
    numbers = array.array("f", [1.5, 2.5])
    b = ts.Buffer(numbers)
    b[0] = 4
    assert numbers[0] == 4 and b.type() == ts.Float(32)
    numbers = (ctypes.c_int32 * 3)(1, 2, 3)
    assert ts.Buffer(numbers)[2] == 3 and ts.Buffer(bytearray(b"xyz"))[0] == ord("x")


def test_strides_of_any_sign():
    a = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
    for view in (a[::-1], a[:, ::2], a.T, a[1:3, ::-1, ::-2], a[:, :, 2:3], np.broadcast_to(a[0], (4, 5, 6))):
        b = ts.Buffer(view)
        assert np.array_equal(np.asarray(b), view) and address(b) == address(view)
        assert np.array_equal(np.from_dlpack(b), view)
        assert np.array_equal(ts.Buffer(WithInterface(**view.__array_interface__)).numpy(), view)
    assert ts.Buffer(a, reverse_axes=False).shape == (6, 5, 4)


def test_no_dimensions_and_no_elements():
    zero = np.array(7, np.int32)
    for producer in producers(zero):
        assert ts.Buffer(producer)[()] == 7 and ts.Buffer(producer).shape == ()
    assert np.asarray(ts.Buffer(zero)).shape == () and int(np.from_dlpack(ts.Buffer(zero))) == 7
    for shape in ((0,), (0, 3), (3, 0)):
        for producer in producers(np.zeros(shape)):
            b = ts.Buffer(producer)
            assert np.asarray(b).size == 0 and b.number_of_elements() == 0
    im = ts.ImageParam(ts.Float(64), 2, "im")
    f = ts.Func("f")
    f[x, y] = im[x, y]
    f.compile_to_callable([im])(np.zeros((0, 3)), np.zeros((0, 3)))


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.array([[1.5, -2, 3], [4, 5, 6]], ml_dtypes.bfloat16)
    b = ts.Buffer(a)
    assert b.type() == ts.BFloat(16) and b.dtype == a.dtype and b[1, 0] == -2
    b[0, 1] = 9
    assert a[1, 0] == 9 and b.numpy().dtype == a.dtype and (b.numpy() == a).all()
    assert np.asarray(b).dtype == a.dtype and address(b.numpy().view(np.uint16)) == address(a.view(np.uint16))
    again = ts.Buffer(WithTensor(b))
    assert again.type() == ts.BFloat(16) and again[2, 1] == 6
    im = ts.ImageParam(ts.BFloat(16), 2, "im")
    f = ts.Func("f")
    f[x, y] = ts.cast(ts.BFloat(16), ts.f32(im[x, y]) * 2)
    out = np.zeros_like(a)
    f.compile_to_callable([im])(a[:, ::1], out)
    assert (out == a * ml_dtypes.bfloat16(2)).all()
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(b)
    assert not hasattr(b, "__array_interface__")
    back = pickle.loads(pickle.dumps(b))
    assert back.type() == b.type() and (back.numpy() == a).all()


@pytest.mark.parametrize("type_, name, largest", [(ts.Float8E4M3(), "float8_e4m3fn", 448.0), (ts.Float8E5M2(), "float8_e5m2", 57344.0)])
def test_floats_of_8_bits(type_, name, largest):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name)).reshape(16, 16)
    b = ts.Buffer(a)
    assert b.type() == type_ and b.dtype == a.dtype and b[1, 0] == float(a[0, 1]) and type_.is_float8()
    b[0, 1] = 1e9
    assert float(a[1, 0]) == largest
    again = ts.Buffer(WithTensor(b))
    assert again.type() == type_ and (again.numpy().view(np.uint8) == a.view(np.uint8)).all()
    im, f = ts.ImageParam(a.dtype, 2, "im"), ts.Func("f")
    f[x, y] = ts.cast(type_, ts.f32(im[x, y]) * 3)
    out = np.zeros_like(a)
    f.compile_to_callable([im])(a, out)
    wide = np.clip(a.astype(np.float32) * 3, -largest, largest)
    assert np.array_equal(out.astype(np.float32), wide.astype(a.dtype).astype(np.float32), equal_nan=True)
    with pytest.raises(BufferError, match="float8"):
        memoryview(b)
    assert pickle.loads(pickle.dumps(b)).type() == type_


class WithTensor:
    """Hands on the DLPack of a Buffer, and nothing else of it."""

    def __init__(self, buffer):
        self.buffer = buffer

    def __dlpack__(self, **keywords):
        return self.buffer.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.buffer.__dlpack_device__()


def test_read_only_arrays_are_inputs():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    readonly = a.copy()
    readonly.flags.writeable = False
    im = ts.ImageParam(ts.Float(32), 2, "im")
    f = ts.Func("f")
    f[x, y] = im[x, y] + 1
    call = f.compile_to_callable([im])
    out = np.zeros_like(a)
    for producer in (readonly, WithDLPack(readonly), memoryview(readonly), ts.Buffer(readonly),
                     WithInterface(**readonly.__array_interface__)):
        call(producer, out)
        assert (out == a + 1).all()
        with pytest.raises(TypeError, match=r"argument 1 \(f\): an output is written to, and this array is read-only"):
            call(a, producer)
        with pytest.raises(TypeError, match="output 0: it is written to, and this array is read-only"):
            f.realize(producer)
    b = ts.Buffer(readonly)
    im.set(readonly)
    assert f.realize([3, 2])[2, 1] == 6
    for change in (lambda: b.__setitem__((0, 0), 1), lambda: b.fill(1), lambda: b[:, 0].__setitem__(0, 1),
                   lambda: b.copy_from(ts.Buffer(a))):
        with pytest.raises(ValueError, match="read-only"):
            change()
    assert not np.asarray(b).flags.writeable and not np.from_dlpack(b).flags.writeable
    assert b.__array_interface__["data"][1] and not b.copy().__array_interface__["data"][1]
    with pytest.raises(BufferError, match="read-only"):
        b.__dlpack__()
    assert (readonly == a).all()


@pytest.mark.parametrize("a, error, text", [
    (np.zeros(3, np.complex64), TypeError, "complex64"),
    (np.zeros(3, ">f4"), TypeError, "other order of bytes"),
    (np.zeros(3, object), TypeError, "object"),
    (np.zeros(3, "U4"), TypeError, "<U4"),
    (np.zeros(3, np.longdouble), TypeError, "float128"),
    (np.zeros(13, np.uint8)[1:].view(np.int32), ValueError, "multiples of their size"),
    (np.zeros(4, [("a", np.int32), ("b", np.uint8)])["a"], ValueError, "multiple"),
    (np.lib.stride_tricks.as_strided(np.zeros(1), (2 ** 31, 2), (0, 0)), ValueError, "32 bits"),
    (object(), TypeError, "a object is no Buffer and no array"),
    (WithDLPack(np.zeros(3), device=(1, 0)).__dlpack__, TypeError, "is no Buffer and no array"),
    (WithInterface(typestr="<c8", shape=(1,), data=(16, False), version=3), TypeError, "<c8"),
])
def test_arrays_that_no_buffer_can_stand_for(a, error, text):
    with pytest.raises(error, match=f"Buffer: .*{text}"):
        ts.Buffer(a)


def test_what_a_producer_raises_comes_out():
    class Broken:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **keywords):
            raise BufferError("it requires a gradient")

    with pytest.raises(BufferError, match="it requires a gradient"):
        ts.Buffer(Broken())


def test_messages_show_both_shapes():
    assert "of shape (2, 3) float32 (dimensions 3 x 2)>" in repr(ts.Buffer(np.zeros((2, 3), np.float32)))
    im = ts.ImageParam(ts.Float(32), 3, "im")
    f = ts.Func("f")
    f[x, y] = im[x, y, 0]
    with pytest.raises(TypeError, match=r"argument 0 \(im\): an array of shape \(2, 3\) float32 \(dimensions 3 x 2\); "
                                        "wanted 3 dimensions of float32"):
        f.compile_to_callable([im])(np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32))


# ---- Out ----

def test_memoryview():
    b = ts.Buffer(ts.UInt(16), [3, 2])
    b.fill(7)
    view = memoryview(b)
    assert view.format == "H" and view.shape == (2, 3) and view.strides == (6, 2) and not view.readonly
    view[1, 2] = 9
    assert b[2, 1] == 9 and bytes(b) == np.asarray(b).tobytes()
    part = b[0:2, 0:2]
    assert memoryview(part).tolist() == [[7, 7], [7, 7]]
    with pytest.raises(BufferError, match="not dense"):
        io.BytesIO().write(part)
    assert memoryview(ts.Buffer(b"abc")).readonly
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(b"xyz").readinto(ts.Buffer(b"abc"))


def test_arrays_of_another_type_are_copies():
    b = ts.Buffer(np.arange(3, dtype=np.int32))
    assert np.asarray(b, np.float64).dtype == np.float64
    same = b.__array__()
    assert address(same) == address(b) and address(b.__array__(copy=True)) != address(b)
    assert b.__array__(np.int32).ctypes.data == address(b)
    with pytest.raises(ValueError, match="copy is False"):
        b.__array__(np.float32, copy=False)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("index", ctypes.c_int32), ("axes", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def versioned(capsule):
    return Versioned.from_address(get_pointer(capsule, b"dltensor_versioned"))


def test_dlpack_tells_all():
    b = ts.Buffer(ts.Float(32), [3, 2])
    b.fill(1)
    assert b.__dlpack_device__() == (1, 0)
    capsule = b.__dlpack__(max_version=(1, 3))
    t = versioned(capsule)
    assert (t.major, t.minor, t.flags) == (1, 1, 0)
    assert t.tensor.data == address(b) and (t.tensor.kind, t.tensor.axes) == (1, 2)
    assert (t.tensor.code, t.tensor.bits, t.tensor.lanes) == (2, 32, 1)
    assert t.tensor.shape[:2] == [2, 3] and t.tensor.strides[:2] == [3, 1]
    assert "\"dltensor\"" in repr(b.__dlpack__()) and "\"dltensor\"" in repr(b.__dlpack__(max_version=(0, 8)))
    copied = b.__dlpack__(max_version=(1, 0), copy=True)
    assert versioned(copied).flags == 2 and versioned(copied).tensor.data != address(b)
    assert versioned(b.__dlpack__(max_version=(1, 0), copy=False)).tensor.data == address(b)
    assert versioned(b.__dlpack__(max_version=(1, 0), dl_device=(1, 0))).tensor.data == address(b)
    with pytest.raises(BufferError, match=r"device \(8, 0\)"):
        b.__dlpack__(dl_device=(8, 0))
    with pytest.raises(BufferError, match=r"on the device \(1, 0\), and nothing may be copied"):
        b.__dlpack__(dl_device=(2, 0), copy=False)
    with pytest.raises(BufferError, match="stream"):
        b.__dlpack__(stream=1)
    with pytest.raises(TypeError):
        b.__dlpack__(1)
    assert address(np.from_dlpack(b)) == address(b)


class OwnTensor:
    """A producer that counts how often its tensor is freed."""

    def __init__(self, major=1, flags=0, kind=1, strides=True):
        self.freed = 0
        self.memory = (ctypes.c_int32 * 6)(*range(6))
        self.shape = (ctypes.c_int64 * 2)(2, 3)
        self.strides = (ctypes.c_int64 * 2)(3, 1)
        self.deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.free)
        self.managed = Versioned(major, 0, None, self.deleter, flags, Tensor(
            ctypes.addressof(self.memory) - 8, kind, 0, 2, 0, 32, 1, self.shape, self.strides if strides else None, 8))

    def free(self, _):
        self.freed += 1

    def __dlpack__(self, **keywords):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)

    def __dlpack_device__(self):
        return self.managed.tensor.kind, 0


@pytest.mark.parametrize("strides", [True, False])
def test_a_tensor_is_freed_once_after_its_last_use(strides):
    producer = OwnTensor(strides=strides)
    b = ts.Buffer(producer)
    part = b[1:3, 1]
    a = np.asarray(b)
    assert part[2] == 5 and a.tolist() == [[0, 1, 2], [3, 4, 5]]
    del b, a
    gc.collect()
    assert producer.freed == 0 and part[1] == 4
    del part
    assert producer.freed == 1


def test_tensors_of_other_versions_kinds_and_copies():
    with pytest.raises(BufferError, match="version 2 of DLPack"):
        ts.Buffer(OwnTensor(major=2))
    with pytest.raises(TypeError, match="number 7"):
        ts.Buffer(OwnTensor(kind=7))
    f = ts.Func("f")
    f[x, y] = x
    for flags in (1, 2):
        producer = OwnTensor(flags=flags)
        with pytest.raises(TypeError, match="read-only"):
            f.realize(producer)
        assert producer.freed == 1
    pinned = OwnTensor(kind=3)
    f.realize(pinned)
    assert list(pinned.memory) == [0, 1, 2, 0, 1, 2] and pinned.freed == 1


Allocate = ctypes.CFUNCTYPE(ctypes.c_int)
FromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
TensorFromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
CurrentStream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("managed_from_object", FromObject), ("object_from_managed", ctypes.c_void_p),
                ("tensor_from_object", TensorFromObject), ("current_stream", CurrentStream)]


def with_table(**functions):
    """Returns a class whose tensors go by the C functions of a table."""
    class ByTable(OwnTensor):
        calls = []

        def __dlpack__(self, **keywords):
            raise AssertionError("the table is there")

    def managed_from_object(self, out):
        ByTable.calls.append("managed")
        out[0] = ctypes.addressof(self.managed)
        return 0

    def tensor_from_object(self, out):
        ByTable.calls.append("tensor")
        ctypes.memmove(out, ctypes.addressof(self.managed.tensor), ctypes.sizeof(Tensor))
        return 0

    def current_stream(kind, index, out):
        ByTable.calls.append("stream")
        out[0] = functions.get("stream")
        return 0

    table = Table(1, 3, None, None, FromObject(managed_from_object), None, TensorFromObject(tensor_from_object),
                  CurrentStream(current_stream))
    ByTable.table = table
    ByTable.__dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(table), b"dlpack_exchange_api", None)
    return ByTable


def test_the_table_of_c_functions():
    ByTable = with_table()
    im = ts.ImageParam(ts.Int(32), 2, "im")
    f = ts.Func("f")
    f[x, y] = im[x, y] * 10
    call = f.compile_to_callable([im])
    a, out = ByTable(), ByTable()
    call(a, out)
    assert list(out.memory) == [0, 10, 20, 30, 40, 50]
    assert ByTable.calls == ["tensor", "tensor"] and a.freed == out.freed == 0
    b = ts.Buffer(a)
    assert b[2, 1] == 5 and ByTable.calls == ["tensor", "tensor", "managed"]
    del b
    assert a.freed == 1


def test_tensors_of_tvm():
    tvm = pytest.importorskip("tvm_ffi")
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = tvm.from_dlpack(a)
    f = ts.Func("f")
    f[x, y] = ts.Buffer(tensor)[x, y] + 1
    out = np.zeros_like(a)
    f.compile_to_callable([])(tvm.from_dlpack(out))
    assert (out == a + 1).all()
    assert np.array_equal(np.from_dlpack(tvm.from_dlpack(ts.Buffer(a))), a)


# ---- Lifetime ----

class Array(np.ndarray):
    """Can be the end of a weak reference."""


def test_a_buffer_keeps_the_array_and_frees_it():
    a = np.zeros(5).view(Array)
    gone = weakref.ref(a)
    b = ts.Buffer(a)
    kept = [b.cropped(0, 1, 2), b.sliced(0, 1), b[2:3], ts.Func(b), copy.copy(b)]
    del a, b
    gc.collect()
    assert gone() is not None and kept[0].all_equal(0)
    del kept
    gc.collect()
    assert gone() is None


def test_what_sees_a_buffer_keeps_its_memory():
    def made():
        b = ts.Buffer(ts.Int(32), [1000])
        b.fill(3)
        return b

    views = [np.asarray(made()), memoryview(made()), np.from_dlpack(made()), ts.Buffer(WithTensor(made())).numpy()]
    gc.collect()
    filler = [made() for _ in range(20)]
    for view in views:
        assert all(value == 3 for value in view.tolist())
    assert len(filler) == 20


def test_capsules_that_nobody_takes_are_freed():
    a = np.zeros(5).view(Array)
    gone = weakref.ref(a)
    b = ts.Buffer(a)
    for version in (None, (1, 0)):
        b.__dlpack__(max_version=version)
    del a, b
    assert gone() is None


def test_a_pipeline_keeps_its_inputs():
    a = np.full((2, 3), 4, np.int32).view(Array)
    gone = weakref.ref(a)
    im = ts.ImageParam(ts.Int(32), 2, "im")
    f = ts.Func("f")
    f[x, y] = im[x, y] + 1
    im.set(a)
    del a
    gc.collect()
    assert f.realize([3, 2]).all_equal(5)
    im.reset()
    gc.collect()
    assert gone() is None


# ---- Copies ----

def test_copies_are_new_memory_with_the_same_mins():
    b = ts.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3), name="b")
    b.set_min([10, 20])
    for made in (copy.copy(b), copy.deepcopy(b), b.copy(), pickle.loads(pickle.dumps(b))):
        assert made.mins == (10, 20) and made.numpy().tolist() == b.numpy().tolist() and address(made) != address(b)
    assert pickle.loads(pickle.dumps(b)).name() == "b"
    assert copy.deepcopy([b, b])[0][12, 21] == 5


def test_parts_are_set_as_numpy_sets_them():
    b = ts.Buffer(ts.Int(32), [4, 3])
    b.fill(0)
    b[1:3, 2] = 5
    b[:, 0] = np.arange(4)
    assert b.numpy().tolist() == [[0, 1, 2, 3], [0, 0, 0, 0], [0, 5, 5, 0]]
