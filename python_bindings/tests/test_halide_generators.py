"""Generators in Python by Halide's names: called from pipelines, compiled for this process, and ahead of time."""

import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap

import numpy as np
import pytest

import tessera.halide as hl

x, y, c = hl.vars("x y c")
HOST = hl.get_jit_target_from_environment()


@hl.alias(simple_of_ten={"offset": 10}, simple_of_twenty={"offset": 20})
@hl.generator("simple_there")
class Simple(hl.Generator):
    offset = hl.GeneratorParam(0)

    buffer_input = hl.InputBuffer(hl.UInt(8), 2)
    func_input = hl.InputBuffer(hl.Int(32), 2)
    float_arg = hl.InputScalar(hl.Float(32))

    simple_output = hl.OutputBuffer(hl.Float(32), 2)

    def generate(self):
        g = self
        g.simple_output[x, y] = hl.f32(g.buffer_input[x, y]) + g.func_input[x, y] + g.float_arg + g.offset


@hl.generator(name="everything_there")
class Everything:
    vectorize = hl.GeneratorParam(True)
    scale = hl.GeneratorParam(1.5)
    mode = hl.GeneratorParam("plain")
    output_type = hl.GeneratorParam(hl.Int(16))

    typed = hl.InputBuffer(hl.UInt(8), 3)
    untyped = hl.InputBuffer(None, 3)
    shapeless = hl.InputBuffer(hl.UInt(8), None)
    number = hl.InputScalar(hl.Float(32))
    whole = hl.InputScalar(int)

    plain = hl.OutputBuffer(hl.Float(32), 3)
    pair = hl.OutputBuffer([hl.Float(32), hl.Int(32)], 3)
    open_output = hl.OutputBuffer(None, 3)
    constant = hl.OutputBuffer(hl.UInt(8), 3)
    scalar = hl.OutputScalar(hl.Float(32))

    def configure(self):
        assert self.mode in ("plain", "other")
        self.add_input("extra_input", hl.InputBuffer(hl.UInt(16), 3))
        self.add_output("extra_output", hl.OutputBuffer(hl.Float(64), 2))

    def generate(self):
        g = self
        assert isinstance(g.vectorize, bool) and isinstance(g.scale, float) and isinstance(g.output_type, hl.Type)
        g.plain[x, y, c] = hl.f32(g.typed[x, y, c]) * g.scale
        g.pair[x, y, c] = (g.plain[x, y, c] + g.number, hl.i32(g.untyped[x, y, c]) + g.whole)
        g.open_output[x, y, c] = hl.cast(hl.UInt(8), g.untyped[x, y, c])
        table = hl.Buffer(hl.UInt(8), [4, 4, 1])
        table.fill(42)
        g.constant[x, y, c] = table[hl.clamp(x, 0, 3), hl.clamp(y, 0, 3), 0]
        g.scalar[()] = g.number + g.whole
        g.extra_output[x, y] = hl.f64(g.extra_input[x, y, 0]) + 1 + hl.f64(g.shapeless[x, y])
        if g.vectorize:
            g.plain.compute_root().vectorize(x, g.natural_vector_size(hl.Float(32)))
        g.typed.dim(0).set_stride(1)
        g.typed.set_estimates([(0, 32), (0, 32), (0, 3)])
        g.plain.set_estimates([(0, 32), (0, 32), (0, 3)])
        assert not g.using_autoscheduler() and g.autoscheduler().name == "" and g.context().target() == g.target()
        g.add_requirement(g.whole > 0, "whole is", g.whole)


def check_simple(f, offset):
    out = f.realize([2, 2])
    for i in range(2):
        for j in range(2):
            assert out[i, j] == 123 + i + j + 3.5 + offset


def inputs():
    b, f = hl.Buffer(hl.UInt(8), [2, 2]), hl.Func("f")
    b.fill(123)
    f[x, y] = x + y
    return b, f


def test_calls_by_position_and_by_name():
    b, f = inputs()
    check_simple(Simple.call(b, f, 3.5), 0)
    check_simple(Simple.call(buffer_input=b, func_input=f, float_arg=3.5), 0)
    check_simple(Simple.call(float_arg=3.5, func_input=f, buffer_input=b), 0)
    for params in ({"offset": 42}, {"offset": "42"}):
        check_simple(Simple.call(b, f, 3.5, generator_params=params), 42)
        check_simple(Simple.call(generator_params=params, float_arg=hl.Expr(3.5), func_input=f, buffer_input=np.asarray(b)), 42)
    with hl.GeneratorContext(HOST) as context:
        assert hl.active_generator_context() is context
        check_simple(Simple.call(b, f, 3.5), 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda b, f: Simple.call(b, f, 3.5, 4),
        lambda b, f: Simple.call(b, f),
        lambda b, f: Simple.call(hl.f32(3.5), "happy", 3),
        lambda b, f: Simple.call(b, f, 3.5, float_arg=4.5),
        lambda b, f: Simple.call(b, f, float_arg="bogus"),
        lambda b, f: Simple.call(buffer_input=b, func_input=f, nothing=3.5),
        lambda b, f: Simple.call(b, f, 3.5, nothing=3),
        lambda b, f: Simple.call(b, f, 3.5, generator_params={"foo": 0}),
        lambda b, f: Simple.call(b, f, 3.5, generator_params={"offset": set()}),
        lambda b, f: Simple.call(b, f, 3.5, generator_params=[1, 2, 3]),
        lambda b, f: Simple.call(f, b, 3.5),
        lambda b, f: Simple.call(hl.Buffer(hl.UInt(8), [2]), f, 3.5),
        lambda b, f: Simple.call(b, f, 3.5, generator_params={"offset": "x"}),
    ],
)
def test_calls_that_do_not_fit(call):
    with pytest.raises(hl.HalideError):
        call(*inputs())


def test_a_generator_with_all_there_is():
    image = hl.Buffer(hl.UInt(8), [8, 6, 3])
    for i in range(8):
        for j in range(6):
            for k in range(3):
                image[i, j, k] = i + j + k
    untyped = hl.ImageParam(hl.UInt(8), 3, "untyped")
    untyped.set(image)
    extra = hl.Func("extra")
    extra[x, y, c] = hl.u16(x)
    flat = hl.Func("flat")
    flat[x, y] = hl.u8(y)
    r = Everything.call(
        typed=image,
        untyped=untyped,
        shapeless=flat,
        number=1.25,
        whole=33,
        extra_input=extra,
        generator_params={"vectorize": False, "scale": 2.0, "mode": "other", "output_type": hl.UInt(8)},
    )
    assert isinstance(r, tuple) and len(r) == 6
    plain, pair, open_output, constant, scalar, extra_output = r
    b = plain.realize([8, 6, 3], HOST)
    assert b.type() == hl.Float(32) and b[7, 5, 2] == 28
    first, second = pair.realize([8, 6, 3], HOST)
    assert first[7, 5, 2] == 29.25 and second.type() == hl.Int(32) and second[7, 5, 2] == 14 + 33
    assert open_output.realize([8, 6, 3]).type() == hl.UInt(8) and constant.realize([8, 6, 3]).all_equal(42)
    assert scalar.realize([], HOST)[()] == 34.25
    b = extra_output.realize([8, 6], HOST)
    assert b.type() == hl.Float(64) and b[7, 5] == 7 + 1 + 5


def test_fields_are_not_assigned_to_and_classes_are_not_changed():
    b, f = inputs()

    @hl.generator("assigns")
    class Assigns:
        factor = hl.GeneratorParam(3)
        input = hl.InputBuffer(hl.UInt(8), 2)
        output = hl.OutputBuffer(hl.UInt(8), 2)

        def generate(self):
            for name in ("factor", "input"):
                with pytest.raises(AttributeError):
                    setattr(self, name, 4)
            self.output[x, y] = self.input[x, y] * hl.u8(self.factor)

    assert Assigns.call(b).realize([2, 2]).all_equal(123 * 3 & 255)
    assert isinstance(Assigns.factor, hl.GeneratorParam) and isinstance(Assigns.input, hl.InputBuffer)


def test_what_a_generator_takes_and_gives():
    infos = Everything().arginfos()
    assert [i.name for i in infos] == [
        "typed",
        "untyped",
        "shapeless",
        "number",
        "whole",
        "plain",
        "pair",
        "open_output",
        "constant",
        "scalar",
        "extra_input",
        "extra_output",
    ]
    typed, untyped, shapeless, number = infos[:4]
    assert typed.dir == hl.ArgInfoDirection.Input and typed.kind == hl.ArgInfoKind.Buffer
    assert typed.types == [hl.UInt(8)] and typed.dimensions == 3 and untyped.types == [] and shapeless.dimensions == -1
    assert number.kind == hl.ArgInfoKind.Scalar and infos[5].dir == hl.ArgInfoDirection.Output
    assert hl.ArgInfo("a", hl.ArgInfoDirection.Input, hl.ArgInfoKind.Function, [], 1).name == "a"


def test_callables_of_generators():
    b, f = inputs()
    ints = f.realize([2, 2])
    out = hl.Buffer(hl.Float(32), [2, 2])
    context = hl.GeneratorContext(HOST, hl.AutoschedulerParams())
    with context:
        made = Simple({"offset": 5}).compile_to_callable()
    for call, offset in [
        (made, 5),
        (hl.create_callable_from_generator(HOST, "simple_there"), 0),
        (hl.create_callable_from_generator(context, "simple_there", {"offset": 7}), 7),
        (hl.create_callable_from_generator(HOST, "simple_of_ten"), 10),
        (hl.create_callable_from_generator(HOST, "simple_of_twenty", {"offset": 1}), 1),
    ]:
        call(b, ints, 3.5, out)
        assert out[1, 1] == 123 + 2 + 3.5 + offset
        call(b, ints, simple_output=out, float_arg=0.5)
        assert out[0, 0] == 123 + 0.5 + offset
        call(np.asarray(b), np.asarray(ints), np.float32(1), np.asarray(out))
        assert out[0, 0] == 124 + offset
    for wrong in (
        lambda: made(b, ints, 3.5),
        lambda: made(b, ints, 3.5, out, out),
        lambda: made(b, ints, "x", out),
        lambda: made(b, ints, 3.5, out, nothing=3),
        lambda: made(b, ints, 3.5, out, float_arg=1),
        lambda: made(b, b, 3.5, out),
        lambda: made(b, ints, 3.5, hl.Buffer(hl.Float(32), [2])),
        lambda: made(b, None, 3.5, out),
        lambda: hl.create_callable_from_generator(HOST, "no_such_generator"),
        lambda: hl.create_callable_from_generator(HOST, "simple_there", {"no_such": 3}),
    ):
        with pytest.raises(hl.HalideError):
            wrong()


def test_what_is_open_is_known_when_it_is_called():
    @hl.generator("open_there")
    class Open:
        image = hl.InputBuffer(None, None)
        number = hl.InputScalar(None)
        output = hl.OutputBuffer(None, 1)
        two = hl.OutputBuffer([hl.Int(32), hl.Float(32)], 1)

        def generate(self):
            assert self.image.type() == hl.Int(16) and self.image.dimensions() == 1 and self.number.type() == hl.UInt(8)
            assert self.output.type() == hl.Float(64) and self.two.types() == [hl.Int(32), hl.Float(32)]
            assert self.output.dimensions() == 1 and self.output.name() == "output" and not self.output.defined()
            self.output[x] = hl.cast(self.output.type(), self.image[x] + self.number)
            self.two[x] = (x, hl.f32(x))

    image = hl.Buffer(np.array([1, -2], np.int16))
    output, two = Open.call(image, hl.u8(3), generator_params={"output.type": hl.Float(64)})
    assert list(output.realize([2])) == [4, 1] and len(two.realize([2])) == 2
    types = {"output.type": "float64", "image.type": hl.Int(16), "image.dim": 1, "number.type": "uint8"}
    with hl.GeneratorContext(target=HOST, autoscheduler_params=hl.AutoschedulerParams()):
        c = Open(types).compile_to_callable()
    out = hl.Buffer(hl.Float(64), [2])
    c(image, 4, out, hl.Buffer(hl.Int(32), [2]), hl.Buffer(hl.Float(32), [2]))
    assert list(out) == [5, 2]
    with pytest.raises(hl.HalideError):
        Open({"output.type": "float64"}).compile_to_callable()


def test_a_class_without_generate_or_with_outputs_undefined_is_refused():
    @hl.generator("empty_there")
    class Empty:
        output = hl.OutputBuffer(hl.UInt(8), 2)

        def generate(self):
            pass

    @hl.generator("without_generate_there")
    class Without:
        output = hl.OutputBuffer(hl.UInt(8), 2)

    with pytest.raises(hl.HalideError):
        Empty.call()
    with pytest.raises((hl.HalideError, NotImplementedError)):
        Without.call()
    with pytest.raises((hl.HalideError, TypeError)):

        @hl.generator("bad_default_there")
        class Bad:
            what = hl.GeneratorParam(object())
            output = hl.OutputBuffer(hl.UInt(8), 2)

        Bad()


def test_generators_have_the_names_that_they_have_there():
    program = """if True:
        import numpy as np
        import tessera.halide as hl
        x, y = hl.Var("x"), hl.Var("y")

        @hl.alias(brighten_twice={"factor": 2})
        @hl.generator("brighten_there")
        class Brighten:
            factor = hl.GeneratorParam(1)
            input = hl.InputBuffer(hl.UInt(8), 2)
            offset = hl.InputScalar(hl.UInt(8))
            output = hl.OutputBuffer(hl.UInt(8), 2)

            def generate(g):
                g.output[x, y] = g.input[x, y] * hl.u8(g.factor) + g.offset
                g.output.vectorize(x, g.natural_vector_size(hl.UInt(8)))

        a = np.full((40, 64), 7, np.uint8)
        with hl.GeneratorContext(hl.get_jit_target_from_environment()):
            f = Brighten.call(hl.Buffer(a), hl.u8(3), generator_params={"factor": 4})
            assert f.realize([64, 40])[5, 6] == 31
            c = Brighten({"factor": 2}).compile_to_callable()
        out = np.zeros_like(a)
        c(a, 1, out)
        assert (out == 15).all()
        print("done")
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


# ---- Ahead of time ----

SCRIPT = """
import tessera.halide as hl
x, y = hl.Var("x"), hl.Var("y")

@hl.alias(add_there_with_2={"extra_int": 2})
@hl.generator("add_there")
class Add:
    extra_int = hl.GeneratorParam(0)
    scalar_uint1 = hl.InputScalar(hl.Bool())
    scalar_uint8 = hl.InputScalar(hl.UInt(8))
    scalar_int64 = hl.InputScalar(hl.Int(64))
    scalar_float = hl.InputScalar(hl.Float(32))
    scalar_double = hl.InputScalar(hl.Float(64))
    input_uint8 = hl.InputBuffer(hl.UInt(8), 1)
    input_half = hl.InputBuffer(hl.Float(16), 1)
    input_2d = hl.InputBuffer(hl.Int(8), 2)
    output_uint8 = hl.OutputBuffer(hl.UInt(8), 1)
    output_half = hl.OutputBuffer(hl.Float(16), 1)
    output_2d = hl.OutputBuffer(hl.Int(8), 2)
    output_double = hl.OutputBuffer(hl.Float(64), 1)

    def generate(g):
        g.scalar_float.set_estimate(0.5)
        g.output_uint8[x] = g.input_uint8[x] + g.scalar_uint8 + hl.u8(g.extra_int)
        g.output_half[x] = g.input_half[x] + hl.cast(hl.Float(16), g.scalar_float)
        g.input_2d.dim(0).set_stride(hl.Expr())
        g.output_2d[x, y] = g.input_2d[x, y] + hl.i8(g.scalar_int64)
        g.output_double[x] = hl.select(g.scalar_uint1, g.scalar_double, -g.scalar_double)
        g.add_requirement(g.scalar_int64 < 100, "too large")

@hl.generator("bit_there")
class Bit:
    bit_input = hl.InputBuffer(hl.UInt(1), 1)
    bit_constant = hl.InputScalar(hl.UInt(1))
    bit_output = hl.OutputBuffer(hl.UInt(1), 1)

    def generate(g):
        g.bit_output[x] = g.bit_input[x] + g.bit_constant

@hl.generator("context_there")
class Context:
    constant = hl.InputScalar(hl.UInt(8))
    output = hl.OutputBuffer(hl.UInt(8), 1)

    def generate(g):
        g.output[x] = g.constant

if __name__ == "__main__":
    hl.main()
"""


def built(folder, functions):
    (folder / "generators.py").write_text(textwrap.dedent(SCRIPT))
    source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    includes = [f"-I{source}/include", f"-I{source}/src", "-isystem", sysconfig.get_path("include")]
    words = ["-DTESSERA_PYTHON_FUNCTIONS=" + " ".join(f"X({name})" for name in functions)]
    for i, (name, arguments) in enumerate(functions.items()):
        done = subprocess.run(
            [
                sys.executable,
                "generators.py",
                "-f",
                name,
                "-o",
                ".",
                "-e",
                "static_library,c_header,python_extension",
                *arguments,
            ],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        module = ["-DTESSERA_PYTHON_MODULE=ahead_there"] if i == 0 else []
        subprocess.run(
            ["cc", "-std=gnu11", "-fPIC", *includes, *words, *module, "-c", f"{name}.py.c", "-o", f"{name}.py.o"],
            cwd=folder,
            check=True,
        )
    objects = [f"{name}.py.o" for name in functions] + [f"{name}.a" for name in functions]
    subprocess.run(
        [
            "cc",
            "-shared",
            "-o",
            "ahead_there.abi3.so",
            *objects,
            "-Wl,--exclude-libs,ALL",
            "-lstdc++",
            "-lm",
            "-lpthread",
            "-ldl",
        ],
        cwd=folder,
        check=True,
    )


@pytest.mark.skipif(
    not shutil.which("cc") or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    reason="no C compiler, or Python has no headers here",
)
def test_extension_modules_of_generators(tmp_path):
    built(
        tmp_path,
        {
            "add": ["-g", "add_there", "target=host"],
            "add2": ["-g", "add_there_with_2", "target=host-no_runtime"],
            "bit": ["-g", "bit_there", "target=host-no_runtime"],
            "context": ["-g", "context_there", "target=host-no_runtime-user_context"],
        },
    )
    (tmp_path / "use.py").write_text(
        textwrap.dedent("""
        import array
        import numpy as np
        import ahead_there as m

        u8, half = array.array("B", [1, 2, 3]), np.array([0.5, 1], np.float16)
        two = np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3))
        def run(f, more):
            out8, out_half, out_2d, out_double = bytearray(3), np.zeros(2, np.float16), np.zeros((2, 3), np.int8), np.zeros(1)
            f(True, 10, 4, 2.0, 2.5, u8, half, two, out8, out_half, out_2d, out_double)
            assert list(out8) == [11 + more, 12 + more, 13 + more] and out_half.tolist() == [2.5, 3] and (out_2d == two + 4).all()
            assert out_double[0] == 2.5
            f(scalar_uint1=False, scalar_uint8=0, scalar_int64=-1, scalar_float=0, scalar_double=1, input_uint8=u8,
              input_half=half, input_2d=two, output_uint8=out8, output_half=out_half, output_2d=out_2d, output_double=out_double)
            assert list(out8) == [1 + more, 2 + more, 3 + more] and (out_2d == two - 1).all() and out_double[0] == -1
            try:
                f(True, 10, 400, 2.0, 2.5, u8, half, two, out8, out_half, out_2d, out_double)
            except RuntimeError as e:
                assert "too large" in str(e)
            else:
                raise AssertionError
            for wrong in ((True, 10, 4, 2.0, 2.5, u8, half, two),
                          (True, "x", 4, 2.0, 2.5, u8, half, two, out8, out_half, out_2d, out_double),
                          (True, 10, 4, 2.0, 2.5, half, half, two, out8, out_half, out_2d, out_double)):
                try:
                    f(*wrong)
                except (TypeError, ValueError):
                    pass
                else:
                    raise AssertionError
        run(m.add, 0)
        run(m.add2, 2)
        import tessera.halide as hl
        shifted, wanted = hl.Buffer(hl.UInt(1), [8]), hl.Buffer(hl.UInt(1), [3])
        for i in range(8):
            shifted[i] = i == 5
        shifted.set_min([100])
        wanted.set_min([104])
        m.bit(shifted, False, wanted)
        assert [wanted[i] for i in (104, 105, 106)] == [False, True, False]
        out = np.zeros(4, bool)
        m.bit(np.array([False, True, False, True]), False, out)
        assert out.tolist() == [False, True, False, True]
        m.bit(np.zeros(4, bool), True, out)
        assert out.all()
        text = bytearray(4)
        m.context(None, ord("q"), text)
        assert text == b"qqqq"
        m.context(object(), constant=ord("r"), output=text)
        assert text == b"rrrr"
        """)
    )
    done = subprocess.run([sys.executable, "use.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
