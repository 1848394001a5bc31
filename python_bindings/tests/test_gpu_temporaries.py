"""Memory of a pipeline's stages on a GPU, by a driver that needs none: the tests run in a process of their own, which has it."""
import os
import threading

import pytest

import fake_gpu
import tessera as ts

x, xi = ts.vars("x xi")
N = 64
WAITS = ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuMemFree_v2", "cuMemFreeHost", "cuModuleUnload")


def doubled_twice():
    """Two kernels, of which the first has memory of its own on the GPU."""
    im = ts.ImageParam(ts.Int(32), 1, "im")
    f, g = ts.funcs("f g")
    f[x] = im[x] * 2
    g[x] = f[x] * 2
    for each in (f, g):
        each.gpu_tile(x, xi, 32)
    f.compute_root()
    im.dim(0).set_bounds(0, N)
    g.output_buffer().dim(0).set_bounds(0, N)
    return g, im


def kernel_arguments():
    g, _ = doubled_twice()
    counts = {entry[:entry.index(")")].count(",") + 1
              for entry in g.ptx("x86-64-linux-cuda-cuda_capability_80").split(".entry")[1:]}
    assert len(counts) == 1, "the driver's kernels have one number of arguments"
    return counts.pop()


if "FAKE_CUDA_ARGUMENTS" not in os.environ:
    @pytest.mark.skipif(not fake_gpu.can_build(), reason="needs the sources of the tests, and a compiler")
    def test_temporaries_on_a_gpu(tmp_path):
        ran = fake_gpu.run_tests(__file__, tmp_path, kernel_arguments())
        assert ran.returncode == 0 and " passed" in ran.stdout, ran.stdout + ran.stderr
else:
    gpu = fake_gpu.Gpu()
    WANTED = [4 * i for i in range(N)]

    @pytest.fixture
    def call():
        g, im = doubled_twice()
        call = g.compile_to_callable([im], "host-cuda")
        stream = gpu.control.new_stream()
        call(fake_gpu.CudaArray(gpu, range(N), stream=stream), fake_gpu.CudaArray(gpu, [0] * N, stream=stream))
        wait_for(stream)
        return call

    def wait_for(stream):
        assert gpu.library.cuStreamSynchronize(stream and fake_gpu.ctypes.c_void_p(stream)) == 0

    def counts(*functions):
        return [gpu.calls(function) for function in functions]

    def arrays(stream):
        """An input and an output on a stream. That of the driver's default one is None to the interface of arrays."""
        return [fake_gpu.CudaArray(gpu, values, stream=stream) for values in (range(N), [0] * N)]

    @pytest.mark.parametrize("is_default", [False, True], ids=["a stream", "the default stream"])
    def test_a_call_returns_before_its_stream_has_come_to_it(call, is_default):
        stream = None if is_default else gpu.control.new_stream()
        given = [arrays(stream) for _ in range(5)]
        before, pool = counts(*WAITS), counts("cuMemAllocFromPoolAsync", "cuMemFreeAsync")
        for a, out in given:
            call(a, out)
        assert counts(*WAITS) == before
        assert all(out.tolist() == [0] * N for _, out in given)
        wait_for(stream)
        assert all(out.tolist() == WANTED for _, out in given)
        allocated, freed = (after - b for after, b in zip(counts("cuMemAllocFromPoolAsync", "cuMemFreeAsync"), pool))
        # The default stream has its memory again without the driver.
        assert (allocated, freed) == ((1, 0) if is_default else (5, 5)) or is_default and (allocated, freed) == (0, 0)

    def test_threads_with_streams_do_not_share_temporaries(call):
        wrong = []

        def work(stream):
            for _ in range(20):
                a, out = arrays(stream)
                call(a, out)
                wait_for(stream)
                if out.tolist() != WANTED:
                    wrong.append(stream)

        streams = [None] + [gpu.control.new_stream() for _ in range(3)]
        threads = [threading.Thread(target=in_context, args=(work, stream)) for stream in streams]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong

    def in_context(work, stream):
        # A thread of its own has no context, which allocating for the test wants.
        context = fake_gpu.ctypes.c_void_p()
        gpu.library.cuDevicePrimaryCtxRetain(fake_gpu.ctypes.byref(context), 0)
        gpu.control.make_current(context)
        work(stream)
