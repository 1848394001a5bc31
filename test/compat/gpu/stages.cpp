#include "oracle.h"
#include <cstdlib>
#include <cstring>

// Several stages of one kernel, updates, and what chooses between stages.
namespace {

Var x("x"), y("y"), z("z"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), u("u"), v("v");

}  // namespace

PROGRAM(stages_of_different_numbers_of_threads) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func three("three"), two("two"), one("one"), none("none"), out("out");
            RDom r(1, 7);
            three(x, y, z) = x + y * 2 + z * 3;
            two(x, y) = three(x, y, 0) + three(x, y, 1);
            two(x, y) += 1;
            one(x) = two(x, 0) + two(x, 2);
            one(x) += two(x, 1);
            none(x) = one(x);
            none(r) += none(r - 1);
            out(x, y) = none(x % 8) + two(x % 8, y % 3) + three(x % 8, y % 3, 1);
            if (!gpu) return out;
            out.gpu_tile(x, y, xo, yo, xi, yi, 16, 4);
            three.compute_at(out, xo).gpu_threads(x, y, z);
            two.compute_at(out, xo).gpu_threads(x, y);
            two.update().gpu_threads(x, y);
            one.compute_at(out, xo).gpu_threads(x);
            one.update().gpu_threads(x);
            none.compute_at(out, xo);
            return out;
        },
        {32, 8}));
    return 0;
}

PROGRAM(arms_of_a_specialization_have_different_threads) {
    for (bool which : {false, true}) {
        Param<bool> p("p");
        p.set(which);
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = x + y * 4;
                f(x, y) += x;
                out(x, y) = f(x, y) + f(x, (y + 1) % 8);
                if (!gpu) return out;
                out.compute_root().bound(y, 0, 8);
                out.split(x, xo, xi, 8).reorder(xi, y, xo).gpu_blocks(xo).gpu_threads(xi, y);
                f.compute_at(out, xo).gpu_threads(x, y);
                f.update().specialize(p).gpu_threads(x, y);
                f.update().gpu_threads(x);
                return out;
            },
            {16, 8}));
    }
    return 0;
}

PROGRAM(the_device_is_chosen_when_it_runs) {
    Param<bool> first("first"), second("second");
    for (int which = 0; which < 4; which++) {
        first.set(which & 1);
        second.set(which & 2);
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), g("g"), h("h");
                f(x, y) = x * 3 + y;
                g(x, y) = f(x, y) + f(x + 1, y);
                h(x, y) = g(x, y) * 2 + f(x, y);
                if (!gpu) return h;
                f.compute_root().specialize(first).gpu_tile(x, y, xi, yi, 4, 4);
                g.compute_root().specialize(second).gpu_tile(x, y, xi, yi, 4, 4);
                h.specialize(first && second).gpu_tile(x, y, xi, yi, 8, 4);
                return h;
            },
            {16, 8}));
    }
    return 0;
}

PROGRAM(updates_move_data_between_threads) {
    // A tile of its own for each block, turned in place.
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func f("f"), out("out");
            RDom r(0, 4), all(0, 8);
            f(x, y) = x * 7 + y;
            f(x, 0) = f(x, 1) + f(x, 2);
            f(r, y) = f(r + 4, y) * 2;
            f(all, 3) = f(7 - all, 2);
            out(x, y) = f(x % 8, y % 4) + x;
            if (!gpu) return out;
            f.bound(x, 0, 8).bound(y, 0, 4);
            out.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            f.compute_at(out, xo).gpu_threads(x, y);
            f.update(0).gpu_threads(x);
            f.update(1).gpu_threads(r, y);
            f.update(2).gpu_threads(all);
            return out;
        },
        {16, 8}));
    return 0;
}

PROGRAM(windows_slide_in_threads_blocks_and_launches) {
    for (int place = 0; place < 3; place++) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = x * 5 + y * y;
                out(x, y) = f(x, y) + f(x, y + 1) + f(x, y + 2);
                if (!gpu) return out;
                out.compute_root().split(x, xo, xi, 8);
                if (place == 0) {
                    out.split(y, yo, yi, 4).reorder(yi, xi, xo, yo).unroll(yi);
                    out.gpu_blocks(xo, yo).gpu_threads(xi);
                    f.store_at(out, xi).compute_at(out, yi).store_in(MemoryType::Register);
                } else if (place == 1) {
                    out.split(y, yo, yi, 4).reorder(xi, yi, xo, yo);
                    out.gpu_blocks(xo, yo).gpu_threads(xi);
                    f.store_at(out, xo).compute_at(out, yi).gpu_threads(x);
                } else {
                    out.reorder(xi, xo, y).gpu_blocks(xo).gpu_threads(xi);
                    f.store_root().compute_at(out, y).gpu_tile(x, u, v, 8);
                }
                return out;
            },
            {16, 8}));
    }
    return 0;
}

PROGRAM(a_stage_is_skipped_by_what_the_gpu_reads_too) {
    ImageParam flags(UInt(8), 1, "flags");
    Buffer<uint8_t> data(2);
    for (int i = 0; i < 4; i++) {
        data(0) = uint8_t(i & 1);
        data(1) = uint8_t(i / 2);
        flags.set(data);
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x) = x * 3;
                out(x) = select(flags(0) != 0, f(x) + f(x + 1), 5) + flags(x % 2);
                if (!gpu) return out;
                f.compute_root().gpu_tile(x, xi, 8);
                out.gpu_tile(x, xi, 8);
                return out;
            },
            {32}));
    }
    return 0;
}

PROGRAM(a_scan_of_several_kernels) {
    const int block = 8, blocks = 6;
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func in("in"), local("local"), sums("sums"), out("out");
            RDom r(1, block - 1), s(1, blocks);
            in(x) = (x * 31 + 7) % 13;
            local(x, y) = in(y * block + x);
            local(r, y) += local(r - 1, y);
            sums(y) = 0;
            sums(s) = sums(s - 1) + local(block - 1, s - 1);
            out(x) = local(x % block, x / block) + sums(x / block);
            if (!gpu) return out;
            local.compute_root().bound(x, 0, block).gpu_blocks(y).gpu_threads(x);
            local.update().gpu_tile(y, yi, 2);
            sums.compute_root().gpu_single_thread();
            sums.update().gpu_single_thread();
            out.gpu_tile(x, xi, block);
            return out;
        },
        {block * blocks}));
    return 0;
}

PROGRAM(histograms_by_atomic_updates) {
    Buffer<uint8_t> in = picture(32, 16);
    auto histogram = [&](auto zero, bool in_shared) {
        using T = decltype(zero);
        return same_on_gpu<T>(
            [&](bool gpu) {
                Func h("h"), rows("rows"), out("out");
                RDom r(0, 32, 0, 16), s(0, 32), t(0, 16);
                if (in_shared) {
                    rows(x, y) = cast<T>(0);
                    rows(clamp(in(s, y) / 32, 0, 7), y) += cast<T>(1);
                    out(x) = cast<T>(0);
                    out(x) += rows(x, t);
                } else {
                    h(x) = cast<T>(0);
                    h(clamp(in(r.x, r.y) / 32, 0, 7)) += cast<T>(1);
                    out(x) = h(x);
                }
                if (!gpu) return out;
                if (in_shared) {
                    Func whole = rows.in();
                    whole.compute_root().bound(x, 0, 8).gpu_blocks(y).gpu_threads(x);
                    rows.compute_at(whole, y).gpu_threads(x);
                    rows.update().atomic().gpu_threads(s);
                    out.gpu_tile(x, xi, 8);
                    out.update().gpu_tile(x, xi, 8);
                } else {
                    RVar ro, ri;
                    h.compute_root().gpu_tile(x, xi, 8);
                    h.update().atomic().split(r.x, ro, ri, 8).gpu_blocks(r.y, ro).gpu_threads(ri);
                    out.gpu_tile(x, xi, 8);
                }
                return out;
            },
            {8});
    };
    for (bool in_shared : {false, true}) {
        EXPECT(histogram(int32_t(0), in_shared) && histogram(float(0), in_shared));
        EXPECT(histogram(int64_t(0), in_shared) && histogram(double(0), in_shared));
        EXPECT(histogram(uint32_t(0), in_shared) && histogram(uint8_t(0), in_shared));
        EXPECT(histogram(int16_t(0), in_shared));
    }
    return 0;
}

PROGRAM(reductions_are_made_apart) {
    Buffer<uint8_t> in = picture(64, 4);
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f");
            RDom r(0, 64);
            f(y) = 0;
            f(y) += cast<int>(in(r, y)) * r;
            if (!gpu) return f;
            RVar ro("ro"), ri("ri");
            f.compute_root().gpu_blocks(y);
            f.update().split(r, ro, ri, 8);
            Func part = f.update().rfactor(ro, u);
            f.update().gpu_blocks(y);
            part.compute_at(f, y).gpu_threads(u);
            part.update().gpu_threads(u);
            return f;
        },
        {4}));
    return 0;
}

PROGRAM(predicates_scatter_and_gather) {
    Buffer<uint8_t> in = picture(16, 16);
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), out("out");
            RDom r(0, 16, 0, 16);
            r.where(r.x <= r.y && in(r.x, r.y) > 50);
            f(x, y) = 0;
            f(15 - r.x, r.y) = cast<int>(in(r.x, r.y)) + r.y;
            out(x, y) = f(x, y) + f(in(x, y) % 16, y);
            if (!gpu) return out;
            f.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
            f.update().gpu_blocks(r.y).gpu_threads(r.x);
            out.gpu_tile(x, y, xi, yi, 8, 8);
            return out;
        },
        {16, 16}));
    return 0;
}

PROGRAM(a_profile_of_kernels_and_copies) {
    const Target target("host-cuda-profile");
    if (!host_supports_target_device(target)) return 0;
    static std::string report;
    report.clear();
    Buffer<uint8_t> in = picture(1 << 10, 1 << 10);
    Func f("f"), out("out");
    f(x, y) = cast<int>(in(x, y));
    f(x, y) += x;
    out(x, y) = f(x, y) * 2;
    f.compute_root().gpu_tile(x, y, xi, yi, 32, 8);
    f.update().gpu_tile(x, y, xi, yi, 32, 8);
    out.gpu_tile(x, y, xi, yi, 32, 8);
    out.jit_handlers().custom_print = [](JITUserContext *, const char *text) { report += text; };
    Buffer<int> found = out.realize({1 << 10, 1 << 10}, target);
    EXPECT(found(700, 5) == (in(700, 5) + 700) * 2);
    std::printf("%s", report.c_str());
    for (const char *kernel : {"kernel of f: ", "kernel of f.update(0): ", "kernel of out: "}) {
        const size_t at = report.find(kernel);
        EXPECT(at != std::string::npos);
        // Some microseconds: it has been timed.
        EXPECT(std::atof(report.c_str() + at + std::strlen(kernel)) > 0.0005);
    }
    EXPECT(report.find("copy to the device: ") != std::string::npos);
    EXPECT(report.find("copies: 1, mean: ") != std::string::npos);
    EXPECT(report.find("bytes: 1048576, GB/s: ") != std::string::npos);
    return 0;
}
