import gc
import pickle

import numpy as np
import pytest

import tessera as ts


def test_a_buffer_shares_the_memory_of_an_array():
    a = np.arange(12, dtype=np.int16).reshape(3, 4)
    b = ts.Buffer(a)
    assert b.shape == (3, 4) and b.width() == 4 and b.height() == 3
    assert np.asarray(b).__array_interface__["data"][0] == a.__array_interface__["data"][0]
    b[3, 1] = -5
    assert a[1, 3] == -5
    assert b.dtype == np.int16 and b.mins == (0, 0)
    assert np.from_dlpack(b).tolist() == a.tolist()


def test_strides_of_any_sign_and_empty_arrays():
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (a[::-1], a[:, ::2], a.T, a[1:3, ::-1]):
        assert np.array_equal(np.asarray(ts.Buffer(view)), view)
    assert ts.Buffer(np.zeros((0, 3))).shape == (0, 3)
    assert ts.Buffer(np.array(7, np.int32))[()] == 7
    assert ts.Buffer(a, reverse_axes=False).shape == (6, 4)


def test_each_keeps_the_other_alive():
    b = ts.Buffer(np.full(1000, 3.5))
    gc.collect()
    assert b.all_equal(3.5)
    a = np.asarray(ts.Buffer(ts.Int(32), [1000]))
    gc.collect()
    a[:] = 1
    assert a.sum() == 1000


def test_elements_and_parts():
    b = ts.Buffer(ts.UInt(8), [4, 3], name="b")
    b.fill(2)
    b[1, 2] = 200
    assert b[1, 2] == 200 and b[0, 0] == 2 and b.name() == "b"
    part = b[1:3, 2]
    assert part.shape == (2,) and part.mins == (1,) and part[1] == 200
    with pytest.raises(IndexError, match="coordinate 4 in dimension 0"):
        b[4, 0]
    with pytest.raises(TypeError, match="300 is no uint8"):
        b[0, 0] = 300
    b.set_min([10, 20])
    assert b.mins == (10, 20) and b.left() == 10
    again = pickle.loads(pickle.dumps(b))
    assert again.mins == (10, 20) and again[11, 22] == 200


def test_types_that_fit_nothing_are_refused():
    with pytest.raises(TypeError, match="no Buffer"):
        ts.Buffer(np.zeros(3, np.complex64))
    with pytest.raises(TypeError, match="is no Buffer and no array"):
        ts.Buffer(object())


def test_bool_and_half():
    a = np.array([True, False, True])
    assert ts.Buffer(a).type() == ts.Bool() and ts.Buffer(a)[0] is True
    h = np.array([0.5, 1.5], np.float16)
    assert ts.Buffer(h)[1] == 1.5 and np.asarray(ts.Buffer(h)).dtype == np.float16


def test_images_are_written_and_read(tmp_path):
    image = np.random.default_rng(2).integers(0, 255, (3, 8, 10), dtype=np.uint8)
    ts.save_image(image, str(tmp_path / "a.png"))
    assert np.array_equal(ts.load_image(str(tmp_path / "a.png")).numpy(), image)
    with pytest.raises(ts.RunError, match="missing.png"):
        ts.load_image(str(tmp_path / "missing.png"))


def test_a_buffer_without_memory_is_a_question():
    x, y = ts.vars("x y")
    im, f = ts.ImageParam(ts.BFloat(16), 2, "im"), ts.Func("f")
    f[x, y] = ts.f32(im[x + 1, y]) + ts.f32(im[x, y + 2])
    asked, out = ts.Buffer.make_bounds_query(ts.BFloat(16), [1, 1]), ts.Buffer.make_bounds_query(ts.Float(32), [8, 4])
    f.compile_to_callable([im])(asked, out)
    assert asked.mins == (0, 0) and asked.shape == (6, 9) and out.shape == (4, 8)
    assert ts.Buffer.make_bounds_query(ts.Int(8), [1 << 14] * 4).shape == (1 << 14,) * 4
    with pytest.raises(ValueError, match="make_bounds_query: the extent -1"):
        ts.Buffer.make_bounds_query(ts.Int(8), [3, -1])


def test_a_buffer_is_walked_as_an_array_of_the_same_memory():
    b = ts.Buffer(np.arange(12, dtype=np.uint8).reshape(3, 4))
    assert [row.tolist() for row in b] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert 5 in b and 12 not in b and len(b) == 3
    assert list(ts.Buffer(np.array([3, 1], np.int32))) == [3, 1]
