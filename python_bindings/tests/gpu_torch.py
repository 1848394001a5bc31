"""Operators of PyTorch on a GPU: checks them, and prints what a call costs beyond the launch itself.

usage: gpu_torch.py, on a machine with a GPU of CUDA's, PyTorch and the package tessera
"""
import statistics
import sys
import threading
import time
import traceback

import torch

import tessera as ts
import tessera.torch

x, y, xi, yi = ts.vars("x y xi yi")
GUARD = ts.TailStrategy.GuardWithIf
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def image(name="image", type_=ts.Float(32)):
    return ts.ImageParam(type_, 2, name)


def scheduled(f, target):
    if target.has_gpu_feature():
        f.gpu_tile(x, y, xi, yi, 32, 8, GUARD)
    return f


def leaky(type_=ts.Float(32), **more):
    """max(image, slope * image), with its gradient."""
    def forward(target):
        im, slope, f = image("image", type_), ts.Param(type_, "slope"), ts.Func("leaky")
        f[x, y] = ts.select(im[x, y] > 0, im[x, y], im[x, y] * slope)
        return scheduled(f, target), [im, slope]

    def backward(target):
        im, above, slope, f = image("image", type_), image("above", type_), ts.Param(type_, "slope"), ts.Func("leaky_gradient")
        f[x, y] = ts.select(im[x, y] > 0, above[x, y], above[x, y] * slope)
        return scheduled(f, target), [im, above, slope]

    return ts.torch.op(forward, backward=backward, **more)


def wanted(a, slope=0.25):
    return torch.nn.functional.leaky_relu(a, slope)


def blur(**more):
    """Two stages, of which the first has memory of its own on the GPU."""
    def build(target):
        im, first, second = image(), ts.Func("first"), ts.Func("second")
        b = ts.BoundaryConditions.repeat_edge(im)
        first[x, y] = b[x - 1, y] + b[x, y] + b[x + 1, y]
        second[x, y] = first[x, y - 1] + first[x, y] + first[x, y + 1]
        scheduled(first, target).compute_root()
        return scheduled(second, target), [im]

    return ts.torch.op(build, **more)


def blurred(a):
    padded = torch.nn.functional.pad(a[None, None], (1, 1, 1, 1), mode="replicate")
    return torch.nn.functional.avg_pool2d(padded, 3, stride=1)[0, 0] * 9


@check
def tensors_are_used_where_they_are():
    """The addresses that the Callable gets are those of the tensors."""
    op = leaky()
    a = torch.randn(480, 640, device="cuda")
    op(a, 0.25)
    torch.cuda.synchronize()
    seen = []
    kernel_call = op._program.callable("cuda")
    kernel = op._kernels["cuda"]
    kernel.call = lambda *args: (seen.append([t.data_ptr() for t in args if isinstance(t, torch.Tensor)]), kernel_call(*args))
    before = torch.cuda.memory_allocated()
    out = op(a, 0.25)
    kernel.call = kernel_call
    assert seen == [[a.data_ptr(), out.data_ptr()]]
    assert torch.cuda.memory_allocated() - before == out.numel() * 4
    assert out.is_cuda and torch.equal(out, wanted(a))


@check
def both_devices_have_their_pipeline():
    op = leaky()
    a = torch.randn(48, 64)
    assert torch.equal(op(a, 0.25), wanted(a)) and torch.equal(op(a.cuda(), 0.25).cpu(), wanted(a))
    assert torch.equal(op(a.cuda().T, 0.25).cpu(), wanted(a.T))


def busy(stream=None):
    """Keeps a stream busy for about 100 ms."""
    with torch.cuda.stream(stream or torch.cuda.current_stream()):
        torch.cuda._sleep(200_000_000)


def waits(call, stream):
    """Returns the ms that a call takes behind a long kernel on its stream, and whether it has waited for that."""
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        busy()
        end = torch.cuda.Event()
        end.record()
        begin = time.perf_counter()
        call()
        ms = 1e3 * (time.perf_counter() - begin)
        waited = end.query()
    torch.cuda.synchronize()
    return ms, waited


def without_waiting(stream, *calls):
    """Makes the calls behind a long kernel, and asserts that none waits for it. PyTorch loads its kernels when they are first
    launched, and a driver that loads code may wait for what runs: all have run before."""
    for call in calls:
        with torch.cuda.stream(stream):
            call()
        ms, waited = waits(call, stream)
        assert not waited, f"a call has waited for its stream, {ms:.1f} ms"


@check
def kernels_go_on_the_current_stream():
    """A long kernel is on the stream before; on another stream the pipeline would read what is not there yet."""
    op, two = leaky(), blur()
    a = torch.zeros(1024, 1024, device="cuda")
    side = torch.cuda.Stream()

    def work():
        a.fill_(-8)
        out, sums = op(a, 0.25), two(a)
        return out, sums, out + 1

    without_waiting(side, work)
    a.zero_()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        busy()
        out, sums, total = work()
    assert not side.query(), "the calls have waited for the stream"
    side.synchronize()
    assert (out == -2).all() and (total == -1).all() and (sums == -72).all()
    # Results are used by later work without a wait.
    for _ in range(20):
        with torch.cuda.stream(side):
            b = torch.full((512, 512), -4., device="cuda")
            c = op(op(b, 0.5), 0.5)
            assert (c == -1).all()


@check
def temporaries_are_freed_without_waiting():
    """On a new stream, on one that has run the pipeline, and on the default one after others have been used."""
    two = blur()
    a, large = (torch.randn(n, n, device="cuda") for n in (1024, 8192))
    two(a)
    for stream in (torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.default_stream()):
        without_waiting(stream, lambda: two(a), lambda: two(a), lambda: two(large))
        with torch.cuda.stream(stream):
            assert torch.allclose(two(a), blurred(a), atol=1e-3)


@check
def streams_and_threads_do_not_share_temporaries():
    two, wrong = blur(), []
    given = [torch.full((2048, 2048), float(i), device="cuda") for i in range(6)]
    two(given[0])
    torch.cuda.synchronize()

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream() if i else torch.cuda.default_stream()):
            outs = [two(given[i]) for _ in range(50)]
            wrong.extend(i for out in outs if not (out == 9 * i).all())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(given))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong


def capture(call, given):
    """Returns a graph of a call, and its result."""
    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        for _ in range(3):
            call(given)
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = call(given)
    return graph, out


@check
def a_graph_is_captured_and_replayed():
    one, two = leaky(), blur()
    for op, of in ((lambda t: one(t, 0.25), wanted), (two, blurred)):
        given = torch.randn(256, 256, device="cuda")
        graph, out = capture(op, given)
        for _ in range(3):
            new = torch.randn(256, 256, device="cuda")
            given.copy_(new)
            graph.replay()
            torch.cuda.synchronize()
            assert torch.allclose(out, of(new), atol=1e-4)


@check
def graphs_have_temporaries_of_their_own():
    """Two graphs are replayed at once, on two streams, while the pipeline runs on a third."""
    two = blur()
    given = [torch.full((1024, 1024), float(i), device="cuda") for i in (1, 2, 3)]
    (first, out_1), (second, out_2) = (capture(lambda t: two(two(t)), each) for each in given[:2])
    streams = [torch.cuda.Stream() for _ in range(3)]
    torch.cuda.synchronize()
    outs = []
    for _ in range(50):
        for graph, stream in zip((first, second), streams):
            with torch.cuda.stream(stream):
                graph.replay()
        with torch.cuda.stream(streams[2]):
            outs.append(two(given[2]))
    torch.cuda.synchronize()
    assert (out_1 == 81).all() and (out_2 == 162).all() and all((out == 27).all() for out in outs)
    before = torch.cuda.mem_get_info()[0]
    for _ in range(200):
        first.replay()
    torch.cuda.synchronize()
    assert torch.cuda.mem_get_info()[0] >= before - (64 << 20), "replays take memory"


@check
def shapes_of_bfloat16_are_found():
    def build(target):
        im, f = image("image", ts.BFloat(16)), ts.Func("halved")
        f[x, y] = ts.cast(ts.BFloat(16), ts.f32(im[x, y]) / 2)
        return scheduled(f, target), [im]

    a = torch.randn(40, 64, device="cuda", dtype=torch.bfloat16)
    assert torch.equal(ts.torch.op(build)(a), a / 2)


@check
def a_capture_before_the_first_call_is_refused():
    op, a = leaky(), torch.randn(64, 64, device="cuda")
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            op(a, 0.25)
    except RuntimeError as e:
        assert "is captured before it has run: call it once on this GPU" in str(e), e
    else:
        raise AssertionError("it was captured")
    torch.cuda.synchronize()
    assert torch.equal(op(a, 0.25), wanted(a))


@check
def torch_compile_takes_it_whole():
    op = leaky()
    for backend in ("aot_eager", "inductor"):
        f = torch.compile(lambda a: (op(a * 2, 0.25) + 1).sum(1), fullgraph=True, backend=backend)
        for n in (64, 96):
            a = torch.randn(n, 128, device="cuda")
            assert torch.allclose(f(a), (wanted(2 * a) + 1).sum(1), atol=1e-3), backend
    a = torch.randn(64, 128, device="cuda", requires_grad=True)
    torch.compile(lambda a: (op(a, 0.25) ** 2).sum(), fullgraph=True, backend="aot_eager")(a).backward()
    assert torch.allclose(a.grad, torch.autograd.grad((wanted(a) ** 2).sum(), a)[0])


@check
def opcheck_passes():
    for args in ((torch.randn(64, 96, device="cuda", requires_grad=True), 0.25), (torch.randn(64, 96, device="cuda").T, 0.5)):
        found = torch.library.opcheck(leaky().overload, args)
        assert set(found.values()) == {"SUCCESS"}, found


@check
def gradients_are_right():
    op = leaky(ts.Float(64))
    a = torch.randn(6, 7, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: op(a, 0.25), (a,))


@check
def outputs_of_the_callers_are_written_to():
    def build(target):
        im, f = image(), ts.Func("doubled")
        f[x, y] = im[x, y] * 2
        return scheduled(f, target), [im]

    op = ts.torch.op(build, in_place=True)
    a, out = torch.randn(64, 64, device="cuda"), torch.zeros(64, 64, device="cuda")
    op(a, out)
    assert torch.equal(out, 2 * a)


@check
def devices_are_not_mixed():
    im, other, f = image(), image("other"), ts.Func("f")
    f[x, y] = im[x, y] + other[x, y]
    f.gpu_tile(x, y, xi, yi, 32, 8, GUARD)
    try:
        ts.torch.op(f, [im, other], shape=0, targets={"cuda": "host-cuda"})(torch.zeros(8, 8, device="cuda"), torch.zeros(8, 8))
    except TypeError as e:
        assert "argument 1 (other): a tensor on cpu; wanted one on cuda:0" in str(e), e
    else:
        raise AssertionError("it ran")


# ---- What a call costs ----


def microseconds(call, number=400, rounds=15):
    """Returns the median time of a call on the host, while the GPU has less to do than the host."""
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(number):
            call()
        times.append((time.perf_counter() - begin) / number)
        torch.cuda.synchronize()
    return 1e6 * statistics.median(times)


def times():
    """Prints a table. The launch itself is that of the same kernel by the driver, from C, as a graph's or the runtime's
    launch is: what a call of the pipeline without Python costs (a Callable of tessera.Buffers on the GPU)."""
    import ctypes
    import ctypes.util

    op, plain = leaky(), blur()
    a, out = torch.randn(32, 32, device="cuda"), torch.empty(32, 32, device="cuda")
    with_gradient = a.clone().requires_grad_()
    op(a, 0.25)
    call = op._program.callable("cuda")
    own, own_out = ts.Buffer(a), ts.Buffer(out)
    # An operator that is written in Python and does nothing shows what PyTorch itself costs.
    library = torch.library.Library("floor", "FRAGMENT")
    library.define("nothing(Tensor a, float slope) -> Tensor")
    library.impl("nothing", lambda a, slope: out, "CUDA")
    nothing = torch.ops.floor.nothing.default
    rows = {
        "Callable of tensors": lambda: call(a, 0.25, out),
        "Callable of Buffers of the same memory": lambda: call(own, 0.25, own_out),
        "operator": lambda: op(a, 0.25),
        "operator, with a gradient": lambda: op(with_gradient, 0.25),
        "operator of two kernels with a temporary": lambda: plain(a),
        "operator of Python that does nothing": lambda: nothing(a, 0.25),
        "torch.nn.functional.leaky_relu": lambda: torch.nn.functional.leaky_relu(a, 0.25),
        "a.mul_(1), PyTorch's own launch": lambda: a.mul_(1),
        "a.new_empty": lambda: a.new_empty((32, 32)),
    }
    found = {}
    for name, row in rows.items():
        row()
        found[name] = microseconds(row)
    launch = empty_launch(ctypes)
    print(f"\n{'what':42} {'us':>7} {'beyond the launch':>18}")
    print(f"{'cuLaunchKernel of an empty kernel':42} {launch:7.2f}")
    for name, us in found.items():
        print(f"{name:42} {us:7.2f} {us - launch:18.2f}")


def who_waits():
    """Prints how long calls take behind a kernel of about 100 ms, when they are first made on a stream and later."""
    one, two = leaky(), blur()
    a = torch.randn(3000, 1000, device="cuda")
    one(a, 0.25), two(a)
    calls = {"operator of one kernel": lambda: one(a, 0.25), "operator with a temporary": lambda: two(a),
             "torch.empty": lambda: torch.empty(3000, 1000, device="cuda"), "leaky_relu": lambda: wanted(a),
             "a kernel of PyTorch that has not run before": lambda: torch.hypot(a, a)}
    print(f"\n{'behind a kernel of 100 ms':46} {'ms at first':>12} {'ms later':>9}   (x: waited)")
    for name, call in calls.items():
        stream = torch.cuda.Stream()
        times = [f"{ms:.2f}{' x' if waited else '  '}" for ms, waited in (waits(call, stream) for _ in range(2))]
        print(f"{name:46} {times[0]:>12} {times[1]:>9}")


def empty_launch(ctypes):
    """Returns the microseconds of a launch of a kernel that does nothing, by the driver, less what ctypes costs."""
    cuda = ctypes.CDLL("libcuda.so.1")
    ptx = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n"
    module, function, version = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    torch.cuda.synchronize()
    assert cuda.cuModuleLoadData(ctypes.byref(module), ptx) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"nothing") == 0
    launch = cuda.cuLaunchKernel
    args = (function, *(ctypes.c_uint(1),) * 6, ctypes.c_uint(0), None, None, None)
    assert launch(*args) == 0
    version_of = cuda.cuDriverGetVersion
    nothing = (ctypes.byref(version),)
    return microseconds(lambda: launch(*args)) - microseconds(lambda: version_of(*nothing))


def main():
    print(torch.__version__, torch.cuda.get_device_name(), "DLPack's table:", hasattr(torch.Tensor, "__dlpack_c_exchange_api__"))
    failed = 0
    for function in CHECKS:
        try:
            function()
            print(f"passed  {function.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {function.__name__}", flush=True)
            traceback.print_exc()
    who_waits()
    times()
    print(f"\n{len(CHECKS) - failed} of {len(CHECKS)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
