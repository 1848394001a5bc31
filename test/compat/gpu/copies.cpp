#include "oracle.h"

// Funcs that are computed by copying to the device, and back.
namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

Buffer<int> numbers() {
    Buffer<int> in(64, 40);
    in.fill([](int i, int j) { return i * 5 + j * j; });
    return in;
}

}  // namespace

PROGRAM(a_wrapper_copies_to_the_device) {
    Buffer<int> in = numbers();
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), out("out");
            f(x, y) = in(x, y) * 3;
            out(x, y) = f(x, y) + f(x + 1, y + 1);
            if (!gpu) return out;
            f.compute_root().vectorize(x, 8);
            f.in().compute_root().copy_to_device();
            out.gpu_tile(x, y, xi, yi, 16, 4);
            return out;
        },
        {48, 32}));
    return 0;
}

PROGRAM(rows_are_copied_ahead_of_the_kernel_that_reads_them) {
    Buffer<int> in = numbers();
    for (bool async : {false, true}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = in(x, y);
                out(x, y) = f(x, y) + f(x, y + 1);
                if (!gpu) return out;
                out.gpu_tile(x, xi, 16);
                f.store_root().compute_at(out, y).fold_storage(y, 4).copy_to_device();
                if (async) f.async();
                return out;
            },
            {64, 38}));
    }
    return 0;
}

PROGRAM(tiles_come_back_to_the_host) {
    Buffer<int> in = numbers();
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), out("out");
            f(x, y) = in(x, y) * 3;
            out(x, y) = f(x, y) + f(x + 1, y);
            if (!gpu) return out;
            out.tile(x, y, xo, yo, xi, yi, 16, 8).vectorize(xi, 4);
            f.compute_at(out, xo).gpu_tile(x, y, xi, yi, 8, 8);
            f.in().compute_at(out, xo).copy_to_host();
            return out;
        },
        {48, 32}));
    return 0;
}

PROGRAM(a_copy_is_computed_at_the_outermost_loop_of_another) {
    Buffer<int> in = numbers();
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), there("there"), twice("twice"), back("back"), out("out");
            f(x, y) = in(x, y) + 1;
            there(x, y) = f(x, y);
            twice(x, y) = there(x, y) * 2;
            back(x, y) = twice(x, y);
            out(x, y) = back(x, y) - back(x, y + 2);
            if (!gpu) return out;
            out.parallel(y, 4);
            back.compute_root().copy_to_host();
            twice.compute_at(back, Var::outermost()).gpu_tile(x, y, xi, yi, 8, 8);
            there.compute_root().copy_to_device();
            f.compute_at(there, Var::outermost());
            return out;
        },
        {64, 38}));
    return 0;
}
