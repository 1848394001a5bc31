"""Tests the function that XLA calls for a pipeline on a GPU, by structs of its C interface and a driver that needs no GPU:
the tests run in a process of their own, which has it. With JAX itself on a GPU: gpu_jax.py."""
import ctypes
import os
import types

import pytest

import fake_gpu
import tessera as ts
from tessera._op import with_users_line
from test_gpu_arrays import N, doubled, kernel_arguments, x, xi

POINTER, SIZE, INT64, TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_char_p
F32, S32, S64 = 11, 4, 5


def struct(name, **fields):
    return type(name, (ctypes.Structure,), {"_fields_": [("size", SIZE), ("extensions", POINTER), *fields.items()]})


Array = struct("Array", type=ctypes.c_int, data=POINTER, axes=INT64, shape=POINTER)
Arrays = struct("Arrays", count=INT64, kinds=POINTER, all=POINTER)
Attributes = struct("Attributes", count=INT64, kinds=POINTER, names=POINTER, all=POINTER)
Version = struct("Version", major=ctypes.c_int, minor=ctypes.c_int)
ErrorArguments = struct("ErrorArguments", message=TEXT, code=ctypes.c_int)
StreamArguments = struct("StreamArguments", context=POINTER, stream=POINTER)
MAKE_ERROR = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(ErrorArguments))
GET_STREAM = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(StreamArguments))
Api = struct("Api", version=Version, internal=POINTER, make_error=MAKE_ERROR, details=POINTER, destroy=POINTER, register=POINTER,
             stream=GET_STREAM)
Call = struct("Call", api=POINTER, context=POINTER, stage=ctypes.c_int, inputs=Arrays, outputs=Arrays, attributes=Attributes,
              future=POINTER)


class Text(ctypes.Structure):
    _fields_ = [("begin", TEXT), ("length", SIZE)]


class Scalar(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("value", POINTER)]


class Metadata(ctypes.Structure):
    _fields_ = [("size", SIZE), ("version", Version), ("traits", ctypes.c_uint32)]


class MetadataExtension(ctypes.Structure):
    _fields_ = [("size", SIZE), ("kind", ctypes.c_int), ("next", POINTER), ("metadata", POINTER)]


class Xla:
    """Calls a handler as XLA does; what has failed is a text."""

    def __init__(self, stream=None, on_gpu=True):
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = POINTER, (ctypes.py_object, TEXT)
        self.handler = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(Call))(address(ts._tessera._xla_handler(on_gpu), None))
        self.error = None
        tell_stream = GET_STREAM(lambda arguments: setattr(arguments.contents, "stream", stream) or 0)
        self.api = Api(make_error=MAKE_ERROR(self.note_error), stream=tell_stream)
        self.api.version = Version(minor=7)
        self.kept = []

    def note_error(self, arguments):
        self.error = arguments.contents.message.decode()
        return 1

    def pointers(self, objects):
        self.kept += objects
        made = (POINTER * max(len(objects), 1))(*(ctypes.addressof(o) for o in objects))
        self.kept.append(made)
        return ctypes.addressof(made)

    def numbers(self, type_, values):
        made = (type_ * max(len(values), 1))(*values)
        self.kept.append(made)
        return ctypes.addressof(made)

    def arrays(self, given):
        all_ = [Array(type=type_, data=address, axes=len(shape), shape=self.numbers(INT64, shape))
                for type_, address, shape in given]
        return Arrays(count=len(all_), kinds=self.numbers(ctypes.c_int, [1] * len(all_)), all=self.pointers(all_))

    def call(self, pipeline, inputs, outputs, numbers="", stage=3):
        names = [Text(name, len(name)) for name in (b"numbers", b"pipeline")]
        values = [Text(numbers.encode(), len(numbers)), Scalar(S64, self.numbers(INT64, [pipeline]))]
        attributes = Attributes(count=2, kinds=self.numbers(ctypes.c_int, [4, 3]), names=self.pointers(names),
                                all=self.pointers(values))
        call = Call(api=ctypes.addressof(self.api), stage=stage, inputs=self.arrays(inputs), outputs=self.arrays(outputs),
                    attributes=attributes)
        failed = self.handler(ctypes.byref(call))
        assert bool(failed) == (self.error is not None)
        return self.error


def test_the_version_that_xla_has_is_spoken():
    xla = Xla()
    metadata = Metadata(traits=99)
    extension = MetadataExtension(kind=1, metadata=ctypes.addressof(metadata))
    call = Call(api=ctypes.addressof(xla.api), extensions=ctypes.addressof(extension))
    assert xla.handler(ctypes.byref(call)) == 0
    assert (metadata.version.major, metadata.version.minor, metadata.traits) == (0, 7, 0)
    call.api = None  # as the XLA of the first version has it
    assert xla.handler(ctypes.byref(call)) == 0 and metadata.version.minor == 1


if "FAKE_CUDA_ARGUMENTS" not in os.environ:
    @pytest.mark.skipif(not fake_gpu.can_build(), reason="needs the sources of the tests, and a compiler")
    def test_pipelines_of_xla_on_a_gpu(tmp_path):
        ran = fake_gpu.run_tests(__file__, tmp_path, kernel_arguments())
        assert ran.returncode == 0 and " passed" in ran.stdout, ran.stdout + ran.stderr
else:
    gpu = fake_gpu.Gpu()
    DOUBLED = [2 * i for i in range(N)]

    @pytest.fixture
    def pipeline():
        f, im = doubled()
        made = {"cuda": f.compile_to_callable([im], "host-cuda")}
        return ts._tessera._add_xla_pipeline("doubled", made.__getitem__)

    def memory(values=None):
        return gpu.allocate(list(range(N)) if values is None else values)

    def test_kernels_go_on_the_stream_of_xla(pipeline):
        stream = gpu.control.new_stream()
        a, out = memory(), memory([0] * N)
        waits = [gpu.calls(f) for f in ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize")]
        assert Xla(stream).call(pipeline, [(S32, a, (N,))], [(S32, out, (N,))]) is None
        assert gpu.control.pending(stream) == 1
        assert [gpu.calls(f) for f in ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize")] == waits
        assert gpu.library.cuStreamSynchronize(ctypes.c_void_p(stream)) == 0
        assert list(gpu.elements(out, N)) == DOUBLED

    def test_parts_of_a_batch(pipeline):
        a, same, out = memory(list(range(3 * N))), memory(), memory([0] * 3 * N)
        assert Xla().call(pipeline, [(S32, a, (3, N))], [(S32, out, (3, N))]) is None
        assert gpu.library.cuStreamSynchronize(None) == 0
        assert list(gpu.elements(out, 3 * N)) == [2 * i for i in range(3 * N)]
        assert Xla().call(pipeline, [(S32, same, (1, N))], [(S32, out, (3, N))]) is None
        assert gpu.library.cuStreamSynchronize(None) == 0
        assert list(gpu.elements(out, 3 * N)) == 3 * DOUBLED

    def test_a_pipeline_for_a_gpu_with_arrays_on_the_host():
        f, im = doubled()
        call = f.compile_to_callable([im], "host-cuda")
        number = ts._tessera._add_xla_pipeline("copied", {"cpu": call}.__getitem__)
        a, out = (ctypes.c_int32 * (3 * N))(*range(3 * N)), (ctypes.c_int32 * (3 * N))()
        given = [(S32, ctypes.addressof(of), (3, N)) for of in (a, out)]
        for _ in range(2):
            assert Xla(on_gpu=False).call(number, given[:1], given[1:]) is None
            assert list(out) == [2 * i for i in a]
            a[:] = [7 * i for i in a]

    def test_other_stages_and_empty_arrays_are_nothing(pipeline):
        a, out = memory(), memory([0] * N)
        assert Xla().call(pipeline, [(S32, a, (N,))], [(S32, out, (N,))], stage=1) is None
        assert Xla().call(pipeline, [(S32, a, (1, N))], [(S32, out, (0, N))]) is None
        assert gpu.library.cuStreamSynchronize(None) == 0 and list(gpu.elements(out, N)) == [0] * N

    @pytest.mark.parametrize("inputs, outputs, text", [
        ([(F32, 0, (N,))], [(S32, 0, (N,))], "doubled: argument im: an array of float32; wanted int32"),
        ([(S32, 0, (2, N))], [(S32, 0, (N,))], "doubled: argument im: an array of 2 axes; wanted 1"),
        ([(S32, 0, (N,))], [(S32, 0, ())], "doubled: the result f has 0 axes; wanted 1"),
        ([], [(S32, 0, (N,))], "doubled: argument im is missing"),
        ([(S32, 0, (N,))] * 2, [(S32, 0, (N,))], "doubled: the call has more arrays than the pipeline has arguments"),
        ([(15, 0, (N,))], [(S32, 0, (N,))], "doubled: arrays of XLA's type 15 are not known to pipelines"),
        ([(S32, 0, (8,))], [(S32, 0, (N,))], "doubled: "),
    ])
    def test_what_does_not_fit_is_said(pipeline, inputs, outputs, text):
        with_memory = [[(type_, memory(), shape) for type_, _, shape in of] for of in (inputs, outputs)]
        assert Xla().call(pipeline, *with_memory).startswith(text)

    def test_memory_of_another_gpu_is_refused(pipeline):
        context = ctypes.c_void_p(gpu.control.new_context(1))
        before = gpu.control.current()
        gpu.control.make_current(context)
        there = memory()
        gpu.control.make_current(ctypes.c_void_p(before))
        assert "argument im: the array is on GPU 1, and pipelines run on GPU 0" in \
            Xla().call(pipeline, [(S32, there, (N,))], [(S32, memory(), (N,))])

    def test_a_pipeline_without_loops_for_a_gpu():
        im, f = ts.ImageParam(ts.Int(32), 1, "im"), ts.Func("f")
        f[ts.Var("x")] = im[ts.Var("x")] * 2
        call = f.compile_to_callable([im], "host-cuda")
        plain = ts._tessera._add_xla_pipeline("plain", {"cuda": call}.__getitem__)
        assert "has no loops for a GPU, where its arrays are: schedule it there (gpu_tile)" in \
            Xla().call(plain, [(S32, memory(), (N,))], [(S32, memory(), (N,))])
        with pytest.raises(ts.RunError) as failed:
            call(fake_gpu.CudaArray(gpu, range(N)), fake_gpu.CudaArray(gpu, range(N)))
        said = with_users_line(failed.value, None, "cuda")
        assert "has no loops for a GPU" in str(said) and said.lineno == failed.value.lineno
        assert with_users_line(failed.value, None, "cpu") is failed.value

    def test_pipelines_that_are_not_there():
        assert Xla().call(12345, [], [(S32, memory(), (N,))]).startswith("a pipeline of another process: ")
        nothing = ts._tessera._add_xla_pipeline("f", types.MappingProxyType({}).__getitem__)
        assert Xla().call(nothing, [], [(S32, memory(), (N,))]) == "'cuda'"

    def test_a_number_that_the_program_has_computed_is_waited_for():
        im, k, f = ts.ImageParam(ts.Int(32), 1, "im"), ts.Param(ts.Int(32), "k"), ts.Func("f")
        f[x] = im[x] * 2
        f.gpu_tile(x, xi, 32)
        im.dim(0).set_bounds(0, N)
        f.output_buffer().dim(0).set_bounds(0, N)
        pipeline = ts.Pipeline([f])
        pipeline.add_requirement(k == 3, "k is", k)
        call = pipeline.compile_to_callable([im, k], "host-cuda")
        number = ts._tessera._add_xla_pipeline("numbered", {"cuda": call}.__getitem__)
        a, out = (S32, memory(), (N,)), (S32, memory(), (N,))
        assert Xla().call(number, [a], [out], "3 ") is None
        assert "k is 4" in Xla().call(number, [a], [out], "4 ")
        stream = gpu.control.new_stream()
        assert Xla(stream).call(number, [a, (S32, memory([3]), ())], [out], "- ") is None
        assert "k is 7" in Xla(stream).call(number, [a, (S32, memory([7]), ())], [out], "- ")
        many = (S32, memory([3, 3, 8]), (3,))
        assert "k is 8" in Xla(stream).call(number, [(*a[:2], (1, N)), many], [(S32, memory([0] * 3 * N), (3, N))], "- ")
