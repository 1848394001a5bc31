"""Buffers by Halide's rules in Python: arrays, axes, shapes, texts, and bounds."""

import gc

import numpy as np
import pytest

import tessera.halide as hl

x, y, c = hl.vars("x y c")


def shape(b):
    return [(b.dim(i).min(), b.dim(i).extent(), b.dim(i).stride()) for i in range(b.dimensions())]


@pytest.mark.parametrize("reverse_axes", [True, False])
def test_an_array_and_its_buffer_share_memory(reverse_axes):
    a = np.ones((20, 30), np.int32)
    b = hl.Buffer(a, "named", reverse_axes)
    assert b.type() == hl.Int(32) and b.name() == "named" and b.all_equal(1)
    assert shape(b) == ([(0, 30, 1), (0, 20, 30)] if reverse_axes else [(0, 20, 30), (0, 30, 1)])
    assert (b.width(), b.height()) == ((30, 20) if reverse_axes else (20, 30))
    assert (b.dim(0).max(), b.left(), b.right(), b.top(), b.bottom()) == (b.width() - 1, 0, b.width() - 1, 0, b.height() - 1)
    a[12, 17] = 56
    at = (17, 12) if reverse_axes else (12, 17)
    assert b[at] == 56
    b[at] = 7
    assert a[12, 17] == 7
    assert b.numpy_view(reverse_axes).shape == (20, 30)
    again = hl.Buffer(b)
    assert again[at] == 7 and shape(again) == shape(b)
    turned = b.reverse_axes()
    assert shape(turned) == shape(b)[::-1] and turned[at[::-1]] == 7


def test_a_buffer_and_its_array_share_memory():
    b = hl.Buffer(hl.Int(16), [4, 6])
    b.fill(0)
    b[1, 2] = 42
    shared = np.array(b, copy=False)
    assert shared.shape == (6, 4) and shared.dtype == np.int16 and shared[2, 1] == 42
    copied = np.array(b, copy=True)
    b[1, 2] = 3
    assert shared[2, 1] == 3 and copied[2, 1] == 42
    assert np.asarray(b)[2, 1] == 3 and memoryview(b).shape == (6, 4) and b.numpy_view(False).shape == (4, 6)
    cropped = b.copy()
    cropped.crop(dimension=0, min=1, extent=2)
    view = np.array(cropped, copy=False)
    assert view.shape == (6, 2) and view[2, 0] == 3
    rectangle = b.copy().cropped([(1, 2), (2, 3)])
    assert shape(rectangle) == [(1, 2, 1), (2, 3, 4)] and np.asarray(rectangle)[0, 0] == 3


def test_views_keep_the_memory():
    def made():
        return hl.Buffer(hl.UInt(8), [10, 10])

    b = made()
    b.fill(9)
    a = b.numpy_view()
    del b
    gc.collect()
    assert (a == 9).all()
    b = hl.Buffer(np.full((3, 4), 5, np.float32))
    gc.collect()
    assert b.all_equal(5)
    assert np.asarray(made().copy()).shape == (10, 10)


@pytest.mark.parametrize(
    "dtype, t",
    [
        (np.bool_, hl.Bool()),
        (np.int8, hl.Int(8)),
        (np.uint8, hl.UInt(8)),
        (np.int64, hl.Int(64)),
        (np.uint64, hl.UInt(64)),
        (np.float16, hl.Float(16)),
        (np.float32, hl.Float(32)),
        (np.float64, hl.Float(64)),
        ("l", hl.Int(64)),
        ("L", hl.UInt(64)),
        ("q", hl.Int(64)),
    ],
)
def test_types_of_arrays(dtype, t):
    a = np.zeros((3, 2), dtype=dtype, order="F")
    b = hl.Buffer(a)
    assert b.type() == t
    b[1, 2] = 1
    assert a[2, 1] == 1 and np.array(b, copy=False).dtype == a.dtype


def test_elements():
    b = hl.Buffer(hl.Float(32), [3, 4])
    for i in range(3):
        for j in range(4):
            b[i, j] = i + j
    seen = []
    b.for_each_element(lambda pos, b=b: seen.append(b[pos[0], pos[1]] == pos[0] + pos[1]))
    assert len(seen) == 12 and all(seen)
    assert not b.all_equal(0)
    b.fill(2.5)
    assert b.all_equal(2.5)
    for outside in ((3, 0), (-1, 0), (0, 4)):
        with pytest.raises(IndexError):
            b[outside]
        with pytest.raises(IndexError):
            b[outside] = 1
    assert b.contains([2, 3]) and not b.contains([3, 3])
    line = hl.Buffer(hl.Int(32), [4])
    line.fill(3)
    assert list(line) == [3, 3, 3, 3]
    f = hl.Func("f")
    f[x] = line[x] + line[3 - x]
    assert list(f.realize([4])) == [6] * 4


def test_layouts():
    b = hl.Buffer.make_interleaved(type=hl.UInt(8), width=7, height=5, channels=3)
    assert shape(b) == [(0, 7, 3), (0, 5, 21), (0, 3, 1)]
    assert hl.Buffer.make_interleaved(hl.UInt(8), 7, 5, 3, "name").name() == "name"
    a = np.array(b.transposed([2, 0, 1]), copy=False)
    assert a.shape == (5, 7, 3) and a.flags.c_contiguous
    ordered = hl.Buffer(type=hl.UInt(8), sizes=[7, 5, 3], storage_order=[2, 0, 1])
    assert shape(ordered) == shape(b) and shape(hl.Buffer(hl.UInt(8), [7, 5, 3], [2, 0, 1])) == shape(b)
    assert hl.Buffer(hl.UInt(8), [3], "name").name() == hl.Buffer(hl.UInt(8), [3], name="name").name() == "name"
    like = hl.Buffer.make_with_shape_of(ordered)
    assert shape(like) == shape(ordered)
    scalar = hl.Buffer.make_scalar(hl.Int(32))
    scalar[()] = 5
    assert scalar.dimensions() == 0 and scalar[()] == 5
    ordered.transpose(0, 2)
    assert shape(ordered) == [(0, 3, 1), (0, 5, 21), (0, 7, 3)]


def test_changes_of_shape():
    b = hl.Buffer(hl.Int(32), [6, 4])
    b.set_min([10, 20])
    assert (b.left(), b.top()) == (10, 20)
    b.translate(0, 5)
    b.translate([0, -20])
    assert shape(b) == [(15, 6, 1), (0, 4, 6)] and shape(b.translated(1, 3))[1] == (3, 4, 6)
    row = b.sliced(1, 2)
    assert shape(row) == [(15, 6, 1)]
    assert row.embedded(1, 7).dim(1).min() == 7
    row.embed(0, 3)
    assert row.dimensions() == 2 and row.dim(0).min() == 3
    row.slice(0, 3)
    row.add_dimension()
    assert row.dimensions() == 2
    source = hl.Buffer(hl.Int(32), [2, 2])
    source.fill(9)
    source.set_min([15, 1])
    b.fill(0)
    b.copy_from(source)
    assert b[16, 2] == 9 and b[17, 2] == 0 and b.number_of_elements() == 24


def test_texts():
    assert str(hl.Buffer()) == "<undefined halide.Buffer>" and not hl.Buffer().defined()
    b = hl.Buffer(hl.Int(32), [128, 256])
    assert str(b) == "<halide.Buffer of type int32 shape:[[0,128,1],[0,256,128]]>"
    import tessera

    own = {"__name__": "own"}
    exec(compile("def text(b):\n    return str(b)", "own.py", "exec"), own)
    assert (
        own["text"](b) == repr(b) == f"<Buffer {b.name()} of shape (256, 128) int32 (dimensions 128 x 256)>"
        and tessera.Buffer is hl.Buffer
    )


def test_sizes_that_do_not_fit():
    wide = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), shape=(0x80000000,), strides=(0,))
    with pytest.raises(hl.HalideError):
        hl.Buffer(wide)
    far = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), shape=(2, 1), strides=(0x80000000, 1))
    with pytest.raises(hl.HalideError):
        hl.Buffer(far)
    with pytest.raises((hl.HalideError, TypeError)):
        hl.Buffer(hl.UInt(8), [-3])


def test_read_only_arrays_are_inputs_alone():
    a = np.arange(4, dtype=np.int32)
    a.flags.writeable = False
    f = hl.Func("f")
    f[x] = hl.Buffer(a)[x] * 2
    assert list(f.realize([4])) == [0, 2, 4, 6]
    with pytest.raises(TypeError):
        f.realize(a)


def test_bounds_queries():
    image = hl.ImageParam(hl.Float(32), 2, "image")
    f = hl.Func("f")
    f[x, y] = image[x - 1, y] + image[x + 2, y + 3]
    query = hl.Buffer.make_bounds_query(hl.Float(32), [10, 20])
    query.set_min([5, 0])
    f.infer_input_bounds(query)
    assert shape(image.get())[0][:2] == (4, 13) and shape(image.get())[1][:2] == (0, 23)
    image.reset()
    f.infer_input_bounds([10, 20])
    assert shape(image.get())[0][:2] == (-1, 13)
    image.reset()
    f.infer_input_bounds(hl.Buffer(hl.Float(32), [2, 2]))
    assert image.get().width() == 5


def test_constraints_that_depend_on_one_another():
    image = hl.ImageParam(hl.Float(32), 2, "image")
    f = hl.Func("f")
    f[x, y] = image[x + 1, y] + image[x, y + 1]
    f.output_buffer().dim(0).set_min(0)
    image.dim(0).set_min(f.output_buffer().dim(0).min())
    image.dim(1).set_bounds(0, f.output_buffer().dim(1).extent() + 7)
    out = hl.Buffer(hl.Float(32), [3, 4])
    f.infer_input_bounds(out)
    assert image.get().dim(1).extent() == 11 and image.get().dim(0).min() == 0
    image.get().fill(1)
    f.realize(out)
    assert out.all_equal(2)
