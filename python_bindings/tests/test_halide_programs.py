"""Whole programs in Halide's Python: what lessons and apps do."""
import os

import numpy as np
import pytest

import tessera.halide as hl


def gradient_image(width=96, height=64, channels=3):
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    return np.ascontiguousarray(np.moveaxis((x * 3 + y * 5 + c * 17 + (x * y) % 31) % 256, 2, 0).astype(np.uint8))


# ---- Lessons ----

def test_first_func_and_an_image_made_brighter():
    gradient = hl.Func("gradient")
    x, y = hl.Var("x"), hl.Var("y")
    e = x + y
    gradient[x, y] = e
    output = gradient.realize([80, 60])
    for j in range(output.height()):
        for i in range(output.width()):
            assert output[i, j] == i + j
    source = hl.Buffer(gradient_image())
    assert (source.width(), source.height(), source.channels()) == (96, 64, 3)
    brighter, c = hl.Func("brighter"), hl.Var("c")
    value = source[x, y, c]
    value = hl.cast(hl.Float(32), value)
    value = value * 1.5
    value = hl.min(value, 255.0)
    value = hl.cast(hl.UInt(8), value)
    brighter[x, y, c] = value
    out = brighter.realize([source.width(), source.height(), source.channels()])
    wanted = np.minimum(source.numpy().astype(np.float32) * np.float32(1.5), 255).astype(np.uint8)
    assert out.type() == hl.UInt(8) and (np.asarray(out) == wanted).all()


def test_debugging_and_printing(capsys, tmp_path):
    f, x, y = hl.Func("gradient"), hl.Var("x"), hl.Var("y")
    f[x, y] = x + y
    f.realize([8, 8])
    f.compile_to_lowered_stmt(str(tmp_path / "gradient.html"), [], hl.StmtOutputFormat.HTML)
    assert "<html" in (tmp_path / "gradient.html").read_text().lower()
    f.trace_stores()
    f.realize([4, 4])
    g = hl.Func("g")
    g[x, y] = hl.sin(x) + hl.print(hl.cos(y))
    g.realize([2, 2])
    h = hl.Func("h")
    h[x, y] = hl.sin(x) + hl.print_when((x == 1) & (y == 1), hl.cos(y), "<- this is cos(", y, ") when x, y == (1, 1)")
    h.realize([2, 2])
    out = capsys.readouterr().out
    assert "gradient" in out and out.count("<- this is cos( 1 ) when") == 1
    f.print_loop_nest()


def test_schedules_of_one_func():
    x, y = hl.Var("x"), hl.Var("y")
    wanted = np.add.outer(np.arange(40), np.arange(30))

    def check(schedule):
        f = hl.Func("gradient")
        f[x, y] = x + y
        schedule(f)
        assert (f.realize([30, 40]).numpy() == wanted).all()

    check(lambda f: f.reorder(y, x))

    def split(f):
        x_outer, x_inner = hl.vars("x_outer x_inner")
        f.split(x, x_outer, x_inner, 2)

    def fuse(f):
        fused = hl.Var("fused")
        f.fuse(x, y, fused)

    def tile(f):
        x_outer, x_inner, y_outer, y_inner = hl.vars("x_outer x_inner y_outer y_inner")
        f.split(x, x_outer, x_inner, 4)
        f.split(y, y_outer, y_inner, 4)
        f.reorder(x_inner, y_inner, x_outer, y_outer)

    def fast(f):
        x_outer, y_outer, x_inner, y_inner, tile_index = hl.vars("x_outer y_outer x_inner y_inner tile_index")
        x_in, y_in, x_vec, y_pairs = hl.vars("x_in y_in x_vec y_pairs")
        f.tile(x, y, x_outer, y_outer, x_inner, y_inner, 16, 16).fuse(x_outer, y_outer, tile_index).parallel(tile_index)
        f.tile(x_inner, y_inner, x_in, y_in, x_vec, y_pairs, 4, 2).vectorize(x_vec).unroll(y_pairs)

    for schedule in (split, fuse, tile, fast, lambda f: f.vectorize(x, 4),
                     lambda f: f.split(x, x, hl.Var("xi"), 7).unroll(hl.Var("xi"))):
        check(schedule)


def test_realizing_over_a_shifted_region():
    f, x, y = hl.Func("gradient"), hl.Var("x"), hl.Var("y")
    f[x, y] = x + y
    shifted = hl.Buffer(hl.Int(32), [5, 7])
    shifted.set_min([100, 50])
    f.realize(shifted)
    assert shifted[100, 50] == 150 and shifted[104, 56] == 160
    assert (shifted.left(), shifted.right(), shifted.top(), shifted.bottom()) == (100, 104, 50, 56)


def test_several_stages_with_a_boundary():
    x, y, c = hl.vars("x y c")
    source = hl.Buffer(gradient_image())
    clamped = hl.Func("clamped")
    clamped[x, y, c] = source[hl.clamp(x, 0, source.width() - 1), hl.clamp(y, 0, source.height() - 1), c]
    input_16, blur_x, blur_y, output = hl.funcs("input_16 blur_x blur_y output")
    input_16[x, y, c] = hl.cast(hl.UInt(16), clamped[x, y, c])
    blur_x[x, y, c] = (input_16[x - 1, y, c] + 2 * input_16[x, y, c] + input_16[x + 1, y, c]) / 4
    blur_y[x, y, c] = (blur_x[x, y - 1, c] + 2 * blur_x[x, y, c] + blur_x[x, y + 1, c]) / 4
    output[x, y, c] = hl.cast(hl.UInt(8), blur_y[x, y, c])
    result = output.realize([source.width(), source.height(), 3])
    p = np.pad(source.numpy(), ((0, 0), (1, 1), (1, 1)), mode="edge").astype(np.uint16)
    bx = (p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]) // 4
    assert (result.numpy() == (bx[:, :-2] + 2 * bx[:, 1:-1] + bx[:, 2:]) // 4).all()


def test_places_of_producers():
    x, y = hl.vars("x y")

    def make():
        producer, consumer = hl.funcs("producer consumer")
        producer[x, y] = hl.sin(x * y)
        consumer[x, y] = (producer[x, y] + producer[x, y + 1] + producer[x + 1, y] + producer[x + 1, y + 1]) / 4
        return producer, consumer

    reference = make()[1].realize([64, 64]).numpy()

    def tiled(producer, consumer):
        x_outer, y_outer, x_inner, y_inner = hl.vars("x_outer y_outer x_inner y_inner")
        consumer.tile(x, y, x_outer, y_outer, x_inner, y_inner, 16, 16)
        producer.compute_at(consumer, x_outer)

    def mixed(producer, consumer):
        yo, yi = hl.vars("yo yi")
        consumer.split(y, yo, yi, 16).parallel(yo).vectorize(x, 4)
        producer.store_at(consumer, yo).compute_at(consumer, yi).vectorize(x, 4)

    for schedule in (lambda p, c: p.compute_root(), lambda p, c: p.compute_at(c, y), lambda p, c: p.store_root().compute_at(c, y),
                     lambda p, c: p.store_root().compute_at(c, x), tiled, mixed):
        producer, consumer = make()
        schedule(producer, consumer)
        assert np.allclose(consumer.realize([64, 64]).numpy(), reference, atol=1e-6)


def test_updates_and_reductions():
    x, y = hl.vars("x y")
    f = hl.Func("f")
    f[x, y] = x + y
    f[x, 0] = f[x, 8]
    f[0, y] = f[8, y] + 2
    out = f.realize([16, 16])
    assert out[3, 0] == 11 and out[0, 5] == 15
    r = hl.RDom([(0, 50)])
    g = hl.Func("g")
    g[x, y] = x + y
    g[x, r] = g[x, r] * g[x, r]
    assert g.realize([100, 100])[7, 49] == 56 * 56
    source = hl.Buffer(gradient_image()[0])
    histogram = hl.Func("histogram")
    region = hl.RDom([(0, source.width()), (0, source.height())])
    histogram[x] = 0
    histogram[source[region.x, region.y]] += 1
    assert (histogram.realize([256]).numpy() == np.bincount(source.numpy().ravel(), minlength=256)).all()
    # A scan, and its column updates at once.
    scan = hl.Func("scan")
    scan[x, y] = source[x, y] + 0
    rows = hl.RDom([(1, source.height() - 1)])
    scan[x, rows] = scan[x, rows - 1] + scan[x, rows]
    xo, xi = hl.vars("xo xi")
    scan.update().split(x, xo, xi, 8).vectorize(xi).parallel(xo)
    with_wrap = np.cumsum(source.numpy().astype(np.int64), axis=0)
    assert (scan.realize([source.width(), source.height()]).numpy() == with_wrap % (1 << 8 * scan.type().bytes())).all()
    # A stencil by a reduction, with a helper that is its own Func.
    clamped = hl.BoundaryConditions.repeat_edge(source)
    box = hl.RDom([(-2, 5), (-2, 5)])
    local_max, local_min, spread = hl.funcs("local_max local_min spread")
    local_max[x, y] = hl.maximum(clamped[x + box.x, y + box.y])
    local_min[x, y] = 255
    local_min[x, y] = hl.min(local_min[x, y], hl.cast(hl.Int(32), clamped[x + box.x, y + box.y]))
    spread[x, y] = local_max[x, y] - hl.u8(local_min[x, y])
    spread.compute_root().parallel(y)
    result = spread.realize([source.width(), source.height()]).numpy()
    p = np.pad(source.numpy(), 2, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(p, (5, 5))
    assert (result == windows.max(axis=(2, 3)) - windows.min(axis=(2, 3))).all()


def test_ahead_of_time(tmp_path):
    brighter, x, y = hl.Func("brighter"), hl.Var("x"), hl.Var("y")
    offset, source = hl.Param(hl.UInt(8), "offset"), hl.ImageParam(hl.UInt(8), 2, "source")
    brighter[x, y] = source[x, y] + offset
    brighter.vectorize(x, 16).parallel(y)
    brighter.compile_to_file(str(tmp_path / "lesson"), [source, offset], "brighter")
    assert os.path.getsize(tmp_path / "lesson.o") > 0 and "brighter(" in (tmp_path / "lesson.h").read_text()


def test_tuples_and_argmax():
    x, y = hl.vars("x y")
    multi = hl.Func("multi")
    multi[x, y] = (x + y, hl.sin(x * y))
    a, b = multi.realize([80, 60])
    assert a[30, 40] == 70 and b[30, 40] == pytest.approx(np.sin(30 * 40), abs=1e-4)
    values = hl.Func("values")
    values[x] = hl.sin(x)
    values.compute_root()
    best = hl.Func("best")
    best[()] = (0, values[0])
    r = hl.RDom([(1, 99)])
    old_index, old_max = best[()][0], best[()][1]
    better = old_max < values[r]
    best[()] = (hl.select(better, r, old_index), hl.max(values[r], old_max))
    index, value = best.realize([])
    samples = np.sin(np.arange(100))
    assert index[()] == samples.argmax() and value[()] == pytest.approx(samples.max(), abs=1e-6)

    class Mandelbrot:
        def __init__(self, real, imag=None):
            self.real, self.imag = (real, imag) if imag is not None else (real[0], real[1])

        def as_tuple(self):
            return self.real, self.imag

        def __add__(self, other):
            return Mandelbrot(self.real + other.real, self.imag + other.imag)

        def __mul__(self, other):
            return Mandelbrot(self.real * other.real - self.imag * other.imag, self.real * other.imag + self.imag * other.real)

        def magnitude(self):
            return self.real * self.real + self.imag * self.imag

    mandelbrot, t = hl.Func("mandelbrot"), hl.Var("t")
    initial = Mandelbrot(x / 15.0 - 2.5, y / 6.0 - 2.0)
    mandelbrot[x, y, t] = Mandelbrot(hl.f32(0), hl.f32(0)).as_tuple()
    steps = hl.RDom([(1, 12)])
    current = Mandelbrot(mandelbrot[x, y, steps - 1])
    mandelbrot[x, y, steps] = (current * current + initial).as_tuple()
    escape = hl.argmin(hl.RDom([(1, 11)], "e"), hl.select(Mandelbrot(mandelbrot[x, y, 5]).magnitude() < 4.0, 1, 0))
    count = hl.Func("count")
    count[x, y] = escape[0]
    mandelbrot.compute_root()
    assert set(np.unique(count.realize([61, 25]).numpy())) <= set(range(12))


def test_the_type_system():
    x = hl.Var("x")
    u8, u16, u32, i8, i16, i32, f32 = hl.UInt(8), hl.UInt(16), hl.UInt(32), hl.Int(8), hl.Int(16), hl.Int(32), hl.Float(32)
    as_ = lambda t: hl.cast(t, x)
    for a, b, wanted in [(u8, u16, u16), (u8, u32, u32), (u8, i16, i16), (u32, i8, i32),
                         (u8, f32, f32), (i8, u8, i8), (i16, i32, i32)]:
        assert (as_(a) + as_(b)).type() == wanted, (a, b)
    assert (as_(u8) / 3).type() == u8 and hl.abs(as_(i16)).type() == u16

    def average(a, b):
        if isinstance(a, hl.Expr) and a.type().is_float():
            return (a + b) / 2
        narrow = a.type()
        wide = narrow.with_bits(narrow.bits() * 2)
        return hl.cast(narrow, (hl.cast(wide, a) + b) / 2)

    assert average(as_(f32), 3.0).type() == f32 and average(as_(u8), 3).type() == u8
    assert hl.evaluate(average(hl.u8(200), hl.u8(250))) == 225


# ---- Apps ----

def erode(image):
    x, y, c = hl.vars("x y c")
    clamped = hl.BoundaryConditions.repeat_edge(image)
    min_x, min_y = hl.funcs("min_x min_y")
    min_x[x, y, c] = hl.min(clamped[x, y, c], hl.min(clamped[x - 1, y, c], clamped[x + 1, y, c]))
    min_y[x, y, c] = hl.min(min_x[x, y - 1, c], min_x[x, y, c], min_x[x, y + 1, c])
    return min_x, min_y


def test_erode():
    source = hl.ImageParam(hl.UInt(8), 3, "source")
    min_x, result = erode(source)
    x, y, c = hl.vars("x y c")
    min_x.compute_root().vectorize(x, 16)
    result.parallel(y).vectorize(x, 16)
    image = gradient_image()
    source.set(hl.Buffer(image))
    out = np.empty_like(image)
    buffer = hl.Buffer(out)
    result.realize(buffer)
    p = np.pad(image, ((0, 0), (1, 1), (1, 1)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(p, (1, 3, 3))
    assert (out == windows.min(axis=(3, 4, 5))).all()


def bilateral_grid(source, r_sigma, s_sigma=8):
    x, y, z, c = hl.vars("x y z c")
    clamped = hl.Func("clamped")
    clamped[x, y] = source[hl.clamp(x, 0, source.width() - 1), hl.clamp(y, 0, source.height() - 1)]
    r = hl.RDom([(0, s_sigma), (0, s_sigma)], "r")
    value = clamped[x * s_sigma + r.x - s_sigma // 2, y * s_sigma + r.y - s_sigma // 2]
    value = hl.clamp(value, 0.0, 1.0)
    zi = hl.i32(value / r_sigma + 0.5)
    histogram = hl.Func("histogram")
    histogram[x, y, z, c] = 0.0
    histogram[x, y, zi, c] += hl.select(c == 0, value, 1.0)
    blurx, blury, blurz = hl.funcs("blurx blury blurz")

    def five(at):
        return at(-2) + at(-1) * 4 + at(0) * 6 + at(1) * 4 + at(2)

    blurz[x, y, z, c] = five(lambda d: histogram[x, y, z + d, c])
    blurx[x, y, z, c] = five(lambda d: blurz[x + d, y, z, c])
    blury[x, y, z, c] = five(lambda d: blurx[x, y + d, z, c])
    value = hl.clamp(clamped[x, y], 0.0, 1.0)
    zv = value / r_sigma
    zi = hl.i32(zv)
    zf = zv - zi
    xf = hl.f32(x % s_sigma) / s_sigma
    yf = hl.f32(y % s_sigma) / s_sigma
    xi, yi = x / s_sigma, y / s_sigma
    interpolated = hl.Func("interpolated")
    along_x = lambda j, k: hl.lerp(blury[xi, yi + j, zi + k, c], blury[xi + 1, yi + j, zi + k, c], xf)
    interpolated[x, y, c] = hl.lerp(hl.lerp(along_x(0, 0), along_x(1, 0), yf), hl.lerp(along_x(0, 1), along_x(1, 1), yf), zf)
    result = hl.Func("bilateral_grid")
    result[x, y] = interpolated[x, y, 0] / interpolated[x, y, 1]
    return result, (histogram, blurz, blurx, blury)


def test_bilateral_grid():
    image = (gradient_image()[0] / np.float32(255)).astype(np.float32)
    outs = []
    for scheduled in (False, True):
        source, r_sigma = hl.ImageParam(hl.Float(32), 2, "source"), hl.Param(hl.Float(32), "r_sigma", 0.125)
        result, (histogram, blurz, blurx, blury) = bilateral_grid(source, r_sigma)
        x, y, z, c = hl.vars("x y z c")
        if scheduled:
            histogram.compute_at(blurz, y)
            histogram.update().reorder(c, x, y).unroll(c)
            blurz.compute_root().reorder(c, z, x, y).parallel(y).vectorize(x, 4).unroll(c)
            for f in (blurx, blury):
                f.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, 4).unroll(c)
            result.compute_root().parallel(y).vectorize(x, 8)
        else:
            for f in (histogram, blurz, blurx, blury):
                f.compute_root()
        source.set(hl.Buffer(image))
        outs.append(result.realize([image.shape[1], image.shape[0]]).numpy().copy())
    assert np.allclose(*outs, atol=1e-4) and 0 <= outs[0].min() and outs[0].max() <= 1


def downsample(f):
    x, y, _ = hl.Var("x"), hl.Var("y"), hl._
    downx, downy = hl.funcs("downx downy")
    downx[x, y, _] = (f[2 * x - 1, y, _] + 3.0 * (f[2 * x, y, _] + f[2 * x + 1, y, _]) + f[2 * x + 2, y, _]) / 8.0
    downy[x, y, _] = (downx[x, 2 * y - 1, _] + 3.0 * (downx[x, 2 * y, _] + downx[x, 2 * y + 1, _]) + downx[x, 2 * y + 2, _]) / 8.0
    return downy


def upsample(f):
    x, y, _ = hl.Var("x"), hl.Var("y"), hl._
    upx, upy = hl.funcs("upx upy")
    upx[x, y, _] = 0.25 * f[(x / 2) - 1 + 2 * (x % 2), y, _] + 0.75 * f[x / 2, y, _]
    upy[x, y, _] = 0.25 * upx[x, (y / 2) - 1 + 2 * (y % 2), _] + 0.75 * upx[x, y / 2, _]
    return upy


def local_laplacian(source, levels, alpha, beta, J=4):
    x, y, c, k = hl.vars("x y c k")
    n, r = hl.Var("n"), hl.Func("remap")
    fx = hl.cast(hl.Float(32), x) / 256.0
    r[x] = alpha * fx * hl.exp(-fx * fx / 2.0)
    clamped = hl.BoundaryConditions.repeat_edge(source)
    floating, gray = hl.funcs("floating gray")
    floating[x, y, c] = hl.cast(hl.Float(32), clamped[x, y, c]) / 65535.0
    gray[x, y] = hl.f32(0.299) * floating[x, y, 0] + hl.f32(0.587) * floating[x, y, 1] + hl.f32(0.114) * floating[x, y, 2]
    pyramid = [hl.Func(f"gpyramid{i}") for i in range(J)]
    level = k * (1.0 / (levels - 1))
    idx = hl.clamp(hl.cast(hl.Int(32), gray[x, y] * hl.cast(hl.Float(32), levels - 1) * 256.0), 0, (levels - 1) * 256)
    pyramid[0][x, y, k] = beta * (gray[x, y] - level) + level + r[idx - 256 * k]
    for j in range(1, J):
        pyramid[j][x, y, k] = downsample(pyramid[j - 1])[x, y, k]
    laplacian = [hl.Func(f"lpyramid{i}") for i in range(J)]
    laplacian[J - 1][x, y, k] = pyramid[J - 1][x, y, k]
    for j in range(J - 2, -1, -1):
        laplacian[j][x, y, k] = pyramid[j][x, y, k] - upsample(pyramid[j + 1])[x, y, k]
    inputs = [hl.Func(f"inputs{i}") for i in range(J)]
    inputs[0][x, y] = gray[x, y]
    for j in range(1, J):
        inputs[j][x, y] = downsample(inputs[j - 1])[x, y]
    outputs = [hl.Func(f"outputs{i}") for i in range(J)]
    for j in range(J):
        at = inputs[j][x, y] * hl.cast(hl.Float(32), levels - 1)
        li = hl.clamp(hl.cast(hl.Int(32), at), 0, levels - 2)
        lf = at - hl.cast(hl.Float(32), li)
        outputs[j][x, y] = (1.0 - lf) * laplacian[j][x, y, li] + lf * laplacian[j][x, y, li + 1]
    result = [hl.Func(f"result{i}") for i in range(J)]
    result[J - 1][x, y] = outputs[J - 1][x, y]
    for j in range(J - 2, -1, -1):
        result[j][x, y] = upsample(result[j + 1])[x, y] + outputs[j][x, y]
    color, output = hl.funcs("color local_laplacian")
    eps = hl.f32(0.01)
    color[x, y, c] = result[0][x, y] * (floating[x, y, c] + eps) / (gray[x, y] + eps)
    output[x, y, c] = hl.cast(hl.UInt(16), hl.clamp(color[x, y, c], 0.0, 1.0) * 65535.0)
    r.compute_root()
    for j in range(J):
        for f in (pyramid[j], inputs[j], result[j]):
            f.compute_root()
    return output


def test_local_laplacian():
    source = hl.ImageParam(hl.UInt(16), 3, "source")
    levels = hl.Param(hl.Int(32), "levels", 4)
    alpha, beta = (hl.Param(hl.Float(32), name, 1.0) for name in ("alpha", "beta"))
    output = local_laplacian(source, levels, alpha, beta)
    image = gradient_image(64, 48).astype(np.uint16) * 257
    source.set(hl.Buffer(image))
    out = output.realize([64, 48, 3]).numpy()
    assert out.dtype == np.uint16 and out.std() > 1000
    alpha.set(0.0)  # without a remapping, the image comes back
    beta.set(1.0)
    same = output.realize([64, 48, 3]).numpy().astype(int)
    f = image / 65535
    gray = 0.299 * f[0] + 0.587 * f[1] + 0.114 * f[2]
    assert np.allclose(same / 65535, np.clip(gray * (f + 0.01) / (gray + 0.01), 0, 1), atol=1e-3)


def test_interpolate():
    levels = 4
    source = hl.ImageParam(hl.Float(32), 3, "source")
    x, y, c = hl.vars("x y c")
    clamped = hl.BoundaryConditions.repeat_edge(source)
    downsampled, interpolated = ([hl.Func(f"{name}{i}") for i in range(levels)] for name in ("downsampled", "interpolated"))
    downsampled[0][x, y, c] = hl.select(c < 3, clamped[x, y, c] * clamped[x, y, 3], clamped[x, y, 3])
    for l in range(1, levels):
        previous = downsampled[l - 1]
        downx = hl.Func("downx")
        downx[x, y, c] = (previous[x * 2 - 1, y, c] + 2.0 * previous[x * 2, y, c] + previous[x * 2 + 1, y, c]) * 0.25
        downsampled[l][x, y, c] = (downx[x, y * 2 - 1, c] + 2.0 * downx[x, y * 2, c] + downx[x, y * 2 + 1, c]) * 0.25
    interpolated[levels - 1][x, y, c] = downsampled[levels - 1][x, y, c]
    for l in range(levels - 2, -1, -1):
        upx, upy = hl.funcs("upx upy")
        upx[x, y, c] = (interpolated[l + 1][x / 2, y, c] + interpolated[l + 1][(x + 1) / 2, y, c]) / 2.0
        upy[x, y, c] = (upx[x, y / 2, c] + upx[x, (y + 1) / 2, c]) / 2.0
        interpolated[l][x, y, c] = downsampled[l][x, y, c] + (1.0 - downsampled[l][x, y, 3]) * upy[x, y, c]
    normalize = hl.Func("normalize")
    normalize[x, y, c] = interpolated[0][x, y, c] / interpolated[0][x, y, 3]
    for l in range(1, levels):
        downsampled[l].compute_root().parallel(y, 8).vectorize(x, 4)
        interpolated[l].compute_root().parallel(y, 8).vectorize(x, 4)
    normalize.reorder(c, x, y).bound(c, 0, 3).unroll(c).parallel(y, 8)
    rng = np.random.default_rng(0)
    alpha = (rng.random((40, 56)) < 0.3).astype(np.float32)
    image = np.stack([np.full((40, 56), v, np.float32) for v in (0.25, 0.5, 0.75)] + [alpha])
    source.set(hl.Buffer(image))
    out = normalize.realize([56, 40, 3]).numpy()
    assert np.allclose(out, image[:3], atol=1e-4)
