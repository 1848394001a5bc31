import copy
import pickle
import threading

import numpy as np
import pytest

import tessera as ts

x, y, c = ts.vars("x y c")


def here_line(offset=0):
    import inspect

    return inspect.currentframe().f_back.f_lineno + offset


def test_a_definition_with_brackets_is_computed():
    f = ts.Func("f")
    f[x, y] = x + 10 * y
    out = f.realize([3, 2])
    assert out.shape == (2, 3) and out.type() == ts.Int(32)
    assert out.numpy().tolist() == [[0, 1, 2], [10, 11, 12]]
    assert out[2, 1] == 12


def test_a_blur_of_a_numpy_image_with_a_schedule_equals_numpy():
    image = np.random.default_rng(1).integers(0, 255, (50, 70), dtype=np.uint8)
    source = ts.BoundaryConditions.repeat_edge(image)
    blur_x, blur = ts.funcs("blur_x blur")
    blur_x[x, y] = (ts.u16(source[x - 1, y]) + source[x, y] + source[x + 1, y]) / 3
    blur[x, y] = ts.u8((blur_x[x, y - 1] + blur_x[x, y] + blur_x[x, y + 1]) / 3)
    xi, yi = ts.vars("xi yi")
    blur.tile(x, y, xi, yi, 32, 8).vectorize(xi, 16).parallel(y)
    blur_x.compute_at(blur, x).vectorize(x, 16)
    out = np.zeros((50, 70), np.uint8)
    blur.realize(out)
    p = np.pad(image, 1, mode="edge").astype(np.uint16)
    bx = (p[:, :-2] + p[:, 1:-1] + p[:, 2:]) // 3
    assert (out == (bx[:-2] + bx[1:-1] + bx[2:]) // 3).all()


def test_updates_reductions_and_tuples():
    h = ts.Func("h")
    data = np.array([3, 1, 3, 0, 2, 3], np.uint8)
    b = ts.Buffer(data)
    r = ts.RDom(b)
    h[x] = 0
    h[ts.clamp(ts.i32(b[r]), 0, 3)] += 1
    assert h.realize([4]).numpy().tolist() == [1, 1, 1, 3]
    t = ts.Func("t")
    t[x] = (x, 2.5)
    t[x][0] += 5
    t[x][1] = t[x][1] * 2
    first, second = t.realize([2])
    assert first.numpy().tolist() == [5, 6] and second.numpy().tolist() == [5.0, 5.0]
    rx = ts.RDom([(0, 6)])
    assert ts.evaluate(ts.sum(ts.i32(b[rx]))) == 12
    assert ts.evaluate(ts.argmax(rx, ts.i32(b[rx]))) == (0, 3)
    s, q = ts.RDom([(0, 3), (0, 2)])
    assert ts.evaluate(ts.maximum(s + 10 * q)) == 12


def test_operators_follow_the_language():
    e = [x + 1, 1 + x, x - 1, 2 * x, x / 2, x // 2, x % 3, x**2, x << 1, x >> 1, -x, abs(x), x & 1, ~x, x < 2, x == 3]
    assert all(isinstance(each, ts.Expr) for each in e[:11] + e[12:])
    f = ts.Func()
    f[x] = (ts.select((x > 1) & (x < 4), x, 0), (x - 3) / 2, ts.f32(x) // 0.75, ts.min(x, 2, 3))
    chosen, halves, floors, least = (b.numpy().tolist() for b in f.realize([5]))
    assert chosen == [0, 0, 2, 3, 0]
    assert halves == [-2, -1, -1, 0, 0]
    assert floors == [0, 1, 2, 4, 5]
    assert least == [0, 1, 2, 2, 2]


def test_numpy_scalars_keep_their_types():
    assert (x * np.float32(2)).type() == ts.Float(32)
    assert ts.Expr(np.uint8(7)).type() == ts.UInt(8)
    assert (np.uint8(7) + ts.u8(x)).type() == ts.UInt(8)
    with pytest.raises(TypeError):
        np.arange(3) * x


def test_expressions_are_no_conditions():
    for wrong in (lambda: not (x < 2), lambda: bool(x), lambda: 1 if x < 2 else 0, lambda: 0 < x < 3):
        with pytest.raises(ValueError, match="write & for and"):
            wrong()
    with pytest.raises(TypeError):
        {x: 1}


def test_errors_have_the_line_of_the_directive():
    f = ts.Func("f")
    f[x] = x
    with pytest.raises(ts.CompileError, match="no loop named zz") as caught:
        f.vectorize(ts.Var("zz"), 8)
    assert caught.value.filename == __file__
    assert caught.value.lineno == here_line(-2)
    assert isinstance(caught.value, ValueError)
    undefined = ts.Func("undefined")
    with pytest.raises(ts.CompileError, match="undefined"):
        undefined[x] + 1
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.lineno == caught.value.lineno
    with pytest.raises(TypeError, match="a str is no expression"):
        ts.sin("text")
    with pytest.raises(TypeError, match="a int is no loop"):
        f.vectorize(8, 8)


def test_an_input_that_is_too_small_is_a_run_error():
    im = ts.ImageParam(ts.UInt(8), 1, "im")
    f = ts.Func("f")
    f[x] = im[x + 2]
    im.set(np.zeros(4, np.uint8))
    with pytest.raises(ts.RunError, match="im"):
        f.realize([4])
    with pytest.raises(RuntimeError):
        f.realize([4])


def test_warnings_are_pythons():
    f, g = ts.funcs("f g")
    f[x] = x
    f[x] += 1
    f.vectorize(x, 4)
    with pytest.warns(ts.Warning, match="no schedule"):
        f.realize([8])


def test_params_and_callables():
    im = ts.ImageParam(ts.Float(32), 2, "im")
    k = ts.Param(ts.UInt(8), "k", 3)
    f = ts.Func("f")
    f[x, y] = im[x, y] * k
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    im.set(data)
    assert (f.realize([3, 2]).numpy() == data * 3).all()
    call = f.compile_to_callable([k, im])
    assert [(a.name, a.type, a.dimensions, a.is_output()) for a in call.arguments] == [
        ("k", ts.UInt(8), 0, False), ("im", ts.Float(32), 2, False), ("f", ts.Float(32), 2, True)]
    out = np.empty_like(data)
    call(2, data, out)
    assert (out == data * 2).all()
    call(im=data, f=out, k=5)
    assert (out == data * 5).all()
    with pytest.raises(ts.RunError, match="im.stride.0 is -1"):
        call(4, data[:, ::-1], out)
    readonly = data.copy()
    readonly.flags.writeable = False
    call(1, readonly, out)
    assert (out == data).all()
    with pytest.raises(TypeError, match=r"argument 0 \(k\): 300 is no uint8"):
        call(300, data, out)
    with pytest.raises(TypeError, match=r"argument 1 \(im\).*\(2, 3\) float64.*wanted 2 dimensions of float32"):
        call(1, data.astype(np.float64), out)
    with pytest.raises(TypeError, match=r"output|argument 2"):
        call(1, data, readonly)
    with pytest.raises(TypeError, match="missing"):
        call(1, data)


def test_an_input_may_have_any_stride_where_the_program_says_so():
    im = ts.ImageParam(ts.Float(32), 2, "im")
    im.dim(0).set_stride(ts.Expr())
    f = ts.Func("f")
    f[x, y] = im[x, y] + 1
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    im.set(data[:, ::-1])
    assert (f.realize([3, 2]).numpy() == data[:, ::-1] + 1).all()


def test_one_callable_serves_eight_threads():
    im = ts.ImageParam(ts.Int(32), 1, "im")
    f = ts.Func("f")
    f[x] = im[x] * 2
    call = f.compile_to_callable([im])
    failed = []

    def work(i):
        data, out = np.full(1000, i, np.int32), np.zeros(1000, np.int32)
        for _ in range(200):
            call(data, out)
            if not (out == 2 * i).all():
                failed.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed


def test_texts_are_strings():
    f = ts.Func("f")
    f[x] = x * 2
    f.vectorize(x, 8)
    assert "for f.x" in f.loop_nest() or "f.x" in f.loop_nest()
    assert "f.vectorize(x, 8)" in f.schedule_as_cpp() or "vectorize" in f.schedule_as_cpp()
    assert "define" in f.llvm_assembly() and ".text" in f.assembly()
    assert "#include" in f.c_source() and "produce" not in f.assembly()
    assert "<Func f(x): int32>" == repr(f)


def test_gpu_schedules_run_in_the_interpreter():
    f = ts.Func("f")
    xi = ts.Var("xi")
    f[x] = x * 3
    f.gpu_tile(x, xi, 32)
    assert f.realize([100], "host-cuda-interpret").numpy().tolist() == [3 * i for i in range(100)]


def test_handles_are_copied_and_not_pickled():
    f = ts.Func("f")
    f[x] = x
    assert copy.copy(f).name() == "f"
    with pytest.raises(TypeError, match="other processes"):
        pickle.dumps(f)
    for object_ in (ts.Pipeline(f), f.compile_to_callable([])):
        with pytest.raises(TypeError, match="is not sent to other processes"):
            pickle.dumps(object_)
    params = pickle.loads(pickle.dumps(ts.AutoschedulerParams("Mullapudi2016", {"parallelism": 4})))
    assert (params.name, params.extra) == ("Mullapudi2016", {"parallelism": "4"})
    assert pickle.loads(pickle.dumps(ts.TailStrategy.RoundUp)) is ts.TailStrategy.RoundUp
    assert pickle.loads(pickle.dumps(ts.Int(8, 4))) == ts.Int(8, 4)
    assert pickle.loads(pickle.dumps(ts.UInt(16))) == ts.UInt(16)
    assert pickle.loads(pickle.dumps(ts.Target("host"))) == ts.Target("host")
