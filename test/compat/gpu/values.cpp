#include "oracle.h"

// What kernels compute with, and what they are given.
namespace {

Var x("x"), y("y"), z("z"), w("w"), xi("xi"), yi("yi"), xo("xo");

extern "C" HALIDE_EXPORT_SYMBOL int gpu_test_offset(int i) { return i * 3 + 1; }
HalidePureExtern_1(int, gpu_test_offset, int);

}  // namespace

PROGRAM(params_of_all_types) {
    Param<bool> b("b");
    Param<int8_t> i8("i8");
    Param<int16_t> i16("i16");
    Param<uint16_t> u16("u16");
    Param<int64_t> i64("i64");
    Param<float> f32("f32");
    Param<double> f64("f64");
    Param<float16_t> f16("f16");
    b.set(true);
    i8.set(-5);
    i16.set(-300);
    u16.set(60000);
    i64.set(int64_t(1) << 40);
    f32.set(0.5f);
    f64.set(0.25);
    f16.set(float16_t(1.5f));
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            Func f("f");
            f(x) = select(b, cast<float>(i8), 1.0f) + i16 + u16 + cast<float>(i64 >> 30) + f32 +
                   cast<float>(f64) + cast<float>(f16) + x;
            if (gpu) f.gpu_tile(x, xi, 8);
            return f;
        },
        {16}));
    return 0;
}

PROGRAM(buffers_of_no_and_of_many_dimensions) {
    Buffer<int> scalar = Buffer<int>::make_scalar(), many(3, 2, 2, 2, 3);
    scalar() = 7;
    many.fill([](int a, int b, int c, int d, int e) {
        return a + 10 * b + 100 * c + 1000 * d + 10000 * e;
    });
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f");
            Var v("v");
            f(x, y, z, w, v) = many(x, y, z, w, v) * 2 + scalar();
            if (gpu) f.gpu_blocks(v, w).gpu_threads(x, y, z);
            return f;
        },
        {3, 2, 2, 2, 3}));
    Func none("none");
    none() = scalar() * 2;
    none.gpu_single_thread();
    for (const Target &target : gpu_targets()) {
        Buffer<int> result = none.realize({}, target);
        EXPECT(result() == 14);
    }
    return 0;
}

PROGRAM(maths_in_kernels) {
    EXPECT(same_on_gpu<float>(
        [](bool gpu) {
            Func f("f");
            Expr v = cast<float>(x) / 7 + 0.25f;
            f(x, y) = select(y == 0, sin(v) + cos(v), y == 1, exp(v) + log(v), y == 2,
                             pow(v, 1.5f) + sqrt(v), y == 3, floor(v) + round(v) + ceil(v), y == 4,
                             atan2(v, 2.0f) + tanh(v), fast_inverse_sqrt(v) + abs(-v));
            if (gpu) f.gpu_tile(x, y, xi, yi, 8, 2);
            return f;
        },
        {16, 6}));
    return 0;
}

PROGRAM(fast_maths_in_kernels) {
    EXPECT(same_on_gpu<float>(
        [](bool gpu) {
            Func f("f");
            Expr v = cast<float>(x) / 7 + 0.25f;
            f(x, y) =
                select(y == 0, fast_exp(v) / 8, y == 1, fast_exp(-v), y == 2, fast_log(v), y == 3,
                       fast_inverse(v), y == 4, fast_inverse_sqrt(v), fast_pow(v, 0.3f));
            if (gpu) f.gpu_tile(x, y, xi, yi, 8, 2);
            return f;
        },
        {16, 6}));
    return 0;
}

PROGRAM(small_types_in_kernels) {
    EXPECT(same_on_gpu<uint8_t>(
        [](bool gpu) {
            Func f("f"), g("g");
            f(x, y) = cast<uint8_t>(x * 37 + y * 11);
            Expr a = f(x, y), b = f(x + 1, y);
            g(x, y) = saturating_add(absd(a, b), rounding_halving_add(a, b)) ^ (a >> 2);
            if (!gpu) return g;
            g.gpu_tile(x, y, xo, z, xi, yi, 16, 4);
            f.compute_at(g, xo).gpu_threads(x, y);
            return g;
        },
        {32, 8}));
    EXPECT(same_on_gpu<float16_t>(
        [](bool gpu) {
            Func f("f");
            f(x) = cast<float16_t>(x) * float16_t(0.5f) + float16_t(1.0f);
            if (gpu) f.gpu_tile(x, xi, 8);
            return f;
        },
        {16}));
    return 0;
}

PROGRAM(random_numbers_in_kernels) {
    Func f("f");
    f(x, y) = random_float(17) + cast<float>(random_uint(18) % 5) + random_int(19) % 3;
    Buffer<float> wanted = f.realize({16, 8});
    f.gpu_tile(x, y, xi, yi, 8, 4);
    for (const Target &target : gpu_targets()) {
        Buffer<float> found = f.realize({16, 8}, target);
        EXPECT(is_same(wanted, found));
    }
    return 0;
}

PROGRAM(boundaries_in_kernels) {
    Buffer<uint8_t> in = picture(20, 12);
    for (int which = 0; which < 4; which++) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                using namespace BoundaryConditions;
                Func b = which == 0   ? repeat_edge(in)
                         : which == 1 ? constant_exterior(in, 3)
                         : which == 2 ? mirror_image(in)
                                      : repeat_image(in);
                Func out("out");
                out(x, y) = cast<int>(b(x - 2, y)) + b(x + 2, y - 1) + b(x, y + 3);
                if (!gpu) return out;
                out.gpu_tile(x, y, xo, z, xi, yi, 8, 4, TailStrategy::GuardWithIf);
                b.compute_at(out, xo).gpu_threads(b.args()[0], b.args()[1]);
                return out;
            },
            {20, 12}));
    }
    return 0;
}

PROGRAM(extern_functions_that_are_called_on_the_host) {
    Param<int> n("n");
    n.set(4);
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f");
            f(x) = x + gpu_test_offset(n);
            if (gpu) f.gpu_tile(x, xi, 8);
            return f;
        },
        {16}));
    return 0;
}

PROGRAM(dot_products_in_kernels) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func a("a"), b("b"), f("f");
            RDom r(0, 16);
            a(x, y) = cast<int8_t>(x * 7 + y * 3);
            b(x, y) = cast<uint8_t>(x * 5 + y * 11);
            f(x, y) = 0;
            f(x, y) += cast<int>(a(r, y)) * cast<int>(b(r, x));
            if (!gpu) return f;
            a.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
            b.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
            RVar ro, ri;
            f.gpu_tile(x, y, xi, yi, 8, 8);
            f.update().split(r, ro, ri, 4).reorder(ri, ro, x, y).gpu_tile(x, y, xi, yi, 8, 8);
            f.update().atomic().vectorize(ri);
            return f;
        },
        {16, 16}));
    return 0;
}

PROGRAM(an_output_of_no_size) {
    Func f("f");
    f(x, y) = x + y;
    f.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
    Buffer<int> none(0, 5);
    for (const Target &target : gpu_targets()) {
        f.realize(none, target);
        none.copy_to_host();
    }
    return 0;
}

PROGRAM(outputs_keep_what_is_beside_them) {
    Func f("f");
    f(x, y) = x + y;
    f.gpu_tile(x, y, xi, yi, 4, 4);
    for (const Target &target : gpu_targets()) {
        Buffer<int> whole(16, 12);
        whole.fill(-1);
        Buffer<int> part = whole.cropped({{4, 8}, {4, 4}});
        f.realize(part, target);
        part.copy_to_host();
        whole.copy_to_host();
        for (int j = 0; j < 12; j++) {
            for (int i = 0; i < 16; i++) {
                const bool inside = i >= 4 && i < 12 && j >= 4 && j < 8;
                EXPECT(whole(i, j) == (inside ? i + j : -1));
            }
        }
    }
    return 0;
}

PROGRAM(several_outputs_on_both_sides) {
    Func f("f"), g("g"), h("h");
    f(x, y) = x * 2 + y;
    g(x, y) = f(x, y) + 1;
    h(x, y) = {f(x + 1, y), cast<float>(g(x, y))};
    f.compute_root().gpu_tile(x, y, xi, yi, 4, 4);
    g.compute_root();
    h.gpu_tile(x, y, xi, yi, 4, 4);
    Pipeline p({g, h});
    for (const Target &target : gpu_targets()) {
        Realization r = p.realize({8, 8}, target);
        Buffer<int> a = r[0], b = r[1];
        Buffer<float> c = r[2];
        for (int i = 0; i < 8; i++)
            EXPECT(a(i, 3) == 2 * i + 4 && b(i, 3) == 2 * i + 5 && c(i, 3) == float(2 * i + 4));
    }
    return 0;
}

PROGRAM(kernels_are_within_the_object_of_a_module) {
    Func f("f"), g("g");
    f(x) = x * 2;
    g(x) = x * 3;
    f.gpu_tile(x, xi, 8);
    auto text_of = [](const Buffer<uint8_t> &b) {
        return std::string(reinterpret_cast<const char *>(b.data()), size_t(b.width()));
    };
    Module m = f.compile_to_module({}, "f", Target("host-cuda-cuda_capability_80"));
    EXPECT(text_of(m.compile_to_buffer()).find(".target sm_80") != std::string::npos);
    const std::string ptx = text_of(m.get_device_code_buffer());
    EXPECT(ptx.find(".visible .entry f_kernel_0(") != std::string::npos);
    EXPECT(!g.compile_to_module({}, "g", Target("host-cuda")).get_device_code_buffer().defined());
    return 0;
}

PROGRAM(inputs_of_any_layout) {
    Buffer<int> interleaved = Buffer<int>::make_interleaved(16, 8, 3);
    interleaved.fill([](int i, int j, int k) { return i + 100 * j + 10000 * k; });
    Buffer<int> cropped = interleaved.cropped(0, 4, 8);
    cropped.set_min(0, 0, 0);
    ImageParam in(Int(32), 3, "in");
    in.dim(0).set_stride(Expr());
    in.set(cropped);
    Var c("c");
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f");
            f(x, y, c) = in(x, y, c) + in(7 - x, y, 2 - c);
            if (gpu) f.reorder(c, x, y).gpu_tile(x, y, xi, yi, 4, 4);
            return f;
        },
        {8, 8, 3}));
    return 0;
}
