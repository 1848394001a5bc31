#include "codegen/harness.h"
#include <numeric>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr int size = 256;

std::vector<int> counted() {
    std::vector<int> values(size);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

std::vector<int> steps(int first, int stride, int lanes) {
    std::vector<int> values;
    for (int i = 0; i < lanes; i++) values.push_back(first + i * stride);
    return values;
}

// out[0 .. lanes) = in[index], for an element type; the buffer holds 0, 1, 2, ...
template<typename T>
std::vector<int> load(const std::string &index, int lanes, const char *target = "host") {
    std::vector<T> values;
    for (int v : counted()) values.push_back(T(v));
    TestBuffer<T> in(values), out(size_t(lanes), T(77));
    codegen::JitModule m = compile(
        str("module \"m\"\nfunc \"f\"(a: input ", type_of<T>(), "[1], out: output ", type_of<T>(),
            "[1], n: int32):\n    out[ramp(0, 1, ", lanes, ")] = a[", index, "]\n"),
        Target(target));
    int32_t n = 5;
    void *argv[] = {&no_context, static_cast<tessera_buffer_t *>(in),
                    static_cast<tessera_buffer_t *>(out), &n};
    REQUIRE(m.argv_function("f")(argv) == 0);
    std::vector<int> result;
    for (T v : out.values()) result.push_back(int(float(v)));
    return result;
}

// Loads of many strides, a function for each.
template<typename T> void check_strides(const char *target, const std::vector<int> &lane_counts) {
    std::string text = "module \"m\"\n", type = to_string(type_of<T>());
    struct Access {
        int first, stride, lanes;
    };
    std::vector<Access> all;
    for (int lanes : lane_counts) {
        for (int stride : {1, 2, 3, 4, 5, 7, 0, -1, -2, -3, -4, -6}) {
            all.push_back({stride < 0 ? size - 1 : 3, stride, lanes});
            if (all.back().first + stride * (lanes - 1) >= size) all.pop_back();
        }
    }
    for (size_t i = 0; i < all.size(); i++) {
        text += str("func \"f", i, "\"(a: input ", type, "[1], out: output ", type,
                    "[1]):\n    out[ramp(0, 1, ", all[i].lanes, ")] = a[ramp(", all[i].first, ", ",
                    all[i].stride, ", ", all[i].lanes, ")]\n");
    }
    codegen::JitModule m = compile(text, Target(target));
    std::vector<T> values;
    for (int v : counted()) values.push_back(T(v));
    TestBuffer<T> in(values);
    for (size_t i = 0; i < all.size(); i++) {
        TestBuffer<T> out(size_t(all[i].lanes), T(77));
        void *argv[] = {&no_context, static_cast<tessera_buffer_t *>(in),
                        static_cast<tessera_buffer_t *>(out)};
        REQUIRE(m.argv_function(str("f", i))(argv) == 0);
        std::vector<T> wanted;
        for (int v : steps(all[i].first, all[i].stride, all[i].lanes)) wanted.push_back(T(v));
        INFO(target, ' ', type, " stride ", all[i].stride, ", ", all[i].lanes, " lanes");
        CHECK(out.values() == wanted);
    }
}

// out[index] = 100, 101, ..., where out was -1.
std::vector<int32_t> store(const std::string &index, int lanes, const char *target = "host") {
    TestBuffer<int32_t> out(64, -1);
    codegen::JitModule m =
        compile(str("module \"m\"\nfunc \"f\"(out: output int32[1], n: int32):\n    out[", index,
                    "] = ramp(100, 1, ", lanes, ")\n"),
                Target(target));
    int32_t n = 5;
    void *argv[] = {&no_context, static_cast<tessera_buffer_t *>(out), &n};
    REQUIRE(m.argv_function("f")(argv) == 0);
    return out.values();
}

// Groups of `rows` lanes, each a column of rows that are `stride` apart.
std::vector<int> columns_of(int first, int stride, int rows, int columns) {
    std::vector<int> values;
    for (int x = 0; x < columns; x++) {
        for (int y = 0; y < rows; y++) values.push_back(first + y * stride + x);
    }
    return values;
}

template<typename T> void check_columns(const char *stride, int step, int rows, int columns) {
    const std::string index =
        str("ramp(ramp(n, ", stride, ", ", rows, "), x", rows, "(1), ", columns, ")");
    for (const char *target : {"host", "x86-64-linux", "x86-64-linux-avx2"}) {
        INFO(target, ": ", index);
        CHECK(load<T>(index, rows * columns, target) == columns_of(5, step, rows, columns));
    }
}

}  // namespace

TEST_SUITE("loads") {
    TEST_CASE("of any stride and number of lanes") {
        for (const char *target : {"host", "x86-64-linux", "x86-64-linux-avx"}) {
            check_strides<int32_t>(target, {2, 3, 4, 5, 8});
            check_strides<uint8_t>(target, {5, 8, 16, 17, 32});
        }
    }
    TEST_CASE("of other types") {
        CHECK(load<float>("ramp(n, 2, 8)", 8) == steps(5, 2, 8));
        CHECK(load<double>("ramp(n, 3, 4)", 4) == steps(5, 3, 4));
        CHECK(load<uint16_t>("ramp(n, 4, 16)", 16) == steps(5, 4, 16));
        CHECK(load<int64_t>("ramp(n, -1, 4)", 4) == steps(5, -1, 4));
        CHECK(load<float16_t>("ramp(n, 1, 8)", 8) == steps(5, 1, 8));
        CHECK(load<bfloat16_t>("ramp(n, 2, 8)", 8) == steps(5, 2, 8));
    }
    TEST_CASE("with an alignment that is known, and a stride that is not") {
        CHECK(load<int32_t>("ramp(8, 1, 8) aligned(8, 0)", 8) == steps(8, 1, 8));
        CHECK(load<int32_t>("ramp(n * 0 + 9, 2, 8) aligned(8, 1)", 8) == steps(9, 2, 8));
        CHECK(load<int32_t>("ramp(3, n, 8)", 8) == steps(3, 5, 8));
        CHECK(load<int32_t>("x8(n + 2)", 8) == steps(7, 0, 8));
        CHECK(load<int32_t>("ramp(n, 1, 8) streaming", 8) == steps(5, 1, 8));
    }
    TEST_CASE("of nested ramps and broadcasts") {
        CHECK(load<int32_t>("ramp(ramp(n, 1, 4), x4(20), 2)", 8) ==
              std::vector<int>{5, 6, 7, 8, 25, 26, 27, 28});
        CHECK(load<int32_t>("ramp(x2(n), x2(3), 3)", 6) == std::vector<int>{5, 5, 8, 8, 11, 11});
        CHECK(load<int32_t>("ramp(ramp(n, 2, 2), ramp(1, 1, 2), 2)", 4) ==
              std::vector<int>{5, 7, 6, 9});
        CHECK(load<int32_t>("x2(ramp(n, 1, 2))", 4) == std::vector<int>{5, 6, 5, 6});
        CHECK(load<int32_t>("ramp(ramp(ramp(n, 1, 2), x2(10), 2), x4(100), 2)", 8) ==
              std::vector<int>{5, 6, 15, 16, 105, 106, 115, 116});
        CHECK(load<uint8_t>("ramp(0, 1, 8) * ramp(0, 1, 8)", 8) ==
              std::vector<int>{0, 1, 4, 9, 16, 25, 36, 49});
        CHECK(load<float>("ramp(0, 1, 8) * ramp(0, 1, 8)", 8) ==
              std::vector<int>{0, 1, 4, 9, 16, 25, 36, 49});
    }
    TEST_CASE("of columns") {
        check_columns<int32_t>("9", 9, 4, 3);
        check_columns<int32_t>("n", 5, 8, 8);
        check_columns<int32_t>("n", 5, 3, 4);
        check_columns<int32_t>("-1", -1, 2, 4);
        check_columns<float>("n + 11", 16, 8, 16);
        check_columns<uint8_t>("n * 7", 35, 4, 16);
        check_columns<bfloat16_t>("20", 20, 2, 32);
        check_columns<double>("3", 3, 4, 2);
        std::vector<int> some = columns_of(5, 9, 2, 4);
        std::fill(some.begin(), some.begin() + 3, 0);
        for (const char *target : {"host", "x86-64-linux"}) {
            CHECK(load<int32_t>("ramp(ramp(n, 9, 2), x2(1), 4) if ramp(0, 1, 8) > x8(2)", 8,
                                target) == some);
        }
    }
    TEST_CASE("of some lanes only") {
        for (const char *target : {"host", "x86-64-linux"}) {
            CHECK(load<int32_t>("ramp(n, 1, 4) if ramp(0, 1, 4) < x4(2)", 4, target) ==
                  std::vector<int>{5, 6, 0, 0});
            CHECK(load<uint8_t>("ramp(n, 1, 4) if ramp(0, 1, 4) < x4(2)", 4, target) ==
                  std::vector<int>{5, 6, 0, 0});
            CHECK(load<int32_t>("ramp(n, 3, 4) if ramp(0, 1, 4) > x4(1)", 4, target) ==
                  std::vector<int>{0, 0, 11, 14});
            CHECK(load<int32_t>("ramp(n, 1, 4) if x4(n > 9)", 4, target) ==
                  std::vector<int>{0, 0, 0, 0});
            CHECK(load<int32_t>("ramp(n, 1, 4) if x4(n > 2)", 4, target) ==
                  std::vector<int>{5, 6, 7, 8});
            CHECK(load<int32_t>("ramp(n, 1, 4) if x4(true)", 4, target) ==
                  std::vector<int>{5, 6, 7, 8});
            CHECK(load<int32_t>("ramp(ramp(n, 1, 2), x2(8), 2) if ramp(0, 1, 4) > x4(0)", 4,
                                target) == std::vector<int>{0, 6, 13, 14});
        }
    }
    TEST_CASE("of one element for some lanes, which is not read for none") {
        for (const char *target : {"host", "x86-64-linux", "x86-64-linux-avx2-fma-f16c"}) {
            CAPTURE(target);
            const char *some = "x8(n) if ramp(0, 1, 8) % x8(3) == x8(1)";
            CHECK(load<int32_t>(some, 8, target) == std::vector<int>{0, 5, 0, 0, 5, 0, 0, 5});
            CHECK(load<float16_t>(some, 8, target) == std::vector<int>{0, 5, 0, 0, 5, 0, 0, 5});
            CHECK(load<bfloat16_t>(some, 8, target) == std::vector<int>{0, 5, 0, 0, 5, 0, 0, 5});
            CHECK(load<bool>(some, 8, target) == std::vector<int>{0, 1, 0, 0, 1, 0, 0, 1});
            CHECK(load<bool>("x8(0) if ramp(0, 1, 8) < x8(n)", 8, target) == steps(0, 0, 8));
            // Of none, far out of all memory.
            const char *none = "x8(n * 100000000) if ramp(0, 1, 8) < x8(n - 5)";
            CHECK(load<float16_t>(none, 8, target) == steps(0, 0, 8));
            CHECK(load<bool>(none, 8, target) == steps(0, 0, 8));
        }
    }
    TEST_CASE("addresses of elements, and prefetches, which change nothing") {
        TestBuffer<int32_t> in(64, 1), out(1);
        CHECK(run(R"(
module "m"
func "f"(a: input int32[1], out: output int32[1], n: int32):
    prefetch(address_of(a[n]):handle, 2, 256, n, 4):int32
    prefetch(address_of(a[0]):handle):int32
    out[0] = int32(reinterpret int64(address_of(a[n]):handle) - reinterpret int64(address_of(a[1]):handle))
)",
                  in, out, 5) == 0);
        CHECK(out[0] == 16);
    }
}

TEST_SUITE("stores") {
    TEST_CASE("dense, strided, nested and scattered") {
        for (const char *target : {"host", "x86-64-linux"}) {
            auto out = store("ramp(n, 1, 8)", 8, target);
            CHECK(out[4] == -1);
            CHECK(out[5] == 100);
            CHECK(out[12] == 107);
            CHECK(out[13] == -1);
            out = store("ramp(60, -7, 8)", 8, target);
            CHECK(out[60] == 100);
            CHECK(out[11] == 107);
            out = store("ramp(ramp(n, 1, 2), x2(10), 3)", 6, target);
            CHECK(out[6] == 101);
            CHECK(out[25] == 104);
            CHECK(out[7] == -1);
            out = store("ramp(0, 1, 8) / x8(4)", 8, target);  // the last lane stays
            CHECK(out[0] == 103);
            CHECK(out[1] == 107);
            out = store("x4(n)", 4, target);
            CHECK(out[5] == 103);
        }
    }
    TEST_CASE("of some lanes only") {
        for (const char *target : {"host", "x86-64-linux"}) {
            auto out = store("ramp(n, 1, 8) if ramp(0, 1, 8) % x8(2) == x8(0)", 8, target);
            CHECK(out[5] == 100);
            CHECK(out[6] == -1);
            CHECK(out[11] == 106);
            CHECK(out[12] == -1);
            out = store("ramp(n, 3, 4) if ramp(0, 1, 4) > x4(1)", 4, target);
            CHECK(out[8] == -1);
            CHECK(out[14] == 103);
            CHECK(store("ramp(n, 1, 4) if x4(n > 9)", 4, target)[5] == -1);
            CHECK(store("ramp(n, 1, 4) if x4(n > 2)", 4, target)[5] == 100);
            out = store("ramp(ramp(n, 1, 2), x2(10), 2) if ramp(0, 1, 4) > x4(0)", 4, target);
            CHECK(out[5] == -1);
            CHECK(out[15] == 102);
        }
    }
    TEST_CASE("of some lanes only, in a stack slot, where the others keep what they had") {
        for (const char *type : {"int32", "uint8"}) {
            TestBuffer<int32_t> out(24);
            CHECK(run(str(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    allocate sums: )",
                          type, R"([20] in Stack
    sums[ramp(0, 1, 16)] = )",
                          type, R"(x16(ramp(0, 1, 16))
    sums[ramp(16, 1, 4)] = )",
                          type, R"(x4(ramp(50, 1, 4))
    for i in [0, +3):
        sums[ramp(2, 1, 16) if ramp(i, 1, 16) < x16(n)] = sums[ramp(2, 1, 16) if ramp(i, 1, 16) < x16(n)] + )",
                          type, R"(x16(ramp(1, 1, 16))
    sums[ramp(n, 1, 4) if ramp(0, 1, 4) < x4(1)] = )",
                          type, R"(x4(ramp(90, 1, 4))
    out[ramp(0, 1, 20)] = int32x20(sums[ramp(0, 1, 20)])
)"),
                      out, 5) == 0);
            std::vector<int32_t> expected;
            for (int i = 0; i < 16; i++) expected.push_back(i);
            for (int i = 0; i < 4; i++) expected.push_back(50 + i);
            for (int step = 0; step < 3; step++) {
                for (int lane = 0; lane + step < 5; lane++) expected[size_t(2 + lane)] += lane + 1;
            }
            expected[5] = 90;
            for (size_t i = 0; i < expected.size(); i++) CHECK(out[i] == expected[i]);
        }
    }
    TEST_CASE("a scalar under a condition, and a stream that is not aligned") {
        TestBuffer<int32_t> out(40);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    out[0 if n > 3] = 1
    out[1 if n > 9] = 1
    out[2] = 5
    out[2 if n > 3] = out[2 if n > 3] + out[2 if n > 9]
    out[ramp(n, 1, 8) streaming] = ramp(0, 1, 8)
    out[ramp(7, 1, 8) streaming] = ramp(0, 1, 8)
    out[ramp(31, 1, 8) aligned(8, 7) streaming] = ramp(0, 1, 8)
    parallel for i in [0, +1): out[ramp(15, 1, 8) streaming] = ramp(1, 1, 8)
)",
                  out, 5) == 0);
        CHECK(out[0] == 1);
        CHECK(out[1] == 0);
        CHECK(out[2] == 5);
        CHECK(out[14] == 7);
        CHECK(out[22] == 8);
        CHECK(out[38] == 7);
    }
}

TEST_SUITE("vectors") {
    std::vector<int32_t> vector_of(const std::string &value, int lanes) {
        TestBuffer<int32_t> out(static_cast<size_t>(lanes));
        std::string index = lanes == 1 ? "0" : str("ramp(0, 1, ", lanes, ")");
        CHECK(run(str("module \"m\"\nfunc \"f\"(out: output int32[1], n: int32):\n    out[", index,
                      "] = ", value, "\n"),
                  out, 5) == 0);
        return out.values();
    }
    using V = std::vector<int32_t>;

    TEST_CASE("ramps, broadcasts and shuffles") {
        CHECK(vector_of("ramp(n, -2, 4)", 4) == V{5, 3, 1, -1});
        CHECK(vector_of("ramp(ramp(n, 1, 2), x2(10), 3)", 6) == V{5, 6, 15, 16, 25, 26});
        CHECK(vector_of("x3(ramp(n, 1, 2))", 6) == V{5, 6, 5, 6, 5, 6});
        CHECK(vector_of("shuffle(ramp(n, 1, 4), [3, 0, 3])", 3) == V{8, 5, 8});
        CHECK(vector_of("shuffle(ramp(n, 1, 4), ramp(0, 1, 2), [5, 0, 4])", 3) == V{1, 5, 0});
        CHECK(vector_of("shuffle(ramp(n, 1, 4), [2])", 1) == V{7});
        CHECK(vector_of("shuffle(n, n + 1, n + 2, [2, 0])", 2) == V{7, 5});
        CHECK(vector_of("concat(ramp(0, 1, 3), n, ramp(7, 1, 2))", 6) == V{0, 1, 2, 5, 7, 8});
        CHECK(vector_of("interleave(ramp(0, 1, 3), x3(n), ramp(7, 1, 3))", 9) ==
              V{0, 5, 7, 1, 5, 8, 2, 5, 9});
        CHECK(vector_of("slice(ramp(0, 1, 12), 2, 3, 3)", 3) == V{2, 5, 8});
    }
    TEST_CASE("reductions of neighbours") {
        CHECK(vector_of("vector_reduce(add, ramp(n, 1, 8), 1)", 1) == V{68});
        CHECK(vector_of("vector_reduce(add, ramp(n, 1, 8), 4)", 4) == V{11, 15, 19, 23});
        CHECK(vector_of("vector_reduce(add, ramp(0, 1, 12), 4)", 4) == V{3, 12, 21, 30});
        CHECK(vector_of("vector_reduce(mul, ramp(1, 1, 6), 2)", 2) == V{6, 120});
        CHECK(vector_of("vector_reduce(min, ramp(n, -1, 7), 1)", 1) == V{-1});
        CHECK(vector_of("vector_reduce(max, ramp(n, 1, 16), 2)", 2) == V{12, 20});
        CHECK(vector_of("int32(vector_reduce(and, ramp(0, 1, 8) < x8(n), 1))", 1) == V{0});
        CHECK(vector_of("int32x2(vector_reduce(or, ramp(0, 1, 8) < x8(2), 2))", 2) == V{1, 0});
        CHECK(vector_of("int32x2(vector_reduce(saturating_add, uint8x8(ramp(0, 20, 8)), 2))", 2) ==
              V{120, 255});
        CHECK(
            vector_of("int32(vector_reduce(saturating_add, int8x4(concat(x2(100), x2(-100))), 1))",
                      1) == V{-73});
        CHECK(vector_of("int32(vector_reduce(add, float32x8(ramp(n, 1, 8)), 1))", 1) == V{68});
        CHECK(vector_of("int32(strict_float(vector_reduce(add, float32x8(ramp(n, 1, 8)), 1)))",
                        1) == V{68});
        CHECK(vector_of("int32x2(vector_reduce(add, bfloat16x8(ramp(0, 1, 8)), 2))", 2) ==
              V{6, 22});
        CHECK(vector_of("int32x2(vector_reduce(max, float16x8(ramp(0, 1, 8)), 2))", 2) == V{3, 7});
    }
    TEST_CASE("dot products of every shape") {
        for (int out_lanes : {1, 2, 3, 8, 20}) {
            for (int factor : {2, 3, 4, 8}) {
                int lanes = out_lanes * factor;
                for (const char *types : {"int8 int8", "uint8 int8", "int8 uint8", "uint8 uint8",
                                          "int16 int16", "uint8 int16"}) {
                    std::string a(types, strchr(types, ' ')), b = strchr(types, ' ') + 1;
                    std::string x = str(lanes), ramp_a = str("ramp(3, -5, ", x, ")"),
                                ramp_b = str("ramp(-100, 7, ", x, ")");
                    std::string product = str("int32x", x, "(", a, "x", x, "(", ramp_a,
                                              ")) * int32x", x, "(", b, "x", x, "(", ramp_b, "))");
                    std::string sum = str("vector_reduce(add, ", product, ", ", out_lanes, ")");
                    std::string start = out_lanes == 1 ? "n" : str("x", out_lanes, "(n)");
                    auto element = [](const std::string &t, int v) {
                        return t == "int8" ? int8_t(v) : t == "uint8" ? uint8_t(v) : int16_t(v);
                    };
                    V wanted(static_cast<size_t>(out_lanes), 5);
                    for (int i = 0; i < lanes; i++) {
                        wanted[size_t(i / factor)] +=
                            element(a, 3 - 5 * i) * element(b, -100 + 7 * i);
                    }
                    CAPTURE(sum);
                    CHECK(vector_of(start + " + " + sum, out_lanes) == wanted);
                    CHECK(vector_of(sum + " + " + start, out_lanes) == wanted);
                }
            }
        }
    }
    TEST_CASE("sums of bytes and of differences") {
        V wanted(2);
        for (int i = 0; i < 32; i++)
            wanted[size_t(i / 16)] += std::abs(uint8_t(i * 9) - uint8_t(200 - 3 * i));
        CHECK(vector_of("vector_reduce(add, int32x32(absd(uint8x32(ramp(0, 9, 32)), "
                        "uint8x32(ramp(200, -3, 32))):uint8x32), 2)",
                        2) == wanted);
        wanted = {0, 0, 0};
        for (int i = 0; i < 24; i++) wanted[size_t(i / 8)] += uint8_t(i * 30);
        CHECK(vector_of("int32x3(vector_reduce(add, uint16x24(uint8x24(ramp(0, 30, 24))), 3))",
                        3) == wanted);
    }
}
