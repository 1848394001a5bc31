#include "oracle.h"

// Lanes of warps.
namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), u("u");

}  // namespace

PROGRAM(a_stencil_of_lanes) {
    for (int width : {32, 16, 30}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = x * 3 + y * y;
                out(x, y) = f(x - 1, y) + f(x, y) + f(x + 1, y);
                if (!gpu) return out;
                out.split(x, xo, xi, width, TailStrategy::GuardWithIf).reorder(xi, y, xo);
                out.gpu_blocks(xo).gpu_threads(y).gpu_lanes(xi);
                f.compute_at(out, y)
                    .split(x, xo, xi, 32, TailStrategy::RoundUp)
                    .gpu_lanes(xi)
                    .unroll(xo);
                return out;
            },
            {60, 4}));
    }
    return 0;
}

PROGRAM(a_sum_of_a_warp) {
    Buffer<uint8_t> in = picture(64, 8);
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), out("out");
            RDom r(0, 64);
            f(y) = 0;
            f(y) += cast<int>(in(r, y));
            out(y) = f(y);
            if (!gpu) return out;
            RVar ro("ro"), ri("ri");
            out.gpu_tile(y, x, xi, 4);
            f.compute_at(out, xi);
            f.update().split(r, ro, ri, 32);
            Func part = f.update().rfactor(ri, u);
            part.compute_at(out, xi).gpu_lanes(u);
            part.update().gpu_lanes(u);
            return out;
        },
        {8}));
    return 0;
}

PROGRAM(several_elements_of_each_lane) {
    for (int per_lane : {1, 2, 4}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = x * 3 + y * y;
                out(x, y) = f(x - 2, y) + f(x + 3, y) * 2;
                if (!gpu) return out;
                Var v("v");
                out.split(x, xo, xi, 32 * per_lane).split(xi, xi, v, per_lane).vectorize(v);
                out.reorder(v, xi, y, xo).gpu_blocks(xo).gpu_threads(y).gpu_lanes(xi);
                f.compute_at(out, y).split(x, x, v, per_lane).vectorize(v);
                f.split(x, xo, xi, 32, TailStrategy::RoundUp).gpu_lanes(xi).unroll(xo);
                return out;
            },
            {128, 4}));
    }
    return 0;
}

PROGRAM(lanes_read_one_another) {
    // Broadcasts, rotations, gathers, both ways of resampling.
    for (int how = 0; how < 6; how++) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = x * 5 + y * 7;
                Expr in_warp = x % 32;
                Expr e = how == 0   ? f(0, y)
                         : how == 1 ? f((in_warp + 5) % 32, y)
                         : how == 2 ? f(31 - in_warp, y)
                         : how == 3 ? f(in_warp / 2, y) + f(in_warp / 2 + 1, y)
                         : how == 4 ? f((in_warp * in_warp + y) % 32, y)
                                    : f((in_warp * 2) % 32, y) + f((in_warp * 2 + 1) % 32, y);
                out(x, y) = e + x;
                if (!gpu) return out;
                f.bound(x, 0, 32);
                out.split(x, xo, xi, 32).reorder(xi, y, xo);
                out.gpu_blocks(xo).gpu_threads(y).gpu_lanes(xi);
                f.compute_at(out, y).gpu_lanes(x);
                return out;
            },
            {64, 4}));
    }
    return 0;
}

PROGRAM(lanes_of_small_and_large_types) {
    auto check = [](auto zero) {
        using T = decltype(zero);
        return same_on_gpu<T>(
            [](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = cast<T>(x * 3 + y);
                out(x, y) = f(x, y) + f(x + 1, y);
                if (!gpu) return out;
                out.split(x, xo, xi, 16).reorder(xi, y, xo);
                out.gpu_blocks(xo).gpu_threads(y).gpu_lanes(xi);
                f.compute_at(out, y).split(x, xo, xi, 16, TailStrategy::RoundUp).unroll(xo);
                f.gpu_lanes(xi);
                return out;
            },
            {32, 4});
    };
    EXPECT(check(uint8_t(0)) && check(int16_t(0)) && check(float(0)) && check(double(0)));
    EXPECT(check(int64_t(0)) && check(uint32_t(0)));
    return 0;
}

PROGRAM(lanes_of_a_block_without_threads) {
    for (MemoryType where :
         {MemoryType::Auto, MemoryType::GPUShared, MemoryType::Heap, MemoryType::Register}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = x * 3 + y * y;
                f(x, y) += y;
                out(x, y) = f(x, y) + f(x, y + 1);
                if (!gpu) return out;
                out.split(x, xo, xi, 32).reorder(xi, y, xo).gpu_blocks(xo).gpu_lanes(xi);
                f.compute_at(out, xo).store_in(where).bound_extent(y, 5).gpu_lanes(x);
                f.update().gpu_lanes(x);
                return out;
            },
            {64, 4}));
    }
    return 0;
}

PROGRAM(a_scan_within_warps) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func in("in"), out("out");
            in(x, y) = x * 7 % 5 + y;
            std::vector<Func> steps;
            Func last = in;
            for (int d = 1; d < 32; d *= 2) {
                Func f("step" + std::to_string(d));
                f(x, y) = last(x, y) + select(x >= d, last(max(x - d, 0), y), 0);
                steps.push_back(f);
                last = f;
            }
            out(x, y) = last(x, y);
            if (!gpu) return out;
            out.bound(x, 0, 32).split(y, xo, xi, 2).reorder(x, xi, xo);
            out.gpu_blocks(xo).gpu_threads(xi).gpu_lanes(x);
            steps.pop_back();
            for (Func f : steps) f.compute_at(out, xi).gpu_lanes(x);
            return out;
        },
        {32, 4}));
    return 0;
}

PROGRAM(a_recursive_filter_of_transposed_tiles) {
    EXPECT(same_on_gpu<float>(
        [](bool gpu) {
            Func in("in"), scan("scan"), out("out");
            RDom r(1, 31);
            in(x, y) = cast<float>((x * 7 + y * 3) % 10);
            scan(x, y) = in(y, x);
            scan(x, r) = scan(x, r) * 0.25f + scan(x, r - 1) * 0.75f;
            out(x, y) = scan(y, x);
            if (!gpu) return out;
            out.bound(x, 0, 32).split(y, xo, xi, 32).reorder(xi, x, xo);
            out.gpu_blocks(xo).gpu_lanes(xi);
            scan.compute_at(out, xo).align_storage(x, 33).gpu_lanes(x);
            scan.update().gpu_lanes(x);
            return out;
        },
        {32, 64}));
    return 0;
}
