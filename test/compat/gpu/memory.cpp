#include "oracle.h"

// Where a kernel keeps what it computes.
namespace {

Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

Func input(const char *name = "in") {
    Func f(name);
    f(x, y) = x * x + 3 * y - x * y;
    return f;
}

}  // namespace

PROGRAM(a_tile_in_shared_memory) {
    for (MemoryType where : {MemoryType::Auto, MemoryType::GPUShared, MemoryType::Heap}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func in = input(), blur("blur"), out("out");
                blur(x, y) = in(x - 1, y) + in(x, y) + in(x + 1, y);
                out(x, y) = blur(x, y - 1) + blur(x, y) + blur(x, y + 1);
                if (!gpu) return out;
                out.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
                blur.compute_at(out, xo).store_in(where).gpu_threads(x, y);
                return out;
            },
            {24, 12}));
    }
    return 0;
}

PROGRAM(shared_memory_of_a_size_that_a_param_says) {
    Param<int> radius("radius");
    ImageParam in(Int(32), 1, "in");
    Buffer<int> data(64);
    data.fill([](int i) { return i * 13 % 17; });
    in.set(data);
    Func copy("copy"), out("out"), plain("plain");
    RDom r(0, radius);
    copy(x) = in(clamp(x, 0, 63)) * 2;
    out(x) = 0;
    out(x) += copy(x + r);
    plain(x) = 0;
    plain(x) += in(clamp(x + r, 0, 63)) * 2;
    out.gpu_tile(x, xo, xi, 8);
    out.update().gpu_tile(x, xo, xi, 8);
    for (MemoryType where : {MemoryType::Heap, MemoryType::GPUShared}) {
        copy.compute_at(out, xo).store_in(where).gpu_threads(x);
        for (int n : {1, 5, 30, 2}) {
            radius.set(n);
            Buffer<int> wanted = plain.realize({32});
            for (const Target &target : gpu_targets()) {
                Buffer<int> found = out.realize({32}, target);
                EXPECT(is_same(wanted, found));
            }
        }
    }
    return 0;
}

PROGRAM(memory_of_each_thread) {
    for (MemoryType where :
         {MemoryType::Auto, MemoryType::Heap, MemoryType::GPUShared, MemoryType::Stack}) {
        for (bool constant : {false, true}) {
            if (where == MemoryType::Stack && !constant) continue;
            Param<int> n("n");
            n.set(5);
            EXPECT(same_on_gpu<int>(
                [&](bool gpu) {
                    Func in = input(), out("out");
                    RDom r(0, constant ? Expr(5) : Expr(n));
                    out(x, y) = 0;
                    out(x, y) += in(x, y + r);
                    if (!gpu) return out;
                    out.gpu_tile(x, y, xo, yo, xi, yi, 8, 2);
                    out.update().gpu_tile(x, y, xo, yo, xi, yi, 8, 2);
                    in.compute_at(out, xi).store_in(where);
                    return out;
                },
                {16, 4}));
        }
    }
    return 0;
}

PROGRAM(elements_of_all_types_in_one_kernel) {
    EXPECT(same_on_gpu<float>(
        [](bool gpu) {
            std::vector<Func> stages;
            Func last = input();
            Expr sum = 0.0f;
            int i = 0;
            for (Type t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), Int(64), Float(32),
                           Float(64), UInt(1)}) {
                Func f("stage" + std::to_string(i++));
                f(x, y) = cast(t, (x * 5 + y * 3 + i) % 100);
                sum += cast<float>(f(x, y)) + cast<float>(f(x + 1, y));
                stages.push_back(f);
            }
            Func out("out");
            out(x, y) = sum;
            if (!gpu) return out;
            out.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            for (size_t j = 0; j < stages.size(); j++) {
                stages[j].compute_at(out, xo).gpu_threads(x, y);
                stages[j].store_in(j % 2 ? MemoryType::Heap : MemoryType::GPUShared);
            }
            return out;
        },
        {16, 8}));
    return 0;
}

PROGRAM(a_chain_of_stages_of_different_types) {
    // Within a serial loop of each block: what comes from before the loop stays.
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func first("first"), a("a"), b("b"), d("d"), out("out");
            first(x, y) = x * 3 + y;
            a(x, y) = cast<int16_t>(first(x, y) + first(x + 1, y));
            b(x, y) = cast<int64_t>(a(x, y)) * 2 + a(x + 1, y);
            d(x, y) = cast<uint8_t>(b(x, y) + b(x + 2, y));
            out(x, y) = cast<int>(d(x, y)) + d(x + 1, y) + first(x + 4, y);
            if (!gpu) return out;
            out.split(x, xo, xi, 16).split(y, yo, yi, 4);
            out.reorder(xi, yi, xo, yo).gpu_blocks(xo, yo).gpu_threads(xi);
            first.compute_at(out, xo).gpu_threads(x);
            for (Func f : {a, b, d}) f.compute_at(out, yi).gpu_threads(x);
            return out;
        },
        {32, 8}));
    return 0;
}

PROGRAM(footprints_that_are_not_monotonic) {
    for (MemoryType where : {MemoryType::GPUShared, MemoryType::Heap}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                RDom r(0, 12);
                f(x, y) = x * 2 + y;
                // Blocks in the middle need more.
                Expr many = 12 - abs(6 - y);
                r.where(r < many);
                out(x, y) = 0;
                out(x, y) += f(x + r, y);
                if (!gpu) return out;
                out.compute_root();
                out.split(x, xo, xi, 8).gpu_blocks(xo, y).gpu_threads(xi);
                out.update()
                    .split(x, xo, xi, 8)
                    .reorder(xi, r, xo, y)
                    .gpu_blocks(xo, y)
                    .gpu_threads(xi);
                f.compute_at(out, xo).store_in(where).gpu_threads(x);
                return out;
            },
            {16, 12}));
    }
    return 0;
}

PROGRAM(a_func_of_two_realizations) {
    Param<int> n("n");
    n.set(6);
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), g("g"), out("out");
            RDom k(0, 4), r(0, n);
            f(x, y) = x;
            f(x, k) += k * x;
            g(x, y) = f(x, y % 4);
            out(x, y) = g(x, y);
            out(x, y) += f(x + 1, r % 4) + r;
            if (!gpu) return out;
            out.gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
            out.update().gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
            return out;
        },
        {8, 8}));
    return 0;
}

PROGRAM(tuples_in_kernels) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func pair("pair"), out("out");
            pair(x, y) = {x + y, cast<float>(x) * 0.5f};
            pair(x, y) = {pair(x, y)[0] * 2, pair(x, y)[1] + 1.0f};
            out(x, y) = pair(x, y)[0] + cast<int>(pair(x + 1, y)[1]) + pair(x, y + 1)[0];
            if (!gpu) return out;
            Var t("t");
            out.tile(x, y, xo, yo, xi, yi, 16, 4).split(xi, t, xi, 2).unroll(xi);
            out.gpu_blocks(xo, yo).gpu_threads(t, yi);
            pair.compute_at(out, xo).gpu_threads(x, y);
            pair.update().gpu_threads(x, y);
            return out;
        },
        {32, 8}));
    return 0;
}

PROGRAM(more_than_the_usual_shared_memory) {
    EXPECT(same_on_gpu<float>(
        [](bool gpu) {
            Func f("f"), out("out");
            RDom r(0, 4);
            f(x, y) = cast<float>(x) + y;
            out(x, y) = 0.0f;
            out(x, y) += f((x * 7 + r * 31) % 128, y % 128);
            if (!gpu) return out;
            f.bound(x, 0, 128).bound(y, 0, 128);
            out.compute_root().gpu_tile(x, y, xo, yo, xi, yi, 16, 4);
            out.update().gpu_tile(x, y, xo, yo, xi, yi, 16, 4);
            Var yo2("yo2"), yi2("yi2");
            f.compute_at(out, xo).split(y, yo2, yi2, 4).gpu_threads(x, yi2);
            return out;
        },
        {16, 4}));
    return 0;
}

PROGRAM(a_transposition_by_padded_tiles) {
    Buffer<int> in(32, 32);
    in.fill([](int i, int j) { return i + 100 * j; });
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), out("out");
            f(x, y) = in(x, y);
            out(x, y) = f(y, x);
            if (!gpu) return out;
            out.gpu_tile(x, y, xo, yo, xi, yi, 8, 8);
            f.compute_at(out, xo).align_storage(x, 9).gpu_threads(x, y);
            return out;
        },
        {32, 32}));
    return 0;
}

PROGRAM(inputs_are_staged_by_wrappers) {
    Buffer<int> in(40, 40);
    in.fill([](int i, int j) { return i * 3 + j * j; });
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), out("out");
            f(x, y) = in(x, y);
            out(x, y) = f(x, y) + f(x + 1, y) + f(x, y + 1) + f(x + 2, y + 2);
            if (!gpu) return out;
            f.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
            out.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
            f.in().compute_at(out, xo).gpu_threads(x, y);
            f.in().in().compute_at(out, xi).unroll(x).unroll(y);
            return out;
        },
        {32, 32}));
    return 0;
}

PROGRAM(registers_of_each_thread) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func in = input(), sum("sum"), out("out");
            RDom r(0, 6);
            sum(x, y) = 0;
            sum(x, y) += in(x + r, y);
            out(x, y) = sum(x, y);
            if (!gpu) return out;
            Var u("u"), v("v");
            out.tile(x, y, xo, yo, xi, yi, 16, 8).tile(xi, yi, u, v, 2, 2);
            out.gpu_blocks(xo, yo).gpu_threads(xi, yi).unroll(u).unroll(v);
            sum.compute_at(out, xi).store_in(MemoryType::Register).unroll(x).unroll(y);
            sum.update().reorder(x, y, r).unroll(x).unroll(y);
            return out;
        },
        {32, 16}));
    return 0;
}
