"""Checks and times arrays on a GPU; run by hand where there is one, with PyTorch, and CuPy and JAX where they are installed.

usage: python gpu_arrays.py
"""
import gc
import statistics
import sys
import time

import numpy as np
import torch

import tessera as ts

GPU = "host-cuda"
N = 1 << 20
x, xi = ts.vars("x xi")
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def doubled(type=ts.Float(32), n=N):
    im = ts.ImageParam(type, 1, "im")
    f = ts.Func("f")
    f[x] = im[x] * 2 if type != ts.BFloat(16) else ts.cast(type, ts.f32(im[x]) * 2)
    f.gpu_tile(x, xi, 256)
    im.dim(0).set_bounds(0, n)
    f.output_buffer().dim(0).set_bounds(0, n)
    return f.compile_to_callable([im], GPU)


def tensors(dtype=torch.float32, n=N):
    return torch.arange(n, device="cuda").to(dtype), torch.zeros(n, device="cuda", dtype=dtype)


def slow():
    """Keeps the current stream busy for some ms."""
    torch.cuda._sleep(20_000_000)


@check
def torch_tensors_are_used_where_they_are():
    call, (a, out) = doubled(), tensors()
    addresses = a.data_ptr(), out.data_ptr()
    call(a, out)
    assert torch.equal(out, a * 2) and addresses == (a.data_ptr(), out.data_ptr())


@check
def work_is_ordered_on_the_current_stream():
    call, (a, out) = doubled(), tensors()
    call(a, out)
    for _ in range(5):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            a.fill_(0)
            slow()
            a.fill_(3)  # the kernel has to see this
            call(a, out)
            after = out.clone()  # and this what the kernel has written
            out.fill_(0)
        stream.synchronize()
        assert torch.all(after == 6)


@check
def a_stream_that_the_thread_has_set():
    call, (a, out) = doubled(), tensors()
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with ts.cuda_stream(stream):
        slow()
        a.fill_(4)  # on PyTorch's stream, for which ours waits
        call(a, out)
    stream.synchronize()
    assert torch.all(out == 8)


@check
def bfloat16_and_slices():
    call, (a, out) = doubled(ts.BFloat(16), 1000), tensors(torch.bfloat16, 2000)
    call(a[1000:], out[:1000])
    assert torch.equal(out[:1000], a[1000:] * 2) and torch.all(out[1000:] == 0)
    two = torch.arange(12, device="cuda", dtype=torch.float32).reshape(3, 4)
    b = ts.Buffer(two.t())
    assert b.shape == (4, 3) and np.array_equal(b.numpy(), two.t().cpu().numpy())


@check
def buffers_go_to_torch_and_come_back():
    a, _ = tensors()
    b = ts.Buffer(a)
    assert b.torch().data_ptr() == a.data_ptr() and b.__dlpack_device__() == (2, 0)
    own_in, own_out = ts.Buffer(ts.Float(32), [N]), ts.Buffer(ts.Float(32), [N])
    own_in.fill(3)
    call = doubled()
    call(own_in, own_out)
    t = own_out.torch()
    assert t.is_cuda and torch.all(t == 6)
    del own_out
    gc.collect()
    call(own_in, ts.Buffer(ts.Float(32), [N]))
    assert torch.all(t == 6)
    assert torch.equal(torch.from_dlpack(ts.Buffer(torch.ones(3))), torch.ones(3))


@check
def a_cuda_graph_captures_a_call():
    call, (a, out) = doubled(), tensors()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call(a, out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        call(a, out)
    a.fill_(5)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.all(out == 10)


@check
def the_cuda_array_interface():
    class OnlyInterface:
        def __init__(self, tensor):
            self.tensor = tensor
            self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    call, (a, out) = doubled(), tensors()
    call(OnlyInterface(a), OnlyInterface(out))
    torch.cuda.synchronize()
    assert torch.equal(out, a * 2)
    assert torch.as_tensor(OnlyInterface(ts.Buffer(a)), device="cuda").data_ptr() == a.data_ptr()


@check
def arrays_of_cupy():
    import cupy
    call = doubled()
    a, out = cupy.arange(N, dtype=cupy.float32), cupy.zeros(N, cupy.float32)
    call(a, out)
    assert bool((out == 2 * a).all())
    b = ts.Buffer(a)
    assert cupy.from_dlpack(b).data.ptr == a.data.ptr and cupy.asarray(b).data.ptr == a.data.ptr
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream, ts.cuda_stream(stream):
        a[:] = 7
        call(a, out)
        out += 1
    stream.synchronize()
    assert bool((out == 15).all())


@check
def arrays_of_jax():
    import jax.numpy as jnp
    a = jnp.arange(N, dtype=jnp.float32)
    out = torch.zeros(N, device="cuda")
    doubled()(a, out)
    assert np.array_equal(out.cpu().numpy(), 2 * np.asarray(a))


@check
def calls_leave_nothing():
    call, (a, out) = doubled(n=4096), tensors(n=4096)
    own = ts.Buffer(ts.Float(32), [4096])
    host = np.zeros(4096, np.float32)
    free = []
    for n in range(3000):
        call(a, out)
        call(a, own)
        call(host, host.copy())
        if n in (299, 2999):
            torch.cuda.synchronize()
            free.append(torch.cuda.mem_get_info()[0])
    assert free[0] - free[1] <= 4 << 20, free


def time_of(function, number=2000):
    """Returns the microseconds that the host needs for a call, with the GPU kept from being the limit."""
    times = []
    for _ in range(15):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(number // 15):
            function()
        times.append((time.perf_counter() - begin) / (number // 15) * 1e6)
    return statistics.median(times)


def print_times():
    n = 256
    call, (a, out) = doubled(n=n), tensors(n=n)
    own, own_out = ts.Buffer(a), ts.Buffer(out)
    on_device = ts.Buffer(ts.Float(32), [n]), ts.Buffer(ts.Float(32), [n])
    call(*on_device)
    print(f"{'us on the host, one small kernel':44}")
    for name, function in (("tensors of torch", lambda: call(a, out)), ("Buffers of tensors", lambda: call(own, own_out)),
                           ("own Buffers: the launch itself", lambda: call(*on_device)),
                           ("torch.mul(a, 2, out=out)", lambda: torch.mul(a, 2, out=out))):
        print(f"{name:44} {time_of(function):6.2f}")


def main():
    print(torch.cuda.get_device_name(), "torch", torch.__version__,
          "with the exchange table" if hasattr(torch.Tensor, "__dlpack_c_exchange_api__") else "without the exchange table")
    failed = 0
    for function in CHECKS:
        try:
            function()
            torch.cuda.synchronize()
            print("passed ", function.__name__)
        except ModuleNotFoundError as e:
            print("skipped", function.__name__, f"({e})")
        except Exception as e:
            failed += 1
            print("FAILED ", function.__name__, type(e).__name__, e)
    print_times()
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
