"""Pipelines as functions of JAX."""
import inspect
import subprocess
import sys

import numpy as np
import pytest

import tessera as ts

x, y = ts.vars("x y")


def test_what_is_said_without_jax():
    code = "import sys; sys.modules['jax'] = None\nimport tessera\ntry: import tessera.jax\nexcept ImportError as e: print(e)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "tessera.jax needs JAX 0.5 or later, which is not installed here: pip install jax\n", ran.stderr


jax = pytest.importorskip("jax", reason="JAX is not installed")
import jax.numpy as jnp  # noqa: E402

import tessera.jax  # noqa: E402


def image(name="image", type_=ts.Float(32)):
    return ts.ImageParam(type_, 2, name)


def leaky(**more):
    im, upstream, slope = image(), image("upstream"), ts.Param(ts.Float(32), "slope")
    forward, backward = ts.funcs("leaky leaky_gradient")
    forward[x, y] = ts.select(im[x, y] > 0, im[x, y], im[x, y] * slope)
    backward[x, y] = ts.select(im[x, y] > 0, upstream[x, y], upstream[x, y] * slope)
    return ts.jax.op(forward, [im, slope], backward=(backward, [im, upstream, slope]), **more)


def wanted(a, slope=0.25):
    return jnp.where(a > 0, a, a * slope)


VALUES = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def test_arrays_go_in_and_out():
    op, a = leaky(), jnp.asarray(VALUES)
    assert repr(op) == "<Op leaky(image, slope) -> (leaky)>"
    out = op(a, 0.25)
    assert isinstance(out, jax.Array) and out.dtype == jnp.float32 and (out == wanted(a)).all()
    assert (op(image=VALUES, slope=np.float32(0.25)) == wanted(a)).all()
    assert (op(a.T, 0.25) == wanted(a.T)).all()


def test_results_are_not_copied():
    im, f = image(), ts.Func("f")
    f[x, y] = im[x, y] + 1
    op = ts.jax.op(f, [im])
    seen = []
    real = op._compute
    op._compute = lambda device, given, outputs: (real(device, given, outputs), seen.append(
        (given[0].unsafe_buffer_pointer(), outputs[0].__array_interface__["data"][0])))
    a = jnp.zeros((64, 64))
    out = op(a)
    assert seen == [(a.unsafe_buffer_pointer(), out.unsafe_buffer_pointer())] and (out == 1).all()


def test_several_results_and_types():
    im, f = image("im", ts.UInt(8)), ts.Func("f")
    f[x, y] = (im[x, y] + ts.u8(1), im[x, y] > 1)
    op, a = ts.jax.op(f, [im]), jnp.arange(4, dtype=jnp.uint8).reshape(2, 2)
    for run in (op, jax.jit(op)):
        more, large = run(a)
        assert (more == a + 1).all() and large.dtype == bool and (large == (a > 1)).all()


def test_in_jit():
    op = leaky()
    f = jax.jit(lambda a: op(a * 2, 0.25) + 1)
    for n in (3, 5):
        a = jnp.ones((n, 4)) - 2
        assert jnp.allclose(f(a), wanted(2 * a) + 1)


def test_in_jit_with_a_traced_number():
    im, k, f = image(), ts.Param(ts.Float(32), "k"), ts.Func("f")
    f[x, y] = im[x, y] * k
    op = ts.jax.op(f, [im, k])
    assert (jax.jit(op)(VALUES, 3) == 3 * VALUES).all()


def test_gradients():
    op, a = leaky(), jnp.asarray(VALUES)
    for grad in (jax.grad(lambda a: (op(a, 0.25) ** 2).sum()), jax.jit(jax.grad(lambda a: (op(a, 0.25) ** 2).sum()))):
        assert jnp.allclose(grad(a), jax.grad(lambda a: (wanted(a) ** 2).sum())(a))
    with pytest.raises(TypeError, match=r"leaky: argument 1 \(slope\): a number that is traced"):
        jax.jit(jax.grad(lambda a, slope: op(a, slope).sum()))(a, 0.5)


def test_gradients_of_two_arrays_by_the_result():
    a, b, g, out = (image(name) for name in ("a", "b", "g", "product"))
    product, gradient = ts.funcs("product gradient")
    product[x, y] = ts.exp(a[x, y] * b[x, y])
    gradient[x, y] = (g[x, y] * out[x, y] * b[x, y], g[x, y] * out[x, y] * a[x, y])
    op = ts.jax.op(product, [a, b], shape="a", backward=(gradient, [a, b, out, g]))
    arrays = jnp.asarray(VALUES), jnp.asarray(VALUES[::-1])
    ours = jax.grad(lambda a, b: op(a, b).sum(), argnums=(0, 1))(*arrays)
    theirs = jax.grad(lambda a, b: jnp.exp(a * b).sum(), argnums=(0, 1))(*arrays)
    assert all(jnp.allclose(one, two, rtol=1e-4) for one, two in zip(ours, theirs))


def test_vmap():
    op, a = leaky(), jnp.asarray(np.stack([VALUES, 2 * VALUES]))
    assert jnp.allclose(jax.vmap(lambda each: op(each, 0.25))(a), wanted(a))


def test_batches_in_jit():
    op, a = leaky(), jnp.asarray(np.stack([VALUES, 2 * VALUES]))
    assert (jax.jit(jax.vmap(lambda each: op(each, 0.25)))(a) == wanted(a)).all()
    gradient = jax.vmap(jax.jit(jax.grad(lambda each: op(each, 0.25).sum())))
    assert (gradient(a) == jax.grad(lambda a: wanted(a).sum())(a)).all()
    im, k, f = image(), ts.Param(ts.Float(32), "k"), ts.Func("scaled")
    f[x, y] = im[x, y] * k
    scaled, numbers = ts.jax.op(f, [im, k]), jnp.arange(2.)
    assert (jax.vmap(jax.vmap(scaled, (None, 0)), (0, None))(a, numbers) == a[:, None] * numbers[:, None, None]).all()


def test_the_program_of_xla_calls_it_on_its_own_memory():
    op, a = leaky(), jnp.asarray(VALUES)
    text = jax.jit(lambda a: op(a, 0.25)).lower(a).as_text()
    assert "tessera_pipeline" in text and "callback" not in text


@pytest.mark.parametrize("type_, dtype", [(ts.BFloat(16), jnp.bfloat16), (ts.Float8E4M3(), jnp.float8_e4m3fn),
                                          (ts.Float8E5M2(), jnp.float8_e5m2)])
def test_floats_of_ml_dtypes_and_arrays_without_elements(type_, dtype):
    im, f = image("im", type_), ts.Func("f")
    f[x, y] = im[x, y]
    op, a = ts.jax.op(f, [im]), jnp.asarray(VALUES, dtype)
    for run in (op, jax.jit(op)):
        assert run(a).dtype == dtype and (run(a) == a).all() and run(a[:0]).shape == (0, 4)


def test_numbers_that_do_not_fit():
    im, n, f = image(), ts.Param(ts.Int(8), "n"), ts.Func("f")
    f[x, y] = im[x, y] + n
    op = ts.jax.op(f, [im, n])
    assert (jax.jit(lambda a: op(a, 3))(VALUES) == VALUES + 3).all()
    with pytest.raises(TypeError, match=r"f: argument 1 \(n\): 2.5 is no int8"):
        jax.jit(lambda a: op(a, 2.5))(VALUES)


def test_handlers_of_the_pipeline_are_called():
    im, f = image(), ts.Func("f")
    f[x, y] = ts.print(im[x, y], "seen")
    call, seen = f.compile_to_callable([im]), []
    call.on_print(seen.append)
    assert (jax.jit(ts.jax.op(call, shape=0))(VALUES) == VALUES).all() and len(seen) == VALUES.size


def test_a_pipeline_for_another_device_is_refused(monkeypatch):
    im, f = image(), ts.Func("plain")
    f[x, y] = im[x, y] + 1
    for_gpu = ts.jax.op(f, [im], targets={"cuda": "host-cuda"}, shape=0)
    with pytest.raises(TypeError, match=r"plain: its pipeline is for cuda, and its arrays are on the CPU: give op\(\) one for "
                                        r"\"cpu\" as well, op\(\{\"cpu\": ..., \"cuda\": ...\}\), or move the arrays"):
        for_gpu(jnp.zeros((3, 4)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="plain: its pipeline is for cuda, and its arrays are on the CPU"):
        jax.jit(for_gpu)(jnp.zeros((3, 4))).block_until_ready()
    monkeypatch.setattr(tessera.jax, "_device_of", lambda array: "cuda")
    with pytest.raises(TypeError, match=r"plain: its pipeline is for cpu, and its arrays are on a GPU: .*"
                                        r"jax.device_put\(array, jax.devices\(\"cpu\"\)\[0\]\)"):
        ts.jax.op({"cpu": f.compile_to_callable([im])}, shape=0)(jnp.zeros((3, 4)))


def test_failures_in_jit_are_said():
    im, f = image(), ts.Func("shifted")
    f[x, y] = im[x + 1, y]
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"shifted, made at test_jax.py:\d+: .*image"):
        jax.jit(ts.jax.op(f, [im], shape=0))(jnp.zeros((3, 4))).block_until_ready()


def test_what_does_not_fit_is_said():
    op = leaky()
    refused = r"leaky: argument 0 \(image\): an array of shape \(3,\) int32; wanted 2 dimensions of float32"
    with pytest.raises(TypeError, match=refused):
        op(jnp.zeros(3, jnp.int32), 1.0)
    with pytest.raises(TypeError, match=r"leaky takes \(image, slope\): 1 arguments by position and \(\) by name do not fit"):
        op(VALUES)
    im, f = image(), ts.Func("f")
    f[x, y] = im[x + 1, y]
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(ts.RunError, match="image") as failed:
        ts.jax.op(f, [im], shape=0)(jnp.zeros((3, 4)))
    assert failed.value.lineno == line and failed.value.filename == __file__
