"""Targets, files, plugins and extern stages as Halide's programs in Python ask for them."""

import ctypes
import os

import numpy as np
import pytest

import tessera.halide as hl

x, y = hl.vars("x y")


def test_texts_of_targets():
    assert hl.Target("") == hl.get_host_target() == hl.Target("host")
    for text in (
        "x86-32-linux-sse41",
        "arm-64-android",
        "x86-64-osx-avx-avx2-f16c-fma-sse41",
        "arm-32-ios-armv7s",
        "wasm-32-wasmrt",
        "x86-64-windows-avx",
        "riscv-64-linux",
    ):
        target = hl.Target(text)
        assert target.to_string() == text and str(target) == text and hl.Target(str(target)) == target
        assert hl.Target.validate_target_string(text)
    for wrong in ("host-unknowntoken", "x86-23", "opencl-host"):
        assert not hl.Target.validate_target_string(wrong)
        with pytest.raises(hl.HalideError):
            hl.Target(wrong)
    every = [
        hl.TargetFeature.JIT,
        hl.TargetFeature.SSE41,
        hl.TargetFeature.AVX,
        hl.TargetFeature.CUDA,
        hl.TargetFeature.OpenCL,
        hl.TargetFeature.Metal,
        hl.TargetFeature.NoAsserts,
        hl.TargetFeature.Debug,
    ]
    target = hl.Target(hl.TargetOS.Android, hl.TargetArch.ARM, 32, every)
    assert str(target) == "arm-32-android-avx-cuda-debug-jit-metal-no_asserts-opencl-sse41"
    assert (target.os, target.arch, target.bits) == (hl.TargetOS.Android, hl.TargetArch.ARM, 32)
    tuned = hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, hl.TargetProcessorTune.K8, [hl.TargetFeature.SSE41], 0)
    assert tuned.processor_tune == hl.TargetProcessorTune.K8


def test_an_empty_target_is_filled_in():
    target = hl.Target()
    target.os, target.arch, target.bits = hl.TargetOS.Linux, hl.TargetArch.X86, 64
    target.set_features([hl.TargetFeature.AVX, hl.TargetFeature.SSE41])
    assert str(target) == "x86-64-linux-avx-sse41"
    target.set_features([])
    target.set_features([hl.TargetFeature.AVX], False)
    target.set_feature(hl.TargetFeature.SSE41, False)
    assert str(target) == "x86-64-linux"
    target.set_feature(hl.TargetFeature.CUDA)
    assert target.has_gpu_feature() and target.has_feature(hl.TargetFeature.CUDA)
    assert target.supports_device_api(hl.DeviceAPI.CUDA) and not target.supports_device_api(hl.DeviceAPI.Metal)
    assert str(target.with_feature(hl.TargetFeature.SSE41)) == "x86-64-linux-cuda-sse41"
    assert str(target.without_feature(hl.TargetFeature.CUDA)) == "x86-64-linux"


@pytest.mark.parametrize(
    "text, sizes",
    [
        ("x86-32-linux-sse41", (16, 8, 4, 2)),
        ("x86-64-linux-avx-sse41", (16, 8, 8, 4)),
        ("x86-64-linux-avx-avx2-sse41", (32, 16, 8, 4)),
        ("arm-64-linux", (16, 8, 4, 2)),
    ],
)
def test_natural_vector_sizes(text, sizes):
    target = hl.Target(text)
    assert tuple(target.natural_vector_size(t) for t in (hl.UInt(8), hl.Int(16), hl.Float(32), hl.Float(64))) == sizes


def test_what_devices_have():
    metal = hl.Target("x86-64-linux-metal")
    assert metal.supports_type(hl.Float(64)) and not metal.supports_type(hl.Float(64), hl.DeviceAPI.Metal)
    for api, feature in [
        (hl.DeviceAPI.OpenCL, hl.TargetFeature.OpenCL),
        (hl.DeviceAPI.CUDA, hl.TargetFeature.CUDA),
        (hl.DeviceAPI.Metal, hl.TargetFeature.Metal),
        (hl.DeviceAPI.Vulkan, hl.TargetFeature.Vulkan),
    ]:
        assert hl.target_feature_for_device_api(api) == feature
    assert hl.host_supports_target_device(hl.get_host_target()) in (True, False)


def test_questions_of_the_target_in_a_pipeline():
    f = hl.Func("f")
    f[x] = hl.select(hl.target_os_is(hl.TargetOS.Linux), 1, 0) + hl.select(hl.target_has_feature(hl.TargetFeature.CUDA), 10, 0)
    assert f.realize([1])[0] == 1
    assert hl.evaluate(hl.target_natural_vector_size(hl.UInt(8))) == hl.get_host_target().natural_vector_size(hl.UInt(8))


def test_files_of_every_kind(tmp_path):
    image, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f")
    f[x, y] = image[x, y] + 100 * y
    args = f.infer_arguments()
    for kind in (
        "assembly bitcode c_header c_source conceptual_stmt conceptual_stmt_html function_info_header "
        "llvm_assembly object python_extension registration schedule static_library stmt stmt_html".split()
    ):
        path = str(tmp_path / kind)
        f.compile_to({getattr(hl.OutputFileType, kind): path}, args, "f")
        assert os.path.getsize(path) > 0, kind
    f.compile_to_multitarget_object_files(
        str(tmp_path / "many"),
        args,
        [hl.Target("x86-64-linux-avx2-no_runtime"), hl.Target("x86-64-linux-no_runtime")],
        ["_avx2", "_base"],
    )
    names = [p.name for p in tmp_path.iterdir()]
    assert any("avx2" in name for name in names) and any("base" in name for name in names)
    f.compile_to_lowered_stmt(str(tmp_path / "page.html"), args, hl.StmtOutputFormat.HTML)
    assert "<html" in (tmp_path / "page.html").read_text()
    runtime = hl.compile_standalone_runtime({hl.OutputFileType.object: str(tmp_path / "r.o")}, hl.Target("host"))
    assert list(runtime) == [hl.OutputFileType.object]


def test_halides_own_plugins_need_none():
    for name in ("autoschedule_mullapudi2016", "autoschedule_adams2019", "autoschedule_li2018", "libautoschedule_li2018.so"):
        hl.load_plugin(name)
    with pytest.raises(hl.HalideError):
        hl.load_plugin("autoschedule_of_nobody")
    f, g = hl.funcs("f g")
    f[x, y] = hl.f32(x * y)
    g[x, y] = f[x, y] + f[x + 1, y]
    g.set_estimates([(0, 1000), (0, 1000)])
    assert hl.AutoschedulerParams(name="Adams2019", extra={"parallelism": 32}).extra == {"parallelism": "32"}
    assert not hl.Pipeline().defined()
    results = hl.Pipeline(g).apply_autoscheduler(hl.Target("host"), hl.AutoschedulerParams("Mullapudi2016", {"parallelism": "4"}))
    assert isinstance(results, hl.AutoSchedulerResults) and results.schedule_source and results.target == hl.Target("host")


def test_a_c_function_as_a_stage():
    """Sorts by qsort of the C library, which a function of ctypes calls."""
    libc = ctypes.CDLL(None)
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))
    compare = compare_type(lambda a, b: (a[0] > b[0]) - (a[0] < b[0]))
    data = hl.Func("data")
    data[x] = hl.f64((x * 7) % 10)
    values = np.asarray(data.realize([10])).copy()
    libc.qsort(values.ctypes.data_as(ctypes.c_void_p), 10, 8, compare)
    assert values.tolist() == sorted(values.tolist())
    f = hl.Func("f")
    f.define_extern("no_such_function", [data, 10], hl.Float(64), 1)
    assert f.is_extern() and f.extern_function_name() == "no_such_function" and f.dimensions() == 1
    with pytest.raises(hl.HalideError):
        f.realize([10])
    for names in ({"type": hl.Int(32), "dimensionality": 2}, {"types": [hl.Int(32)], "arguments": [x, y]}):
        h = hl.Func("h")
        h.define_extern(function_name="f", params=[], mangling=hl.NameMangling.Default, device_api=hl.DeviceAPI.Host, **names)
        assert h.dimensions() == 2
    g = hl.Func("g")
    g.define_extern("abs_of_all", [data], [hl.Int(32), hl.Float(64)], [x], hl.NameMangling.C)
    assert g.outputs() == 2


def test_parameters_are_params_or_image_params():
    p = hl.Parameter(hl.Int(32), False, 0, "p")
    assert not p.is_buffer() and p.name() == "p" and p.type() == hl.Int(32) and p.dimensions() == 0
    p.set_scalar(5)
    assert p.scalar() == 5
    p.set_scalar(hl.Int(32), 6)
    assert p.scalar() == 6
    p.set_min_value(0)
    p.set_max_value(10)
    p.set_estimate(3)
    assert hl.evaluate(p.min_value()) == 0 and hl.evaluate(p.max_value()) == 10 and hl.evaluate(p.estimate()) == 3
    f = hl.Func("f")
    f[x] = x * p.scalar_expr()
    assert list(f.realize([3])) == [0, 6, 12]
    c = f.compile_to_callable([p])
    out = hl.Buffer(hl.Int(32), [2])
    c(9, out)
    assert list(out) == [0, 9]
    b = hl.Parameter(hl.UInt(8), True, 2)
    b.set_min_constraint(0, 0)
    b.set_extent_constraint(0, 16)
    b.set_stride_constraint(1, 16)
    b.set_extent_constraint_estimate(1, 100)
    assert hl.evaluate(b.extent_constraint(0)) == 16 and hl.evaluate(b.extent_constraint_estimate(1)) == 100
    b.set_buffer(np.full((2, 16), 3, np.uint8))
    assert b.buffer().all_equal(3) and not b.same_as(p) and b.same_as(hl.Parameter(b))
    image = hl.ImageParam(hl.UInt(8), 1)
    assert image.parameter().same_as(hl.Parameter(image)) and hl.Param(hl.Int(8)).parameter().type() == hl.Int(8)
    assert hl.Parameter(image).is_buffer() and not hl.Parameter(hl.Param(hl.Int(8))).is_buffer()
    for wrong in (
        lambda: p.buffer(),
        lambda: b.scalar(),
        lambda: b.min_constraint(2),
        lambda: hl.Parameter(hl.Int(8), False, 3),
        lambda: p.set_scalar(hl.Float(32), 1),
    ):
        with pytest.raises(hl.HalideError):
            wrong()


def test_params_with_values_and_limits():
    for p in (hl.Param(hl.Int(32), 5, 0, 10), hl.Param(hl.Int(32), "p", 5, 0, 10)):
        assert p.get() == 5 and hl.evaluate(p.min_value()) == 0 and hl.evaluate(p.max_value()) == 10 and p.defined()


def test_what_is_not_there_says_so():
    f = hl.Func("f")
    f[x] = x
    for call, reason in [
        (lambda: hl.Derivative(f), "no derivatives"),
        (lambda: hl.propagate_adjoints(f), "no derivatives"),
        (lambda: hl.serialize_pipeline(hl.Pipeline(f)), "not written to files"),
        (lambda: hl.deserialize_pipeline("f.hlpipe"), "not written to files"),
        (lambda: f.memoize(), "memoize"),
    ]:
        with pytest.raises(hl.HalideError, match=reason):
            call()
