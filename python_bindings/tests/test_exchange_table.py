"""Buffers go to other libraries, and tensors come from them, by the table of DLPack 1.3."""
import ctypes

import numpy as np
import pytest

import tessera as ts


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("axes", ctypes.c_int32), ("type", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


Managed._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                    ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))), ("flags", ctypes.c_uint64),
                    ("tensor", Tensor)]
Pointer = ctypes.POINTER(Managed)
SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("allocate", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(Pointer), ctypes.c_void_p, SetError)),
        ("managed_from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Pointer))),
        ("object_from_managed", ctypes.PYFUNCTYPE(ctypes.c_int, Pointer, ctypes.POINTER(ctypes.py_object))),
        ("tensor_from_object", ctypes.c_void_p),
        ("current_stream", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))),
    ]


def table():
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Table.from_address(pointer(ts.Buffer.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))


def test_a_buffer_goes_and_comes_back_without_a_copy():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    managed, back = Pointer(), ctypes.py_object()
    assert (table().major, table().minor) == (1, 3)
    assert table().managed_from_object(ts.Buffer(a), managed) == 0
    tensor = managed.contents.tensor
    assert tensor.data == a.ctypes.data and tensor.axes == 2 and tensor.shape[:2] == [2, 3] and tensor.strides[:2] == [3, 1]
    assert (tensor.type.code, tensor.type.bits, tensor.device.kind) == (2, 32, 1)
    assert table().object_from_managed(managed, back) == 0
    buffer = back.value
    assert isinstance(buffer, ts.Buffer) and buffer.shape == (2, 3) and buffer.numpy().ctypes.data == a.ctypes.data


def test_a_read_only_buffer_says_so():
    a = np.zeros(4, np.uint8)
    a.flags.writeable = False
    managed = Pointer()
    assert table().managed_from_object(ts.Buffer(a), managed) == 0
    assert managed.contents.flags & 1
    managed.contents.deleter(managed)


def test_memory_is_allocated_like_a_tensor():
    errors = []
    shape = (ctypes.c_int64 * 2)(4, 5)
    like = Tensor(None, Device(1, 0), 2, DataType(0, 16, 1), shape, None, 0)
    managed, back = Pointer(), ctypes.py_object()
    note = SetError(lambda context, kind, message: errors.append((kind, message)))
    assert table().allocate(like, managed, None, note) == 0 and not errors
    assert table().object_from_managed(managed, back) == 0
    back.value.fill(7)
    assert back.value.numpy().tolist() == [[7] * 5] * 4 and back.value.dtype == np.int16
    like.type.bits = 3
    assert table().allocate(like, managed, None, note) == -1
    assert errors and errors[0][0] == b"BufferError"


def test_the_default_stream_is_that_of_a_thread_that_has_set_none():
    stream = ctypes.c_void_p(1)
    assert table().current_stream(2, 0, stream) == 0 and stream.value is None


def test_what_has_no_memory_is_refused():
    managed = Pointer()
    with pytest.raises(Exception):
        table().managed_from_object(ts.Buffer(), managed)
