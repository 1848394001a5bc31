// Convolutions and other sums over several indices on tensor cores, each written as a plain Func:
// by meaning, thread by thread, without a GPU; as PTX, and what ptxas says of it where it is
// installed; and on the GPU, where there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include "lang/module.h"
#include <algorithm>
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var n("n"), p("p"), q("q"), k("k"), qi("qi"), pi("pi"), w("w"), m("m"), b("b");
RVar co("co"), ci("ci");

const TensorInstruction mma = TensorInstruction::MMA, wgmma = TensorInstruction::WGMMA;

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// Small integers, whose sums are exact.
template<typename T> T value_at(int i) { return T(float((i * 7 + i / 5 * 3) % 11 - 5)); }

template<typename T> Buffer<T> filled(std::vector<int> sizes) {
    Buffer<T> all(std::move(sizes));
    int i = 0;
    all.for_each_value([&](T &value) { value = value_at<T>(i++); });
    return all;
}

template<typename T> using SumOf = std::conditional_t<std::is_same_v<T, int8_t>, int32_t, float>;

// Checks what a Func computes against direct sums, on all targets.
template<typename Sum, typename Direct>
void agrees(Func &out, const std::vector<int> &sizes, const Direct &direct) {
    Buffer<Sum> expected(sizes);
    expected.for_each_element([&](const int *at) { expected(at) = direct(at); });
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<Sum> result = out.realize(sizes, target);
        int wrong = 0;
        result.for_each_element([&](const int *at) { wrong += result(at) != expected(at); });
        CHECK(wrong == 0);
    }
}

struct Shape {
    int n, p, q, k, c, r, s;
    int stride = 1, dilation = 1, padding = 0;
    bool filter_by_k = true;  // the filter lies along output channels, or along input channels
    int of_input(int outputs, int taps) const {
        return (outputs - 1) * stride + (taps - 1) * dilation + 1 - 2 * padding;
    }
};

// Says how loops become those of the instruction.
struct Tiling {
    int q, p;               // of a block
    int warp_p;             // rows of the image of a warp
    int step;               // of the sum over channels
    bool is_staged = true;  // ahead, in the memory of the block
    bool is_fused = false;
};

// conv(k, q, p, n) = sum of image(c, q + s, p + r, n) * filter(k, c, s, r).
template<typename T> struct Convolution {
    using Sum = SumOf<T>;
    Shape shape;
    ImageParam image{type_of<T>(), 4, "image"}, filter{type_of<T>(), 4, "filter"};
    RDom sum;
    RVar c, s, r;
    Func input, patch{"patch"}, conv{"conv"}, out{"out"};
    bool has_patch;

    explicit Convolution(const Shape &of, bool has_patch = false)
        : shape(of), sum(0, of.c, 0, of.s, 0, of.r, "sum"), c(sum.x), s(sum.y), r(sum.z),
          input(of.padding > 0 ? BoundaryConditions::constant_exterior(image, cast<T>(0))
                               : image.in()),
          has_patch(has_patch) {
        const auto at = [&](const Expr &x, const Expr &tap) {
            return x * shape.stride + tap * shape.dilation - shape.padding;
        };
        Var vc("vc"), vs("vs"), vr("vr");
        const auto of_image = [&](const Expr &channel, const Expr &tap_s, const Expr &tap_r) {
            return shape.padding > 0 ? input(channel, at(q, tap_s), at(p, tap_r), n)
                                     : image(channel, at(q, tap_s), at(p, tap_r), n);
        };
        patch(vc, q, p, vs, vr, n) = of_image(vc, vs, vr);
        const Expr factor = has_patch ? Expr(patch(c, q, p, s, r, n)) : of_image(c, s, r);
        const Expr weight = shape.filter_by_k ? filter(k, c, s, r) : filter(c, k, s, r);
        conv(k, q, p, n) += cast<Sum>(factor) * cast<Sum>(weight);
        out(k, q, p, n) = conv(k, q, p, n);
    }
    // Tiles of two dimensions: the rows of an instruction are loops over q and p of a tile.
    void schedule(const Tiling &t, const TensorInstruction &instruction) {
        const bool is_mma = instruction == mma;
        const auto share = [&](auto &&f, const Var &over_p) {
            f.split(over_p, w, over_p, t.warp_p);
            is_mma ? f.gpu_warps(w) : f.gpu_warpgroups(w);
        };
        out.bound(k, 0, shape.k);
        out.tile(q, p, qi, pi, t.q, t.p).reorder(k, qi, pi, q, p, n).gpu_blocks(q, p, n);
        conv.compute_at(out, q).store_in(MemoryType::Tile);
        Stage update = conv.update();
        update.split(c, co, ci, t.step);
        if (t.is_fused) {
            fuse(out, qi, pi, t);
            fuse(conv, q, p, t);
            fuse(update, q, p, t);
            update.reorder({ci, k, m, w, s, r, co});
        } else {
            share(out, pi);
            share(conv, p);
            share(update, p);
            update.reorder({ci, k, q, p, w, s, r, co});
        }
        if (t.is_fused)
            update.tensorize(k, m, ci, instruction);
        else
            update.tensorize(k, q, ci, instruction).tensorize(p, instruction);
        if (!t.is_staged) return;
        for (Func f : staged())
            f.compute_at(conv, s).store_in(MemoryType::GPUShared).async().ring_buffer(3);
    }
    std::vector<Func> staged() { return {has_patch ? patch : input, filter.in()}; }
    void check() {
        const Shape &z = shape;
        const Buffer<T> in = filled<T>({z.c, z.of_input(z.q, z.s), z.of_input(z.p, z.r), z.n});
        const Buffer<T> weights =
            filled<T>({z.filter_by_k ? z.k : z.c, z.filter_by_k ? z.c : z.k, z.s, z.r});
        image.set(in);
        filter.set(weights);
        agrees<Sum>(out, {z.k, z.q, z.p, z.n}, [&](const int *at) {
            Sum all = 0;
            for (int v = 0; v < z.r; v++)
                for (int u = 0; u < z.s; u++) {
                    const int x = at[1] * z.stride + u * z.dilation - z.padding,
                              y = at[2] * z.stride + v * z.dilation - z.padding;
                    if (x < 0 || y < 0 || x >= in.dim(1).extent() || y >= in.dim(2).extent())
                        continue;
                    for (int i = 0; i < z.c; i++)
                        all +=
                            Sum(in(i, x, y, at[3])) *
                            Sum(z.filter_by_k ? weights(at[0], i, u, v) : weights(i, at[0], u, v));
                }
            return all;
        });
    }

private:
    template<typename F> void fuse(F &f, const Var &over_q, const Var &over_p, const Tiling &t) {
        f.fuse(over_q, over_p, m).split(m, w, m, t.warp_p * t.q);
        f.gpu_warps(w);
    }
};

template<typename T>
void convolves(const Shape &shape, const Tiling &tiling, const TensorInstruction &instruction,
               bool has_patch = false) {
    Convolution<T> c(shape, has_patch);
    c.schedule(tiling, instruction);
    c.check();
}

// The loops of a convolution, whole ones but for those over blocks.
struct Loops {
    std::vector<Var> columns, rows;  // innermost first
    int of_warp;                     // iterations of the last loop over rows
    std::vector<Var> blocks;
    RVar sum;
    int step;
    std::vector<RVar> sums_around = {}, sums_within = {};
};

void schedule(Func &out, Func &of, const Loops &loops, const std::vector<Func> &staged = {}) {
    std::vector<VarOrRVar> order(loops.columns.begin(), loops.columns.end());
    order.insert(order.end(), loops.rows.begin(), loops.rows.end());
    order.emplace_back(w);
    const auto share = [&](auto &&f) {
        f.split(loops.rows.back(), w, loops.rows.back(), loops.of_warp);
        f.reorder(order).gpu_warps(w);
    };
    share(out);
    std::vector<VarOrRVar> of_all = order;
    of_all.insert(of_all.end(), loops.blocks.begin(), loops.blocks.end());
    out.reorder(of_all);
    for (const Var &block : loops.blocks) out.gpu_blocks(block);
    of.compute_at(out, loops.blocks[0]).store_in(MemoryType::Tile);
    share(of);
    Stage update = of.update();
    update.split(loops.sum, co, ci, loops.step);
    share(update);
    order.insert(order.begin(), loops.sums_within.begin(), loops.sums_within.end());
    order.insert(order.begin(), ci);
    order.insert(order.end(), loops.sums_around.begin(), loops.sums_around.end());
    order.emplace_back(co);
    update.reorder(order).tensorize(loops.columns[0], loops.rows[0], ci, mma);
    for (size_t i = 1; i < loops.columns.size(); i++) update.tensorize(loops.columns[i], mma);
    for (size_t i = 1; i < loops.rows.size(); i++) update.tensorize(loops.rows[i], mma);
    for (const RVar &sum : loops.sums_within) update.tensorize(sum, mma);
    const RVar at = loops.sums_around.empty() ? co : loops.sums_around[0];
    for (Func f : staged)
        f.compute_at(of, at).store_in(MemoryType::GPUShared).async().ring_buffer(2);
}

std::string ptx_of(const Func &out, const std::vector<Argument> &args) {
    const Target target("x86-64-linux-cuda-cuda_capability_90");
    const Module module = Pipeline(out).compile_to_module(args, "convolution", target);
    const Buffer<uint8_t> code = module.get_device_code_buffer();
    return {reinterpret_cast<const char *>(code.data()), code.number_of_elements()};
}

// No instruction of the kernel for aligned buffers, which is the first, waits for the one before
// it, and no register is in memory.
void check_assembled(const std::string &ptx) {
    const std::string said = test::assembled(ptx, "sm_90a");
    if (said.empty()) return;
    CAPTURE(said);
    CHECK(count_of(said, "in the function 'convolution_kernel_0'") == 0);
    CHECK(count_of(said, "0 bytes spill stores, 0 bytes spill loads") == count_of(ptx, ".entry"));
}

// The example of docs/tensor_cores.md: images that are padded, 3 x 3 taps, in tiles of 2 x 2 places
// of so many images.
struct Example {
    ImageParam in{Float(16), 4, "in"}, filter{Float(16), 4, "filter"};
    Func conv{"conv"}, out{"out"};

    Example(int channels, int size, int images, int columns) {
        const Expr none;
        Func padded = BoundaryConditions::constant_exterior(
            in, float16_t(0.0f), {{none, none}, {0, size}, {0, size}, {none, none}});
        RDom sum(0, channels, 0, 3, 0, 3);
        RVar c = sum.x, s = sum.y, r = sum.z, rs("rs"), t("t");
        conv(k, q, p, n) +=
            cast<float>(padded(c, q + s - 1, p + r - 1, n)) * cast<float>(filter(c, k, s, r));
        out(k, q, p, n) = cast<float16_t>(conv(k, q, p, n));

        Var ki("ki"), ni("ni"), qp("qp");
        out.split(k, k, ki, columns).tile(q, p, qi, pi, 2, 2).split(n, n, ni, images);
        out.reorder(ki, qi, pi, ni, k, q, p, n).fuse(q, p, qp).gpu_blocks(k, qp, n);
        out.gpu_warpgroups(ni, 16);
        conv.compute_at(out, k).store_in(MemoryType::Tile).gpu_warpgroups(n, 16);
        Stage update = conv.update();
        update.split(c, co, ci, 64).fuse(s, r, rs).fuse(rs, co, t).split(n, w, n, 16);
        update.reorder(ci, k, q, p, n, w, t).gpu_warpgroups(w);
        update.tensorize(k, q, ci, wgmma).tensorize(p, wgmma).tensorize(n, wgmma);
        for (Func f : {padded, filter.in()})
            f.compute_at(conv, t).store_in(MemoryType::GPUShared).async().ring_buffer(4);
    }
};

}  // namespace

TEST_SUITE("tensor convolutions") {
    TEST_CASE("tiles of two dimensions: operands as they lie in memory") {
        const Tiling tiling{8, 4, 2, 16, false};
        convolves<float16_t>({2, 4, 8, 16, 16, 2, 3}, tiling, mma);
        convolves<float16_t>({1, 5, 9, 16, 32, 2, 2, 2}, tiling, mma);
        convolves<float16_t>({1, 5, 9, 8, 16, 3, 3, 1, 2, 2}, tiling, mma);
        convolves<int8_t>({1, 4, 8, 16, 32, 3, 2, 1, 1, 1}, {8, 4, 2, 32, false}, mma);
    }
    TEST_CASE("tiles of two dimensions: operands staged ahead") {
        const Tiling tiling{8, 4, 2, 16};
        for (const bool by_k : {true, false}) {
            convolves<float16_t>({2, 4, 8, 16, 32, 2, 3, 1, 1, 0, by_k}, tiling, mma);
            convolves<float16_t>({1, 5, 9, 16, 16, 3, 3, 1, 1, 1, by_k}, tiling, mma);
            convolves<float16_t>({1, 4, 8, 16, 16, 3, 3, 2, 1, 1, by_k}, tiling, mma);
            convolves<float16_t>({1, 4, 8, 16, 16, 3, 3, 2, 1, 1, by_k}, tiling, mma, true);
            convolves<float16_t>({1, 4, 8, 16, 16, 3, 3, 1, 2, 2, by_k}, tiling, mma, true);
            convolves<int8_t>({1, 4, 8, 16, 32, 3, 2, 1, 1, 1, by_k}, {8, 4, 2, 32}, mma);
            convolves<int8_t>({1, 4, 8, 16, 64, 2, 2, 2, 1, 0, by_k}, {8, 4, 2, 32}, mma, true);
        }
    }
    TEST_CASE("rows that are fused in the schedule") {
        for (const bool is_staged : {true, false}) {
            const Tiling tiling{4, 8, 4, 16, is_staged, true};
            convolves<float16_t>({2, 8, 4, 16, 32, 2, 3}, tiling, mma);
            convolves<float16_t>({1, 9, 5, 16, 16, 3, 3, 1, 1, 1}, tiling, mma);
        }
    }
    TEST_CASE("wgmma: the patch of each step is a box, or computed by threads") {
        const Tiling tiling{8, 8, 8, 64};
        convolves<float16_t>({2, 8, 8, 64, 64, 1, 2}, tiling, wgmma);
        convolves<float16_t>({1, 8, 8, 16, 128, 1, 2, 1, 1, 0, false}, tiling, wgmma, true);
        convolves<float16_t>({1, 8, 8, 8, 64, 3, 3, 1, 1, 1, false}, tiling, wgmma);
        convolves<float16_t>({1, 8, 8, 8, 64, 2, 2, 2, 1, 1, false}, tiling, wgmma, true);
    }
    TEST_CASE("wgmma: the machine copies boxes, and fills what is outside of the image") {
        for (const int padding : {0, 1}) {
            Convolution<float16_t> c({1, 8, 8, 64, 64, 3, 3, 1, 1, padding, false});
            c.schedule({8, 8, 8, 64}, wgmma);
            const std::string ptx = ptx_of(c.out, {c.image, c.filter});
            CAPTURE(ptx);
            CHECK(count_of(ptx, "cp.async.bulk.tensor.4d") == 4 * count_of(ptx, ".entry"));
            CHECK(count_of(ptx, "cp.async.cg") == 0);
            check_assembled(ptx);
        }
    }
    TEST_CASE("whole loops by a map") {
        for (const int taps : {1, 3}) {
            const int columns = 32, channels = taps == 1 ? 32 : 16;
            Convolution<float16_t> c({2, 2, 4, columns, channels, taps, taps});
            Func &out = c.out, &conv = c.conv;
            out.bound(q, 0, 4).bound(p, 0, 2).bound(n, 0, 2).bound(k, 0, columns);
            out.split(k, b, k, 16).split(k, w, k, 8).reorder(k, q, p, n, w, b);
            out.gpu_blocks(b).gpu_warps(w);
            conv.compute_at(out, b).store_in(MemoryType::Tile);
            conv.split(k, w, k, 8).reorder(k, q, p, n, w).gpu_warps(w);
            conv.update().split(k, w, k, 8).gpu_warps(w);
            conv.update().tensorize(map({n, p, q}, {k}, {c.c, c.r, c.s}), mma);
            c.check();
        }
    }
    TEST_CASE("taps and channels are one sum") {
        Convolution<float16_t> c({2, 4, 4, 16, 8, 2, 2});
        c.out.bound(k, 0, 16).bound(q, 0, 4).bound(p, 0, 4);
        schedule(c.out, c.conv, {{k}, {q, p}, 4, {n}, c.c, 8, {c.r}, {c.s}},
                 {c.image.in(), c.filter.in()});
        c.check();
    }
    TEST_CASE("images by rows: columns of the instruction run over the image") {
        for (const bool is_staged : {true, false}) {
            const Buffer<float16_t> in = filled<float16_t>({10, 5, 32, 2}),
                                    of = filled<float16_t>({3, 2, 32, 32});
            RDom sum(0, 32, 0, 3, 0, 2);
            const RVar c = sum.x, s = sum.y, r = sum.z;
            Func conv("conv"), out("out"), input(in), filter(of);
            conv(q, p, k, n) +=
                cast<float>(input(q + s, p + r, c, n)) * cast<float>(filter(s, r, c, k));
            out(q, p, k, n) = conv(q, p, k, n);
            out.bound(q, 0, 8).bound(p, 0, 4).bound(k, 0, 32);
            schedule(out, conv, {{q, p}, {k}, 16, {n}, c, 16, {s, r}},
                     is_staged ? std::vector<Func>{input.in(conv), filter.in(conv)}
                               : std::vector<Func>{});
            agrees<float>(out, {8, 4, 32, 2}, [&](const int *at) {
                float all = 0;
                for (int i = 0; i < 32 * 6; i++) {
                    const int u = i % 3, v = i / 3 % 2, j = i / 6;
                    all += float(in(at[0] + u, at[1] + v, j, at[3])) * float(of(u, v, j, at[2]));
                }
                return all;
            });
        }
    }
    TEST_CASE("groups of channels") {
        for (const bool is_staged : {true, false}) {
            const Buffer<float16_t> in = filled<float16_t>({16, 3, 10, 5}),
                                    of = filled<float16_t>({16, 16, 3, 3, 2});
            RDom sum(0, 16, 0, 3, 0, 2);
            const RVar c = sum.x, s = sum.y, r = sum.z;
            Func conv("conv"), out("out"), input(in), filter(of);
            conv(k, q, p, n) +=
                cast<float>(input(c, n, q + s, p + r)) * cast<float>(filter(k, c, n, s, r));
            out(k, q, p, n) = conv(k, q, p, n);
            out.bound(q, 0, 8).bound(p, 0, 4).bound(k, 0, 16);
            schedule(out, conv, {{k}, {q, p}, 2, {n}, c, 16, {s, r}},
                     is_staged ? std::vector<Func>{input.in(conv), filter.in(conv)}
                               : std::vector<Func>{});
            agrees<float>(out, {16, 8, 4, 3}, [&](const int *at) {
                float all = 0;
                for (int i = 0; i < 16 * 6; i++) {
                    const int u = i % 3, v = i / 3 % 2, j = i / 6;
                    all += float(in(j, at[3], at[1] + u, at[2] + v)) *
                           float(of(at[0], j, at[3], u, v));
                }
                return all;
            });
        }
    }
    TEST_CASE("one dimension, and three") {
        const Buffer<float16_t> line = filled<float16_t>({16, 33, 2}),
                                of_line = filled<float16_t>({8, 16, 3});
        const Buffer<int8_t> space = filled<int8_t>({32, 5, 3, 5}),
                             of_space = filled<int8_t>({16, 32, 2, 2, 2});
        for (const bool is_staged : {true, false}) {
            const auto staged = [&](Func &a, Func &b, Func &in) {
                return is_staged ? std::vector<Func>{a.in(in), b.in(in)} : std::vector<Func>{};
            };
            RDom r1(0, 16, 0, 3), r3(0, 32, 0, 2, 0, 2, 0, 2);
            Func conv1("conv1"), out1("out1"), conv3("conv3"), out3("out3");
            Func line_in(line), line_of(of_line), space_in(space), space_of(of_space);
            conv1(k, q, n) +=
                cast<float>(line_in(r1.x, q * 2 + r1.y, n)) * cast<float>(line_of(k, r1.x, r1.y));
            out1(k, q, n) = conv1(k, q, n);
            out1.bound(q, 0, 16).bound(k, 0, 8);
            schedule(out1, conv1, {{k}, {q}, 16, {n}, r1.x, 16, {r1.y}},
                     staged(line_in, line_of, conv1));
            agrees<float>(out1, {8, 16, 2}, [&](const int *at) {
                float all = 0;
                for (int i = 0; i < 48; i++)
                    all += float(line(i % 16, at[1] * 2 + i / 16, at[2])) *
                           float(of_line(at[0], i % 16, i / 16));
                return all;
            });
            conv3(k, q, p, n) += cast<int>(space_in(r3.x, q + r3.y, p + r3.z, n + r3.w)) *
                                 cast<int>(space_of(k, r3.x, r3.y, r3.z, r3.w));
            out3(k, q, p, n) = conv3(k, q, p, n);
            out3.bound(q, 0, 4).bound(p, 0, 2).bound(k, 0, 16).bound(n, 0, 4);
            out3.split(k, b, k, 16);
            schedule(out3, conv3, {{k}, {q, p, n}, 2, {b}, r3.x, 32, {r3.y, r3.z, r3.w}},
                     staged(space_in, space_of, conv3));
            agrees<int32_t>(out3, {16, 4, 2, 4}, [&](const int *at) {
                int all = 0;
                for (int i = 0; i < 256; i++) {
                    const int c = i % 32, x = i / 32 % 2, y = i / 64 % 2, z = i / 128;
                    all += space(c, at[1] + x, at[2] + y, at[3] + z) * of_space(at[0], c, x, y, z);
                }
                return all;
            });
        }
    }
    TEST_CASE("a sum over images of transposed products; products whose factors are looked up") {
        const Buffer<float16_t> a = filled<float16_t>({32, 16, 3}),
                                of = filled<float16_t>({16, 16, 4});
        Buffer<int> group(3);
        group.fill([](int i) { return i == 1 ? 3 : 1 - i / 2; });
        for (const bool is_staged : {true, false}) {
            Func gradient("gradient"), out("out"), grouped("grouped"), all("all"), in(a), by(of);
            RDom r(0, 16, 0, 3), i(0, 16);
            gradient(k, q) += cast<float>(in(q, r.x, r.y)) * cast<float>(by(k, r.x, r.y));
            out(k, q) = gradient(k, q);
            out.bound(k, 0, 16).bound(q, 0, 32).split(k, b, k, 8);
            schedule(out, gradient, {{k}, {q}, 16, {b}, r.x, 16, {r.y}},
                     is_staged ? std::vector<Func>{in.in(gradient), by.in(gradient)}
                               : std::vector<Func>{});
            agrees<float>(out, {16, 32}, [&](const int *at) {
                float sum = 0;
                for (int j = 0; j < 48; j++)
                    sum += float(a(at[1], j % 16, j / 16)) * float(of(at[0], j % 16, j / 16));
                return sum;
            });
            grouped(k, q, n) +=
                cast<float>(in(q, i, n)) * cast<float>(by(k, i, clamp(Func(group)(n), 0, 3)));
            all(k, q, n) = grouped(k, q, n);
            all.bound(k, 0, 16).bound(q, 0, 32);
            schedule(all, grouped, {{k}, {q}, 16, {n}, i.x, 16},
                     is_staged ? std::vector<Func>{in.in(grouped), by.in(grouped)}
                               : std::vector<Func>{});
            agrees<float>(all, {16, 32, 3}, [&](const int *at) {
                float sum = 0;
                for (int j = 0; j < 16; j++)
                    sum += float(a(at[1], j, at[2])) * float(of(at[0], j, group(at[2])));
                return sum;
            });
        }
    }
    TEST_CASE("the schedule of the documentation") {
        Example small(64, 2, 16, 8), large(256, 14, 32, 256);
        const Buffer<float16_t> in = filled<float16_t>({64, 2, 2, 16}),
                                of = filled<float16_t>({64, 8, 3, 3});
        small.in.set(in);
        small.filter.set(of);
        agrees<float16_t>(small.out, {8, 2, 2, 16}, [&](const int *at) {
            float sum = 0;
            for (int tap = 0; tap < 9; tap++) {
                const int x = at[1] + tap % 3 - 1, y = at[2] + tap / 3 - 1;
                if (x < 0 || y < 0 || x > 1 || y > 1) continue;
                for (int c = 0; c < 64; c++)
                    sum += float(in(c, x, y, at[3])) * float(of(c, at[0], tap % 3, tap / 3));
            }
            return float16_t(sum);
        });
        const std::string ptx = ptx_of(large.out, {large.in, large.filter});
        CAPTURE(ptx);
        const size_t kernels = count_of(ptx, ".entry");
        CHECK(count_of(ptx, "wgmma.mma_async.sync.aligned.m64n256k16") == 4 * kernels);
        CHECK(count_of(ptx, "cp.async.bulk.tensor.4d") == 4 * kernels);
        CHECK(count_of(ptx, "cp.async.cg") == 0);
        CHECK(count_of(ptx, "st.global.v4.b32") > 0);
        check_assembled(ptx);
    }
}
