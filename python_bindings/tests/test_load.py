"""tessera.load: libraries that run without the compiler."""
import ctypes
import gc
import inspect
import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tessera as ts

x, y = ts.vars("x y")


@ts.generator("loaded_scale")
class Scale:
    input = ts.InputBuffer(ts.UInt(8), 2)
    factor = ts.InputScalar(float, 2.0, min=0.0, max=8.0)
    shift = ts.InputScalar(ts.Int(16), -1)
    output = ts.OutputBuffer(ts.Float(32), 2)

    def generate(g):
        g.input.set_estimates([(0, 640), (0, 480)])
        g.factor.set_estimate(1.5)
        g.output[x, y] = ts.f32(g.input[x, y]) * g.factor + g.shift


@ts.generator("loaded_slow")
class Slow:
    n = ts.InputScalar(int)
    output = ts.OutputBuffer(ts.Float(32), 1)

    def generate(g):
        r = ts.RDom([(0, g.n)])
        g.output[x] = 0.0
        g.output[x] += ts.sin(ts.f32(r + x))


@ts.generator("loaded_types")
class Types:
    """Each type of number, and a buffer of it."""

    def configure(g):
        for t in TYPES:
            g.add_input(f"n_{t}", ts.InputScalar(t))
            g.add_input(f"b_{t}", ts.InputBuffer(t, 1))
        for t in TYPES:
            g.add_output(f"o_{t}", ts.OutputBuffer(t, 1))

    def generate(g):
        for t in TYPES:
            n, b = getattr(g, f"n_{t}"), getattr(g, f"b_{t}")
            getattr(g, f"o_{t}")[x] = ts.select(x == 0, n, b[x])


TYPES = [ts.Bool(), *(make(bits) for make in (ts.Int, ts.UInt) for bits in (8, 16, 32, 64)), ts.Float(16), ts.Float(32), ts.Float(64)]


@ts.generator("loaded_parallel")
class Parallel:
    limit = ts.InputScalar(int)
    output = ts.OutputBuffer(ts.Int(32), 2)

    def generate(g):
        g.output[x, y] = ts.require(y < g.limit, y, y + 1000)
        g.output.parallel(y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("loaded_scale", "loaded_slow", "loaded_types", "loaded_parallel"):
        with pytest.raises(SystemExit) as e:
            ts.main(["-g", name, "-o", str(folder), "target=host", "-f", name.removeprefix("loaded_")])
        assert e.value.code == 0
        ts.link_shared(folder / (name.removeprefix("loaded_") + ".a"))
    return folder


@pytest.fixture(scope="module")
def scale(folder):
    return ts.load(folder / "scale.so").scale


IMAGE = np.arange(12, dtype=np.uint8).reshape(3, 4)


def test_arguments_are_given_by_position_name_or_default(scale):
    out = np.zeros((3, 4), np.float32)
    assert scale(IMAGE, 3.0, 1, out) is None
    assert (out == IMAGE * 3.0 + 1).all()
    scale(IMAGE, output=out)
    assert (out == IMAGE * 2.0 - 1).all()
    scale(output=out, shift=np.int64(5), input=IMAGE, factor=np.float32(0.5))
    assert (out == IMAGE * 0.5 + 5).all()


def test_an_output_of_a_shape_is_allocated_and_returned(scale):
    out = scale(IMAGE, shift=0, output=(2, 3))
    assert out.dtype == np.float32 and (out == IMAGE[:2, :3] * 2.0).all()


def test_arrays_are_not_copied_whatever_their_strides(scale):
    big = np.zeros((6, 8), np.float32)
    scale(IMAGE[::-1], 1.0, 0, big[::2, 2:6])
    assert (big[::2, 2:6] == IMAGE[::-1]).all()
    assert (big[1::2] == 0).all() and (big[:, :2] == 0).all() and (big[:, 6:] == 0).all()
    # Neighbours are neighbours in memory, unless the generator says otherwise.
    with pytest.raises(ts.RunError, match="output.stride.0 is 3, but must be 1"):
        scale(IMAGE, 1.0, 0, np.zeros((4, 3), np.float32).T)


def test_anything_with_a_buffer_goes_and_read_only_inputs(scale):
    fixed = IMAGE.copy()
    fixed.flags.writeable = False
    out = np.zeros((3, 4), np.float32)
    scale(fixed, 1.0, 0, out)
    assert (out == IMAGE).all()
    raw = memoryview(bytes(IMAGE.tobytes())).cast("B", (3, 4))
    cells = (ctypes.c_float * 4 * 3)()
    scale(raw, 2.0, 0, cells)
    assert [list(row) for row in cells] == (IMAGE * 2.0).tolist()


def test_what_it_takes_is_described(scale):
    assert [a.name for a in scale.arguments] == ["input", "factor", "shift", "output"]
    factor = scale.arguments[1]
    assert (factor.kind, factor.type, factor.default, factor.min, factor.max, factor.estimate) == ("number", "float32", 2.0, 0.0, 8.0, 1.5)
    assert scale.arguments[0].estimates == [(0, 640), (0, 480)]
    assert scale.arguments[2].default == -1
    parameters = inspect.signature(scale).parameters
    assert list(parameters) == ["input", "factor", "shift", "output"]
    assert parameters["factor"].default == 2.0
    for text in (
        "compiled for x86-64-linux",
        "input: 2 dimensions of uint8, about (480, 640)",
        "factor: float32, default 2.0, at least 0.0, at most 8.0, about 1.5",
        "output: output, 2 dimensions of float32",
    ):
        assert text in scale.__doc__
    assert repr(scale) == "<Function scale(input, factor, shift, output)>"


@pytest.mark.parametrize(
    "given, message",
    [
        (lambda out: ((IMAGE.astype(float), 1, 1, out), {}), r"argument 0 \(input\): an array of shape \(3, 4\) of float64; wanted 2 dimensions of uint8"),
        (lambda out: ((IMAGE[0], 1, 1, out), {}), r"an array of shape \(4,\) of uint8; wanted 2 dimensions"),
        (lambda out: ((IMAGE, 1, 40000, out), {}), r"argument 2 \(shift\): 40000 does not fit int16"),
        (lambda out: ((IMAGE, "a", 1, out), {}), r"argument 1 \(factor\): 'a' is no float32"),
        (lambda out: ((IMAGE, 1, 1.5, out), {}), r"argument 2 \(shift\): 1.5 is no int16"),
        (lambda out: ((3, 1, 1, out), {}), r"argument 0 \(input\): a int is no array; wanted 2 dimensions of uint8"),
        (lambda out: ((IMAGE, 1, 1), {}), r"argument 3 \(output\) is missing; wanted 2 dimensions of float32"),
        (lambda out: ((IMAGE, 1, 1, out), {"input": IMAGE}), "input is given twice"),
        (lambda out: ((IMAGE, 1, 1, out), {"inptu": IMAGE}), "inptu is none of its arguments, which are input, factor, shift, output"),
        (lambda out: ((IMAGE, 1, 1, out, 3), {}), "takes 4 arguments, not 5"),
    ],
)
def test_arguments_that_do_not_fit_are_named(scale, given, message):
    args, names = given(np.zeros((3, 4), np.float32))
    with pytest.raises(TypeError, match=message):
        scale(*args, **names)


def test_an_output_may_be_written(scale):
    out = np.zeros((3, 4), np.float32)
    out.flags.writeable = False
    with pytest.raises(TypeError, match=r"argument 3 \(output\).*may not be written"):
        scale(IMAGE, 1, 1, out)


def test_a_failure_has_the_text_of_the_runtime(scale):
    with pytest.raises(ts.RunError, match="input is accessed|Input buffer input|input"):
        scale(IMAGE, 1.0, 0, np.zeros((5, 5), np.float32))
    with pytest.raises(ts.RunError, match="factor is 9"):
        scale(IMAGE, 9.0, 0, np.zeros((3, 4), np.float32))


def test_a_failure_on_a_thread_of_the_runtime_has_its_text(folder):
    parallel = ts.load(folder / "parallel.so").parallel
    for _ in range(20):
        with pytest.raises(ts.RunError, match="Requirement failed.*y < limit|Requirement failed"):
            parallel(10, np.zeros((100, 100), np.int32))
    parallel(100, np.zeros((100, 100), np.int32))


def test_each_type_is_passed_as_it_is(folder):
    types = ts.load(folder / "types.so").types
    names = [str(t) for t in TYPES]
    dtypes = ["bool" if n in ("bool", "uint1") else n for n in names]
    given, wanted, outputs = [], [], []
    for dtype in dtypes:
        top = True if dtype == "bool" else np.iinfo(dtype).max if "int" in dtype else 1.0009765625
        cells = np.array([0, 1, 0] if dtype == "bool" else [5, 6, 7], dtype)
        given += [top, cells]
        wanted.append([top, *cells[1:].tolist()])
        outputs.append(np.zeros(3, dtype))
    types(*given, *outputs)
    assert [o.tolist() for o in outputs] == wanted


def test_bfloat16_and_numbers_of_16_bits_are_rounded(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")

    @ts.generator("loaded_halves")
    class Halves:
        h = ts.InputScalar(ts.Float(16))
        b = ts.InputScalar(ts.BFloat(16))
        input = ts.InputBuffer(ts.BFloat(16), 1)
        output = ts.OutputBuffer(ts.BFloat(16), 1)
        halves = ts.OutputBuffer(ts.Float(16), 1)

        def generate(g):
            g.output[x] = ts.select(x == 0, g.b, g.input[x])
            g.halves[x] = g.h

    with pytest.raises(SystemExit):
        ts.main(["-g", "loaded_halves", "-o", str(tmp_path), "target=host"])
    halves = ts.load(tmp_path / "loaded_halves.a").loaded_halves
    rng = np.random.default_rng(0)
    for value in [1 / 3, -1e-7, 65519.0, 1e-40, 3.0e38, *rng.standard_normal(50), *(rng.standard_normal(50) * 1e-5)]:
        value = float(value)
        some = np.array([1, 2, 3], ml_dtypes.bfloat16)
        out, h = np.zeros(3, ml_dtypes.bfloat16), np.zeros(3, np.float16)
        halves(value if abs(value) < 60000 else 0.0, value, some, out, h)
        assert out.tolist() == [ml_dtypes.bfloat16(value), 2, 3]
        assert h[0] == np.float16(value if abs(value) < 60000 else 0.0)


def test_a_static_library_and_an_object_are_linked_first(folder, tmp_path):
    out = np.zeros((3, 4), np.float32)
    ts.load(folder / "scale.a").scale(IMAGE, 2.0, 0, out)
    assert (out == IMAGE * 2.0).all()
    with pytest.raises(SystemExit):
        ts.main(["-g", "loaded_scale", "-o", str(tmp_path), "-e", "object", "target=host-no_runtime", "-f", "alone"])
    alone = ts.load(tmp_path / "alone.o").alone  # with the runtime of the package
    out[:] = 0
    alone(IMAGE, 2.0, 0, out)
    assert (out == IMAGE * 2.0).all()
    with pytest.raises(ts.RunError, match="factor is 9"):
        alone(IMAGE, 9.0, 0, out)


def test_of_several_targets_the_function_that_chooses_is_there(tmp_path):
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", "loaded_scale", "-o", str(tmp_path), "target=x86-64-linux,x86-64-linux-avx2-fma", "-f", "many"])
    assert e.value.code == 0
    library = ts.load(tmp_path / "many.a")
    assert list(library.functions) == ["many"]
    assert (library.many(IMAGE, 1.0, 0, (3, 4)) == IMAGE).all()
    assert "many" in dir(library)
    with pytest.raises(AttributeError, match="has no function one; it has many"):
        library.one


def test_what_is_no_library_is_refused(tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ts.RunError, match="text is no library"):
        ts.load(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        ts.load(tmp_path / "none")
    (tmp_path / "empty.c").write_text("int f(void) { return 0; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "empty.so", tmp_path / "empty.c"], check=True)
    with pytest.raises(ts.RunError, match="describes no function"):
        ts.load(tmp_path / "empty.so")


def test_other_threads_run_meanwhile_and_call_at_once(folder):
    slow = ts.load(folder / "slow.so").slow
    n = 1000
    while True:  # as many terms as take a tenth of a second
        begin = time.perf_counter()
        slow(n, np.zeros(1, np.float32))
        if time.perf_counter() - begin > 0.1:
            break
        n *= 2
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    results = [np.zeros(1, np.float32) for _ in range(3)]
    begin = time.perf_counter()
    callers = [threading.Thread(target=slow, args=(n, out)) for out in results]
    for c in callers:
        c.start()
    for c in callers:
        c.join()
    end = time.perf_counter()
    done.set()
    thread.join()
    assert len([t for t in ticks if begin < t < end]) > 10
    assert results[0] == results[1] == results[2] != 0


def test_the_file_alone_loads_without_the_package(folder, tmp_path):
    shutil.copy(os.path.join(os.path.dirname(ts.__file__), "_load.py"), tmp_path / "my_load.py")
    code = f"""
import sys
import my_load
scale = my_load.load({str(folder / "scale.so")!r}).scale
image, out = (my_load.ctypes.c_uint8 * 2 * 1)((1, 2)), (my_load.ctypes.c_float * 2 * 1)()
scale(image, 2.0, 1, out)
print(list(out[0]))
try:
    scale(image, 9.0, 1, out)
except my_load.RunError as e:
    print(e)
assert "tessera" not in sys.modules and "numpy" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "[3.0, 5.0]" and "factor is 9" in done.stdout


def test_the_process_has_its_own_errors_when_a_library_is_gone(tmp_path):
    f = ts.Func("without_runtime")
    f[x] = x
    f.compile_to_static_library(str(tmp_path / "without_runtime"), [], "without_runtime", ts.Target("host-no_runtime"))
    for _ in range(2):
        library = ts.load(tmp_path / "without_runtime.a")
        library.without_runtime(np.zeros(4, np.int32))
        del library
        gc.collect()
    n = ts.Param(ts.Int(32), "n")
    g = ts.Func("g")
    n.set(0)
    g[x] = ts.require(n > 3, x, n + 77)
    with pytest.raises(ts.RunError, match="77"):
        g.realize([4])
