"""tessera.load: libraries that run without the compiler; and tessera/standalone.py, which runs them without the package."""
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
from tessera import standalone

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


TYPES = [ts.Bool(), *(make(bits) for make in (ts.Int, ts.UInt) for bits in (8, 16, 32, 64)),
         ts.Float(16), ts.Float(32), ts.Float(64)]


@ts.generator("loaded_parallel")
class Parallel:
    limit = ts.InputScalar(int)
    output = ts.OutputBuffer(ts.Int(32), 2)

    def generate(g):
        g.output[x, y] = ts.require(y < g.limit, y, y + 1000)
        g.output.parallel(y)


@ts.generator("loaded_around")
class Around:
    """Reads what lies around, and says so if it is asked to."""

    input = ts.InputBuffer(ts.Int(32), 2)
    other = ts.InputBuffer(ts.Int(32), 1)
    talk = ts.InputScalar(bool, False)
    output = ts.OutputBuffer(ts.Int(32), 2)

    def generate(g):
        value = g.input[x - 1, y] + g.input[x + 2, y + 1] + g.other[y]
        g.output[x, y] = ts.print_when(g.talk, value, "at", x, y)


def generate(name, folder, *words):
    """Writes a shared library of a generator, and whatever else the words say."""
    shared = ["-e", "shared_library", "target=host", "-f", name.removeprefix("loaded_")]
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", name, "-o", str(folder), *(words or shared)])
    return e.value.code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("loaded_scale", "loaded_slow", "loaded_types", "loaded_parallel", "loaded_around"):
        assert generate(name, folder) == 0
    return folder


@pytest.fixture(scope="module", params=[ts, standalone], ids=["tessera", "standalone"])
def load(request, folder):
    """Returns what loads one of the libraries: each way has a copy of its own."""
    copies = folder / request.param.__name__
    copies.mkdir()

    def load_copy(name):
        if not (copies / name).exists():  # what is loaded must not be written over
            shutil.copy(folder / name, copies / name)
        return request.param.load(copies / name)

    load_copy.is_standalone = request.param is standalone
    return load_copy


@pytest.fixture(scope="module")
def scale(load):
    return load("scale.so").scale


@pytest.fixture
def around(folder):
    return ts.load(folder / "around.so").around


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
    assert (str(factor.type), factor.default, factor.min, factor.max, factor.estimate) == ("float32", 2.0, 0.0, 8.0, 1.5)
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
    assert repr(scale) == "<Callable scale(input, factor, shift, output)>"
    assert scale.__name__ == "scale" and "host" not in str(scale.target) and "x86-64" in str(scale.target)


@pytest.mark.parametrize(
    "given, message",
    [
        (lambda out: ((IMAGE.astype(float), 1, 1, out), {}),
         r"argument 0 \(input\): an array of shape \(3, 4\) float64 \(dimensions 4 x 3\); wanted 2 dimensions of uint8"),
        (lambda out: ((IMAGE[0], 1, 1, out), {}), r"an array of shape \(4,\) uint8; wanted 2 dimensions of uint8"),
        (lambda out: ((IMAGE, 1, 40000, out), {}), r"argument 2 \(shift\): 40000 is no int16"),
        (lambda out: ((IMAGE, "a", 1, out), {}), r"argument 1 \(factor\): 'a' is no float32"),
        (lambda out: ((IMAGE, 1, 1.5, out), {}), r"argument 2 \(shift\): 1.5 is no int16"),
        (lambda out: ((3, 1, 1, out), {}),
         r"argument 0 \(input\): a int is no Buffer and no array; wanted 2 dimensions of uint8"),
        (lambda out: ((IMAGE, 1, 1), {}),
         r"argument 3 \(output\) of \(input, factor, shift, output\) is missing; wanted 2 dimensions of float32"),
        (lambda out: ((IMAGE, 1, 1, out), {"input": IMAGE}),
         r"argument 0 \(input\) of \(input, factor, shift, output\) is given twice"),
        (lambda out: ((IMAGE, 1, 1, out), {"inptu": IMAGE}), r"inptu is none of the arguments \(input, factor, shift, output\)"),
        (lambda out: ((IMAGE, 1, 1, out, 3), {}), r"takes 4 arguments, \(input, factor, shift, output\), not 5"),
        (lambda out: ((IMAGE, 1, 1, (3, 4, 5)), {}),
         r"argument 3 \(output\): the shape has 3 numbers; wanted 2 dimensions of float32"),
    ],
)
def test_arguments_that_do_not_fit_are_named(scale, given, message):
    args, names = given(np.zeros((3, 4), np.float32))
    with pytest.raises(TypeError, match=message):
        scale(*args, **names)


def test_an_output_may_be_written(scale):
    out = np.zeros((3, 4), np.float32)
    out.flags.writeable = False
    with pytest.raises(TypeError, match=r"argument 3 \(output\): an output is written to, and this array is read-only"):
        scale(IMAGE, 1, 1, out)


def test_a_failure_has_the_text_of_the_runtime(scale):
    with pytest.raises(ts.RunError, match="input is accessed|Input buffer input|input"):
        scale(IMAGE, 1.0, 0, np.zeros((5, 5), np.float32))
    with pytest.raises(ts.RunError, match="factor is 9"):
        scale(IMAGE, 9.0, 0, np.zeros((3, 4), np.float32))


def test_a_failure_on_a_thread_of_the_runtime_has_its_text(load):
    parallel = load("parallel.so").parallel
    for _ in range(20):
        with pytest.raises(ts.RunError, match="Requirement failed.*y < limit|Requirement failed"):
            parallel(10, np.zeros((100, 100), np.int32))
    parallel(100, np.zeros((100, 100), np.int32))


def test_each_type_is_passed_as_it_is(load):
    types = load("types.so").types
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

    assert generate("loaded_halves", tmp_path) == 0
    shutil.copy(tmp_path / "halves.so", tmp_path / "other.so")
    halves, alone = ts.load(tmp_path / "halves.so").halves, standalone.load(tmp_path / "other.so").halves
    rng = np.random.default_rng(0)
    for value in [1 / 3, -1e-7, 65519.0, 1e-40, 3.0e38, *rng.standard_normal(50), *(rng.standard_normal(50) * 1e-5)]:
        value = float(value)
        some = np.array([1, 2, 3], ml_dtypes.bfloat16)
        out, h = np.zeros(3, ml_dtypes.bfloat16), np.zeros(3, np.float16)
        for function in (halves, alone):
            out[:], h[:] = 0, 0
            function(value if abs(value) < 60000 else 0.0, value, some, out, h)
            assert out.tolist() == [ml_dtypes.bfloat16(value), 2, 3]
            assert h[0] == np.float16(value if abs(value) < 60000 else 0.0)


def test_floats_of_8_bits_are_rounded(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")

    @ts.generator("loaded_float8s")
    class Float8s:
        e4 = ts.InputScalar(ts.Float8E4M3())
        e5 = ts.InputScalar(ts.Float8E5M2())
        input = ts.InputBuffer(ts.Float8E4M3(), 1)
        fours = ts.OutputBuffer(ts.Float8E4M3(), 1)
        fives = ts.OutputBuffer(ts.Float8E5M2(), 1)

        def generate(g):
            g.fours[x] = ts.select(x == 0, g.e4, g.input[x])
            g.fives[x] = g.e5

    assert generate("loaded_float8s", tmp_path) == 0
    shutil.copy(tmp_path / "float8s.so", tmp_path / "other.so")
    compiled, alone = ts.load(tmp_path / "float8s.so").float8s, standalone.load(tmp_path / "other.so").float8s
    rng = np.random.default_rng(0)
    some = np.array([1, 2, 3], ml_dtypes.float8_e4m3fn)
    numbers = [1 / 3, -1e-7, 447.0, 17.0, 19.0, 2**-10, 3 * 2**-10, *rng.standard_normal(30), *(rng.standard_normal(30) * 1e-3)]
    for value in map(float, numbers):
        fours, fives = np.zeros(3, ml_dtypes.float8_e4m3fn), np.zeros(3, ml_dtypes.float8_e5m2)
        for function in (compiled, alone):
            fours[:], fives[:] = 0, 0
            function(value, value, some, fours, fives)
            assert fours.tolist() == [ml_dtypes.float8_e4m3fn(value), 2, 3]
            assert fives[1] == ml_dtypes.float8_e5m2(value)
    for function in (compiled, alone):
        function(1e9, -float("inf"), some, fours, fives)
        assert float(fours[0]) == 448 and float(fives[0]) == -57344


@pytest.mark.parametrize("package", [ts, standalone])
def test_a_static_library_and_an_object_are_linked_first(tmp_path, package):
    out = np.zeros((3, 4), np.float32)
    assert generate("loaded_scale", tmp_path, "target=host", "-f", "scale") == 0
    package.load(tmp_path / "scale.a").scale(IMAGE, 2.0, 0, out)
    assert (out == IMAGE * 2.0).all()
    assert package.link_shared(tmp_path / "scale.a") == str(tmp_path / "scale.so")
    package.load(tmp_path / "scale.so").scale(IMAGE, 3.0, 0, out)
    assert (out == IMAGE * 3.0).all()
    assert generate("loaded_scale", tmp_path, "-e", "object", "target=host-no_runtime", "-f", "alone") == 0
    alone = package.load(tmp_path / "alone.o").alone  # with the runtime of the package
    out[:] = 0
    alone(IMAGE, 2.0, 0, out)
    assert (out == IMAGE * 2.0).all()
    with pytest.raises(ts.RunError, match="factor is 9"):
        alone(IMAGE, 9.0, 0, out)


@pytest.mark.parametrize("variable, value, message", [
    ("PATH", "", "scale.so.a cannot be linked into a shared library: that wants a C compiler, and PATH has no cc, no gcc, "
                 "no clang; install one, or let the environment variable CC name one"),
    ("CC", "no-such-cc -O2", "there is no program no-such-cc, which the environment variable CC names"),
    ("CC", "false", "the C compiler false cannot link"),
])
def test_without_a_compiler_the_reason_is_said(tmp_path, capfd, monkeypatch, variable, value, message):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv(variable, value)
    assert generate("loaded_scale", tmp_path) == 1
    assert message in capfd.readouterr().err
    assert not (tmp_path / "scale.so").exists()
    (tmp_path / "none.a").write_text("!<arch>\n")
    with pytest.raises(ts.RunError, match=message.split(" cannot be")[0].replace("scale.so.a", "none.a")):
        ts.link_shared(tmp_path / "none.a")


@pytest.mark.parametrize("target", ["host", "host-no_runtime", "host-user_context"])
def test_mins_of_buffers_are_kept(tmp_path, target):
    assert generate("loaded_around", tmp_path, "-e", "shared_library", f"target={target}", "-f", "around") == 0
    call = ts.load(tmp_path / "around.so").around
    image, other = ts.Buffer(ts.Int(32), [7, 4]), ts.Buffer(ts.Int(32), [3])
    image.set_min([9, 20])
    other.set_min([20])
    for py in range(20, 24):
        for px in range(9, 16):
            image[px, py] = 100 * py + px
    for py in range(20, 23):
        other[py] = 1000000 * py
    out = ts.Buffer(ts.Int(32), [4, 3])
    out.set_min([10, 20])
    call(image, other, output=out)
    assert out[13, 22] == image[12, 22] + image[15, 23] + other[22]
    out.set_min([11, 20])
    with pytest.raises(ts.RunError, match="input"):
        call(image, other, output=out)


def compiled_around():
    return Around().compile_to_callable()


@pytest.mark.parametrize("make", [lambda around: around, lambda around: compiled_around()], ids=["loaded", "compiled"])
def test_the_regions_of_inputs_are_asked_for(around, make):
    call = make(around)
    wanted = {"input": [(-1, 7), (0, 4)], "other": [(0, 3)]}
    assert call.infer_input_bounds(output=(3, 4)) == wanted
    assert call.infer_input_bounds(None, None, False, (3, 4)) == wanted
    out = np.full((3, 4), 7, np.int32)
    assert call.infer_input_bounds(output=out) == wanted and (out == 7).all()  # nothing is computed
    moved = ts.Buffer(ts.Int(32), [4, 3])
    moved.set_min([10, 20])
    assert call.infer_input_bounds(output=moved) == {"input": [(9, 7), (20, 4)], "other": [(20, 3)]}
    assert call.infer_input_bounds(np.zeros((9, 9), np.int32), output=out) == {"other": [(0, 3)]}
    assert call.infer_input_bounds(np.zeros((9, 9), np.int32), np.zeros(3, np.int32), output=out) == {}
    with pytest.raises(TypeError, match=r"argument 3 \(output\) of .* is missing; wanted 2 dimensions of int32"):
        call.infer_input_bounds()
    with pytest.raises(TypeError, match=r"argument 3 \(output\): the shape has 1 numbers"):
        call.infer_input_bounds(output=5)
    with pytest.raises(TypeError, match=r"argument 0 \(input\): an array of shape \(3,\) int32; wanted 2 dimensions of int32"):
        call.infer_input_bounds(np.zeros(3, np.int32), output=(3, 4))


def test_what_cannot_be_asked_says_so(tmp_path):
    words = ["-e", "shared_library", "target=host-no_bounds_query", "-f", "around"]
    assert generate("loaded_around", tmp_path, *words) == 0
    with pytest.raises(ts.RunError, match="around was compiled with no_bounds_query"):
        ts.load(tmp_path / "around.so").around.infer_input_bounds(output=(3, 4))


@pytest.mark.parametrize("target", ["host", "host-no_runtime", "host-user_context"])
def test_handlers_have_what_is_printed_and_what_fails(tmp_path, target, capsys):
    assert generate("loaded_around", tmp_path, "-e", "shared_library", f"target={target}", "-f", "around") == 0
    call, said = ts.load(tmp_path / "around.so").around, []
    given = np.zeros((2, 4), np.int32), np.zeros(1, np.int32), True, np.zeros((1, 1), np.int32)
    image = ts.Buffer(given[0])
    image.set_min([-1, 0])
    call(image, *given[1:])
    assert capsys.readouterr().out == "0 at 0 0\n"
    assert call.on_print(said.append) is call
    call(image, *given[1:])
    assert said == ["0 at 0 0\n"] and capsys.readouterr().out == ""
    failures = []
    call.on_error(failures.append)
    call(*given)
    assert len(failures) == 1 and "input" in failures[0]
    call.on_error(None)

    def stop(text):
        raise KeyError(text)

    call.on_print(stop)
    with pytest.raises(KeyError, match="0 at 0 0"):
        call(image, *given[1:])


def test_handlers_are_found_from_threads_of_the_library(tmp_path):
    @ts.generator("loaded_chatter")
    class Chatter:
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            g.output[x] = ts.print(x)
            g.output.parallel(x)

    assert generate("loaded_chatter", tmp_path) == 0
    chatter, said = ts.load(tmp_path / "chatter.so").chatter, []
    chatter.on_print(said.append)
    for _ in range(20):
        chatter((50,))
    assert sorted(said) == sorted(f"{i}\n" for i in range(50) for _ in range(20))


def test_calls_on_several_threads_have_their_own_errors(load):
    parallel, wrong = load("parallel.so").parallel, []

    def work(i):
        for n in range(100):
            out = np.zeros((40, 10), np.int32)
            try:
                parallel(10 if i % 2 else 40, out)
                if i % 2 or (out != np.arange(40)[:, None]).any():
                    wrong.append((i, n))
            except ts.RunError as e:
                if not i % 2 or "Requirement failed" not in str(e):
                    wrong.append((i, n, str(e)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_of_several_targets_the_function_that_chooses_is_there(tmp_path):
    words = ["-e", "static_library,shared_library", "target=x86-64-linux,x86-64-linux-avx2-fma", "-f", "many"]
    assert generate("loaded_scale", tmp_path, *words) == 0
    assert list(ts.load(tmp_path / "many.a").functions) == list(standalone.load(tmp_path / "many.a").functions) == ["many"]
    library = ts.load(tmp_path / "many.so")
    assert list(library.functions) == ["many"]
    assert (library.many(IMAGE, 1.0, 0, (3, 4)) == IMAGE).all()
    assert "many" in dir(library)
    with pytest.raises(AttributeError, match="has no function one; it has many"):
        library.one


def test_what_is_compiled_anew_is_loaded_anew(tmp_path):
    path, n = tmp_path / "anew.so", 4
    for number in (1, 2, 3):
        f = ts.Func("anew")
        f[x] = x * number
        f.compile_to({ts.OutputFileType.shared_library: path}, [], "anew")
        assert ts.load(path).anew((n,)).tolist() == ts.load(path).anew((n,)).tolist() == [number * i for i in range(n)]


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


def test_other_threads_run_meanwhile_and_call_at_once(load):
    slow = load("slow.so").slow
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
    shutil.copy(os.path.join(os.path.dirname(ts.__file__), "standalone.py"), tmp_path / "my_load.py")
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
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
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
