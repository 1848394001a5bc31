"""Pipelines as operators of PyTorch, on the CPU; gpu_torch.py has what needs a GPU."""
import inspect
import subprocess
import sys

import pytest

import tessera as ts

x, y = ts.vars("x y")


def test_pytorch_is_imported_only_when_asked_for():
    code = "import sys, tessera; print('torch' in sys.modules, 'jax' in sys.modules, 'tessera.torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.split() == ["False"] * 3, ran.stderr


def test_a_module_is_found_when_it_is_asked_for():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    code = "import sys, tessera as ts; print('torch' in sys.modules, ts.torch.op.__name__, 'torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.split() == ["False", "op", "True"], ran.stderr


def test_what_is_said_without_pytorch():
    code = "import sys; sys.modules['torch'] = None\nimport tessera\ntry: import tessera.torch\nexcept ImportError as e: print(e)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "tessera.torch needs PyTorch 2.4 or later, which is not installed here: pip install torch\n", ran.stderr


torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import tessera.torch  # noqa: E402


def image(type_=ts.Float(32), name="image", dimensions=2):
    return ts.ImageParam(type_, dimensions, name)


def leaky(type_=ts.Float(32), **more):
    """max(image, slope * image), with its gradient."""
    im, upstream, slope = image(type_), image(type_, "upstream"), ts.Param(type_, "slope")
    forward, backward = ts.funcs("leaky leaky_gradient")
    forward[x, y] = ts.select(im[x, y] > 0, im[x, y], im[x, y] * slope)
    backward[x, y] = ts.select(im[x, y] > 0, upstream[x, y], upstream[x, y] * slope)
    return ts.torch.op(forward, [im, slope], backward=(backward, [im, upstream, slope]), **more)


def row_sums():
    im, f = image(), ts.Func("row_sums")
    r = ts.RDom([(0, im.width())])
    f[y] = ts.f32(0)
    f[y] += im[r, y]
    return ts.torch.op(f, [im], shape=lambda im: (im.shape[0],))


def test_the_schema_is_that_of_the_arguments():
    im, n, s, b = image(), ts.Param(ts.Int(16), "n"), ts.Param(ts.Float(64), "s"), ts.Param(ts.Bool(), "from")
    f = ts.Func("many")
    f[x, y] = (im[x, y] * ts.f32(s), ts.select(b, n, ts.i16(0)))
    op = ts.torch.op(f, [im, n, s, b], shape="image")
    assert op.schema == "(Tensor image, int n, float s, bool from_) -> (Tensor, Tensor)"
    assert op.name == "tessera::many" and ts.torch.ops()["tessera::many"] is op
    assert repr(op) == "<Op tessera::many(Tensor image, int n, float s, bool from_) -> (Tensor, Tensor)>"
    a = torch.arange(6.).reshape(2, 3)
    scaled, numbers = op(a, 7, s=0.5, from_=True)
    assert torch.equal(scaled, a * 0.5) and numbers.dtype == torch.int16 and (numbers == 7).all() and numbers.shape == (2, 3)
    assert torch.equal(torch.ops.tessera.many(a, 7, 0.5, False)[0], scaled)


@pytest.mark.parametrize("type_, dtype", [(ts.UInt(8), "uint8"), (ts.Int(64), "int64"), (ts.Float(16), "float16"),
                                          (ts.Bool(), "bool"),
                                          (ts.BFloat(16), "bfloat16"), (ts.Float8E4M3(), "float8_e4m3fn"),
                                          (ts.Float8E5M2(), "float8_e5m2"), (ts.Float(64), "float64")])
def test_types_of_elements(type_, dtype):
    im, f = image(type_), ts.Func("copy")
    f[x, y] = im[x, y]
    a = torch.tensor([[1, 0, 1], [0, 0, 1]]).to(getattr(torch, dtype))
    out = ts.torch.op(f, [im])(a)
    assert out.dtype == a.dtype and torch.equal(out.to(torch.float64), a.to(torch.float64))
    assert out.data_ptr() != a.data_ptr()


def test_any_strides():
    op = leaky()
    a = torch.randn(4, 6)
    for each in (a.T, a[:, ::2], a[::2], a[:1].expand(3, 6), a[0, 0].expand(2, 2)):
        assert torch.equal(op(each, 0.5), torch.nn.functional.leaky_relu(each, 0.5))


def test_strides_that_are_not_to_be_copied():
    im, f = image(), ts.Func("strided")
    im.dim(0).set_stride(ts.Expr())
    f[x, y] = im[x, y] * 2
    a = torch.randn(4, 6)
    assert torch.equal(ts.torch.op(f, [im], copy_strided=False)(a.T), a.T * 2)
    im2, g = image(), ts.Func("dense")
    g[x, y] = im2[x, y] * 2
    with pytest.raises(ts.RunError, match="image"):
        ts.torch.op(g, [im2], copy_strided=False)(a.T)


def test_tensors_without_elements():
    assert leaky()(torch.zeros(0, 5), 0.5).shape == (0, 5)


# ---- Shapes ----

def test_shapes_that_the_pipeline_says():
    def shape(define, dimensions=2, *more):
        im, f = image(dimensions=dimensions), ts.Func("f")
        inputs = [im, *more]
        define(f, *inputs)
        return lambda *args: tuple(ts.torch.op(f, inputs)(*args).shape)

    def plain(f, im):
        f[x, y] = im[x, y] + im[x, y + 2]

    def clamped(f, im):
        b = ts.BoundaryConditions.repeat_edge(im)
        f[x, y] = b[x - 1, y] + b[x + 2, y]

    def half(f, im):
        f[x, y] = im[2 * x, y] + im[2 * x + 1, y]

    def twice(f, im):
        f[x, y] = im[x / 2, y]

    def turned(f, im):
        f[x, y] = im[y, x]

    def product(f, im, other):
        r = ts.RDom([(0, im.width())])
        f[x, y] = ts.f32(0)
        f[x, y] += im[r, y] * other[x, r]

    a = torch.ones(40, 30)
    assert [shape(d)(a) for d in (plain, clamped, half, twice, turned)] == [(38, 30), (40, 30), (40, 15), (40, 60), (30, 40)]
    assert shape(product, 2, image(name="other"))(a, torch.ones(30, 7)) == (40, 7)


@pytest.mark.parametrize("define, text", [
    (lambda f, im, n: f.__setitem__((x, y), im[x - 1, y]), "input image is read at -1, and an array begins at 0"),
    (lambda f, im, n: f.__setitem__((x, y), im[x + n, y]), "it depends on numbers"),
    (lambda f, im, n: f.__setitem__((x, y), im[0, y]), "no input's extent goes with that of axis 1 of the output"),
])
def test_shapes_that_it_does_not_say(define, text):
    im, n, f = image(), ts.Param(ts.Int(32), "n"), ts.Func("f")
    define(f, im, n)
    with pytest.raises(ValueError, match=text + ".*pass shape=, such as shape=lambda"):
        ts.torch.op(f, [im, n])(torch.ones(4, 4), 1)


def test_shapes_by_a_function():
    im, n, f = image(), ts.Param(ts.Int(32), "n"), ts.Func("f")
    f[x, y] = im[x + n, y]
    a = torch.arange(12.).reshape(3, 4)
    assert torch.equal(ts.torch.op(f, [im, n], shape=lambda im, n: (im.shape[0], im.shape[1] - n))(a, 1), a[:, 1:])
    assert ts.torch.op(f, [im, n], shape=(2, 2))(a, 1).shape == (2, 2)
    with pytest.raises(ValueError, match=r"op: shape: \(1,\) for output f, which has 2 dimensions"):
        ts.torch.op(f, [im, n], shape=lambda im, n: (1,))(a, 1)
    with pytest.raises(TypeError, match=r"argument 0 \(image\): a tensor of shape \(3,\); wanted 2 dimensions of float32"):
        ts.torch.op(f, [im, n], shape=lambda im, n: (im.shape[0], im.shape[1] - n))(a[:, 0], 1)


# ---- What PyTorch does with operators ----

@pytest.mark.parametrize("op, args", [
    (leaky(), (torch.randn(3, 5, requires_grad=True), 0.25)), (leaky(), (torch.randn(3, 5).T, 0.25)),
    (row_sums(), (torch.randn(3, 5),)),
], ids=["gradient", "strided", "rows"])
def test_opcheck(op, args):
    found = torch.library.opcheck(op.overload, args)
    assert set(found.values()) == {"SUCCESS"} and len(found) >= 4


def test_compile_without_a_break():
    op, rows = leaky(), row_sums()

    @torch.compile(fullgraph=True, backend="aot_eager")
    def f(a):
        return rows(op(a * 2, 0.25) + 1)

    for n in (3, 4, 5):
        a = torch.randn(n, 6, requires_grad=True)
        wanted = (torch.nn.functional.leaky_relu(2 * a, 0.25) + 1).sum(1)
        assert torch.allclose(f(a.detach()), wanted)

    @torch.compile(fullgraph=True, backend="aot_eager", dynamic=True)
    def g(a):
        return (op(a, 0.25) ** 2).sum()

    for n in (3, 4):
        a, b = (torch.randn(n, 6).requires_grad_() for _ in range(2))
        b = a.detach().clone().requires_grad_()
        g(a).backward()
        (torch.nn.functional.leaky_relu(b, 0.25) ** 2).sum().backward()
        assert torch.allclose(a.grad, b.grad)


def test_gradients():
    op = leaky(ts.Float(64))
    a = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: op(a, 0.25), (a,))
    b = a.detach().clone().requires_grad_()
    op(a, 0.25).sum().backward()
    torch.nn.functional.leaky_relu(b, 0.25).sum().backward()
    assert torch.equal(a.grad, b.grad)


def test_gradients_of_several_inputs_and_by_the_result():
    a, b, g = (image(ts.Float(64), name) for name in "abg")
    product, gradient = ts.funcs("product gradient")
    product[x, y] = ts.exp(a[x, y] * b[x, y])
    out = image(ts.Float(64), "product")
    gradient[x, y] = (g[x, y] * out[x, y] * b[x, y], g[x, y] * out[x, y] * a[x, y])
    op = ts.torch.op(product, [a, b], shape="a", backward=(gradient, [a, b, out, g]))
    tensors = [torch.randn(3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(op, tensors)


def test_a_second_derivative_is_refused():
    op = leaky()
    a = torch.randn(4, 5, requires_grad=True)
    (first,) = torch.autograd.grad((op(a, 0.25) ** 2).sum(), a, create_graph=True)
    refused = rf"{op.name} is differentiated twice: its pipeline backward= gives first derivatives only"
    with pytest.raises(RuntimeError, match=refused):
        first.sum().backward()


def test_without_backward_there_is_no_gradient():
    with pytest.raises(RuntimeError, match=r"row_sums_\d+ has no gradient: op\(\) makes one of the pipeline that backward="):
        row_sums()(torch.ones(2, 3, requires_grad=True)).sum().backward()


def test_in_place():
    im, f = image(), ts.Func("doubled")
    f[x, y] = im[x, y] * 2
    op = ts.torch.op(f, [im], in_place=True)
    assert op.schema == "(Tensor image, Tensor(a0!) doubled) -> ()"
    a, out = torch.randn(3, 4), torch.zeros(3, 4)
    before = out._version
    assert op(a, out) is None
    assert torch.equal(out, a * 2) and out._version == before + 1
    found = torch.library.opcheck(op.overload, (a, out))
    assert set(found.values()) == {"SUCCESS"}

    @torch.compile(fullgraph=True, backend="aot_eager")
    def f(a):
        out = torch.empty_like(a)
        op(a, out)
        return out + 1

    assert torch.equal(f(a), a * 2 + 1)


# ---- Forms ----

def test_a_function_builds_a_pipeline_for_each_target():
    targets = []

    def build(target):
        targets.append(target.has_gpu_feature())
        im, f = image(), ts.Func("built")
        f[x, y] = im[x, y] + 1
        if target.has_gpu_feature():
            f.gpu_tile(x, y, ts.Var("xi"), ts.Var("yi"), 8, 8)
        return f, [im]

    op = ts.torch.op(build, name="mine::built")
    assert targets == [False, True] and op.name == "mine::built"
    assert (torch.ops.mine.built(torch.zeros(9, 9)) == 1).all()


def test_callables_and_pipelines():
    im, f, g = image(), ts.Func("one"), ts.Func("two")
    f[x, y], g[x, y] = im[x, y] + 1, im[x, y] + 2
    a = torch.zeros(2, 3)
    assert (ts.torch.op(f.compile_to_callable([im]), shape=0)(a) == 1).all()
    assert (ts.torch.op({"cpu": f.compile_to_callable([im])}, shape=0)(a) == 1).all()
    one, two = ts.torch.op(ts.Pipeline([f, g]), [im])(a)
    assert (one == 1).all() and (two == 2).all()


def test_names_are_unique():
    names = [leaky().name for _ in range(3)]
    assert len(set(names)) == 3 and all(name.startswith("tessera::leaky_") for name in names)
    leaky(name="taken")
    with pytest.raises(ValueError, match=r"op: there is an operator tessera::taken already, made at test_torch.py:\d+: names are "
                                         "for the whole process"):
        leaky(name="taken")
    with pytest.raises(ValueError, match="op: name: 'a b'; wanted an identifier"):
        leaky(name="a b")


@pytest.mark.parametrize("make, kind, text", [
    (lambda f, im: ts.torch.op(f), TypeError, r"op: argument 1 \(inputs\): None; wanted the inputs of the Func"),
    (lambda f, im: ts.torch.op(f, [1]), TypeError, "op: item 0 of the inputs: a int; wanted an ImageParam or a Param"),
    (lambda f, im: ts.torch.op(3, [im]), TypeError, r"op: argument 0 \(pipeline\): a int; wanted a Func or a Pipeline"),
    (lambda f, im: ts.torch.op(f, []), TypeError, "op: no input is a tensor"),
    (lambda f, im: ts.torch.op(f, [im], shape="imag"), ValueError, "op: shape: no input is called 'imag'; the inputs are: image"),
    (lambda f, im: ts.torch.op(f, [im], shape=1), ValueError, "op: shape: there is no input 1; there are 1"),
    (lambda f, im: ts.torch.op(f, [im], targets={"gpu": "host"}), ValueError, "no device is called 'gpu'"),
    (lambda f, im: ts.torch.op(f, [im], in_place=True, shape=0), ValueError, "op: in_place: the caller's tensors have the shape"),
    (lambda f, im: ts.torch.op(f, [im], gradients=["image"]), ValueError, "op: gradients: there is no backward="),
    (lambda f, im: ts.torch.op(f, [im], backward=(f, [im]), gradients=["k"]), ValueError,
     "op: gradients: 'k' is no input of floats"),
    (lambda f, im: ts.torch.op(f, [im], backward=(f, [im, ts.Param(ts.Int(32), "k")])), ValueError,
     "op: backward takes k, which is neither"),
    (lambda f, im: ts.torch.op(lambda target: f), TypeError, "the function that builds the pipeline returned a Func"),
])
def test_what_does_not_fit_is_said(make, kind, text):
    im, f = image(), ts.Func("f")
    f[x, y] = im[x, y]
    before = set(ts.torch.ops())
    with pytest.raises(kind, match=text):
        make(f, im)
    assert set(ts.torch.ops()) == before


def test_failures_have_the_users_line():
    im, f = image(), ts.Func("f")
    f[x, y] = im[x + 1, y]
    op = ts.torch.op(f, [im], shape=0)
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(ts.RunError, match=rf"^test_torch.py:{line}: .*image|test_torch.py:{line}: .*image") as failed:
        op(torch.zeros(3, 4))
    assert failed.value.lineno == line and failed.value.filename == __file__
    with pytest.raises(TypeError, match="argument 0 .image.: an array of shape .3, 4. int32.*; wanted 2 dimensions of float32"):
        op(torch.zeros(3, 4, dtype=torch.int32))


def test_nothing_is_said_at_the_end_of_a_process():
    code = ("import torch, tessera as ts, tessera.torch\n"
            "x, im, f = ts.Var('x'), ts.ImageParam(ts.Float(32), 1, 'im'), ts.Func('f')\n"
            "f[x] = im[x] + im[x + 1]\nop = ts.torch.op(f, [im], shape=0)\n"
            "try: op(torch.ones(3))\nexcept ts.RunError as e: print(e.filename, e.lineno)")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "<string> 5\n" and "leak" not in ran.stderr, ran.stdout + ran.stderr


def test_a_batch_by_vmap():
    op = leaky()
    a = torch.randn(3, 4, 5)
    assert torch.equal(torch.vmap(lambda each: op(each, 0.5))(a), torch.nn.functional.leaky_relu(a, 0.5))
