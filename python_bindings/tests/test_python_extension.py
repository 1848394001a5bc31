"""Extension modules of compiled pipelines: files of the type python_extension, built by a C compiler or by CMake."""
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap

import numpy as np
import pytest

import tessera as ts

x, y = ts.vars("x y")
SOURCE = os.environ.get("TESSERA_SOURCE", os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))
PACKAGE = os.path.dirname(os.path.dirname(ts.__file__))


@ts.generator("extension_scale")
class Scale:
    input = ts.InputBuffer(ts.UInt(8), 2)
    factor = ts.InputScalar(float, 2.0, min=0.0, max=8.0)
    shift = ts.InputScalar(ts.Int(16), -1)
    output = ts.OutputBuffer(ts.Float(32), 2)

    def generate(g):
        g.output[x, y] = ts.f32(g.input[x, y]) * g.factor + g.shift


@ts.generator("extension_numbers")
class Numbers:
    h = ts.InputScalar(ts.Float(16))
    b = ts.InputScalar(ts.BFloat(16))
    u = ts.InputScalar(ts.UInt(64))
    flag = ts.InputScalar(bool)
    e4 = ts.InputScalar(ts.Float8E4M3())
    e5 = ts.InputScalar(ts.Float8E5M2())
    halves = ts.OutputBuffer(ts.Float(16), 1)
    brains = ts.OutputBuffer(ts.BFloat(16), 1)
    longs = ts.OutputBuffer(ts.UInt(64), 1)
    bytes = ts.OutputBuffer(ts.Float8E4M3(), 1)
    floats = ts.OutputBuffer(ts.Float(32), 1)

    def generate(g):
        g.bytes[x] = g.e4
        g.floats[x] = ts.select(x == 0, ts.f32(g.e4), ts.f32(g.e5))
        g.halves[x] = g.h
        g.brains[x] = g.b
        g.longs[x] = ts.select(g.flag, g.u, 0)


def compile_files(folder, name, *words):
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", name, "-o", str(folder), "-e", "static_library,python_extension", "target=host", *words])
    assert e.value.code == 0


def build(folder, module, functions):
    includes = [f"-I{SOURCE}/include", f"-I{SOURCE}/src", "-isystem", sysconfig.get_path("include")]
    objects = []
    for i, f in enumerate(functions):
        words = ["-DTESSERA_PYTHON_FUNCTIONS=" + " ".join(f"X({name})" for name in functions)]
        words += [f"-DTESSERA_PYTHON_MODULE={module}"] if i == 0 else []
        if functions == [module]:
            words = []
        command = ["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", *includes, *words]
        command += ["-c", f"{f}.py.c", "-o", f"{f}.py.o"]
        subprocess.run(command, cwd=folder, check=True)
        objects.append(f"{f}.py.o")
    libraries = [f"{f}.a" for f in functions]
    command = ["cc", "-shared", "-o", f"{module}.abi3.so", *objects, *libraries, "-Wl,--exclude-libs,ALL"]
    command += ["-lstdc++", "-lm", "-lpthread", "-ldl"]
    subprocess.run(command, cwd=folder, check=True)


def headers_are_there():
    return os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))


pytestmark = pytest.mark.skipif(not headers_are_there(), reason="Python has no headers here")


@pytest.fixture(scope="module")
def filters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extension")
    compile_files(folder, "extension_scale", "-f", "scale")
    compile_files(folder, "extension_numbers", "-f", "numbers")
    build(folder, "filters_of_test", ["scale", "numbers"])
    sys.path.insert(0, str(folder))
    try:
        import filters_of_test

        yield filters_of_test
    finally:
        sys.path.remove(str(folder))


IMAGE = np.arange(12, dtype=np.uint8).reshape(3, 4)


def test_functions_take_arrays_and_numbers_by_position_or_name(filters):
    out = np.zeros((3, 4), np.float32)
    assert filters.scale(IMAGE, 3.0, 1, out) is None
    assert (out == IMAGE * 3.0 + 1).all()
    filters.scale(IMAGE[::-1], output=out)
    assert (out == IMAGE[::-1] * 2.0 - 1).all()
    filters.scale(output=memoryview(out), factor=1, shift=np.int16(7), input=bytes(12) and IMAGE)
    assert (out == IMAGE + 7).all()


def test_it_is_described(filters):
    import inspect

    assert list(inspect.signature(filters.scale).parameters) == ["input", "factor", "shift", "output"]
    assert "Compiled for x86-64-linux" in filters.scale.__doc__ and "factor" in filters.scale.__doc__


@pytest.mark.parametrize(
    "args, names, message",
    [
        ((IMAGE.astype(float), 1, 1), {},
         r'argument 0 \(input\): an array of 2 dimensions of the format "d"; wanted 2 dimensions of uint8'),
        ((IMAGE[0], 1, 1), {}, r"an array of 1 dimension of the format"),
        ((IMAGE, 1, 40000), {}, r"argument 2 \(shift\): it does not fit the type; wanted a number of int16"),
        ((IMAGE, "a", 1), {}, r"argument 1 \(factor\): it is no number; wanted a number of float32"),
        ((IMAGE, 1, 1.5), {}, r"argument 2 \(shift\): it is no whole number"),
        ((3, 1, 1), {}, r"argument 0 \(input\): it has no buffer protocol"),
        ((IMAGE, 1, 1), {"input": IMAGE}, "the function takes 4 arguments"),
        ((IMAGE, 1, 1), {"inptu": IMAGE}, "the function takes 4 arguments"),
    ],
)
def test_arguments_that_do_not_fit_are_named(filters, args, names, message):
    with pytest.raises(TypeError, match=message):
        filters.scale(*args, output=np.zeros((3, 4), np.float32), **names)


def test_missing_and_read_only_outputs_are_refused(filters):
    with pytest.raises(TypeError, match=r"argument 3 \(output\): it is missing; wanted 2 dimensions of float32"):
        filters.scale(IMAGE, 1, 1)
    out = np.zeros((3, 4), np.float32)
    out.flags.writeable = False
    with pytest.raises(TypeError, match=r"argument 3 \(output\).*may not be written"):
        filters.scale(IMAGE, 1, 1, out)


def test_a_failure_has_the_text_of_the_runtime(filters):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="factor is 9"):
            filters.scale(IMAGE, 9.0, 0, np.zeros((3, 4), np.float32))
        with pytest.raises(RuntimeError, match="input"):
            filters.scale(IMAGE, 1.0, 0, np.zeros((5, 5), np.float32))


def test_numbers_of_16_and_64_bits(filters):
    rng = np.random.default_rng(0)
    halves, brains, longs = np.zeros(1, np.float16), np.zeros(1, np.uint16), np.zeros(1, np.uint64)
    bytes_, floats = np.zeros(1, np.uint8), np.zeros(2, np.float32)
    values = [0.0, -0.0, 1 / 3, 65519.0, 65520.0, 1e9, -1e-7, 2.0**-24, 2.0**-25, 1.5 * 2.0**-25, float("inf"), float("nan")]
    values += [*rng.standard_normal(100), *(rng.standard_normal(100) * 1e-5), *(rng.standard_normal(100) * 1e-7)]
    for value in map(float, values):
        filters.numbers(value, value, 2**64 - 1, True, value, value, halves, brains, longs, bytes_, floats)
        for wide, largest, digits, least in ((floats[0], 448, 3, -6), (floats[1], 57344, 2, -14)):
            if np.isnan(value):
                assert np.isnan(wide)
                continue
            step = 2.0 ** (max(int(np.frexp(value)[1]) - 1 if np.isfinite(value) else 0, least) - digits)
            inside = min(max(value, -largest), largest)
            assert wide == (round(inside / step) * step if abs(inside) < largest else inside)
        with np.errstate(over="ignore"):
            assert halves.view(np.uint16)[0] == np.float16(np.float32(value)).view(np.uint16)
        nearest = int(brains[0]) << 16
        as_float = np.array([nearest], np.uint32).view(np.float32)[0]
        assert np.isnan(as_float) if np.isnan(value) else as_float == value or abs(as_float - value) <= abs(value) / 256 + 1e-40
        assert longs[0] == 2**64 - 1
    with pytest.raises(TypeError, match=r"argument 2 \(u\): it does not fit"):
        filters.numbers(0, 0, -1, True, 0, 0, halves, brains, longs, bytes_, floats)


def test_one_function_is_a_module_of_its_name(tmp_path):
    compile_files(tmp_path, "extension_scale", "-f", "scale_alone")
    build(tmp_path, "scale_alone", ["scale_alone"])
    code = """
import scale_alone
out = memoryview(bytearray(16)).cast("f", (1, 4))
scale_alone.scale_alone(memoryview(b"\\1\\2\\3\\4").cast("B", (1, 4)), 2, 0, out)
print(out.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "[[2.0, 4.0, 6.0, 8.0]]\n", done.stderr




def test_of_several_targets_there_is_one_file(tmp_path):
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", "extension_scale", "-o", str(tmp_path), "-e", "python_extension", "-f", "many",
                 "target=x86-64-linux,x86-64-linux-avx2"])
    assert e.value.code == 0
    assert os.listdir(tmp_path) == ["many.py.c"]


def test_a_function_of_cpp_is_refused(tmp_path, capfd):
    with pytest.raises(SystemExit) as e:
        ts.main(["-g", "extension_scale", "-o", str(tmp_path), "-e", "python_extension", "target=host-c_plus_plus_name_mangling"])
    assert e.value.code == 1
    assert "leave Target::CPlusPlusMangling out" in capfd.readouterr().err


@pytest.mark.skipif(not shutil.which("cmake") or not os.path.exists(f"{SOURCE}/cmake/package/TesseraGenerators.cmake"),
                    reason="no CMake")
def test_cmake_compiles_a_generator_in_python_and_a_module(tmp_path):
    """The functions of the package, over this source tree's runtime, which CMake compiles."""
    (tmp_path / "names.py").write_text("NAME = 'halve'\n")
    (tmp_path / "gen.py").write_text(
        textwrap.dedent(
            """
            import tessera as ts
            import names

            @ts.generator(names.NAME)
            class Halve:
                by = ts.GeneratorParam(2)
                input = ts.InputBuffer(ts.UInt(8), 1)
                output = ts.OutputBuffer(ts.UInt(8), 1)

                def generate(g):
                    x = ts.Var("x")
                    g.output[x] = g.input[x] / ts.u8(g.by)

            if __name__ == "__main__":
                ts.main()
            """
        )
    )
    (tmp_path / "main.c").write_text(
        """
        #include <halve.h>
        #include <tessera_runtime.h>
        #include <stdio.h>
        int main(void) {
            uint8_t values[3] = {10, 20, 31}, result[3];
            tessera_dimension_t dim = {0, 3, 1, 0};
            tessera_buffer_t in = {0, 0, values, 0, {1, 8, 1}, 1, &dim, 0};
            tessera_buffer_t out = {0, 0, result, 0, {1, 8, 1}, 1, &dim, 0};
            int code = halve(&in, &out);
            printf("%d %d %d\\n", result[0], result[1], result[2]);
            return code;
        }
        """
    )
    (tmp_path / "CMakeLists.txt").write_text(
        f"""
        cmake_minimum_required(VERSION 3.22)
        project(halving LANGUAGES C CXX)
        set_property(GLOBAL PROPERTY TESSERA_RUNTIME_SOURCES {SOURCE}/src)
        set_property(GLOBAL PROPERTY TESSERA_INCLUDE_DIRS {SOURCE}/include {SOURCE}/src)
        include({SOURCE}/cmake/package/TesseraGenerators.cmake)
        add_tessera_runtime(runtime)
        add_tessera_generator(halve_generator SOURCES gen.py names.py)
        add_tessera_library(halve FROM halve_generator OUTPUTS python_extension shared_library USE_RUNTIME runtime)
        add_tessera_library(third FROM halve_generator GENERATOR halve PARAMS by=3 OUTPUTS python_extension
                            USE_RUNTIME runtime)
        add_executable(main main.c)
        target_link_libraries(main halve)
        add_tessera_python_module(fractions_module FROM halve third MODULE_NAME my_fractions)
        """
    )
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    words = [f"-DPython_EXECUTABLE={sys.executable}", f"-DTESSERA_PYTHON_PATH={PACKAGE}", "-DCMAKE_BUILD_TYPE=Debug"]
    subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", *generator, *words], check=True, capture_output=True)
    built = subprocess.run(["cmake", "--build", tmp_path / "build", "-j2"], capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    assert subprocess.run([tmp_path / "build" / "main"], capture_output=True, text=True).stdout == "5 10 15\n"
    code = """
import my_fractions
out = bytearray(3)
my_fractions.third(bytes([9, 30, 31]), out)
print(list(out), my_fractions.halve.__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "build", capture_output=True, text=True)
    assert done.stdout == "[3, 10, 10] halve\n", done.stderr
    assert ts.load(tmp_path / "build/halve.files/halve.so").halve(np.array([9, 30], np.uint8), (2,)).tolist() == [4, 15]
    # What a script imports counts as a part of it, and nothing is compiled again without a change.
    again = subprocess.run(["cmake", "--build", tmp_path / "build"], capture_output=True, text=True).stdout
    assert "Compiling the pipeline" not in again
    (tmp_path / "names.py").write_text("NAME = 'halve'  # as before\n")
    again = subprocess.run(["cmake", "--build", tmp_path / "build"], capture_output=True, text=True).stdout
    assert "Compiling the pipeline halve" in again
