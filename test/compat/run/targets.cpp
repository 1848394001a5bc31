#include "../program.h"

PROGRAM(target_texts) {
    Target t("x86-64-linux-avx-avx2-no_asserts");
    EXPECT(t.os == Target::Linux && t.arch == Target::X86 && t.bits == 64);
    EXPECT(t.has_feature(Target::AVX2) && t.has_feature(Target::NoAsserts));
    EXPECT(!t.has_feature(Target::CUDA) && !t.has_gpu_feature());
    EXPECT(Target(t.to_string()) == t);
    EXPECT(Target::validate_target_string("arm-64-android") &&
           !Target::validate_target_string("nothing"));
    Target u(Target::Linux, Target::ARM, 64, {Target::SVE2});
    EXPECT(u.to_string().find("arm-64-linux") == 0 && u.has_feature(Target::SVE2));
    EXPECT(u != t);
    return 0;
}

PROGRAM(target_features) {
    Target t = get_host_target();
    EXPECT(!t.has_unknowns() && t.bits == int(8 * sizeof(void *)));
    t.set_feature(Target::Debug);
    t.set_features({Target::NoAsserts, Target::NoBoundsQuery});
    EXPECT(t.features_all_of({Target::Debug, Target::NoAsserts}));
    EXPECT(t.features_any_of({Target::CUDA, Target::NoBoundsQuery}));
    EXPECT(!t.without_feature(Target::Debug).has_feature(Target::Debug));
    EXPECT(t.with_feature(Target::LargeBuffers).has_large_buffers());
    EXPECT(t.natural_vector_size<uint8_t>() >= 16 && t.natural_vector_size(Float(32)) >= 4);
    EXPECT(t.supports_type(Int(32)) && t.supported());
    EXPECT(Target::feature_to_name(Target::AVX2) == "avx2");
    EXPECT(Target::feature_from_name("avx2") == Target::AVX2);
    EXPECT(Target::feature_from_name("nothing") == Target::FeatureEnd);
    EXPECT(t.maximum_buffer_size() > 0);
    return 0;
}

PROGRAM(branches_on_devices) {
    Target t = get_jit_target_from_environment();
    EXPECT(t.has_feature(Target::JIT));
    Var x("x"), y("y"), xi("xi"), yi("yi"), bx, by, tx, ty;
    Func f;
    f(x, y) = x + y;
    if (t.has_gpu_feature()) {
        f.gpu_tile(x, y, bx, by, tx, ty, 8, 8, TailStrategy::GuardWithIf, DeviceAPI::CUDA);
    } else if (t.has_feature(Target::HVX)) {
        f.hexagon().vectorize(x, 128);
    } else if (t.has_feature(Target::Vulkan) || t.has_feature(Target::WebGPU) ||
               t.has_feature(Target::Metal) || t.has_feature(Target::OpenCL) ||
               t.has_feature(Target::D3D12Compute)) {
        f.gpu(x, xi);
    } else {
        f.vectorize(x, 8).parallel(y);
    }
    Buffer<int> out = f.realize({16, 16}, t);
    if (t.has_gpu_feature()) out.copy_to_host();
    EXPECT(out(15, 15) == 30);
    EXPECT(!t.supports_device_api(DeviceAPI::Metal));
    return 0;
}

PROGRAM(large_buffers_feature) {
    Var x;
    Func f;
    f(x) = cast<uint8_t>(x);
    Target t = get_jit_target_from_environment().with_feature(Target::LargeBuffers);
    Buffer<uint8_t> out = f.realize({100}, t);
    EXPECT(out(99) == 99);
    return 0;
}

PROGRAM(features_without_checks) {
    Var x;
    Func f;
    f(x) = x;
    Target t = get_jit_target_from_environment();
    Buffer<int> out = f.realize({10}, t.with_feature(Target::NoAsserts));
    Buffer<int> out2(10);
    f.realize(out2, t.with_feature(Target::NoBoundsQuery));
    Buffer<int> out3 = f.realize({10}, t.with_feature(Target::StrictFloat));
    EXPECT(out(9) == 9 && out2(9) == 9 && out3(9) == 9);
    return 0;
}
PROGRAM(features_as_bits) {
    const Target t("x86-64-linux-avx2-no_asserts");
    EXPECT(t.get_features_bitset().test(Target::AVX2));
    EXPECT(!t.get_features_bitset().test(Target::AVX512));
    EXPECT(t.get_features_bitset() != t.without_feature(Target::AVX2).get_features_bitset());
    return 0;
}
