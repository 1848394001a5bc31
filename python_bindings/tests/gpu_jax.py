"""Functions of JAX on a GPU: checks them, and prints what a call costs.

usage: gpu_jax.py, on a machine with a GPU of CUDA's, JAX with its plugin for CUDA, and the package tessera
"""
import os
import statistics
import sys
import time
import traceback

# JAX would take most of the memory, and pipelines have temporaries of their own.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

import tessera as ts
import tessera.jax

x, y, xi, yi = ts.vars("x y xi yi")
GUARD = ts.TailStrategy.GuardWithIf
CHECKS = []
GPU, CPU = jax.devices()[0], jax.devices("cpu")[0]


def check(function):
    CHECKS.append(function)
    return function


def image(name="image"):
    return ts.ImageParam(ts.Float(32), 2, name)


def scheduled(f, target):
    if target.has_gpu_feature():
        f.gpu_tile(x, y, xi, yi, 32, 8, GUARD)
    return f


def leaky(**more):
    """max(image, slope * image), with its gradient."""
    def forward(target):
        im, slope, f = image(), ts.Param(ts.Float(32), "slope"), ts.Func("leaky")
        f[x, y] = ts.select(im[x, y] > 0, im[x, y], im[x, y] * slope)
        return scheduled(f, target), [im, slope]

    def backward(target):
        im, above, slope, f = image(), image("above"), ts.Param(ts.Float(32), "slope"), ts.Func("leaky_gradient")
        f[x, y] = ts.select(im[x, y] > 0, above[x, y], above[x, y] * slope)
        return scheduled(f, target), [im, above, slope]

    return ts.jax.op(forward, backward=backward, **more)


def wanted(a, slope=0.25):
    return jnp.where(a > 0, a, a * slope)


def scale():
    """image * k, without a gradient."""
    def build(target):
        im, k, f = image(), ts.Param(ts.Float(32), "k"), ts.Func("scaled")
        f[x, y] = im[x, y] * k
        return scheduled(f, target), [im, k]

    return ts.jax.op(build)


def blur():
    """Two kernels, of which the first has memory of its own on the GPU."""
    def build(target):
        im, first, second = image(), ts.Func("first"), ts.Func("second")
        b = ts.BoundaryConditions.repeat_edge(im)
        first[x, y] = b[x - 1, y] + b[x, y] + b[x + 1, y]
        second[x, y] = first[x, y - 1] + first[x, y] + first[x, y + 1]
        scheduled(first, target).compute_root()
        return scheduled(second, target), [im]

    return ts.jax.op(build)


def blurred(a):
    p = jnp.pad(a, 1, mode="edge")
    rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
    return rows[:-2] + rows[1:-1] + rows[2:]


def random(*shape):
    return jnp.asarray(np.random.default_rng(0).normal(size=shape), jnp.float32)


@check
def arrays_go_in_and_out_where_they_are():
    op, a = leaky(), random(480, 640)
    out = op(a, 0.25)
    assert out.devices() == {GPU} and jnp.array_equal(out, wanted(a))
    on_cpu = jax.device_put(a, CPU)
    out = op(on_cpu, 0.25)
    assert out.devices() == {CPU} and np.array_equal(out, wanted(a))


@check
def jit_calls_it_on_the_gpu():
    op = leaky()
    f = jax.jit(lambda a: op(a * 2, 0.25) + 1)
    for n in (480, 64):
        a = random(n, 640)
        f(a)
        with jax.transfer_guard("disallow"):
            out = f(a)
        assert out.devices() == {GPU} and jnp.allclose(out, wanted(2 * a) + 1)
    assert "tessera_pipeline" in f.lower(a).as_text()


@check
def jit_on_the_cpu_has_that_pipeline():
    op, a = leaky(), jax.device_put(random(48, 64), CPU)
    assert np.allclose(jax.jit(lambda a: op(a, 0.25))(a), wanted(np.asarray(a)))


@check
def work_is_in_the_order_of_the_stream():
    """Each call of a long chain reads what the one before has written."""
    op = scale()
    two = jax.jit(lambda a: op(op(a, 2.0) + 1, 0.5))
    a = random(1024, 1024)
    b, c = a, a
    for _ in range(50):
        b, c = two(b), c + 0.5
    assert jnp.allclose(b, c, atol=1e-3)

    def product(a):
        return jnp.tanh(a @ a.T / 32)

    loop = jax.jit(lambda a: jax.lax.fori_loop(0, 6, lambda i, a: op(product(a), 1.0), a))
    same = jax.jit(lambda a: jax.lax.fori_loop(0, 6, lambda i, a: product(a), a))
    assert jnp.allclose(loop(a), same(a), atol=1e-2)


@check
def temporaries_do_not_make_it_wait():
    op, long = blur(), jax.jit(lambda a: jax.lax.fori_loop(0, 60, lambda i, b: b @ b / 8192, a))
    a, b = random(1024, 1024), random(8192, 8192)
    f = jax.jit(lambda a, b: op(a + b[0, 0]))
    f(a, b).block_until_ready(), long(b).block_until_ready()
    begin = time.perf_counter()
    end = long(b)
    out = f(a, end)
    returned = time.perf_counter() - begin
    assert not out.is_ready()
    end.block_until_ready()
    took = time.perf_counter() - begin
    assert returned < took / 2, f"the call has returned after {1e3 * returned:.1f} of {1e3 * took:.1f} ms"
    assert jnp.allclose(f(a, 0 * b), blurred(a), atol=1e-4)


@check
def gradients():
    op, a = leaky(), random(60, 70)
    for grad in (jax.grad(lambda a: (op(a, 0.25) ** 2).sum()), jax.jit(jax.grad(lambda a: (op(a, 0.25) ** 2).sum()))):
        assert jnp.allclose(grad(a), jax.grad(lambda a: (wanted(a) ** 2).sum())(a))


@check
def batches():
    op, k, a = leaky(), scale(), random(5, 6, 70, 64)
    for f in (jax.vmap(jax.vmap(lambda each: op(each, 0.25))), jax.jit(jax.vmap(jax.vmap(lambda each: op(each, 0.25))))):
        assert jnp.allclose(f(a), wanted(a))
    numbers = jnp.arange(6.)
    assert jnp.allclose(jax.jit(jax.vmap(k, in_axes=(None, 0)))(a[0, 0], numbers), a[0, 0] * numbers[:, None, None])


@check
def numbers_that_are_traced():
    op, a = scale(), random(60, 70)
    assert jnp.allclose(jax.jit(op)(a, 3), 3 * a) and jnp.allclose(jax.jit(lambda a: op(a, a[0, 0]))(a), a * a[0, 0])


def raises(kind, call, *texts):
    try:
        jax.block_until_ready(call())
    except kind as e:
        assert all(text in str(e) for text in texts), e
    else:
        raise AssertionError("it ran")


@check
def a_pipeline_for_the_cpu_is_refused():
    im, f = image(), ts.Func("plain")
    f[x, y] = im[x, y] + 1
    a = random(8, 8)
    alone = ts.jax.op({"cpu": f.compile_to_callable([im])}, shape=0)
    says = "plain: its pipeline is for cpu, and its arrays are on a GPU", "jax.device_put(array, jax.devices(\"cpu\")[0])"
    raises(TypeError, lambda: alone(a), *says)
    raises(Exception, lambda: jax.jit(alone)(a), *says)
    unscheduled = ts.jax.op(f, [im])
    for call in (unscheduled, jax.jit(unscheduled)):
        raises(Exception, lambda: call(a), "has no loops for a GPU", "gpu_tile")
    assert (alone(jax.device_put(a, CPU)) == np.asarray(a) + 1).all()


@check
def what_fails_in_jit_is_said():
    im, f = image(), ts.Func("shifted")
    f[x, y] = im[x + 1, y]
    f.gpu_tile(x, y, xi, yi, 32, 8, GUARD)
    op = ts.jax.op(f, [im], shape=0, targets={"cuda": "host-cuda"})
    raises(Exception, lambda: jax.jit(op)(random(8, 8)), "shifted, made at gpu_jax.py", "image")


def microseconds(call, number=300, rounds=11):
    """Returns the median time of a call on the host, while the GPU has less to do than the host."""
    times = []
    for _ in range(rounds):
        jax.block_until_ready(call())
        begin = time.perf_counter()
        for _ in range(number):
            last = call()
        times.append((time.perf_counter() - begin) / number)
        jax.block_until_ready(last)
    return 1e6 * statistics.median(times)


def times():
    op, two, a = leaky(), blur(), random(32, 32)
    ours, theirs = jax.jit(lambda a: op(a, 0.25)), jax.jit(wanted)
    loop = jax.jit(lambda a: jax.lax.fori_loop(0, 100, lambda i, a: op(a, 0.25), a))
    loop_of_theirs = jax.jit(lambda a: jax.lax.fori_loop(0, 100, lambda i, a: wanted(a), a))
    blurs = jax.jit(two)
    rows = {"jit of a pipeline": lambda: ours(a), "jit of jnp.where": lambda: theirs(a),
            "jit of two kernels with a temporary": lambda: blurs(a), "a pipeline outside of jit": lambda: op(a, 0.25),
            "jnp.where outside of jit": lambda: wanted(a)}
    print(f"\n{'32 x 32, on the host':46} {'us':>8}")
    for name, call in rows.items():
        print(f"{name:46} {microseconds(call):8.2f}")
    for name, call in (("a pipeline in a loop of jit", loop), ("jnp.where in a loop of jit", loop_of_theirs)):
        print(f"{name + ', until done':46} {microseconds(lambda: call(a).block_until_ready(), 10) / 100:8.2f}")


def main():
    print(jax.__version__, GPU)
    failed = 0
    for function in CHECKS:
        try:
            function()
            print(f"passed  {function.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {function.__name__}", flush=True)
            traceback.print_exc()
    times()
    print(f"\n{len(CHECKS) - failed} of {len(CHECKS)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
