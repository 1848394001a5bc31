// The apps' functions that choose tiles for tensor cores: products of all sizes, layouts and types,
// and convolutions; by meaning without a GPU, on one where there is one, and as PTX.
#include "conv_layer/tensor_conv.h"
#include "device_code.h"
#include "gemm/tensor_gemm.h"
#include <algorithm>
#include <cmath>

using namespace tessera;
using namespace tessera::apps;
using test::count_of;

namespace {

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// Small integers, whose sums are exact.
template<typename T> Buffer<T> filled(const std::vector<int> &sizes, int seed) {
    Buffer<T> all(sizes);
    int i = seed;
    all.for_each_value([&](T &value) {
        i++;
        value = T(float((i * 7 + i / 5 * 3) % 5 - 2));
    });
    return all;
}

template<typename T, typename Sum, typename Result>
void multiplies(TensorShape s, const TensorTiles *tiles = nullptr) {
    CAPTURE(s.rows);
    CAPTURE(s.columns);
    CAPTURE(s.depth);
    CAPTURE(s.a_by_columns);
    CAPTURE(s.b_by_columns);
    s.operand_bytes = int(sizeof(T));
    s.result_bytes = int(sizeof(Result));
    TensorGemm gemm(s, {type_of<T>(), type_of<Sum>(), type_of<Result>()});
    gemm.schedule(tiles ? *tiles : gemm.choose());
    const auto sizes = [&](bool swapped, int inner, int outer) {
        std::vector<int> all = {swapped ? outer : inner, swapped ? inner : outer};
        if (s.batch > 1) all.push_back(s.batch);
        return all;
    };
    const Buffer<T> a = filled<T>(sizes(s.a_by_columns, s.depth, s.rows), 1),
                    b = filled<T>(sizes(s.b_by_columns, s.columns, s.depth), 2);
    gemm.a.set(a);
    gemm.b.set(b);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<Result> out = gemm.out.realize(sizes(false, s.columns, s.rows), target);
        int wrong = 0;
        out.for_each_element([&](const int *at) {
            const int x = at[0], y = at[1], z = s.batch > 1 ? at[2] : 0;
            const auto of = [&](const Buffer<T> &m, int inner, int outer) {
                return float(s.batch > 1 ? m(inner, outer, z) : m(inner, outer));
            };
            float sum = 0;
            for (int k = 0; k < s.depth; k++)
                sum += (s.a_by_columns ? of(a, y, k) : of(a, k, y)) *
                       (s.b_by_columns ? of(b, k, x) : of(b, x, k));
            if (sizeof(Result) == 1) sum = std::clamp(sum, -128.0f, 127.0f);
            wrong += float(out(at)) != float(Result(sum));
        });
        CHECK(wrong == 0);
    }
}

void convolves(const TensorConvShape &s, const TensorConvTiles *tiles = nullptr) {
    CAPTURE(s.height);
    CAPTURE(s.channels);
    CAPTURE(s.stride);
    const TensorConvTiles t = tiles ? *tiles : possible_tiles(s).front();
    CAPTURE(t.q);
    CAPTURE(t.p);
    CAPTURE(t.images);
    TensorConv c(s, true);
    c.schedule(t);
    const Buffer<float16_t> in = filled<float16_t>({s.channels, s.width, s.height, s.images}, 1),
                            of = filled<float16_t>({s.channels, s.columns, s.rows, s.filters}, 2);
    c.in.set(in);
    c.filter.set(of);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<float16_t> out = c.out.realize({s.filters, s.q(), s.p(), s.images}, target);
        int wrong = 0;
        out.for_each_element([&](int k, int q, int p, int n) {
            float sum = 0;
            for (int r = 0; r < s.rows; r++)
                for (int v = 0; v < s.columns; v++) {
                    const int x = q * s.stride + v - s.padding, y = p * s.stride + r - s.padding;
                    if (x < 0 || y < 0 || x >= s.width || y >= s.height) continue;
                    for (int i = 0; i < s.channels; i++)
                        sum += float(in(i, x, y, n)) * float(of(i, v, r, k));
                }
            wrong += float(out(k, q, p, n)) != float(float16_t(std::max(sum, 0.0f)));
        });
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_SUITE("tensor schedules") {
    TEST_CASE("tiles have room, and follow from the sizes") {
        for (const TensorShape &s : {TensorShape{4096, 4096, 4096},
                                     {1, 1, 1},
                                     {1000, 777, 333},
                                     {64, 8, 100000, 1, 4},
                                     {300, 300, 40, 4, 4, 5, true, false}}) {
            const TensorMachine machine;
            const std::vector<TensorTiles> all = possible_tiles(s);
            CHECK(std::is_sorted(all.begin(), all.end(),
                                 [](auto &a, auto &b) { return a.cycles < b.cycles; }));
            for (const TensorTiles &t : all) {
                const int stage = (t.rows + t.columns) * t.step * s.operand_bytes;
                CHECK(stage * t.stages * t.resident < machine.shared_bytes);
                CHECK(t.rows * t.columns * t.resident < machine.registers);
                CHECK(t.rows % (64 * t.warpgroups) == 0);
                CHECK((t.slices == 1 || s.depth % (t.slices * t.step) == 0));
            }
        }
        // Few tiles are small, so that all multiprocessors have one; a long sum is sliced.
        CHECK(choose_tiles({512, 512, 512}).rows == 64);
        CHECK(choose_tiles({4096, 4096, 4096}).rows >= 128);
        CHECK(choose_tiles({128, 128, 65536}).slices > 1);
    }
    TEST_CASE("products of any sizes") {
        multiplies<float16_t, float, float16_t>({64, 64, 64});
        multiplies<float16_t, float, float16_t>({100, 77, 33});
        multiplies<float16_t, float, float16_t>({130, 40, 136});
        multiplies<float16_t, float, float>({65, 33, 100});
    }
    TEST_CASE("operands by rows and by columns, and batches") {
        for (const bool a : {false, true}) {
            for (const bool b : {false, true}) {
                multiplies<float16_t, float, float16_t>({64, 72, 72, 2, 2, 1, a, b});
                multiplies<float16_t, float, float16_t>({33, 45, 27, 2, 2, 2, a, b});
            }
        }
        multiplies<float16_t, float, float16_t>({64, 40, 24, 2, 2, 3});
    }
    TEST_CASE("code: the machine copies, threads store 16 bytes, and nothing waits or spills") {
        // The first two divide nothing: the last tiles begin earlier.
        for (TensorShape s : {TensorShape{1000, 1032, 520},
                              {1000, 1032, 520, 2, 4, 1, true, false},
                              {512, 512, 512, 2, 2, 3},
                              {1024, 1024, 1024}}) {
            CAPTURE(s.result_bytes);
            TensorGemm gemm(s, {Float(16), Float(32), s.result_bytes == 4 ? Float(32) : Float(16)});
            TensorTiles tiles{128, 128, 64, 1, 3};
            tiles.resident = 2;
            gemm.schedule(tiles);
            const std::string ptx = test::ptx_of(gemm.out, 90);
            CHECK(count_of(ptx, "cp.async.bulk.tensor") >= 4);
            CHECK(count_of(ptx, "ld.global") == 0);
            CHECK(count_of(ptx, "st.global.v4.b32") == size_t(128 * s.result_bytes / 16));
            const std::string said = test::assembled(ptx, "sm_90a");
            CAPTURE(said);
            CHECK(count_of(said, "in the function 'f_kernel_0'") == 0);
            CHECK(count_of(said, " 0 bytes spill stores, 0 bytes spill loads") ==
                  (said.empty() ? 0 : count_of(ptx, ".entry")));
        }
    }
    TEST_CASE("capability 8.0") {
        for (const TensorShape &s :
             {TensorShape{100, 77, 33}, {64, 136, 64, 2, 2, 2, true, false}}) {
            const TensorTiles tiles = choose_mma_tiles(s);
            multiplies<float16_t, float, float16_t>(s, &tiles);
        }
    }
    TEST_CASE("sums in slices, which another kernel adds up") {
        TensorTiles tiles{64, 64, 64, 1, 3};
        tiles.slices = 3;
        multiplies<float16_t, float, float16_t>({64, 64, 384}, &tiles);
        multiplies<float16_t, float, float>({72, 40, 192, 2, 4, 2, false, false}, &tiles);
    }
    TEST_CASE("bfloat16, bytes and tf32") {
        multiplies<bfloat16_t, float, bfloat16_t>({64, 96, 128});
        multiplies<int8_t, int32_t, int32_t>({64, 48, 160});
        multiplies<int8_t, int32_t, int8_t>({70, 64, 128});
        multiplies<float, float, float>({64, 64, 40});
        // Not along the sum: by mma.
        multiplies<int8_t, int32_t, int32_t>({40, 64, 96, 1, 4, 1, false, false});
        multiplies<float, float, float>({48, 40, 24, 4, 4, 2, true, false});
    }
    TEST_CASE("convolutions: places of one image, and of several") {
        convolves({1, 16, 9, 11, 32, 1, 1, 1, 0});
        convolves({1, 64, 8, 8, 32, 3, 3, 1, 1});
        convolves({1, 16, 10, 10, 32, 3, 3, 2, 1});
        const TensorTiles product{64, 32, 64, 1, 3}, of_two{128, 32, 64, 2, 3};
        const TensorConvTiles rows{1, 8, 8, product}, two{2, 8, 8, of_two},
            images{4, 1, 16, product}, shared{4, 16, 2, of_two};
        convolves({8, 16, 5, 3, 32, 2, 3, 1, 1}, &rows);
        convolves({9, 16, 6, 4, 48, 1, 2, 1, 0}, &two);
        convolves({16, 16, 3, 5, 32, 2, 2, 2, 1}, &images);
        convolves({2, 16, 9, 5, 32, 1, 1, 1, 0}, &shared);
        convolves({2, 3, 12, 14, 32, 5, 3, 2, 1});  // taps and channels at once
        TensorConvTiles slices{8, 8, 1, product};
        slices.of_product.slices = 2;
        convolves({1, 128, 7, 9, 32, 3, 2, 1, 1}, &slices);
        convolves({2, 128, 9, 9, 32, 1, 2, 2, 1}, &slices);
    }
}
