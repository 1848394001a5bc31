// Convolutions and other sums over several indices on tensor cores, each written as a plain Func:
// by meaning, thread by thread, without a GPU; as PTX, and what ptxas says of it where it is
// installed; and on the GPU, where there is one.
#include "error/refusal.h"
#include "lang/module.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#ifndef PTXAS
#define PTXAS ""
#endif

using namespace tessera;

namespace {

Var n("n"), p("p"), q("q"), k("k"), qi("qi"), pi("pi"), w("w"), m("m");
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

// How loops become those of the instruction.
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

size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

std::string ptx_of(const Func &out, const std::vector<Argument> &args) {
    const Target target("x86-64-linux-cuda-cuda_capability_90");
    const Module module = Pipeline(out).compile_to_module(args, "convolution", target);
    const Buffer<uint8_t> code = module.get_device_code_buffer();
    return {reinterpret_cast<const char *>(code.data()), code.number_of_elements()};
}

// No instruction waits for the one before it, and no register is in memory.
void check_assembled(const std::string &ptx) {
    if (std::string(PTXAS).empty()) return;
    std::string folder = (std::filesystem::temp_directory_path() / "convolution_XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    const std::string path = folder + "/kernels.ptx";
    std::ofstream(path) << ptx;
    const std::string command =
        std::string(PTXAS) + " -v -arch=sm_90a " + path + " -o " + path + ".cubin 2>&1";
    std::string said;
    FILE *told = popen(command.c_str(), "r");
    for (int c = fgetc(told); c != EOF; c = fgetc(told)) said += char(c);
    CAPTURE(said);
    CHECK(pclose(told) == 0);
    std::filesystem::remove_all(folder);
    CHECK(count_of(said, "C75") == 0);
    CHECK(count_of(said, "0 bytes spill stores, 0 bytes spill loads") == count_of(ptx, ".entry"));
}

}  // namespace

TEST_SUITE("tensor convolutions") {
    TEST_CASE("tiles of two dimensions: operands as they lie in memory") {
        const Tiling tiling{8, 4, 2, 16, false};
        convolves<float16_t>({2, 4, 8, 16, 16, 2, 3}, tiling, mma);
        convolves<float16_t>({1, 5, 9, 16, 32, 2, 2, 2}, tiling, mma);
        convolves<float16_t>({1, 4, 8, 8, 16, 3, 3, 1, 2, 2}, tiling, mma);
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
    TEST_CASE("wgmma: the patch of each step is a box") {
        for (const bool has_patch : {false, true}) {
            const Tiling tiling{8, 8, 8, 64};
            convolves<float16_t>({2, 8, 8, 64, 64, 2, 2}, tiling, wgmma, has_patch);
            convolves<float16_t>({1, 8, 8, 24, 128, 1, 3, 1, 1, 0, false}, tiling, wgmma,
                                 has_patch);
            convolves<float16_t>({1, 8, 16, 64, 64, 3, 3, 1, 1, 1}, {8, 8, 8, 64}, wgmma,
                                 has_patch);
        }
        convolves<float16_t>({1, 8, 8, 64, 64, 3, 3, 2, 1, 1}, {8, 8, 8, 64}, wgmma, true);
    }
}
TEST_SUITE("tensor convolutions debug") {
    TEST_CASE("debug convolution") {
        const char *text = getenv("CONV");
        if (!text) return;
        std::istringstream in(text);
        std::vector<int> v;
        for (int i; in >> i;) v.push_back(i);
        Shape s{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10] != 0};
        Tiling t{v[11], v[12], v[13], v[14], v[15] != 0, v[16] != 0};
        Convolution<float16_t> c(s, v[17] != 0);
        c.schedule(t, v[18] ? wgmma : mma);
        if (getenv("STMT")) {
            c.out.compile_to_lowered_stmt("/tmp/convt/stmt.txt", {c.image, c.filter},
                                          StmtOutputFormat::Text,
                                          Target("x86-64-linux-cuda-cuda_capability_90"));
        }
        c.check();
        const Shape &z = s;
        for (const Target &target : targets()) {
            const Buffer<float> r = c.out.realize({z.k, z.q, z.p, z.n}, target);
            const Buffer<float> e = [&] {
                Convolution<float16_t> d(s);
                d.image.set(c.image.get());
                d.filter.set(c.filter.get());
                return Buffer<float>(d.out.realize({z.k, z.q, z.p, z.n}));
            }();
            std::string map;
            for (int n = 0; n < z.n; n++)
                for (int p = 0; p < z.p; p++) {
                    for (int q = 0; q < z.q; q++) {
                        int w = 0;
                        for (int k = 0; k < z.k; k++) w += r(k, q, p, n) != e(k, q, p, n);
                        map += std::to_string(w) + " ";
                    }
                    map += "\n";
                }
            MESSAGE(map);
        }
    }
}
