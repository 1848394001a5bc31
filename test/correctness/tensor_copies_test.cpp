// What is staged for tensor cores ahead of its use: sums of any length, batches, patches of
// convolutions, computed operands. By meaning, thread by thread, without a GPU; as PTX, and what
// ptxas says of it where it is installed; and on the GPU, where there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include "lang/module.h"
#include "random.h"
#include <cmath>
#include <functional>
#include <limits>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), z("z"), xi("xi"), yi("yi"), wx("wx"), wy("wy");
RVar ko("ko"), ki("ki");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// out(x, y) = sum of a(k, y) * b(x, k), in blocks of 64 columns, and 32 rows by mma or 64 by wgmma.
struct Product {
    Func of{"product"}, out{"out"};
    int stages = 3;

    Product(const std::function<Expr(Expr, Expr)> &a, const std::function<Expr(Expr, Expr)> &b,
            const Expr &k_extent)
        : k(0, k_extent, "k") {
        of(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
        out(x, y) = of(x, y);
    }
    void schedule(
        TensorInstruction instruction, const std::vector<Func> &staged,
        const std::function<void(Func &)> &also = [](Func &) {}) {
        const bool is_mma = instruction == TensorInstruction::MMA;
        const int rows = is_mma ? 16 : 64, columns = is_mma ? 32 : 64;
        const auto share = [&](auto &&f, const Var &of_columns, const Var &of_rows) {
            f.tile(of_columns, of_rows, wx, wy, of_columns, of_rows, columns, rows);
            is_mma ? f.gpu_warps(wx, wy) : f.gpu_warpgroups(wx).gpu_warpgroups(wy);
        };
        out.tile(x, y, xi, yi, 64, is_mma ? 32 : 64).gpu_blocks(x, y);
        of.compute_at(out, x).store_in(MemoryType::Tile);
        Stage update = of.update();
        update.split(k, ko, ki, 64);
        share(out, xi, yi);
        share(of, x, y);
        share(update, x, y);
        update.reorder({ki, x, y, wx, wy, ko}).tensorize(x, y, ki, instruction);
        for (Func f : staged) {
            f.compute_at(of, ko).store_in(MemoryType::GPUShared).async().ring_buffer(stages);
            also(f);
        }
    }

private:
    RDom k;
};

std::string ptx_of(const Func &out, const std::vector<Argument> &args) {
    const Target target("x86-64-linux-cuda-cuda_capability_90");
    const Module m = Pipeline(out).compile_to_module(args, "product", target);
    const Buffer<uint8_t> code = m.get_device_code_buffer();
    return {reinterpret_cast<const char *>(code.data()), code.number_of_elements()};
}

// Small halves, whose sums are exact.
float16_t value_at(int i, int j) { return float16_t(float((i * 7 + j * 3) % 11 - 5) / 2); }

Buffer<float16_t> filled(int width, int height) {
    Buffer<float16_t> b(width, height);
    b.for_each_element([&](int i, int j) { b(i, j) = value_at(i, j); });
    return b;
}

// Checks a product of what these give, on all targets.
void agree(Func &out, int columns, int rows, int k, const std::function<float(int, int)> &a,
           const std::function<float(int, int)> &b) {
    std::vector<float> sums(size_t(columns) * size_t(rows));
    for (int j = 0; j < rows; j++)
        for (int c = 0; c < k; c++) {
            const float of_a = a(c, j);
            for (int i = 0; i < columns; i++) sums[size_t(j * columns + i)] += of_a * b(i, c);
        }
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<float> result = out.realize({columns, rows}, target);
        result.for_each_element([&](int i, int j) {
            CAPTURE(i);
            CAPTURE(j);
            REQUIRE(result(i, j) == sums[size_t(j * columns + i)]);
        });
    }
}

enum class Staged { Both, A, None };

// A sum of `k` products in buffers that have so many more, which are no numbers.
void sum_of(int k, int more, TensorInstruction instruction, bool is_parameter, int stages,
            int columns = 64, int rows = 64, bool is_promised = true,
            Staged staged = Staged::Both) {
    CAPTURE(k);
    CAPTURE(more);
    CAPTURE(is_parameter);
    ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
    Param<int> length("length");
    Product p([&](Expr c, Expr j) { return a(c, j); }, [&](Expr i, Expr c) { return b(i, c); },
              is_parameter ? Expr(length) : Expr(k));
    p.stages = stages;
    // The machine copies rows that begin at multiples of 16 bytes; threads copy others, if that is
    // known.
    if (is_promised && (k + more) % 8 != 0) a.dim(1).set_stride(k + more);
    if (is_promised && columns % 8 != 0) b.dim(1).set_stride(columns);
    std::vector<Func> copies;
    if (staged != Staged::None) copies.emplace_back(a.in());
    if (staged == Staged::Both) copies.emplace_back(b.in());
    p.schedule(instruction, copies);
    Buffer<float16_t> of_a = filled(k + more, rows), of_b = filled(columns, k + more);
    const float16_t nan(std::numeric_limits<float>::quiet_NaN());
    for (int c = k; c < k + more; c++) {
        for (int j = 0; j < rows; j++) of_a(c, j) = nan;
        for (int i = 0; i < columns; i++) of_b(i, c) = nan;
    }
    a.set(of_a);
    b.set(of_b);
    length.set(k);
    agree(
        p.out, columns, rows, k, [&](int c, int j) { return float(of_a(c, j)); },
        [&](int i, int c) { return float(of_b(i, c)); });
}

// A convolution of images (channel, x, y, image), 3 x 3, as a product of patches of the padded
// image and a filter (output channel, patch).
struct Convolution {
    static constexpr int size = 4, taps = 3, filters = 64;
    const int channels;
    ImageParam in{Float(16), 4, "in"}, filter{Float(16), 2, "filter"};
    Func patch;
    Product product;

    Convolution(int channels, bool repeats)
        : channels(channels), patch(patch_of(in, channels, repeats)),
          product([&](Expr f, Expr p) { return patch(f, p); },
                  [&](Expr i, Expr f) { return filter(i, f); }, channels * taps * taps) {}
    static Func patch_of(const ImageParam &in, int channels, bool repeats) {
        Func padded, patch("patch");
        const Region all = {{0, channels}, {0, size}, {0, size}, {Expr(), Expr()}};
        padded = repeats ? BoundaryConditions::repeat_edge(in, all)
                         : BoundaryConditions::constant_exterior(in, float16_t(0.0f), all);
        patch(x, y) = padded(x % channels, y % size + x / channels % taps - 1,
                             y / size % size + x / (channels * taps) - 1, y / (size * size));
        return patch;
    }
    void run(bool repeats, int images) {
        Buffer<float16_t> image(channels, size, size, images);
        image.for_each_element([&](int c, int i, int j, int n) {
            image(c, i, j, n) = value_at(c + 3 * i + n, 2 * j + c * i);
        });
        in.set(image);
        const int length = channels * taps * taps;
        const Buffer<float16_t> of_filter = filled(filters, length);
        filter.set(of_filter);
        agree(
            product.out, filters, size * size * images, length,
            [&](int f, int p) {
                int i = p % size + f / channels % taps - 1,
                    j = p / size % size + f / (channels * taps) - 1;
                const bool inside = i >= 0 && i < size && j >= 0 && j < size;
                if (!inside && !repeats) return 0.0f;
                i = std::clamp(i, 0, size - 1), j = std::clamp(j, 0, size - 1);
                return float(image(f % channels, i, j, p / (size * size)));
            },
            [&](int i, int f) { return float(of_filter(i, f)); });
    }
};

const TensorInstruction both[] = {TensorInstruction::MMA, TensorInstruction::WGMMA};

}  // namespace

TEST_SUITE("tensor copies") {
    TEST_CASE("a sum that no step divides: what is beyond it is zero") {
        for (const TensorInstruction instruction : both) {
            sum_of(100, 0, instruction, false, 3, 80, 72);
            sum_of(104, 24, instruction, false, 2);
            sum_of(40, 24, instruction, false, 3);
        }
    }
    TEST_CASE("a sum whose length is known when it runs") {
        for (const TensorInstruction instruction : both) {
            sum_of(100, 4, instruction, true, 2);
            sum_of(136, 8, instruction, true, 4);
            sum_of(3, 5, instruction, true, 3);
        }
    }
    TEST_CASE("long sums, of odd lengths") {
        sum_of(777, 0, TensorInstruction::MMA, false, 3, 64, 32);
        sum_of(333, 0, TensorInstruction::WGMMA, false, 4, 64, 64);
    }
    TEST_CASE("rows at no multiples of 16 bytes, of which nothing is promised") {
        for (const TensorInstruction instruction : both) {
            for (const bool is_parameter : {false, true}) {
                sum_of(777, 0, instruction, is_parameter, 3, 64, 64, false);
                sum_of(100, 1, instruction, is_parameter, 3, 64, 70, false);
            }
        }
    }
    TEST_CASE("a batch of products in one kernel, over a sum of any length") {
        for (const TensorInstruction instruction : both) {
            ImageParam a(Float(16), 3, "a"), b(Float(16), 3, "b");
            RDom k(0, a.width(), "k");
            Func of("product"), out("out");
            of(x, y, z) += cast<float>(a(k, y, z)) * cast<float>(b(x, k, z));
            out(x, y, z) = of(x, y, z);
            const bool is_mma = instruction == TensorInstruction::MMA;
            const auto share = [&](auto &&f, const Var &columns, const Var &rows) {
                f.tile(columns, rows, wx, wy, columns, rows, is_mma ? 32 : 64, is_mma ? 32 : 64);
                is_mma ? f.gpu_warps(wx, wy) : f.gpu_warpgroups(wx).gpu_warpgroups(wy);
            };
            out.tile(x, y, xi, yi, 64, 64).gpu_blocks(x, y, z);
            of.compute_at(out, x).store_in(MemoryType::Tile);
            Stage update = of.update();
            update.split(k, ko, ki, 64);
            share(out, xi, yi);
            share(of, x, y);
            share(update, x, y);
            update.reorder({ki, x, y, wx, wy, ko}).tensorize(x, y, ki, instruction);
            for (Func f : {a.in(), b.in()})
                f.compute_at(of, ko).store_in(MemoryType::GPUShared).async().ring_buffer(2);
            const int length = 88, size = 64, count = 2;
            Buffer<float16_t> of_a(length, size, count), of_b(size, length, count);
            of_a.for_each_element([&](int i, int j, int n) { of_a(i, j, n) = value_at(i, j + n); });
            of_b.for_each_element(
                [&](int i, int j, int n) { of_b(i, j, n) = value_at(j - n + 9, i); });
            a.set(of_a);
            b.set(of_b);
            for (const Target &target : targets()) {
                const Buffer<float> result = out.realize({size, size, count}, target);
                result.for_each_element([&](int i, int j, int n) {
                    float sum = 0;
                    for (int c = 0; c < length; c++)
                        sum += float(of_a(c, j, n)) * float(of_b(i, c, n));
                    REQUIRE(result(i, j, n) == sum);
                });
            }
        }
    }
    TEST_CASE("patches of a convolution, padded by zeros or by the edge") {
        for (const TensorInstruction instruction : both) {
            for (const int channels : {32, 8, 4, 3}) {
                CAPTURE(channels);
                for (const bool repeats : {false, true}) {
                    if (repeats && channels == 32) continue;
                    CAPTURE(repeats);
                    Convolution c(channels, repeats);
                    c.product.schedule(instruction, {c.patch, c.filter.in()});
                    c.run(repeats, instruction == TensorInstruction::MMA ? 2 : 4);
                }
            }
        }
    }
    TEST_CASE("rows of a buffer with zeros around them, which the machine copies by boxes") {
        for (const int first : {0, 3}) {
            const int columns = 64, rows = 70, length = 128, last = first + 49;
            ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
            const Func part = BoundaryConditions::constant_exterior(
                a, float16_t(0.0f), {{Expr(), Expr()}, {first, 50}});
            Func shifted("shifted");
            shifted(x, y) = part(x, y - 1);
            Product p([&](Expr c, Expr j) { return shifted(c, j); },
                      [&](Expr i, Expr c) { return b(i, c); }, length);
            p.schedule(TensorInstruction::WGMMA, {shifted, b.in()});
            const Buffer<float16_t> of_a = filled(length, rows), of_b = filled(columns, length);
            a.set(of_a);
            b.set(of_b);
            agree(
                p.out, columns, rows, length,
                [&](int c, int j) {
                    return j - 1 < first || j - 1 > last ? 0.0f : float(of_a(c, j - 1));
                },
                [&](int i, int c) { return float(of_b(i, c)); });
        }
    }
    TEST_CASE("boxes that begin at no multiples of 16 bytes of a row") {
        // An H200 ends with an illegal instruction where a box begins elsewhere.
        const int columns = 64, rows = 64, length = 128;
        for (const int moved : {-1, -8, 3}) {
            CAPTURE(moved);
            ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
            const Func around = BoundaryConditions::constant_exterior(
                a, float16_t(0.0f), {{0, length}, {Expr(), Expr()}});
            Func shifted("shifted");
            shifted(x, y) = around(x + moved, y);
            Product p([&](Expr c, Expr j) { return shifted(c, j); },
                      [&](Expr i, Expr c) { return b(i, c); }, length);
            p.schedule(TensorInstruction::WGMMA, {shifted, b.in()});
            const Buffer<float16_t> of_a = filled(length, rows), of_b = filled(columns, length);
            a.set(of_a);
            b.set(of_b);
            agree(
                p.out, columns, rows, length,
                [&](int c, int j) {
                    const int from = c + moved;
                    return from < 0 || from >= length ? 0.0f : float(of_a(from, j));
                },
                [&](int i, int c) { return float(of_b(i, c)); });
        }
    }
    TEST_CASE("buffers that begin anywhere, of which nothing is promised") {
        for (const int before : {1, 3, 8}) {
            CAPTURE(before);
            const int columns = 64, rows = 64, length = 100;
            ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
            Product p([&](Expr c, Expr j) { return a(c, j); },
                      [&](Expr i, Expr c) { return b(i, c); }, length);
            p.schedule(TensorInstruction::WGMMA, {a.in(), b.in()});
            Buffer<float16_t> of_a = filled(length + before, rows),
                              of_b = filled(columns + before, length);
            of_a.translate(0, -before);
            of_b.translate(0, -before);
            a.set(of_a);
            b.set(of_b);
            agree(
                p.out, columns, rows, length, [&](int c, int j) { return float(of_a(c, j)); },
                [&](int i, int c) { return float(of_b(i, c)); });
        }
    }
    TEST_CASE("tiles that begin where boxes cannot are refused when it runs") {
        ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
        const int columns = 68, rows = 64, length = 64;
        Product p([&](Expr c, Expr j) { return a(c, j); }, [&](Expr i, Expr c) { return b(i, c); },
                  length);
        p.schedule(TensorInstruction::WGMMA, {a.in(), b.in()});
        a.set(filled(length, rows));
        b.set(filled(columns, length));
        for (const Target &target : targets()) {
            CAPTURE(target.to_string());
            std::string why;
            try {
                p.out.realize({columns, rows}, target);
            } catch (const RuntimeError &e) {
                why = e.what();
            }
            CAPTURE(why);
            CHECK(why.find("multiples of 16 bytes") != std::string::npos);
        }
    }
    TEST_CASE("code for patches: copies of 16 bytes, begun ahead of the instructions") {
        for (const TensorInstruction instruction : both) {
            Convolution c(64, false);
            c.product.schedule(instruction, {c.patch, c.filter.in()});
            const std::string ptx = ptx_of(c.product.out, {c.in, c.filter});
            CAPTURE(ptx);
            const bool is_mma = instruction == TensorInstruction::MMA;
            CHECK(count_of(ptx, "cp.async.cg.shared.global") >= 4 * 2);
            CHECK((count_of(ptx, "cp.async.bulk.tensor") == 0) == is_mma);
            CHECK((count_of(ptx, "fence.proxy.async") == 0) == is_mma);
            test::check_fast(ptx);
        }
    }
    TEST_CASE("operands that are computed: of bytes, of floats, scaled, transposed") {
        for (const TensorInstruction instruction : both) {
            ImageParam a(UInt(8), 2, "a"), b(Float(32), 2, "b"), scale(Float(32), 1, "scale");
            Func of_a("of_a"), of_b("of_b");
            of_a(x, y) = cast<float16_t>(cast<float>(a(x, y)) * scale(y));
            of_b(x, y) = cast<float16_t>(b(y, x));
            Product p([&](Expr c, Expr j) { return of_a(c, j); },
                      [&](Expr i, Expr c) { return of_b(i, c); }, a.width());
            p.schedule(instruction, {of_a, of_b});
            const int length = 100, columns = 66, rows = 64;
            Buffer<uint8_t> bytes(length, rows);
            Buffer<float> floats(length, columns), scales(rows);
            bytes.for_each_element([&](int i, int j) { bytes(i, j) = uint8_t((i * 3 + j) % 13); });
            floats.for_each_element(
                [&](int i, int j) { floats(i, j) = float((i + j * 5) % 9 - 4); });
            scales.for_each_element([&](int i) { scales(i) = i % 3 == 0 ? 0.5f : 2.0f; });
            a.set(bytes);
            b.set(floats);
            scale.set(scales);
            agree(
                p.out, columns, rows, length,
                [&](int c, int j) { return float(bytes(c, j)) * scales(j); },
                [&](int i, int c) { return floats(c, i); });
            test::check_fast(ptx_of(p.out, {a, b, scale}));
        }
    }
    TEST_CASE("random lengths, stages and staging") {
        test::Seeds seeds(2.0, 12);
        while (const auto seed = seeds.next()) {
            CAPTURE(*seed);
            test::Random random(*seed);
            const auto pick = [&](const std::vector<int> &of) { return random.pick(of); };
            const int length = pick({1, 8, 63, 64, 65, 100, 128, 130, 200});
            sum_of(length, pick({0, 1, 8}), both[random.chance(50)], random.chance(50),
                   pick({2, 3, 4}), pick({64, 66, 72}), pick({64, 67}));
        }
    }
    TEST_CASE("what no copy fills with zeros, threads do, and wgmma refuses in memory") {
        for (const Staged staged : {Staged::A, Staged::None}) {
            for (const bool is_parameter : {false, true})
                sum_of(70, 3, TensorInstruction::MMA, is_parameter, 2, 64, 64, true, staged);
        }
        const auto guarded = [](TensorInstruction instruction) {
            ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
            Product p([&](Expr c, Expr j) { return a(c, j); },
                      [&](Expr i, Expr c) { return b(i, c); }, 100);
            p.schedule(instruction, {a.in()});
            b.in().compute_at(p.of, ko).store_in(MemoryType::GPUShared);
            b.in().gpu_threads(Var::implicit(0));
            const Buffer<float16_t> of_a = filled(100, 64), of_b = filled(64, 100);
            a.set(of_a);
            b.set(of_b);
            agree(
                p.out, 64, 64, 100, [&](int c, int j) { return float(of_a(c, j)); },
                [&](int i, int c) { return float(of_b(i, c)); });
        };
        guarded(TensorInstruction::MMA);
        const std::string message = refusal([&] { guarded(TensorInstruction::WGMMA); });
        CAPTURE(message);
        CHECK(message.find("tensor_copies_test.cpp:") == 0);
        CHECK(message.find("have it staged by async() and ring_buffer(), which fills with zeros") !=
              std::string::npos);
    }
}
