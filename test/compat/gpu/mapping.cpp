#include "oracle.h"

// How loops become blocks and threads.
namespace {

Var x("x"), y("y"), z("z"), c("c"), xo("xo"), yo("yo"), zo("zo"), xi("xi"), yi("yi"), zi("zi");

Func numbers(const char *name = "f") {
    Func f(name);
    f(x, y) = x * 7 + y * y - x * y;
    return f;
}

}  // namespace

PROGRAM(tiles_of_one_to_three_dimensions) {
    for (TailStrategy tail : {TailStrategy::Auto, TailStrategy::GuardWithIf,
                              TailStrategy::ShiftInwards, TailStrategy::RoundUp}) {
        for (bool short_form : {false, true}) {
            auto line = [&](bool gpu) {
                Func f("line");
                f(x) = x * x;
                if (gpu && short_form) f.gpu_tile(x, xi, 8, tail);
                if (gpu && !short_form) f.gpu_tile(x, xo, xi, 8, tail);
                return f;
            };
            EXPECT(same_on_gpu<int>(line, {37}));
            auto plane = [&](bool gpu) {
                Func f = numbers("plane");
                if (gpu && short_form) f.gpu_tile(x, y, xi, yi, 8, 4, tail);
                if (gpu && !short_form) f.gpu_tile(x, y, xo, yo, xi, yi, 8, 4, tail);
                return f;
            };
            EXPECT(same_on_gpu<int>(plane, {19, 11}));
            auto space = [&](bool gpu) {
                Func f("space");
                f(x, y, z) = x + 10 * y + 100 * z;
                if (gpu && short_form) f.gpu_tile(x, y, z, xi, yi, zi, 4, 2, 3, tail);
                if (gpu && !short_form)
                    f.gpu_tile(x, y, z, xo, yo, zo, xi, yi, zi, 4, 2, 3, tail, DeviceAPI::CUDA);
                return f;
            };
            EXPECT(same_on_gpu<int>(space, {9, 5, 7}));
        }
    }
    return 0;
}

PROGRAM(names_of_tiles_are_reused) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func f = numbers();
            if (gpu) f.gpu_tile(x, y, xo, yo, x, y, 8, 8);
            return f;
        },
        {16, 24}));
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func f = numbers();
            if (gpu) f.gpu_tile(x, y, x, y, xi, yi, 8, 8);
            return f;
        },
        {16, 24}));
    return 0;
}

PROGRAM(the_order_of_arguments_means_nothing) {
    for (bool swapped : {false, true}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f = numbers();
                if (!gpu) return f;
                f.tile(x, y, xo, yo, xi, yi, 4, 8);
                if (swapped) {
                    f.gpu_blocks(yo, xo).gpu_threads(yi, xi);
                } else {
                    f.gpu_blocks(xo).gpu_blocks(yo).gpu_threads(xi, yi);
                }
                return f;
            },
            {20, 20}));
    }
    return 0;
}

PROGRAM(loops_within_and_around_tiles) {
    for (int place = 0; place < 3; place++) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f");
                f(x, y, c) = x * 3 + y * 5 + c * 7;
                if (!gpu) return f;
                if (place == 0) f.reorder(c, x, y).bound(c, 0, 3).unroll(c);
                if (place == 1) f.reorder(c, x, y);
                f.gpu_tile(x, y, xi, yi, 8, 4);
                return f;
            },
            {16, 8, 3}));
    }
    return 0;
}

PROGRAM(parallel_loops_launch_kernels) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func f("f"), g("g");
            f(x, y, c) = x * 3 + y * 5 + c * 7;
            g(x, y, c) = f(x, y, c) + f(x + 1, y, c);
            if (!gpu) return g;
            g.gpu_tile(x, y, xi, yi, 8, 4).parallel(c);
            f.compute_at(g, c).gpu_tile(x, y, xi, yi, 8, 4);
            return g;
        },
        {16, 8, 6}));
    return 0;
}

PROGRAM(single_threads) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func one("one"), scan("scan"), out("out");
            RDom r(0, 50), s(1, 49);
            one() = 0;
            one() += r * r;
            scan(x) = x;
            scan(s) += scan(s - 1);
            out(x) = scan(x) + one();
            if (!gpu) return out;
            one.compute_root().gpu_single_thread();
            one.update().gpu_single_thread();
            scan.compute_root().gpu_tile(x, xi, 16);
            scan.update().gpu_single_thread();
            out.gpu_tile(x, xi, 16);
            return out;
        },
        {50}));
    return 0;
}

PROGRAM(tiles_that_are_fused_and_nested) {
    Var tile("tile"), xoo("xoo"), yoo("yoo");
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f = numbers();
            if (gpu) {
                f.tile(x, y, xo, yo, xi, yi, 8, 8).fuse(xo, yo, tile);
                f.gpu_blocks(tile).gpu_threads(xi, yi);
            }
            return f;
        },
        {32, 16}));
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f = numbers();
            if (gpu) {
                f.tile(x, y, xo, yo, xi, yi, 16, 16).tile(xi, yi, xoo, yoo, xi, yi, 4, 2);
                f.gpu_blocks(xo, yo).gpu_threads(xoo, yoo);
            }
            return f;
        },
        {32, 32}));
    return 0;
}

PROGRAM(blocks_and_threads_of_different_numbers) {
    for (int form = 0; form < 3; form++) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f");
                f(x, y, c) = x * 3 + y * 5 + c * 7;
                if (!gpu) return f;
                switch (form) {
                case 0: f.gpu_blocks(x, y); break;
                case 1: f.gpu_blocks(c).gpu_threads(x, y); break;
                case 2: f.split(x, xo, xi, 4).gpu_blocks(xo, y, c).gpu_threads(xi); break;
                }
                return f;
            },
            {8, 4, 3}));
    }
    return 0;
}

PROGRAM(vectors_and_unrolled_loops_in_kernels) {
    for (int form = 0; form < 5; form++) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f = numbers();
                if (!gpu) return f;
                Var v("v"), t("t");
                f.split(x, xo, xi, 16);
                switch (form) {
                case 0: f.split(xi, t, v, 4).vectorize(v); break;
                case 1: f.split(xi, t, v, 2).unroll(v); break;
                case 2: f.split(xi, v, t, 4).vectorize(v); break;
                case 3: f.split(xi, v, t, 8).unroll(v); break;
                case 4: f.split(xi, v, t, 8).serial(v); break;
                }
                if (form > 1) f.reorder(t, v, xo, y);
                f.gpu_blocks(xo, y).gpu_threads(t);
                return f;
            },
            {32, 5}));
    }
    return 0;
}

PROGRAM(guarded_splits_between_blocks) {
    Var a("a"), b("b");
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f = numbers();
            if (!gpu) return f;
            f.split(y, a, b, 4, TailStrategy::GuardWithIf).split(x, xo, xi, 8);
            f.reorder(xi, xo, b, a).gpu_blocks(xo, b, a).gpu_threads(xi);
            return f;
        },
        {24, 10}));
    return 0;
}

PROGRAM(loops_change_their_kind) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func f = numbers();
            if (!gpu) return f;
            f.gpu_tile(x, y, xi, yi, 8, 4).serial(yi);
            Var none("none");
            f.split(yi, yi, none, 1);
            return f;
        },
        {16, 8}));
    return 0;
}
