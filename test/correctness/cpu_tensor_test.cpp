// Products of matrices by instructions of CPUs: by meaning, without the machine; as assembly; and
// run, where this machine has the instruction.
#include "error/refusal.h"
#include "ir/instruction.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <unistd.h>

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

struct Sizes {
    int rows, columns, k;  // of the product
    int tile_rows, tile_columns, tile_k;
};

// out = a * b, with a and b stored row by row.
struct Product {
    ImageParam a, b;
    Func sums{"sums"}, out{"out"};
    RVar ko{"ko"}, ki{"ki"};
    RDom k;

    Product(Type of_a, Type of_b, Type of_sums, int terms)
        : a(of_a, 2, "a"), b(of_b, 2, "b"), k(0, terms, "k") {
        sums(x, y) += cast(of_sums, a(k, y)) * cast(of_sums, b(x, k));
        out(x, y) = sums(x, y);
    }
    void schedule(const Sizes &s, const std::string &instruction) {
        out.tile(x, y, xi, yi, s.tile_columns, s.tile_rows, TailStrategy::RoundUp);
        sums.compute_at(out, x).store_in(MemoryType::Tile);
        Stage update = sums.update();
        update.split(k, ko, ki, s.tile_k).reorder({ki, x, y, ko});
        update.tensorize(x, y, ki, TensorInstruction(instruction));
        b.in().compute_root();
    }
};

template<typename T> T value_at(int i, int j) {
    const int v = (i * 7 + j * 3) % 11;
    return T(std::is_unsigned_v<T> ? float(v) : float(v - 5));
}

template<typename A, typename B, typename S>
void agrees(
    const Sizes &s, const std::string &instruction, const std::vector<Target> &targets,
    const std::function<void(Product &)> &also = [](Product &) {}) {
    CAPTURE(instruction);
    Product p(type_of<A>(), type_of<B>(), type_of<S>(), s.k);
    p.schedule(s, instruction);
    also(p);
    Buffer<A> a(s.k, s.rows);
    Buffer<B> b(s.columns, s.k);
    a.for_each_element([&](int i, int j) { a(i, j) = value_at<A>(i, j); });
    b.for_each_element([&](int i, int j) { b(i, j) = value_at<B>(j, i * 3); });
    p.a.set(a);
    p.b.set(b);
    for (const Target &target : targets) {
        CAPTURE(target.to_string());
        const Buffer<S> out = p.out.realize({s.columns, s.rows}, target);
        out.for_each_element([&](int i, int j) {
            double sum = 0;
            for (int k = 0; k < s.k; k++) sum += double(float(a(k, j))) * double(float(b(i, k)));
            REQUIRE(double(out(i, j)) == sum);
        });
    }
}

const Target interpreter("host-jit-interpret");

// The interpreter, and this machine if it has the instruction.
std::vector<Target> with_machine(const std::string &instruction) {
    std::vector<Target> all{interpreter};
    const Target host("host-jit");
    if (ir::find_instruction(instruction)->is_on(host)) all.push_back(host);
    return all;
}

std::string assembly_of(Product &p, const std::string &target) {
    const std::string path = std::filesystem::temp_directory_path() /
                             ("tessera_cpu_tensor" + std::to_string(getpid()) + ".s");
    Pipeline(p.out).compile_to_assembly(path, {p.a, p.b}, "f",
                                        Target(target + "-no_asserts-no_bounds_query-no_runtime"));
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

std::string assembly_of(Type a, Type b, Type sums, const Sizes &s, const std::string &instruction,
                        const std::string &target) {
    Product p(a, b, sums, s.k);
    p.schedule(s, instruction);
    return assembly_of(p, target);
}

const char *const amx = "x86-64-linux-avx512_sapphirerapids";

}  // namespace

TEST_SUITE("tensor instructions of CPUs") {
    TEST_CASE("several products of one update are added one after the other") {
        const auto made = [](Type of_a, Type of_b, Type of_sums, bool is_difference) {
            Product p(of_a, of_b, of_sums, 64);
            ImageParam c(of_a, 2, "c"), d(of_b, 2, "d");
            Func sums("sums"), out("out");
            const Expr first = cast(of_sums, p.a(p.k, y)) * cast(of_sums, p.b(x, p.k)),
                       second = cast(of_sums, c(p.k, y)) * cast(of_sums, d(x, p.k));
            sums(x, y) = cast(of_sums, x);
            sums(x, y) += is_difference ? first - second : first + second;
            out(x, y) = sums(x, y);
            p.sums = sums;
            p.out = out;
            d.in().compute_root();
            return std::tuple(p, c, d);
        };
        const auto run = [&](auto a_type, auto b_type, auto sum_type,
                             const std::string &instruction, int step) {
            using A = decltype(a_type);
            using B = decltype(b_type);
            using S = decltype(sum_type);
            CAPTURE(instruction);
            auto [p, c, d] = made(type_of<A>(), type_of<B>(), type_of<S>(), false);
            p.schedule({16, 32, 64, 16, 32, step}, instruction);
            Buffer<A> a(64, 16), other_a(64, 16);
            Buffer<B> b(32, 64), other_b(32, 64);
            a.for_each_element([&](int i, int j) {
                a(i, j) = value_at<A>(i, j);
                other_a(i, j) = value_at<A>(j, i * 5);
            });
            b.for_each_element([&](int i, int j) {
                b(i, j) = value_at<B>(j, i * 3);
                other_b(i, j) = value_at<B>(i, j + 1);
            });
            p.a.set(a);
            p.b.set(b);
            c.set(other_a);
            d.set(other_b);
            for (const Target &target : with_machine(instruction)) {
                CAPTURE(target.to_string());
                const Buffer<S> out = p.out.realize({32, 16}, target);
                out.for_each_element([&](int i, int j) {
                    double sum = i;
                    for (int k = 0; k < 64; k++)
                        sum += double(float(a(k, j))) * double(float(b(i, k))) +
                               double(float(other_a(k, j))) * double(float(other_b(i, k)));
                    REQUIRE(double(out(i, j)) == sum);
                });
            }
        };
        run(uint8_t(), int8_t(), int(), "vpdpbusd", 8);
        run(int8_t(), int8_t(), int(), "tdpbssd", 64);
        run(bfloat16_t(), bfloat16_t(), float(), "tdpbf16ps", 32);
        run(int8_t(), int8_t(), int(), "sdot", 8);
        auto [p, c, d] = made(Int(8), Int(8), Int(32), true);
        p.schedule({16, 32, 64, 16, 32, 64}, "amx");
        const std::string why = refusal([&] {
            Pipeline(p.out).compile_to_module({p.a, p.b, c, d}, "f", Target(std::string(amx)));
        });
        CAPTURE(why);
        CHECK(why.find("they add only; multiply a Func of the negative of one factor") !=
              std::string::npos);
    }
    TEST_CASE("x86: vectors of sums of products of four bytes or two words") {
        const Sizes s{12, 64, 32, 6, 32, 8};
        agrees<uint8_t, int8_t, int>(s, "vpdpbusd", with_machine("vpdpbusd"));
        agrees<int8_t, uint8_t, int>(s, "vpdpbusd", with_machine("vpdpbusd"));
        agrees<int16_t, int16_t, int>(s, "vpdpwssd", with_machine("vpdpwssd"));
        agrees<bfloat16_t, bfloat16_t, float>(s, "vdpbf16ps", with_machine("vdpbf16ps"));
        agrees<bfloat16_t, bfloat16_t, float>(s, "vnni", with_machine("vdpbf16ps"));
        agrees<uint8_t, int8_t, int>(s, "vpdpbusd.256", with_machine("vpdpbusd.256"));
        agrees<int16_t, int16_t, int>(s, "vpdpwssd.256", with_machine("vpdpwssd.256"));
    }
    TEST_CASE("AMX: tiles") {
        const Sizes bytes{64, 64, 128, 32, 32, 64}, halves{32, 96, 64, 32, 48, 32};
        agrees<int8_t, int8_t, int>(bytes, "amx", with_machine("tdpbssd"));
        agrees<uint8_t, int8_t, int>(bytes, "tdpbusd", with_machine("tdpbusd"));
        agrees<int8_t, uint8_t, int>(bytes, "amx", with_machine("tdpbsud"));
        agrees<uint8_t, uint8_t, int>(bytes, "amx", with_machine("tdpbuud"));
        agrees<bfloat16_t, bfloat16_t, float>(halves, "tdpbf16ps", with_machine("tdpbf16ps"));
    }
    TEST_CASE("AArch64: dot products and products of 2 x 8 by 8 x 2") {
        const Sizes dot{4, 16, 16, 2, 8, 8}, pairs{8, 16, 32, 4, 8, 16};
        agrees<int8_t, int8_t, int>(dot, "sdot", with_machine("sdot"));
        agrees<uint8_t, uint8_t, uint32_t>(dot, "udot", with_machine("udot"));
        agrees<uint8_t, uint8_t, int>(dot, "udot", with_machine("udot"));
        agrees<uint8_t, int8_t, int>(dot, "usdot", with_machine("usdot"));
        agrees<int8_t, int8_t, int>(pairs, "smmla", with_machine("smmla"));
        agrees<uint8_t, int8_t, int>(pairs, "usmmla", with_machine("usmmla"));
        agrees<int8_t, uint8_t, int>(pairs, "usmmla", with_machine("usmmla"));
        agrees<bfloat16_t, bfloat16_t, float>(pairs, "bfmmla", with_machine("bfmmla"));
    }
    TEST_CASE("operands may be staged further in, packed by the user, or written by a task") {
        const Sizes s{32, 128, 128, 32, 32, 64};
        for (const char *instruction : {"tdpbusd", "vpdpbusd"}) {
            const auto targets = with_machine(instruction);
            agrees<uint8_t, int8_t, int>(s, instruction, targets,
                                         [](Product &p) { p.b.in().compute_at(p.out, x); });
            agrees<uint8_t, int8_t, int>(s, instruction, targets, [](Product &p) {
                p.b.in().compute_at(p.sums, p.ko);
                p.a.in().compute_at(p.out, x);
            });
            agrees<uint8_t, int8_t, int>(s, instruction, targets, [](Product &p) {
                p.out.vectorize(xi, 16).parallel(y);
                p.b.in().compute_root().parallel(p.b.in().args()[0]);
            });
        }
    }
    TEST_CASE("what the user has packed is read where it is") {
        const int n = 64, terms = 128;
        for (const char *instruction : {"tdpbusd", "vpdpbusd"}) {
            ImageParam a(UInt(8), 2, "a"), packed(Int(8), 3, "packed");
            packed.dim(0).set_bounds(0, 4).dim(1).set_stride(4);
            Func sums("sums"), out("out");
            RDom k(0, terms, "k");
            RVar ko("ko"), ki("ki");
            sums(x, y) += cast<int>(a(k, y)) * cast<int>(packed(k % 4, x, k / 4));
            out(x, y) = sums(x, y);
            out.tile(x, y, xi, yi, 32, 16, TailStrategy::RoundUp);
            sums.compute_at(out, x).store_in(MemoryType::Tile);
            sums.update()
                .split(k, ko, ki, 64)
                .reorder({ki, x, y, ko})
                .tensorize(x, y, ki, TensorInstruction(instruction));
            Buffer<uint8_t> of_a(terms, n);
            Buffer<int8_t> of_b(4, n, terms / 4);
            of_a.for_each_element([&](int i, int j) { of_a(i, j) = value_at<uint8_t>(i, j); });
            of_b.for_each_element(
                [&](int r, int i, int j) { of_b(r, i, j) = value_at<int8_t>(j * 4 + r, i); });
            a.set(of_a);
            packed.set(of_b);
            for (const Target &target : with_machine(instruction)) {
                CAPTURE(target.to_string());
                const Buffer<int> result = out.realize({n, n}, target);
                result.for_each_element([&](int i, int j) {
                    int sum = 0;
                    for (int t = 0; t < terms; t++) sum += of_a(t, j) * of_b(t % 4, i, t / 4);
                    REQUIRE(result(i, j) == sum);
                });
            }
        }
    }
    TEST_CASE("sums begin at any value, and loops have any order") {
        const int n = 32, terms = 64;
        for (const char *instruction : {"tdpbusd", "vpdpbusd"}) {
            ImageParam a(Int(8), 2, "a"), b(UInt(8), 2, "b");
            Func sums("sums"), out("out");
            RDom k(0, terms, "k");
            sums(x, y) = x - y;
            sums(x, y) = cast<int>(b(k, x)) * cast<int>(a(y, k)) + sums(x, y);
            out(x, y) = sums(x, y) * 2;
            sums.compute_root().store_in(MemoryType::Tile);
            sums.update().reorder({x, k, y}).tensorize(y, x, k, TensorInstruction(instruction));
            a.in().compute_root();
            out.bound(x, 0, n).bound(y, 0, n);
            Buffer<int8_t> of_a(n, terms);
            Buffer<uint8_t> of_b(terms, n);
            of_a.for_each_element([&](int i, int j) { of_a(i, j) = value_at<int8_t>(i, j); });
            of_b.for_each_element([&](int i, int j) { of_b(i, j) = value_at<uint8_t>(j, i); });
            a.set(of_a);
            b.set(of_b);
            for (const Target &target : with_machine(instruction)) {
                CAPTURE(target.to_string());
                const Buffer<int> result = out.realize({n, n}, target);
                result.for_each_element([&](int i, int j) {
                    int sum = i - j;
                    for (int t = 0; t < terms; t++) sum += of_b(t, i) * of_a(j, t);
                    REQUIRE(result(i, j) == 2 * sum);
                });
            }
        }
    }
    TEST_CASE("AMX as assembly: sums stay in tile registers over the loop") {
        const Sizes s{64, 64, 256, 32, 32, 64};
        const std::string text = assembly_of(Int(8), Int(8), Int(32), s, "amx", amx);
        CHECK(count_of(text, "ldtilecfg") == 1);
        CHECK(count_of(text, "tilerelease") == 1);
        CHECK(count_of(text, "tilezero") == 4);
        CHECK(count_of(text, "tileloadd") == 4);
        CHECK(count_of(text, "tdpbssd") == 4);
        CHECK(count_of(text, "tilestored") == 4);
        const std::string halves =
            assembly_of(BFloat(16), BFloat(16), Float(32), {64, 64, 256, 16, 64, 32}, "amx", amx);
        CHECK(count_of(halves, "tdpbf16ps") == 4);
    }
    TEST_CASE("VNNI as assembly: sums stay in vector registers over the loop") {
        const Sizes s{48, 128, 256, 6, 64, 4};
        const std::string text = assembly_of(UInt(8), Int(8), Int(32), s, "vpdpbusd",
                                             "x86-64-linux-avx512_skylake-avx512_vnni");
        CHECK(count_of(text, "vpdpbusd") == 24);
        const size_t first = text.find("vpdpbusd"), last = text.rfind("vpdpbusd");
        CHECK(count_of(text.substr(first, last - first), "rsp") == 0);
        CHECK(count_of(assembly_of(UInt(8), Int(8), Int(32), {6, 32, 32, 6, 32, 4}, "vnni",
                                   "x86-64-linux-avx2-avxvnni"),
                       "vpdpbusd") == 24);
        CHECK(count_of(assembly_of(BFloat(16), BFloat(16), Float(32), {6, 32, 32, 6, 32, 2},
                                   "vdpbf16ps", "x86-64-linux-avx512_zen4"),
                       "vdpbf16ps") == 12);
    }
    TEST_CASE("AArch64 as assembly") {
        const Sizes s{8, 16, 32, 4, 8, 16};
        const std::string plain = "arm-64-linux-arm_dot_prod", newer = "arm-64-linux-armv86a";
        CHECK(count_of(assembly_of(Int(8), Int(8), Int(32), s, "sdot", plain), "sdot\t") == 32);
        CHECK(count_of(assembly_of(UInt(8), UInt(8), UInt(32), s, "udot", plain), "udot\t") == 32);
        CHECK(count_of(assembly_of(UInt(8), Int(8), Int(32), s, "usmmla", newer), "usmmla\t") ==
              16);
        CHECK(count_of(assembly_of(BFloat(16), BFloat(16), Float(32), s, "bfmmla", newer),
                       "bfmmla\t") == 32);
    }
    TEST_CASE("an instruction of the user's own is a row with a line of assembly") {
        ir::Instruction own = *ir::find_instruction("vpdpwssd");
        own.name = own.mnemonic = own.family = "own_words";
        own.assembly = "vpdpwssd $B, $A, $D";
        ir::register_instruction(own);
        const Sizes s{12, 64, 32, 6, 32, 8};
        agrees<int16_t, int16_t, int>(s, "own_words", with_machine("own_words"));
        CHECK(count_of(assembly_of(Int(16), Int(16), Int(32), s, "own_words",
                                   "x86-64-linux-avx512_skylake-avx512_vnni"),
                       "vpdpwssd") == 48);
    }
    TEST_CASE("any instruction of the target is the best one that fits") {
        const Sizes s{32, 64, 64, 32, 32, 64};
        const auto any = [&](const char *target) {
            return assembly_of(UInt(8), Int(8), Int(32), s, "any", target);
        };
        CHECK(count_of(any(amx), "tdpbusd") == 4);
        CHECK(count_of(any("x86-64-linux-avx2-avxvnni"), "vpdpbusd") == 32 * 4 * 16);
        CHECK(count_of(any("arm-64-linux-armv86a"), "usmmla\t") == 16 * 16 * 8);
        const Sizes small{6, 32, 8, 6, 32, 8};
        CHECK(count_of(assembly_of(UInt(8), Int(8), Int(32), small, "any", amx), "vpdpbusd") ==
              6 * 2 * 2);
    }
    TEST_CASE("a mismatch is named, and what would do") {
        const Target on_amx(std::string(amx) + "-jit");
        const auto refused = [&](Product &p, const Target &target) {
            return refusal([&] { Pipeline(p.out).compile_to_module({p.a, p.b}, "f", target); });
        };
        const auto contains = [](const std::string &text, const std::string &part) {
            CAPTURE(text);
            CHECK(text.find("cpu_tensor_test.cpp:") == text.find_last_of('/') + 1);
            CHECK(text.find(part) != std::string::npos);
        };
        const Sizes s{64, 64, 128, 32, 32, 64};
        {
            Product p(Int(8), Int(8), Int(32), s.k);
            p.schedule(s, "amx");
            contains(refused(p, Target("x86-64-linux-avx2")), "avx512_sapphirerapids");
        }
        {
            Product p(Int(8), Int(8), Int(32), s.k);
            p.schedule({64, 64, 128, 32, 24, 64}, "amx");
            contains(refused(p, on_amx), "does 16 iterations of the loop x of sums.update(0)");
        }
        {
            Product p(Int(16), Int(16), Int(32), s.k);
            p.schedule(s, "amx");
            contains(refused(p, on_amx), "they multiply int8 or uint8; cast it");
        }
        {
            Product p(Int(8), Int(8), Int(32), s.k);
            p.schedule({64, 64, 128, 64, 64, 64}, "amx");
            contains(refused(p, on_amx), "take 16 tile registers");
        }
        {
            Product p(Int(8), Int(8), Int(32), s.k);
            p.schedule(s, "amx");
            p.sums.store_in(MemoryType::Stack);
            contains(refused(p, on_amx), "MemoryType::Tile");
        }
        {
            Product p(Int(8), Int(8), Int(32), 100);
            p.schedule(s, "amx");
            contains(refused(p, on_amx), "tensorize(..., TensorInstruction(\"amx\"))");
        }
    }
    TEST_CASE("an operand in an order that the instruction does not take is named") {
        ImageParam a(Int(8), 2, "a"), b(Int(8), 2, "b");
        Func sums("sums"), out("out");
        RDom k(0, 64, "k");
        sums(x, y) += cast<int>(a(k, y)) * cast<int>(b(x, k));
        out(x, y) = sums(x, y);
        out.tile(x, y, xi, yi, 16, 16, TailStrategy::RoundUp);
        sums.compute_at(out, x).store_in(MemoryType::Tile);
        sums.update().reorder({k, x, y}).tensorize(x, y, k, TensorInstruction("amx"));
        const int line = __LINE__ - 1;
        CHECK(refusal([&] { Pipeline(out).compile_to_module({a, b}, "f", Target(amx)); }) ==
              Expected{line_of(__FILE__, line), "stage it by b.in()"});
    }
}
