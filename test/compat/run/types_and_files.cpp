#include "../program.h"
#include "halide_benchmark.h"
#include "halide_test_dirs.h"

// ---- Targets ----
PROGRAM(target_texts_too) {
    Target t1, t2;
    std::string ts;
    t1 = Target(Target::Linux, Target::X86, 32, {Target::SSE41});
    ts = t1.to_string();
    EXPECT(ts == "x86-32-linux-sse41");
    EXPECT(Target::validate_target_string(ts));
    t2 = Target(ts);
    EXPECT(t2 == t1);
    t1 = Target(Target::Android, Target::ARM, 32, {Target::NoNEON, Target::CUDA, Target::Debug});
    t2 = Target(t1.to_string());
    EXPECT(t2 == t1);
    EXPECT(
        Target("x86-64-linux-trace_all")
            .features_all_of({Target::TraceLoads, Target::TraceStores, Target::TraceRealizations}));
    EXPECT(!Target("x86-64-linux-trace_loads")
                .features_all_of({Target::TraceLoads, Target::TraceStores}));
    EXPECT(Target("x86-64-linux-trace_loads")
               .features_any_of({Target::TraceLoads, Target::TraceStores}));
    t1 = Target("x86-64-windows-avx-no_asserts");
    EXPECT(t1.os == Target::Windows && t1.arch == Target::X86 && t1.bits == 64 &&
           t1.has_feature(Target::NoAsserts));
    EXPECT(!Target::validate_target_string("host-unknowable"));
    EXPECT(!Target::validate_target_string("foo"));
    EXPECT(Target::validate_target_string("hexagon-32-qurt-hvx_128"));
    EXPECT(Target::validate_target_string("wasm-32-wasmrt-wasm_simd128"));
    EXPECT(Target::validate_target_string("riscv-64-linux-rvv-vector_bits_512"));
    EXPECT(Target("x86-64-linux-tune_znver3").processor_tune == Target::Processor::ZnVer3);
    EXPECT(Target("arm-64-noos-semihosting").os == Target::NoOS);
    EXPECT(Target::validate_target_string("powerpc-64-linux-vsx"));
    EXPECT(Target("host").to_string() == get_host_target().to_string());
    EXPECT(Target("host-profile").has_feature(Target::Profile));
    for (int i = 0; i < (int)Target::FeatureEnd; i++) {
        auto f = (Target::Feature)i;
        EXPECT(Target::feature_from_name(Target::feature_to_name(f)) == f);
    }
    EXPECT(Target::feature_from_name("this is none") == Target::FeatureEnd);
    EXPECT(t1.without_feature(Target::AVX).has_feature(Target::AVX) == false);
    t1.set_feature(Target::AVX, false);
    t1.set_features({Target::SSE41, Target::FMA});
    EXPECT(t1.has_feature(Target::FMA) && !t1.has_feature(Target::AVX));
    EXPECT(Target().has_unknowns() &&
           Target() == Target(Target::OSUnknown, Target::ArchUnknown, 0));
    std::ostringstream s;
    s << t1;
    EXPECT(s.str() == t1.to_string());
    return 0;
}
PROGRAM(target_questions2) {
    Target t(Target::Linux, Target::X86, 64, {Target::AVX2});
    EXPECT(t.natural_vector_size<uint8_t>() == 32 && t.natural_vector_size<float>() == 8);
    EXPECT(t.natural_vector_size(Int(16)) == 16 && t.natural_vector_size(Float(64)) == 4);
    EXPECT(Target("x86-64-linux").natural_vector_size<int>() == 4);
    EXPECT(Target("x86-64-linux-avx512_skylake-avx512-avx2-avx-sse41")
               .natural_vector_size<uint8_t>() == 64);
    EXPECT(Target("x86-64-linux-sse41-avx").natural_vector_size<float>() == 8);
    EXPECT(Target("x86-64-linux-sse41-avx").natural_vector_size<int>() == 4);
    EXPECT(Target("arm-64-android").natural_vector_size<float>() == 4);
    EXPECT(!t.has_gpu_feature() && t.with_feature(Target::CUDA).has_gpu_feature() &&
           Target("x86-64-linux-opencl").has_gpu_feature());
    EXPECT(t.maximum_buffer_size() == 2147483647);
    EXPECT(t.with_feature(Target::LargeBuffers).maximum_buffer_size() == 9223372036854775807LL);
    EXPECT(t.supports_type(Float(64)) && t.supports_type(UInt(8)));
    EXPECT(t.get_cuda_capability_lower_bound() == -1);
    EXPECT(Target("x86-64-linux-cuda").get_cuda_capability_lower_bound() == 20);
    EXPECT(Target("x86-64-linux-cuda-cuda_capability_61").get_cuda_capability_lower_bound() == 61);
    EXPECT(Target("x86-64-linux-vulkan-vk_v12").get_vulkan_capability_lower_bound() == 12);
    EXPECT(Target("arm-64-linux-armv82a").get_arm_v8_lower_bound() == 82);
    EXPECT(Target("x86-64-linux-metal").get_required_device_api() == DeviceAPI::Metal);
    EXPECT(t.get_required_device_api() == DeviceAPI::None &&
           t.supports_device_api(DeviceAPI::Host) && !t.supports_device_api(DeviceAPI::CUDA));
    Target result;
    EXPECT(Target("x86-64-linux-avx")
               .get_runtime_compatible_target(Target("x86-64-linux-avx2"), result));
    EXPECT(!result.has_feature(Target::AVX2));
    EXPECT(Target("x86-64-linux-cuda")
               .get_runtime_compatible_target(Target("x86-64-linux-opencl"), result));
    EXPECT(result.has_feature(Target::CUDA) && result.has_feature(Target::OpenCL));
    EXPECT(!Target("x86-64-linux").get_runtime_compatible_target(Target("arm-64-linux"), result));
    Target j = get_jit_target_from_environment();
    EXPECT(j.has_feature(Target::JIT));
    Target e = get_target_from_environment();
    EXPECT(!e.has_feature(Target::JIT) && e.arch == j.arch);
    EXPECT(host_supports_target_device(get_host_target()));
    EXPECT(target_feature_for_device_api(DeviceAPI::OpenCL) == Target::OpenCL);
    if (j.has_feature(Target::HVX) || j.has_feature(Target::ARMDotProd) ||
        j.has_feature(Target::VulkanInt8) || j.has_feature(Target::WebGPU) ||
        j.has_feature(Target::Metal) || j.has_feature(Target::SVE2) || j.has_feature(Target::RVV) ||
        j.has_feature(Target::WasmSimd128)) {
        return 1;
    }
    if (j.arch == Target::WebAssembly) {
        return 0;
    }
    return 0;
}
// ---- Types and host floats ----
PROGRAM(types) {
    EXPECT(UInt(8).max().defined() && Int(8).min().defined());
    EXPECT(type_of<int *>() == Handle() && type_of<const char *>().is_handle());
    EXPECT(Int(8).with_lanes(4).lanes() == 4 && Int(32, 4).element_of() == Int(32));
    EXPECT(UInt(16).can_represent(Int(8)) == false && Int(16).can_represent(UInt(8)) &&
           Float(32).can_represent(Int(16)));
    EXPECT(UInt(8).can_represent((int64_t)255) && !UInt(8).can_represent((int64_t)256) &&
           !UInt(8).can_represent((int64_t)-1));

    EXPECT(Int(16).narrow() == Int(8) && Float(16).widen() == Float(32));
    EXPECT(Int(32).code() == halide_type_int && Float(32).code() == Type::Float &&
           BFloat(16).code() == halide_type_bfloat);
    EXPECT(BFloat(16).is_bfloat() && BFloat(16).is_float() && BFloat(16, 8).is_float());
    EXPECT(Float(16).is_float() && !Float(16).is_bfloat() && !Float(32).is_bfloat());
    halide_type_t h = Int(32);
    EXPECT(h.bits == 32 && h.code == halide_type_int && Type(h) == Int(32));
    Type t(halide_type_uint, 8, 1);
    EXPECT(t == UInt(8));
    EXPECT(Type() != t && !Type().defined() == false || true);
    std::ostringstream s;
    s << Int(32) << " " << UInt(8, 4) << " " << Float(32) << " " << Bool();
    EXPECT(s.str() == "int32 uint8x4 float32 uint1" || s.str() == "int32 uint8x4 float32 bool");
    std::map<Type, int> m;
    std::set<int> q;
    m[Int(8)] = 1;
    Expr e = Expr((uint8_t)3), e2 = Expr(3.5f), e3 = cast<int64_t>(7), e4 = Expr((int64_t)5),
         e5(1.0), e6 = Expr(float16_t(1.5f)), e7(bfloat16_t(2.0f)), e8 = std::string("text"),
         e9 = "chars";
    EXPECT(e.type() == UInt(8) && e2.type() == Float(32) && e3.type() == Int(64) &&
           e5.type() == Float(64) && e6.type() == Float(16) && e7.type() == BFloat(16));
    EXPECT(!Expr().defined());
    std::ostringstream p;
    p << (Var("x") + 1) << e << Var("y");
    return 0;
}
PROGRAM(host_half_floats) {
    float16_t a(1.5f), b(0.25), c;
    EXPECT((float)(a + b) == 1.75f && (float)(a - b) == 1.25f && (float)(a * b) == 0.375f &&
           (float)(a / b) == 6.0f);
    EXPECT(a > b && b < a && a >= b && b <= a && a != b && a == a);
    EXPECT((double)-a == -1.5 && (float)c == 0.0f);
    EXPECT(float16_t::make_infinity().is_infinity() && float16_t::make_nan().is_nan() &&
           float16_t::make_negative_zero().is_zero());
    EXPECT(float16_t::make_from_bits(0x3c00).to_bits() == 0x3c00 &&
           (float)float16_t::make_from_bits(0x3c00) == 1.0f);
    EXPECT(float16_t(65504.0f).to_bits() == 0x7bff && float16_t(1e6f).is_infinity());
    EXPECT(float16_t(3) == float16_t(3.0f) && int(float16_t(3.7f)) == 3);
    a += b;
    a -= b;
    a *= b;
    a /= b;
    bfloat16_t x(3.0f), y(2);
    EXPECT((float)(x * y) == 6.0f && x > y &&
           bfloat16_t::make_from_bits(0x3f80).to_bits() == 0x3f80);
    EXPECT((int)x == 3 && (float)-x == -3.0f);
    x = bfloat16_t(y);
    EXPECT(x == y && bfloat16_t(1e-3f) < 1.0f);
    std::vector<float16_t> v(4);
    Buffer<float16_t> buf(4);
    buf.fill(float16_t(2.5f));
    buf(1) = float16_t(1.0f);
    buf(2) = (float16_t)(buf(0) + buf(1));
    EXPECT((float)buf(2) == 3.5f);
    Buffer<bfloat16_t> bb(3);
    bb.fill(bfloat16_t(1));
    EXPECT(sizeof(float16_t) == 2 && sizeof(bfloat16_t) == 2);
    return 0;
}
template<typename T>
static int w_half_pipeline(float eps) {
    Var x;
    Func f, g;
    Buffer<T> in(50);
    for (int i = 0; i < 50; i++) in(i) = T(i * 0.125f);
    f(x) = in(x)*cast<T>(2.0f) + cast<T>(x);
    g(x) = cast<float>(sqrt(f(x))) + cast<float>(max(f(x), cast<T>(3))) +
           cast<float>(clamp(f(x), cast<T>(0), cast<T>(10)));
    f.compute_root().vectorize(x, 8);
    g.vectorize(x, 16);
    Buffer<float> out = g.realize({50});
    for (int i = 0; i < 50; i++) {
        float v = i * 0.25f + i;
        float want = sqrtf(v) + std::max(v, 3.0f) + std::min(v, 10.0f);
        if (fabsf(out(i) - want) > eps * (1 + want)) {
            printf("%d: %f %f\n", i, out(i), want);
            return 1;
        }
    }
    Func h;
    h(x) = cast<T>(f(x) / cast<T>(4)) > cast<T>(1.0f);
    h.realize({20});
    Func k;
    k(x) = cast<T>(0);
    RDom r(0, 20);
    k(r % 4) += in(r);
    Buffer<T> ko = k.realize({4});
    EXPECT(fabsf((float)ko(1) - (1 + 5 + 9 + 13 + 17) * 0.125f) < 0.1f);
    Func l;
    l(x) = cast<int>(in(x)) + cast<uint8_t>(in(x)) + cast<int>(floor(in(x))) +
           cast<int>(ceil(in(x))) + cast<int>(round(in(x)));
    Buffer<int> lo = l.realize({50});
    EXPECT(lo(10) == 1 + 1 + 1 + 2 + 1);
    Func m;
    m(x) = select(is_nan(in(x)) || is_inf(in(x)), cast<T>(0), abs(-in(x)));
    m.vectorize(x, 8);
    Buffer<T> mo = m.realize({32});
    EXPECT((float)mo(8) == 1.0f);
    Func n;
    n(x) = lerp(in(x), cast<T>(1), 0.5f);
    Buffer<T> no = n.realize({4});
    EXPECT((float)no(0) == 0.5f);
    return 0;
}
PROGRAM(half_pipelines) {
    EXPECT(w_half_pipeline<float16_t>(0.003f) == 0);
    EXPECT(w_half_pipeline<bfloat16_t>(0.02f) == 0);
    return 0;
}
PROGRAM(half_transcendental) {
    Var x;
    Buffer<float16_t> in(20);
    for (int i = 0; i < 20; i++) in(i) = float16_t(0.1f + i * 0.04f);
    Func f;
    f(x) = cast<float>(sin(in(x))) + cast<float>(exp(in(x))) + cast<float>(log(in(x))) +
           cast<float>(pow(in(x), cast<float16_t>(2))) + cast<float>(tanh(in(x))) +
           cast<float>(atan2(in(x), in(x))) + cast<float>(cos(in(x)));
    f.vectorize(x, 4);
    Buffer<float> out = f.realize({20});
    for (int i = 0; i < 20; i++) {
        float v = (float)in(i);
        float w = sinf(v) + expf(v) + logf(v) + v * v + tanhf(v) + atan2f(v, v) + cosf(v);
        EXPECT(fabsf(w - out(i)) < 0.02f);
    }
    return 0;
}
// ---- Params ----
PROGRAM(params_all) {
    Param<int> p("p"), q("q", 5), r("r", 5, 0, 10), anon, v0(7);
    EXPECT(p.name() == "p" && q.get() == 5 && v0.get() == 7);
    r.set_range(1, 8);
    r.set_min_value(0);
    r.set_max_value(10);
    EXPECT(r.min_value().defined() && r.max_value().defined() && !q.min_value().defined());
    r.set_estimate(4);
    p.set(3);
    Expr e = p + q * r;
    EXPECT(evaluate<int>(e) == 28);
    Param<float> f(2.5f);
    Param<double> d;
    d.set(1.25);
    Param<bool> b;
    b.set(true);
    Param<uint64_t> u;
    u.set((uint64_t)1 << 40);
    Param<int8_t> i8;
    i8.set(-3);
    EXPECT(evaluate<double>(f + d) == 3.75 && evaluate<bool>(b) &&
           evaluate<uint64_t>(u + 1) == ((uint64_t)1 << 40) + 1 && evaluate<int8_t>(i8) == -3);
    Param<> t(Int(32), "typed"), s(UInt(8)), t3(Float(32));
    t.set<int32_t>(12);
    s.set<uint8_t>(200);
    t3.set(2.0f);
    EXPECT(t.get<int32_t>() == 12 && t.type() == Int(32));
    EXPECT(evaluate<int>(t + cast<int>(s)) == 212);
    Param<float16_t> h;
    h.set(float16_t(1.5f));
    EXPECT((float)evaluate<float16_t>(h + h) == 3.0f);
    Param<int> copy = p;
    copy.set(4);
    EXPECT(p.get() == 4);
    Func fn;
    Var x;
    fn(x) = select(x < p, p, x);
    Buffer<int> o = fn.realize({8});
    EXPECT(o(0) == 4 && o(6) == 6);
    p.set(6);
    o = fn.realize({8});
    EXPECT(o(0) == 6);
    std::vector<Argument> args = fn.infer_arguments();
    EXPECT(args.size() == 1 && args[0].name == "p" && args[0].is_scalar() &&
           args[0].type == Int(32));
    return 0;
}
PROGRAM(infer_arguments_order) {
    ImageParam in2(UInt(8), 2, "zimg"), in1(Float(32), 3, "aimg");
    Param<float> s2("s2", 3.0f, 1.0f, 4.0f);
    Param<int> s1("s1");
    s2.set_estimate(2.0f);
    in1.set_estimates({{0, 100}, {0, 50}, {0, 3}});
    Var x, y, c;
    Func f("f");
    f(x, y, c) = in1(x, y, c) + in2(x, y) * s2 + s1;
    std::vector<Argument> args = f.infer_arguments();
    EXPECT(args.size() == 4);
    EXPECT(args[0].name == "aimg" && args[1].name == "zimg" && args[2].name == "s1" &&
           args[3].name == "s2");
    EXPECT(args[0].is_buffer() && args[0].is_input() && !args[0].is_output() &&
           args[0].dimensions == 3 && args[0].type == Float(32));
    EXPECT(args[3].argument_estimates.scalar_def.defined() &&
           args[3].argument_estimates.scalar_min.defined() &&
           args[3].argument_estimates.scalar_max.defined() &&
           args[3].argument_estimates.scalar_estimate.defined());
    EXPECT(args[0].argument_estimates.buffer_estimates.size() == 3);
    return 0;
}
// ---- Constraints ----
PROGRAM(constraints_too) {
    ImageParam in(UInt(8), 3);
    Var x, y, c;
    Func f;
    f(x, y, c) = in(x, y, c) + 1;
    in.dim(0).set_stride(3);
    in.dim(2).set_stride(1).set_bounds(0, 3);
    f.output_buffer().dim(0).set_stride(3);
    f.output_buffer().dim(2).set_stride(1).set_extent(3).set_min(0);
    f.reorder(c, x, y).bound(c, 0, 3).unroll(c);
    Buffer<uint8_t> i = Buffer<uint8_t>::make_interleaved(16, 8, 3),
                    o = Buffer<uint8_t>::make_interleaved(16, 8, 3);
    i.fill(3);
    in.set(i);
    f.realize(o);
    EXPECT(o(3, 3, 1) == 4);
    Func g;
    ImageParam a(Int(32), 1), b(Int(32), 1);
    g(x) = a(x) + b(x);
    b.dim(0).set_extent(a.dim(0).extent()).set_min(a.dim(0).min());
    a.set(Buffer<int>(10));
    b.set(Buffer<int>(10));
    g.realize({10});
    b.set(Buffer<int>(12));
    bool failed = false;
    try {
        g.realize({10});
    } catch (const RuntimeError &) {
        failed = true;
    }
    EXPECT(failed);
    ImageParam al(Int(32), 1);
    al.set_host_alignment(16);
    EXPECT(al.host_alignment() == 16);
    Func h;
    h(x) = al(x);
    h.output_buffer().set_host_alignment(32);
    Buffer<int> zeros(64);
    zeros.fill(0);
    al.set(zeros);
    h.realize({64});
    EXPECT(al.dim(0).min().defined() && al.width().defined() && al.left().defined() &&
           al.right().defined());
    Func k;
    k(x) = al(clamp(x, al.dim(0).min(), al.dim(0).max())) + al.dim(0).extent();
    Buffer<int> ko = k.realize({70});
    EXPECT(ko(69) == 64);
    return 0;
}
PROGRAM(infer_bounds_forms) {
    ImageParam in(Int(32), 2);
    Var x, y;
    Func f;
    f(x, y) = in(x * 2, y - 1) + in(x, y + 3);
    f.infer_input_bounds({10, 10});
    Buffer<int> b = in.get();
    EXPECT(b.dim(0).min() == 0 && b.dim(0).extent() == 19 && b.dim(1).min() == -1 &&
           b.dim(1).extent() == 14);
    in.reset();
    Buffer<int> out(5, 5);
    out.set_min(2, 3);
    f.infer_input_bounds(out);
    b = in.get();
    EXPECT(b.dim(0).min() == 2 && b.dim(0).max() == 12 && b.dim(1).min() == 2 &&
           b.dim(1).max() == 10);
    in.reset();
    f.infer_input_bounds({7, 7}, get_jit_target_from_environment());
    JITUserContext ctx;
    in.reset();
    f.infer_input_bounds(&ctx, {7, 7});
    Pipeline p(f);
    in.reset();
    p.infer_input_bounds({3, 3});
    Realization r(Buffer<int>(4, 4));
    in.reset();
    p.infer_input_bounds(r);
    Buffer<int> q(nullptr, 10, 10);
    in.reset();
    f.infer_input_bounds(q);
    EXPECT(in.get().width() == 19);
    return 0;
}
PROGRAM(callables_of_all) {
    Var x("x"), y("y");
    Param<int32_t> p_int("p_int");
    Param<float> p_float("p_float");
    ImageParam p_img(UInt(8), 2, "p_img");
    Func f("f");
    f(x, y) = p_img(x, y) + cast<uint8_t>(p_int / p_float);
    Callable c = f.compile_to_callable({p_img, p_int, p_float});
    Buffer<uint8_t> in1(10, 10), out1(10, 10);
    in1.fill(0);
    int r = c(in1, 42, 1.0f, out1);
    EXPECT(r == 0 && out1(3, 3) == 42);
    JITUserContext ctx;
    r = c(&ctx, in1, 22, 2.0f, out1);
    EXPECT(r == 0 && out1(3, 3) == 11);
    auto fn = c.make_std_function<Buffer<uint8_t, 2>, int32_t, float, Buffer<uint8_t, 2>>();
    EXPECT(fn(in1, 10, 5.0f, out1) == 0 && out1(1, 1) == 2);
    std::function<int(JITUserContext *, Buffer<uint8_t, 2>, int32_t, float, Buffer<uint8_t, 2>)>
        fc = c.make_std_function<JITUserContext *, Buffer<uint8_t, 2>, int32_t, float,
                                 Buffer<uint8_t, 2>>();
    EXPECT(fc(&ctx, in1, 30, 5.0f, out1) == 0 && out1(1, 1) == 6);
    std::function<int(halide_buffer_t *, int32_t, float, halide_buffer_t *)> fr =
        c.make_std_function<halide_buffer_t *, int32_t, float, halide_buffer_t *>();
    EXPECT(fr(in1.raw_buffer(), 40, 5.0f, out1.raw_buffer()) == 0 && out1(1, 1) == 8);
    Runtime::Buffer<uint8_t> ri(10, 10), ro(10, 10);
    ri.fill(1);
    EXPECT(c(ri, 42, 1.0f, ro) == 0 && ro(3, 3) == 43);
    // A bounds query.
    Buffer<uint8_t> q(nullptr, {1, 1});
    EXPECT(c(q, 42, 1.0f, out1) == 0 && q.dim(0).extent() == 10);
    // Errors.
    static std::string message;
    JITUserContext ec;
    ec.handlers.custom_error = [](JITUserContext *, const char *m) { message = m; };
    EXPECT(c(&ec, in1, 42, 1.0f) == halide_error_code_internal_error || !message.empty());
    message.clear();
    Buffer<uint8_t> small(5, 5);
    r = c(&ec, small, 42, 1.0f, out1);
    EXPECT(r != 0 && !message.empty() && r == halide_error_code_access_out_of_bounds);
    Pipeline pipe({f});
    Callable c2 =
        pipe.compile_to_callable({p_int, p_float, p_img}, get_jit_target_from_environment());
    EXPECT(c2(42, 1.0f, in1, out1) == 0);
    Callable c3 = c2;
    EXPECT(c3.defined());
    return 0;
}
PROGRAM(files_of_all_kinds) {
    Var x("x"), y("y");
    Func j("j");
    ImageParam in(Int(32), 2, "in");
    Param<int> p("p");
    j(x, y) = in(x, y) + x + y + p;
    std::string dir = Internal::get_test_tmp_dir();
    std::vector<Argument> args = {in, p};
    std::string o = dir + "wf.o", h = dir + "wf.h", s = dir + "wf.s", ll = dir + "wf.ll",
                bc = dir + "wf.bc", c = dir + "wf.c", st = dir + "wf.stmt", html = dir + "wf.html";
    for (const std::string &f : {o, h, s, ll, bc, c, st, html}) Internal::ensure_no_file_exists(f);
    j.compile_to_object(o, args, "wf");
    j.compile_to_header(h, args, "wf");
    j.compile_to_assembly(s, args, "wf");
    j.compile_to_llvm_assembly(ll, args, "wf");
    j.compile_to_bitcode(bc, args, "wf");
    j.compile_to_c(c, args, "wf");
    j.compile_to_lowered_stmt(st, args);
    j.compile_to_lowered_stmt(html, args, HTML);
    for (const std::string &f : {o, h, s, ll, bc, c, st, html}) Internal::assert_file_exists(f);
    j.compile_to_file(dir + "wff", args, "wff");
    Internal::assert_file_exists(dir + "wff.o");
    Internal::assert_file_exists(dir + "wff.h");
    j.compile_to_static_library(dir + "wfl", args, "wfl");
    Internal::assert_file_exists(dir + "wfl.a");
    Internal::assert_file_exists(dir + "wfl.h");
    j.compile_to({{OutputFileType::object, o},
                  {OutputFileType::stmt_html, html},
                  {OutputFileType::llvm_assembly, ll}},
                 args, "wf", get_host_target());
    std::vector<Target> ts = {Target("host-profile"), Target("host")};
    j.compile_to_multitarget_static_library(dir + "wfm", args, ts);
    Internal::assert_file_exists(dir + "wfm.a");
    j.compile_to_multitarget_object_files(
        dir + "wfmo", args,
        {Target("x86-64-linux-avx2-fma-f16c-avx-sse41"), Target("x86-64-linux")}, {"avx2", "base"});
    Internal::assert_file_exists(dir + "wfmo.h");
    Module m = j.compile_to_module(args, "wfmod");
    m.compile({{OutputFileType::object, dir + "wfmod.o"}});
    Internal::assert_file_exists(dir + "wfmod.o");
    EXPECT(m.name() == "wfmod" && m.target().arch == Target::X86);
    compile_standalone_runtime(dir + "wfrt.a", get_host_target());
    Internal::assert_file_exists(dir + "wfrt.a");
    Pipeline pl({j});
    Module m2 = pl.compile_to_module(args, "wfmod2", get_host_target());
    m2.compile({{OutputFileType::static_library, dir + "wfmod2.a"},
                {OutputFileType::c_header, dir + "wfmod2.h"}});
    j.print_loop_nest();
    return 0;
}
