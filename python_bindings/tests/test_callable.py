import copy
import gc
import inspect
import pickle
import threading
import weakref

import numpy as np
import pytest

import tessera as ts
from test_arrays import Array

x, y = ts.vars("x y")


def scaled(name="scaled"):
    im, k = ts.ImageParam(ts.Float(32), 2, "im"), ts.Param(ts.Float(32), "k")
    f = ts.Func(name)
    f[x, y] = im[x, y] * k
    return f.compile_to_callable([im, k])


def arrays():
    return np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 3), np.float32)


def test_arguments_by_position_and_by_name():
    call = scaled()
    a, out = arrays()
    for passed, named in (((a, 3, out), {}), ((a, 3), {"scaled": out}), ((a,), {"scaled": out, "k": 3}),
                          ((), {"k": np.float32(3), "scaled": ts.Buffer(out), "im": a})):
        out[:] = 0
        assert call(*passed, **named) is None
        assert (out == 3 * a).all()


@pytest.mark.parametrize("passed, named, text", [
    (("a", 1, "out", 2), {}, r"takes 3 arguments, \(im, k, scaled\), not 4"),
    (("a", 1), {}, r"argument 2 \(scaled\) of \(im, k, scaled\) is missing"),
    (("a",), {"scaled": "out"}, r"argument 1 \(k\) of \(im, k, scaled\) is missing"),
    (("a", 1), {"scaled": "out", "im": "a"}, r"argument 0 \(im\) of \(im, k, scaled\) is given twice"),
    (("a", 1, "out"), {"factor": 2}, r"factor is none of the arguments \(im, k, scaled\)"),
    ((1.5, 1, "out"), {}, r"argument 0 \(im\): a float is no Buffer and no array"),
    (("a", "a", "out"), {}, r"argument 1 \(k\): a ndarray is no float32"),
    (("a", None, "out"), {}, r"argument 1 \(k\): None is no float32"),
    ((ts.Buffer(ts.Float(64), [3, 2]), 1, "out"), {}, r"argument 0 \(im\): an array of shape \(2, 3\) float64 \(dimensions 3 "
                                                      r"x 2\); wanted 2 dimensions of float32"),
])
def test_arguments_that_do_not_fit(passed, named, text):
    a, out = arrays()
    given = {"a": a, "out": out}
    with pytest.raises(TypeError, match=text):
        scaled()(*[given.get(p, p) if isinstance(p, str) else p for p in passed],
                 **{key: given.get(value, value) if isinstance(value, str) else value for key, value in named.items()})


def test_numbers_have_the_values_of_their_params_as_defaults_and_outputs_may_be_shapes():
    im, k = ts.ImageParam(ts.Float(32), 2, "im"), ts.Param(ts.Float(32), "k")
    f, g = ts.Func("scaled"), ts.Func("places")
    k.set(4.0)
    f[x, y] = im[x, y] * k
    g[x, y] = x
    call = ts.Pipeline([f, g]).compile_to_callable([im, k])
    k.set(5.0)  # too late for this one
    a, out = arrays()
    scaled_a, places = call(a, scaled=(2, 3), places=(2, 3))
    assert (scaled_a == 4 * a).all() and places.tolist() == [[0, 1, 2]] * 2 and places.dtype == np.int32
    assert inspect.signature(call).parameters["k"].default == 4.0
    assert (call(a, 2, out, (2, 3)) == places).all() and (out == 2 * a).all()


def test_failures_have_the_users_line():
    call = scaled()
    a, out = arrays()
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(ts.RunError, match="im") as failed:
        call(a[:1], 1, out)
    assert failed.value.lineno == line and failed.value.filename == __file__


def test_what_a_callable_tells_of_itself():
    call = scaled()
    assert str(inspect.signature(call)) == "(im, k, scaled)"
    assert [a.name for a in call.arguments] == ["im", "k", "scaled"] and call.arguments[2].is_output()
    assert repr(call) == "<Callable scaled(im, k, scaled)>"
    assert copy.copy(call).arguments[0].name == "im"
    with pytest.raises(TypeError, match="other processes"):
        pickle.dumps(call)


def test_more_arguments_than_the_stack_has_room_for():
    images = [ts.ImageParam(ts.Int(32), 7, f"im{i}") for i in range(12)]
    f = ts.Func("f")
    at = [ts.Var(f"v{i}") for i in range(7)]
    f[tuple(at)] = sum((im[tuple(at)] for im in images[1:]), images[0][tuple(at)])
    a, out = np.ones((1, 2, 1, 2, 1, 2, 3), np.int32), np.zeros((1, 2, 1, 2, 1, 2, 3), np.int32)
    f.compile_to_callable(images)(*[a] * 12, out)
    assert (out == 12).all()


def test_several_outputs():
    f = ts.Func("f")
    f[x, y] = (x + y, ts.f32(x * y))
    sums, products = np.zeros((2, 3), np.int32), np.zeros((2, 3), np.float32)
    f.compile_to_callable([])(sums, products)
    assert sums.tolist() == [[0, 1, 2], [1, 2, 3]] and products.tolist() == [[0, 0, 0], [0, 1, 2]]


def test_a_call_keeps_nothing():
    call = scaled()
    a, out = (each.view(Array) for each in arrays())
    gone = weakref.ref(a), weakref.ref(out)
    call(a, 2, out)
    with pytest.raises(TypeError):
        call(a, 2, np.zeros(3))
    del a, out
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_threads_run_at_the_same_time():
    """While one thread is in a long call, another one gets on: the GIL is released."""
    r = ts.RDom([(0, 1 << 22)])
    f = ts.Func("f")
    f[x] = ts.u32(0)
    f[x] = (f[x] + ts.u32(r)) * ts.u32(7)
    call, out = f.compile_to_callable([]), np.zeros(16, np.uint32)
    ended, ticks = threading.Event(), 0

    def work():
        call(out)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not ended.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 3


def test_eight_threads_on_one_callable_with_arrays_of_all_kinds():
    call, failed = scaled(), []

    def work(i):
        a, out = np.full((2, 3), i, np.float32), ts.Buffer(ts.Float(32), [3, 2])
        for n in range(300):
            call(memoryview(a) if n % 2 else a, n, out)
            if out[2, 1] != i * n:
                failed.append((i, n))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed
