"""Programs as people write them with Halide in Python: from files to files, as generators, and with classes of their own."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tessera.halide as hl
import tessera.halide.imageio as imageio

x, y, c, z = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Var("z")


def test_an_image_is_blurred_from_file_to_file(tmp_path):
    rgb = np.random.default_rng(0).integers(0, 256, (3, 48, 64), dtype=np.uint8)
    imageio.imwrite(str(tmp_path / "rgb.png"), rgb)
    read = imageio.imread(str(tmp_path / "rgb.png"))
    assert read.shape == (3, 48, 64) and read.dtype == np.uint8
    grey = np.mean(read, axis=0).astype(read.dtype)
    input_data = np.copy(grey, order="F")

    input = hl.ImageParam(hl.UInt(8), 2, "input_param")
    assert type(input) is hl.ImageParam and input.dimensions() == 2
    clamped = hl.BoundaryConditions.repeat_edge(input)
    wide = hl.Func("wide")
    wide[x, y] = hl.u16(clamped[x, y])
    blur_x, blur_y = hl.Func("blur_x"), hl.Func("blur_y")
    blur_x[x, y] = (wide[x, y] + wide[x + 1, y] + wide[x + 2, y]) / 3
    blur_y[x, y] = hl.cast(hl.UInt(8), (blur_x[x, y] + blur_x[x, y + 1] + blur_x[x, y + 2]) / 3)
    xi, yi = hl.Var("xi"), hl.Var("yi")
    blur_y.tile(x, y, xi, yi, 8, 4).parallel(y).vectorize(xi, 8)
    blur_x.compute_at(blur_y, x).vectorize(x, 8)

    input.dim(0).set_stride(hl.Expr())  # the order of Fortran: columns are dense
    blur_y.output_buffer().dim(0).set_stride(hl.Expr())
    blur_y.compile_jit()
    input.set(hl.Buffer(input_data))
    output_data = np.empty(input_data.shape, dtype=input_data.dtype, order="F")
    output_image = hl.Buffer(output_data)
    assert str(output_image) == "<halide.Buffer of type uint8 shape:[[0,64,48],[0,48,1]]>"
    blur_y.realize(output_image)

    edge = np.pad(grey.astype(int), ((0, 2), (0, 2)), mode="edge")
    rows = (edge[:, :-2] + edge[:, 1:-1] + edge[:, 2:]) // 3
    assert (output_data == (rows[:-2] + rows[1:-1] + rows[2:]) // 3).all()
    imageio.imwrite(str(tmp_path / "out.png"), output_data)
    assert (imageio.imread(str(tmp_path / "out.png")) == output_data).all()


@hl.generator("harris_there")
class Harris:
    """Finds corners: products of derivatives, summed over windows."""

    input = hl.InputBuffer(hl.Float(32), 3)
    output = hl.OutputBuffer(hl.Float(32), 2)

    def generate(self):
        g = self

        def sum3x3(f):
            return sum((f[x + i, y + j] for i in (-1, 0, 1) for j in (-1, 0, 1)), hl.f32(0))

        grey, ix, iy, ixx, iyy, ixy, sxx, syy, sxy = hl.funcs("grey ix iy ixx iyy ixy sxx syy sxy")
        inp = g.input
        grey[x, y] = 0.299 * inp[x, y, 0] + 0.587 * inp[x, y, 1] + 0.114 * inp[x, y, 2]
        iy[x, y] = sum(
            w * grey[x + dx, y + dy]
            for dx, dy, w in [
                (-1, -1, -1 / 12),
                (-1, 1, 1 / 12),
                (0, -1, -2 / 12),
                (0, 1, 2 / 12),
                (1, -1, -1 / 12),
                (1, 1, 1 / 12),
            ]
        )
        ix[x, y] = sum(
            w * grey[x + dx, y + dy]
            for dx, dy, w in [
                (-1, -1, -1 / 12),
                (1, -1, 1 / 12),
                (-1, 0, -2 / 12),
                (1, 0, 2 / 12),
                (-1, 1, -1 / 12),
                (1, 1, 1 / 12),
            ]
        )
        ixx[x, y] = ix[x, y] * ix[x, y]
        iyy[x, y] = iy[x, y] * iy[x, y]
        ixy[x, y] = ix[x, y] * iy[x, y]
        for total, f in ((sxx, ixx), (syy, iyy), (sxy, ixy)):
            total[x, y] = sum3x3(f)
        det, trace = hl.Func("det"), hl.Func("trace")
        det[x, y] = sxx[x, y] * syy[x, y] - sxy[x, y] * sxy[x, y]
        trace[x, y] = sxx[x, y] + syy[x, y]
        g.output[x, y] = det[x, y] - 0.04 * trace[x, y] * trace[x, y]
        g.input.dim(2).set_bounds(0, 3)
        g.input.set_estimates([(0, 1536), (0, 2560), (0, 3)])
        g.output.set_estimates([(3, 1530), (3, 2554)])
        if g.using_autoscheduler():
            return
        xi, yi = hl.vars("xi yi")
        if g.target().has_gpu_feature():
            g.output.gpu_tile(x, y, xi, yi, 14, 14)
            ix.compute_at(g.output, x).gpu_threads(x, y)
            iy.compute_at(g.output, x).gpu_threads(x, y)
        else:
            vec = g.natural_vector_size(hl.Float(32))
            g.output.split(y, y, yi, 32).parallel(y).vectorize(x, vec)
            grey.store_at(g.output, y).compute_at(g.output, yi).vectorize(x, vec)
            ix.store_at(g.output, y).compute_at(g.output, yi).vectorize(x, vec)
            iy.store_at(g.output, y).compute_at(g.output, yi).vectorize(x, vec)


def harris_of(image):
    grey = np.float32(0.299) * image[0] + np.float32(0.587) * image[1] + np.float32(0.114) * image[2]
    grey = grey.astype(np.float64)

    def at(a, dx, dy):
        return np.roll(np.roll(a, -dx, axis=1), -dy, axis=0)

    weights = [(-1, 1), (0, 2), (1, 1)]
    iy = sum(w / 12 * (at(grey, d, 1) - at(grey, d, -1)) for d, w in weights)
    ix = sum(w / 12 * (at(grey, 1, d) - at(grey, -1, d)) for d, w in weights)
    total = lambda a: sum(at(a, i, j) for i in (-1, 0, 1) for j in (-1, 0, 1))
    sxx, syy, sxy = total(ix * ix), total(iy * iy), total(ix * iy)
    return sxx * syy - sxy * sxy - 0.04 * (sxx + syy) ** 2


@pytest.mark.filterwarnings("ignore:the constant")
@pytest.mark.parametrize("target", ["host", "host-cuda-interpret"])
def test_corners_by_a_generator(target):
    image = np.random.default_rng(1).random((3, 40, 46), dtype=np.float32)
    with hl.GeneratorContext(hl.Target(target)):
        c = Harris().compile_to_callable()
    out = hl.Buffer(hl.Float(32), [40, 34])
    out.set_min([3, 3])
    c(image, out)
    assert np.allclose(np.asarray(out), harris_of(image)[3:37, 3:43], atol=1e-5)


@pytest.mark.filterwarnings("ignore:the constant")
def test_corners_by_an_autoscheduler():
    with hl.GeneratorContext(hl.Target("host"), hl.AutoschedulerParams("Mullapudi2016", {"parallelism": 4})):
        f = Harris().pipeline()
    assert "compute_root" in f.schedule_as_cpp() or "compute_at" in f.schedule_as_cpp()


SCRIPT = """
import tessera.halide as hl

@hl.generator(name="grid_there")
class Grid:
    s_sigma = hl.GeneratorParam(8)
    input = hl.InputBuffer(hl.Float(32), 2)
    r_sigma = hl.InputScalar(hl.Float(32))
    output = hl.OutputBuffer(hl.Float(32), 2)

    def generate(self):
        g = self
        x, y, z, c = hl.vars("x y z c")
        clamped = hl.BoundaryConditions.repeat_edge(g.input)
        s = g.s_sigma
        r = hl.RDom([(0, s), (0, s)], "r")
        val = hl.clamp(clamped[x * s + r.x - s // 2, y * s + r.y - s // 2], 0.0, 1.0)
        zi = hl.i32(val * (1.0 / g.r_sigma) + 0.5)
        histogram = hl.Func("histogram")
        histogram[x, y, z, c] = 0.0
        histogram[x, y, zi, c] += hl.mux(c, [val, 1.0])
        blurx, blury, blurz = hl.funcs("blurx blury blurz")

        def taps(f, at):
            return f(-2) + f(-1) * 4 + f(0) * 6 + f(1) * 4 + f(2)

        blurz[x, y, z, c] = taps(lambda i: histogram[x, y, z + i, c], z)
        blurx[x, y, z, c] = taps(lambda i: blurz[x + i, y, z, c], x)
        blury[x, y, z, c] = taps(lambda i: blurx[x, y + i, z, c], y)
        val = hl.clamp(clamped[x, y], 0.0, 1.0)
        zv = val * (1.0 / g.r_sigma)
        zi = hl.i32(zv)
        zf = zv - zi
        xf, yf = hl.f32(x % s) / s, hl.f32(y % s) / s
        xi, yi = x / s, y / s
        interpolated = hl.Func("interpolated")
        row = lambda dx, dz: hl.lerp(blury[xi + dx, yi, zi + dz, c], blury[xi + dx, yi + 1, zi + dz, c], yf)
        interpolated[x, y, c] = hl.lerp(hl.lerp(row(0, 0), row(1, 0), xf), hl.lerp(row(0, 1), row(1, 1), xf), zf)
        g.output[x, y] = interpolated[x, y, 0] / interpolated[x, y, 1]
        g.input.set_estimates([(0, 1536), (0, 2560)])
        g.r_sigma.set_estimate(0.1)
        g.output.set_estimates([(0, 1536), (0, 2560)])
        if not g.using_autoscheduler():
            blurz.compute_root().reorder(c, z, x, y).parallel(y).vectorize(x, 8).unroll(c, 2)
            histogram.compute_at(blurz, y)
            histogram.update().reorder(c, r.x, r.y, x, y).unroll(c, 2)
            blurx.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, 8).unroll(c, 2)
            blury.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, 8).unroll(c, 2)
            g.output.compute_root().parallel(y).vectorize(x, 8)

if __name__ == "__main__":
    hl.main()
"""


def test_a_generator_is_a_command_and_its_library_runs(tmp_path):
    (tmp_path / "grid.py").write_text(SCRIPT)

    def run(*words):
        return subprocess.run([sys.executable, "grid.py", *words], cwd=tmp_path, capture_output=True, text=True)

    assert "grid_there" in run("--help").stdout
    for words in (["target=host"], ["target=host", "s_sigma=4", "autoscheduler=Mullapudi2016", "autoscheduler.parallelism=2"]):
        done = run("-g", "grid_there", "-f", "grid", "-o", ".", "-e", "static_library,c_header,stmt,schedule", *words)
        assert done.returncode == 0, done.stderr
        assert {"grid.a", "grid.h", "grid.stmt", "grid.schedule.h"} <= {p.name for p in tmp_path.iterdir()}
        if len(words) > 1:
            continue  # the automatic schedule has pieces larger than a small image
        import tessera

        library = tessera.load(str(tmp_path / "grid.a"))
        image = np.tile(np.linspace(0, 1, 64, dtype=np.float32), (48, 1))
        out = np.zeros_like(image)
        library.grid(image, 0.1, out)
        assert np.abs(out - image).max() < 0.1
    assert run("-g", "nothing", "-o", ".", "target=host").returncode == 1
    failed = run("-g", "grid_there", "-o", ".", "target=host", "s_sigma=x")
    assert failed.returncode == 1 and "s_sigma" in failed.stderr


class Complex:
    """Pairs of expressions as numbers."""

    def __init__(self, *parts):
        self.re, self.im = parts if len(parts) == 2 else (parts[0][0], parts[0][1])

    def __getitem__(self, i):
        return (self.re, self.im)[i]

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.re, self.im))

    def __add__(self, other):
        return Complex(self.re + other[0], self.im + other[1])

    def __mul__(self, other):
        return Complex(self.re * other[0] - self.im * other[1], self.re * other[1] + self.im * other[0])


@pytest.mark.filterwarnings("ignore")
def test_the_mandelbrot_set():
    t, f, escape = hl.Var("t"), hl.Func("f"), hl.Func("escape")
    initial = Complex(hl.f32(x) / 15 - 2.0, hl.f32(y) / 6 - 1.5)
    f[x, y, t] = Complex(hl.f32(0), hl.f32(0))
    r = hl.RDom([(1, 12)])
    current = Complex(f[x, y, r - 1])
    f[x, y, r] = current * current + initial
    magnitude = f[x, y, r][0] * f[x, y, r][0] + f[x, y, r][1] * f[x, y, r][1]
    escape[x, y] = hl.argmin(hl.select(magnitude < 4.0, 1, 0))[0]
    result = np.asarray(escape.realize([45, 18]))
    assert result[9, 30] == 1 and result[0, 0] < 4 and result.max() > 4


def test_a_program_that_imports_halide_runs_unchanged(tmp_path):
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
            import halide as hl
            import halide.imageio as imageio
            from halide import Var, BoundaryConditions, _
            x, f, g = Var("x"), hl.Func("f"), hl.Func("g")
            f[x] = f[x] + hl.u8(x)
            g[_] = f[_] + 1
            assert g.type() == hl.UInt(8) and list(g.realize([3])) == [1, 2, 3]
            assert str(hl.Buffer()) == "<undefined halide.Buffer>" and imageio.imread
            try:
                hl.u8(x) + 300
            except hl.HalideError:
                print("by its rules")
            """)
    )
    (tmp_path / "run.py").write_text(
        "import sys, tessera.halide\nsys.modules['halide'] = tessera.halide\nimport runpy\nrunpy.run_path('program.py')\n"
    )
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "by its rules\n", done.stderr
