"""Generators in Python: declarations, calls from other pipelines, the command line, CMake."""
import enum
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tessera as ts
from tessera import _tessera

x, y = ts.vars("x y")

PACKAGE = os.path.dirname(os.path.dirname(ts.__file__))


@ts.alias(brighten_twice={"factor": 2})
@ts.generator("brighten")
class Brighten:
    """Scales and shifts an image."""

    factor = ts.GeneratorParam(1, min=1, max=8)
    input = ts.InputBuffer(ts.UInt(8), 2)
    offset = ts.InputScalar(int, 3)
    output = ts.OutputBuffer(ts.UInt(8), 2)

    def generate(g):
        g.output[x, y] = ts.cast(ts.UInt(8), ts.min(ts.i32(g.input[x, y]) * g.factor + g.offset, 255))

    def schedule(g):
        if not g.using_autoscheduler():
            g.output.vectorize(x, g.natural_vector_size(ts.UInt(8)))


def brightened(image, factor, offset):
    return np.minimum(image.astype(int) * factor + offset, 255).astype(np.uint8)


IMAGE = np.random.default_rng(0).integers(0, 255, (20, 80), dtype=np.uint8)


def test_a_generator_is_compiled_for_this_process():
    run = Brighten({"factor": 2}).compile_to_callable()
    assert [a.name for a in run.arguments] == ["input", "offset", "output"]
    out = np.zeros_like(IMAGE)
    run(IMAGE, 7, out)
    assert (out == brightened(IMAGE, 2, 7)).all()


def test_a_stub_finds_generators_by_their_names():
    stub = ts.GeneratorStub("brighten").set("factor", 3).input("input", IMAGE).input("offset", 5)
    out = stub.output("output")
    assert (out.realize([80, 20]).numpy() == brightened(IMAGE, 3, 5)).all()
    assert (stub.pipeline().realize([80, 20]).numpy() == brightened(IMAGE, 3, 5)).all()
    by_alias = ts.GeneratorStub("brighten_twice", ts.GeneratorContext("x86-64-linux"))
    by_alias.input("input", ts.Buffer(IMAGE)).input("offset", 1)
    assert [f.realize([80, 20]).numpy()[3, 4] for f in by_alias.outputs("output")] == [brightened(IMAGE, 2, 1)[3, 4]]
    with pytest.raises(ts.CompileError, match="there is no generator brighte; did you mean brighten"):
        ts.GeneratorStub("brighte")
    with pytest.raises(ts.CompileError, match="facto"):
        ts.GeneratorStub("brighten").set("facto", 1).pipeline()
    with pytest.raises(ts.CompileError, match="outptu"):
        stub.output("outptu")


def test_cpp_finds_generators_in_python_by_their_names():
    context = ts.GeneratorContext()
    run = _tessera._create_callable("brighten_twice", context.target(), context.autoscheduler_params(), {"factor": 4})
    out = np.zeros_like(IMAGE)
    run(IMAGE, 5, out)
    assert (out == brightened(IMAGE, 4, 5)).all()


def test_generators_in_other_generators_are_found_by_their_names():
    @ts.generator("brighten_all")
    class BrightenAll:
        inputs = ts.InputBuffer(ts.UInt(8), 2, count=2)
        output = ts.OutputBuffer(ts.UInt(8), 2)

        def generate(g):
            one, two = (ts.GeneratorStub("brighten").input("input", im).input("offset", 1).output("output") for im in g.inputs)
            one.compute_root(), two.compute_root()  # they have schedules
            g.output[x, y] = ts.max(one[x, y], two[x, y])

    both = ts.GeneratorStub("brighten_all").input("inputs", [IMAGE, IMAGE[::-1]]).output("output")
    assert (both.realize([80, 20]).numpy() == brightened(np.maximum(IMAGE, IMAGE[::-1]), 1, 1)).all()


def test_a_failure_in_a_stub_has_the_line_of_the_generator():
    @ts.generator("brighten_fails")
    class BrightenFails:
        output = ts.OutputBuffer(ts.UInt(8), 2)

        def generate(g):
            raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        ts.GeneratorStub("brighten_fails").output("output")
    context = ts.GeneratorContext()
    with pytest.raises(ts.CompileError, match=r"test_generator.py:\d+: ValueError: not today"):
        _tessera._create_callable("brighten_fails", context.target(), context.autoscheduler_params(), {})


def test_a_stub_says_how_many_values_an_input_takes():
    with pytest.raises(ts.CompileError, match="the input input of brighten is one value, but 2 are given"):
        ts.GeneratorStub("brighten").input("input", [IMAGE, IMAGE]).input("offset", 5).output("output")
    with pytest.raises(ts.CompileError, match="inputs"):
        ts.GeneratorStub("brighten_all").input("inputs", IMAGE).output("output")


def test_call_makes_it_part_of_another_pipeline():
    f = ts.Func("f")
    bright = Brighten.call(IMAGE, 1, generator_params={"factor": 3})
    bright.compute_root()  # it has a schedule
    f[x, y] = bright[x, y] + ts.u8(0)
    assert (f.realize([80, 20]).numpy() == brightened(IMAGE, 3, 1)).all()
    by_name = Brighten.call(offset=ts.Expr(5), input=ts.Buffer(IMAGE))
    assert isinstance(by_name, ts.Func)
    assert (by_name.realize([80, 20]).numpy() == brightened(IMAGE, 1, 5)).all()


def test_wrong_calls_say_which_input():
    with pytest.raises(TypeError, match="brighten: the input offset is missing; it has input, offset"):
        Brighten.call(IMAGE)
    with pytest.raises(TypeError, match="brighten has no input ofset"):
        Brighten.call(IMAGE, 1, ofset=3)
    with pytest.raises(TypeError, match="brighten has 2 inputs, not 3"):
        Brighten.call(IMAGE, 1, 2)
    with pytest.raises(ts.CompileError, match="the input input of brighten is of uint8, but what is given is of float32") as e:
        Brighten.call(IMAGE.astype(np.float32), 1)
    assert e.value.filename == __file__


def test_an_unknown_parameter_and_a_value_out_of_range_are_refused_with_the_line():
    with pytest.raises(ts.CompileError, match="factr; did you mean factor") as e:
        Brighten({"factr": 3}).compile_to_callable()
    assert e.value.filename == __file__
    with pytest.raises(ts.CompileError, match="int64 from 1 to 8"):
        Brighten({"factor": 9})


def test_an_alias_has_parameters_set_and_names_are_looked_up():
    run = ts.create_callable_from_generator(ts.get_host_target(), "brighten_twice")
    out = np.zeros_like(IMAGE)
    run(IMAGE, 0, out)
    assert (out == brightened(IMAGE, 2, 0)).all()
    with pytest.raises(ts.CompileError, match="there is no generator brihgten"):
        ts.create_callable_from_generator(ts.get_host_target(), "brihgten")


def test_declared_members_cannot_be_replaced():
    g = Brighten()
    assert g.factor == 1
    for name in ("factor", "input", "offset"):
        with pytest.raises(AttributeError, match=name):
            setattr(g, name, 1)
    assert isinstance(Brighten.input, ts.InputBuffer)


def test_a_name_may_be_registered_again():
    @ts.generator("again")
    class First:
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            g.output[x] = 1

    @ts.generator("again")
    class Second:
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            g.output[x] = 2

    out = np.zeros(4, np.int32)
    ts.create_callable_from_generator(ts.get_host_target(), "again")(out)
    assert out.tolist() == [2] * 4
    First().compile_to_callable()(out)
    assert out.tolist() == [1] * 4


class Border(enum.Enum):
    ZERO = 0
    EDGE = 1


@ts.generator("kinds_of_parameters")
class Kinds:
    flag = ts.GeneratorParam(False)
    scale = ts.GeneratorParam(0.5)
    name = ts.GeneratorParam("one", choices=["one", "two"])
    type = ts.GeneratorParam(ts.Int(32))
    border = ts.GeneratorParam(Border.ZERO)
    output = ts.OutputBuffer(None, 1)

    def generate(g):
        values = [g.flag, g.scale, g.name == "two", g.border is Border.EDGE]
        g.output[x] = ts.cast(g.type, sum(float(v) * 10**i for i, v in enumerate(values)))


@pytest.mark.parametrize(
    "params, dtype, value",
    [({}, np.int32, 5),
     ({"flag": True, "scale": 2.0, "name": "two", "type": ts.Float(64), "border": Border.EDGE}, np.float64, 1121.0)],
)
def test_parameters_are_of_the_class_of_their_default(params, dtype, value):
    out = np.zeros(3, dtype)
    Kinds(params).compile_to_callable()(out)
    assert out.tolist() == [value] * 3


def test_texts_of_parameters_are_those_of_the_command_line():
    g = Kinds({"flag": "true", "border": "EDGE", "type": "uint8"})
    assert (g.flag, g.border, g.type) == (True, Border.EDGE, ts.UInt(8))
    with pytest.raises(ts.CompileError, match="one of EDGE, ZERO"):
        Kinds({"border": "MIRROR"})


@ts.generator("configured")
class Configured:
    """What is open is said by configure() or the caller."""

    count = ts.GeneratorParam(2)
    first = ts.InputBuffer()
    images = ts.InputBuffer(ts.Float(32), 1, count="open")
    total = ts.OutputBuffer()

    def configure(g):
        g.first.set_type(ts.Float(32))
        g.first.set_dimensions(1)
        for i in range(g.count):
            g.add_input(f"weight_{i}", ts.InputScalar(float))
        g.add_output("largest", ts.OutputScalar(float))

    def generate(g):
        total = g.first[x] + sum(image[x] for image in g.images)
        for i in range(g.count):
            total *= getattr(g, f"weight_{i}")
        g.total[x] = total
        r = ts.RDom([(0, 4)])
        g.largest[()] = ts.maximum(g.total[r])


def test_configure_adds_inputs_and_outputs():
    run = Configured({"count": 2, "images.size": 3}).compile_to_callable()
    names = ["first", "images_0", "images_1", "images_2", "weight_0", "weight_1", "total", "largest"]
    assert [a.name for a in run.arguments] == names
    arrays = [np.arange(4, dtype=np.float32) * k for k in (1, 10, 100, 1000)]
    total, largest = np.zeros(4, np.float32), np.zeros((), np.float32)
    run(*arrays, 2.0, 3.0, total, largest)
    assert total.tolist() == [0, 6666, 13332, 19998]
    assert largest == 19998
    with pytest.raises(ts.CompileError, match="images.size=2"):
        Configured().compile_to_callable()


def test_generators_call_one_another_for_the_same_target():
    seen = []

    @ts.generator("inner")
    class Inner:
        f = ts.InputFunc(ts.Int(32), 1)
        output = ts.OutputFunc(ts.Int(32), 1)

        def generate(g):
            seen.append(g.target())
            g.output[x] = g.f[x] + 1

    @ts.generator("outer")
    class Outer:
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            f = ts.Func("f")
            f[x] = x * x
            f.compute_root()
            g.output = Inner.call(f)

    target = ts.Target("x86-64-linux-sse41")
    with ts.GeneratorContext(target):
        out = np.zeros(4, np.int32)
        Outer().compile_to_callable()(out)
    assert out.tolist() == [1, 2, 5, 10]
    assert seen == [target]


def test_requirements_have_a_message():
    @ts.generator("required")
    class Required:
        n = ts.InputScalar(int)
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            g.add_requirement(g.n > 0, "n is", g.n)
            g.output[x] = x / g.n

    run = Required().compile_to_callable()
    with pytest.raises(ts.RunError, match="n is 0"):
        run(0, np.zeros(3, np.int32))


def test_an_exception_of_generate_reaches_the_caller():
    @ts.generator("broken")
    class Broken:
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Broken().compile_to_callable()

    @ts.generator("undefined")
    class Undefined:
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            pass

    with pytest.raises(ts.CompileError, match="the output output of undefined has no definition") as e:
        Undefined().compile_to_callable()
    assert e.value.filename == __file__


def test_estimates_of_an_output_without_a_definition_are_refused():
    @ts.generator("estimated_too_early")
    class TooEarly:
        output = ts.OutputBuffer(ts.Int(32), 1)

        def generate(g):
            g.output.set_estimates([(0, 100)])

    with pytest.raises(ts.CompileError, match="output has no definition yet") as e:
        TooEarly().compile_to_callable()
    assert e.value.filename == __file__


def test_generators_are_made_by_several_threads():
    failed = []

    def work(k):
        try:
            for _ in range(3):
                out = np.zeros_like(IMAGE)
                with ts.GeneratorContext(ts.get_host_target()):
                    Brighten({"factor": 1 + k % 3}).compile_to_callable()(IMAGE, k, out)
                assert (out == brightened(IMAGE, 1 + k % 3, k)).all()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


# ---- The command line ----

SCRIPT = """
    import sys
    import tessera as ts

    @ts.alias(half={"factor": 2})
    @ts.generator("brighten")
    class Brighten:
        factor = ts.GeneratorParam(1)
        input = ts.InputBuffer(ts.UInt(8), 2)
        offset = ts.InputScalar(int, 3, min=0, max=100)
        output = ts.OutputBuffer(ts.UInt(8), 2)

        def generate(g):
            x, y = ts.vars("x y")
            if g.factor == 13:
                raise ValueError("13 is unlucky")
            if g.factor == 14:
                g.output.vectorize(ts.Var("q"), 8)
            g.output[x, y] = ts.cast(ts.UInt(8), ts.min(ts.i32(g.input[x, y]) * g.factor + g.offset, 255))
            if g.factor == 15:
                g.output.vectorize(ts.Var("q"), 8)

        def schedule(g):
            if not g.using_autoscheduler():
                g.output.vectorize(g.output.args()[0], 4)

    if __name__ == "__main__":
        ts.main()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "brighten.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return path


def run_script(script, *words):
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    return subprocess.run([sys.executable, script, *words], capture_output=True, text=True, cwd=script.parent, env=environment)


def line_of(text):
    return 1 + next(i for i, line in enumerate(textwrap.dedent(SCRIPT).splitlines()) if text in line)


def test_the_script_writes_files_that_c_calls(script):
    words = ["-g", "brighten", "-o", ".", "-e", "static_library,c_header,stmt", "target=host", "factor=2", "-v", "1"]
    done = run_script(script, *words)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["./brighten.a", "./brighten.h", "./brighten.stmt"]
    (script.parent / "main.c").write_text(
        """
        #include "brighten.h"
        #include "tessera_runtime.h"
        #include <stdio.h>
        int main(void) {
            uint8_t pixels[4] = {1, 2, 100, 200}, result[4];
            tessera_dimension_t dims[2] = {{0, 4, 1, 0}, {0, 1, 4, 0}};
            tessera_buffer_t in = {0, 0, pixels, 0, {1, 8, 1}, 2, dims, 0};
            tessera_buffer_t out = {0, 0, result, 0, {1, 8, 1}, 2, dims, 0};
            int code = brighten(&in, 5, &out);
            printf("%d: %d %d %d %d\\n", code, result[0], result[1], result[2], result[3]);
            return code;
        }
        """
    )
    source = os.environ.get("TESSERA_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
    include = [f"-I{source}/include", f"-I{source}/src", "-I."]
    libraries = ["-lstdc++", "-lm", "-lpthread", "-ldl"]
    subprocess.run(["cc", *include, "main.c", "brighten.a", *libraries, "-o", "main"], cwd=script.parent, check=True)
    ran = subprocess.run(["./main"], cwd=script.parent, capture_output=True, text=True)
    assert ran.stdout == "0: 7 9 205 255\n", ran.stderr


def test_help_lists_generators_with_what_they_take(script):
    done = run_script(script, "--help")
    assert done.returncode == 0
    for text in (
        "usage: ",
        "brighten\n  parameter factor=1: int64",
        "input input: Buffer of uint8, 2 dimensions",
        "input offset: number of int32",
        "half\n  parameter factor=2",
    ):
        assert text in done.stdout


def test_a_failure_is_one_message_with_the_users_line_and_the_status_1(script):
    def failure(*words):
        done = run_script(script, "-g", "brighten", "-o", ".", "target=host", *words)
        assert done.returncode == 1 and "Traceback" not in done.stderr
        return done.stderr

    assert f"brighten.py:{line_of('13 is unlucky')}: ValueError: 13 is unlucky" in failure("factor=13")
    assert f"error: brighten.py:{line_of('factor == 14') + 1}: " in failure("factor=14")
    assert f"error: brighten.py:{line_of('factor == 15') + 1}: " in failure("factor=15")
    assert "did you mean factor" in failure("facto=1")
    assert "there is no autoscheduler" in failure("autoscheduler=none_such")
    done = run_script(script, "-g", "darken", "-o", ".", "target=host")
    assert done.returncode == 1 and "there is no generator darken" in done.stderr


def test_an_autoscheduler_makes_the_schedule(script):
    estimates = "g.input.set_estimates([(0, 640), (0, 480)]); g.output.set_estimates([(0, 640), (0, 480)])"
    script.write_text(script.read_text().replace("    def schedule(g):\n", f"    def schedule(g):\n        {estimates}\n"))
    done = run_script(script, "-g", "brighten", "-o", ".", "-e", "schedule", "target=host", "autoscheduler=simple")
    assert done.returncode == 0, done.stderr
    schedule = (script.parent / "brighten.schedule.h").read_text()
    assert ".vectorize(" in schedule and ".parallel(" in schedule


def test_main_in_this_process_exits_with_the_status(tmp_path, capfd):
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", "brighten", "-o", str(tmp_path), "-e", "object", "target=host"])
    assert e.value.code == 0 and (tmp_path / "brighten.o").exists()
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", "brighten", "-o", str(tmp_path), "-e", "objct", "target=host"])
    assert e.value.code == 1
    assert "nothing is called objct; did you mean object?" in capfd.readouterr().err


def test_a_stub_in_cpp_is_no_file_of_a_generator_in_python(tmp_path, capfd):
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", "brighten", "-o", str(tmp_path), "-e", "cpp_stub", "target=host"])
    assert e.value.code == 1
    assert "brighten is a generator in Python, which a header of C++ cannot call" in capfd.readouterr().err
