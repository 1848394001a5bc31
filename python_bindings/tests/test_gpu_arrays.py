"""Arrays on a GPU, by a driver that needs none: the tests run in a process of their own, which has it."""
import gc
import os
import sys
import types
import weakref

import numpy as np
import pytest

import fake_gpu
import tessera as ts
from test_arrays import OwnTensor, WithTensor, versioned, with_table

x, xi = ts.vars("x xi")
N = 64
GPU = "host-cuda"


def doubled():
    im = ts.ImageParam(ts.Int(32), 1, "im")
    f = ts.Func("f")
    f[x] = im[x] * 2
    f.gpu_tile(x, xi, 32)
    im.dim(0).set_bounds(0, N)
    f.output_buffer().dim(0).set_bounds(0, N)
    return f, im


def kernel_arguments():
    f, _ = doubled()
    entry = f.ptx("x86-64-linux-cuda-cuda_capability_80").split(".entry", 1)[1]
    return entry[:entry.index(")")].count(",") + 1


if "FAKE_CUDA_ARGUMENTS" not in os.environ:
    @pytest.mark.skipif(not fake_gpu.can_build(), reason="needs the sources of the tests, and a compiler")
    def test_arrays_on_a_gpu(tmp_path):
        ran = fake_gpu.run_tests(__file__, tmp_path, kernel_arguments())
        assert ran.returncode == 0 and " passed" in ran.stdout, ran.stdout + ran.stderr
else:
    gpu = fake_gpu.Gpu()

    @pytest.fixture(scope="module")
    def library(tmp_path_factory):
        f, im = doubled()
        path = tmp_path_factory.mktemp("library") / "doubled.so"
        f.compile_to({ts.OutputFileType.shared_library: path}, [im], "doubled", ts.Target(GPU))
        return ts.load(path)

    # A library has a runtime of its own, which works with the memory and streams of this one's.
    @pytest.fixture(params=["compiled", "loaded"])
    def call(request, library):
        f, im = doubled()
        return f.compile_to_callable([im], GPU) if request.param == "compiled" else library.doubled

    def copies():
        return sum(gpu.calls(f"cuMemcpy{kind}_v2") for kind in ("HtoDAsync", "DtoHAsync", "DtoDAsync", "2DAsync"))

    def synchronize(stream=None):
        assert gpu.library.cuStreamSynchronize(stream and fake_gpu.ctypes.c_void_p(stream)) == 0

    class GpuTensor(OwnTensor):
        """A tensor on the GPU that goes by DLPack."""

        def __init__(self, values):
            super().__init__(kind=2)
            self.address = gpu.allocate(values)
            self.shape[0], self.strides[0] = len(values), 1
            self.managed.tensor.axes, self.managed.tensor.data = 1, self.address - 8

        def __dlpack__(self, **keywords):
            self.asked = keywords
            return super().__dlpack__(**keywords)

        def tolist(self):
            return list(gpu.elements(self.address, N))

    DOUBLED = [2 * i for i in range(N)]

    def test_cuda_arrays_are_used_where_they_are(call):
        a, out = fake_gpu.CudaArray(gpu, range(N)), fake_gpu.CudaArray(gpu, [0] * N)
        before = copies()
        call(a, out)
        synchronize()
        assert out.tolist() == DOUBLED and a.tolist() == list(range(N)) and copies() == before

    def test_dlpack_is_given_the_stream(call):
        a, out = GpuTensor(range(N)), GpuTensor([0] * N)
        call(a, out)
        synchronize()
        assert out.tolist() == DOUBLED and a.freed == out.freed == 1
        assert a.asked == {"max_version": (1, 1), "copy": False, "stream": 1}
        stream = gpu.control.new_stream()
        with ts.cuda_stream(stream):
            call(a, out)
            assert a.asked["stream"] == stream and gpu.control.pending(stream) == 1
        synchronize(stream)

    @pytest.mark.parametrize("way", ["interface", "table", "with", "library"])
    def test_kernels_go_on_the_stream_of_the_arrays(call, way, monkeypatch):
        stream = gpu.control.new_stream()
        synchronize()
        before = gpu.calls("cuStreamWaitEvent")
        if way == "table":
            ByTable = with_table(stream=stream)
            a, out = GpuTensor(range(N)), GpuTensor([0] * N)
            call(with_managed(ByTable, a), with_managed(ByTable, out))
            assert ByTable.calls == ["tensor", "stream"] * 2
        elif way == "library":
            # A class of PyTorch's before it had the table.
            Tensor = type("Tensor", (GpuTensor,), {"__module__": "torch"})
            torch = types.ModuleType("torch")
            torch.cuda = types.SimpleNamespace(current_stream=lambda: types.SimpleNamespace(cuda_stream=stream))
            monkeypatch.setitem(sys.modules, "torch", torch)
            a, out = Tensor(range(N)), Tensor([0] * N)
            call(a, out)
            assert a.asked["stream"] == stream
        elif way == "interface":
            a, out = fake_gpu.CudaArray(gpu, range(N), stream=stream), fake_gpu.CudaArray(gpu, [0] * N, stream=stream)
            call(a, out)
        else:
            a, out = fake_gpu.CudaArray(gpu, range(N)), fake_gpu.CudaArray(gpu, [0] * N)
            with ts.cuda_stream(stream):
                call(a, out)
        assert gpu.control.pending(stream) == 1 and out.tolist() == [0] * N
        synchronize(stream)
        assert out.tolist() == DOUBLED and gpu.calls("cuStreamWaitEvent") == before

    def with_managed(type, tensor):
        array = type()
        array.managed = tensor.managed
        return array

    def test_arrays_of_two_streams_wait_for_one_another(call):
        one, two = gpu.control.new_stream(), gpu.control.new_stream()
        a, out = fake_gpu.CudaArray(gpu, range(N), stream=one), fake_gpu.CudaArray(gpu, [0] * N, stream=two)
        before = gpu.calls("cuStreamWaitEvent")
        call(a, out)
        assert gpu.calls("cuStreamWaitEvent") == before + 2
        synchronize(two)  # which waits for the kernel on the other
        assert out.tolist() == DOUBLED

    def test_a_buffer_wraps_memory_of_the_gpu():
        a = fake_gpu.CudaArray(gpu, range(N))
        gone = weakref.ref(a)
        b = ts.Buffer(a)
        assert b.shape == (N,) and b.__dlpack_device__() == (2, 0)
        assert b.__cuda_array_interface__ == {"shape": (N,), "strides": (4,), "typestr": "<i4", "version": 3, "stream": 1,
                                              "data": (a.address, False)}
        t = versioned(b.__dlpack__(max_version=(1, 0))).tensor
        assert (t.data, t.kind, t.index) == (a.address, 2, 0)
        assert ts.Buffer(WithTensor(b)).__cuda_array_interface__["data"][0] == a.address
        assert b[5] == 5 and b.numpy().tolist() == list(range(N))
        gpu.elements(a.address, N)[5] = 77
        assert b.numpy()[5] == 77 and b[5] == 77
        part = b[10:20]
        assert part.__cuda_array_interface__["data"][0] == a.address + 40
        del a, b, t
        gc.collect()
        assert gone() is not None and part[12] == 12
        del part
        gc.collect()
        assert gone() is None

    def test_wrapped_memory_goes_to_callables(call):
        a, out = ts.Buffer(fake_gpu.CudaArray(gpu, range(N))), ts.Buffer(fake_gpu.CudaArray(gpu, [0] * N))
        before = copies()
        call(a, out)
        assert copies() == before
        assert out.numpy().tolist() == DOUBLED

    def test_results_of_own_buffers_stay_on_the_gpu_until_they_are_read(call):
        a, out = ts.Buffer(ts.Int(32), [N]), ts.Buffer(ts.Int(32), [N])
        for i in range(N):
            a[i] = i
        call(a, out)
        before = copies()
        call(a, out)
        assert copies() == before and out.device_dirty() and out.__dlpack_device__() == (2, 0)
        assert out[3] == 6 and copies() == before + 1
        seen = out.numpy()
        a[3] = 100
        call(a, out)
        assert seen[3] == 200 and out.__dlpack_device__() == (1, 0)
        a.numpy()[4] = 50  # nobody tells the Buffer
        call(a, out)
        assert seen[4] == 100

    def test_arrays_on_the_host_are_copied_there_and_back(call):
        a, out = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
        ts.Buffer(a)
        before = gpu.control.live_bytes() - gpu.control.kept_bytes()
        for _ in range(20):
            call(a, out)
        assert out.tolist() == DOUBLED
        assert gpu.control.live_bytes() - gpu.control.kept_bytes() <= before + 16 * 4 * N  # what the runtime keeps

    def test_realize_writes_into_cuda_arrays():
        f, im = doubled()
        im.set(fake_gpu.CudaArray(gpu, range(N)))
        out = fake_gpu.CudaArray(gpu, [0] * N)
        f.realize(out, GPU)
        synchronize()
        assert out.tolist() == DOUBLED
        assert f.realize([N], GPU).numpy().tolist() == DOUBLED

    def test_what_is_refused(call):
        a, out = fake_gpu.CudaArray(gpu, range(N)), np.zeros(N, np.int32)
        with pytest.raises(TypeError, match=r"argument 1 \(f\): an output is written to, and this array is read-only"):
            call(a, fake_gpu.CudaArray(gpu, [0] * N, readonly=True))
        f, im = doubled()
        on_host = ts.Func("g")
        on_host[x] = im[x]
        with pytest.raises(ts.RunError, match="argument 0 of the Callable, im, has memory on a device only, but the pipeline "
                                              "runs on the CPU"):
            on_host.compile_to_callable([im], "host")(a, out)
        other = GpuTensor(range(N))
        other.managed.tensor.index = 1
        with pytest.raises(ValueError, match="the array is on GPU 1, and pipelines run on GPU 0"):
            call(other, out)
        masked = fake_gpu.CudaArray(gpu, range(N))
        masked.__cuda_array_interface__["mask"] = a
        with pytest.raises(TypeError, match="mask"):
            call(masked, out)
        with pytest.raises(TypeError, match="a str is no stream of CUDA"):
            ts.cuda_stream("1")

    def test_the_consumers_stream_waits():
        b = ts.Buffer(fake_gpu.CudaArray(gpu, range(N)))
        stream = gpu.control.new_stream()
        before = gpu.calls("cuStreamWaitEvent")
        b.__dlpack__(stream=stream)
        assert gpu.calls("cuStreamWaitEvent") == before + 1
        b.__dlpack__(stream=-1)
        b.__dlpack__(stream=1)
        b.__dlpack__()
        assert gpu.calls("cuStreamWaitEvent") == before + 1
        with pytest.raises(ValueError, match="0 stands for no stream"):
            b.__dlpack__(stream=0)

    def test_elements_go_to_the_device_that_the_consumer_wants():
        b = ts.Buffer(np.arange(N, dtype=np.int32))
        with pytest.raises(BufferError, match="nothing may be copied"):
            b.__dlpack__(dl_device=(2, 0), copy=False)
        t = versioned(b.__dlpack__(max_version=(1, 0), dl_device=(2, 0))).tensor
        assert t.kind == 2
        synchronize()
        assert list(gpu.elements(t.data, N)) == list(range(N))
        wrapped = ts.Buffer(fake_gpu.CudaArray(gpu, range(N)))
        assert np.from_dlpack(wrapped, device="cpu").tolist() == list(range(N))
        copied = versioned(wrapped.__dlpack__(max_version=(1, 0), copy=True))
        assert copied.flags == 2

    def test_streams_of_other_libraries():
        class Torch:
            cuda_stream = 0x1230

        class Cupy:
            ptr = 0x1240

        class Core:
            def __cuda_stream__(self):
                return 0, 0x1250

        for stream, address in ((Torch(), 0x1230), (Cupy(), 0x1240), (Core(), 0x1250), (1, 0), (0, 0), (None, 0)):
            with ts.cuda_stream(stream) as s:
                assert s.__cuda_stream__() == (0, address)

    def test_no_elements(call):
        im = ts.ImageParam(ts.Int(32), 1, "im")
        f = ts.Func("f")
        f[x] = im[x] * 2
        f.gpu_tile(x, xi, 32, ts.TailStrategy.GuardWithIf)
        empty = fake_gpu.CudaArray(gpu, [])
        empty.__cuda_array_interface__["data"] = (0, False)
        f.compile_to_callable([im], GPU)(empty, empty)
        assert ts.Buffer(empty).shape == (0,)
