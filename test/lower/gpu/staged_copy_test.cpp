#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/staged_copy.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;
using namespace tessera::ir;

namespace {

// A ring buffer of three boxes, and how one of them is computed.
struct Ring {
    std::string storage = "copies 3 over [0, +64], [0, +8], [0, +3]";
    std::string loops = "for y in [0, +8): for x in [k*64, +64):";
    std::string copy = "s(x - k*64, y, k % 3) = image a(x, y + b*8):float16";

    Stmt stmt() const {
        return parse_stmt(str("realize s: {float16} in GPUShared async ", storage,
                              "\nproduce s: ", loops, " ", copy));
    }
};

std::string by_threads(const Ring &written, const char *threads = "[0, +64)") {
    const Stmt s = written.stmt();
    const Realize &ring = *s.as<Realize>();
    const Stmt use = parse_stmt(str("gpu_thread for t in ", threads, ": g(t) = 1.0"));
    const Stmt copy = StagedCopy(ring, ring.body, {}).by_threads(threads_of(use));
    return to_string(algebra::simplify(copy));
}

std::unordered_set<Symbol> names_in(const Stmt &s) {
    std::unordered_set<Symbol> names;
    for (Symbol name : symbols_in(s)) {
        if (name.text() == "k") names.insert(name);
    }
    return names;
}

bool is_by_tiles(const Ring &written) {
    const Stmt s = written.stmt();
    const Realize &ring = *s.as<Realize>();
    return StagedCopy(ring, ring.body, {}).is_by_tiles(names_in(s));
}

std::string by_tiles(const Ring &written) {
    const Stmt s = written.stmt();
    const Realize &ring = *s.as<Realize>();
    return to_string(
        StagedCopy(ring, ring.body, {})
            .by_tiles(Variable::make(Handle(), Symbol::fresh("barrier")), names_in(s)));
}

bool has(const std::string &text, const std::string &part) {
    CAPTURE(text);
    CAPTURE(part);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

bool says(const Ring &written, const std::string &part) {
    std::string message;
    try {
        by_threads(written);
    } catch (const CompileError &e) {
        message = e.what();
    }
    return has(message, "async of s: what is computed ahead within a kernel, such as a copy by "
                        "in(), is a box of one definition: " +
                            part);
}

}  // namespace

TEST_SUITE("copies ahead") {
    TEST_CASE("operands of instructions lie in panels; what threads read lies row by row") {
        const auto layout = [](const char *extents, const char *reads) {
            const Stmt s = parse_stmt(str("realize s: {float16} in GPUShared async copies 3 over ",
                                          extents, "\n", reads, "g(0) = 1.0"));
            return str(layout_of_ring(*s.as<Realize>()));
        };
        const char *const operand = "machine_op tensor(address_of(s(0, 0, 0):float16)): ";
        CHECK(layout("[0, +128], [0, +8], [0, +3]", operand) ==
              "d0:128 d1:8 d2:3 -> byte^128(d0%64*2 + d1*128 + d0/64*1024 + d2*2048)");
        CHECK(layout("[0, +32], [0, +min(n, 8)], [0, +3]", operand) ==
              "d0:32 d1:8 d2:3 -> byte^64(d0*2 + d1*64 + d2*512)");
        CHECK(layout("[0, +32], [0, +n], [0, +3]", operand) == str(Layout()));
        CHECK(layout("[0, +128], [0, +8], [0, +3]", "g(1) = float32(s(0, 0, 0):float16)\n") ==
              str(Layout()));
    }
    TEST_CASE("a box of rows is copied by 16 bytes, or by the machine") {
        const std::string text = by_threads({});
        has(text, "[0, +64) partition Never:\n        machine_op copy_async():\n            "
                  "vectorized for x in [0, +8) partition Never:");
        CHECK(text.find("if ") == std::string::npos);
        CHECK(is_by_tiles({}));
        has(by_tiles({}),
            "tensor_map(address_of(image a(a.min[0], a.min[1]):float16), 2, 0, 2, "
            "a.extent[0], a.extent[1], a.stride[1], 64, 8, a.stride[0], a.min[0] % 8, 0)");
    }
    TEST_CASE("what is beyond the end of a sum is zero") {
        const Ring ring{.loops = "for y in [0, +8): for x in [k*64, +min(n, k*64 + 64) - k*64):"};
        const std::string text = by_threads(ring);
        has(text, "if k * 64 + copying % 8 * 8 + 7 < n:");
        has(text, "machine_op copy_async()");
        has(text, "= 0.0:float16");
        CHECK(is_by_tiles(ring));
        has(by_tiles(ring), "min(n, a.min[0] + a.extent[0]) - a.min[0], a.extent[1]");
        const Ring unequal{.loops = "for y in [0, +8): for x in [k*64, +min(k, 64)):"};
        CHECK(!is_by_tiles(unequal));
        has(by_threads(unequal), "if copying % 8 * 8 + 7 < k:");
        const Ring whole_chunks{.loops = "for y in [0, +8): for x in [k*64, +min(n, 4) * 16):"};
        has(by_threads(whole_chunks), "if copying % 8 < n * 2:");
        CHECK(by_threads(whole_chunks)
                  .find(" for x in [0, +8) partition Never:\n            "
                        "    if ") == std::string::npos);
        const Ring rows{.loops = "for y in [0, +min(n, 8)): for x in [k*64, +64):"};
        has(by_threads(rows), "if copying / 8 < n:");
        CHECK(is_by_tiles({.loops = "for y in [0, +min(n, 8)): for x in [k*64, +64):",
                           .copy = "s(x - k*64, y, k % 3) = image a(x, y):float16"}));
    }
    TEST_CASE("a value on a condition, or zero: the condition is asked once for 16 bytes") {
        const Ring padded{.copy = "s(x - k*64, y, k % 3) = select(y + b < 3 || 9 <= y + b, "
                                  "0.0:float16, image a(x, y + b):float16)"};
        const std::string text = by_threads(padded);
        has(text, "machine_op copy_async()");
        has(text, "else:");
        CHECK(!is_by_tiles(padded));
        const Ring within{.copy = "s(x - k*64, y, k % 3) = select(x < 100, image a(x, y):float16, "
                                  "0.0:float16)"};
        CHECK(by_threads(within).find("copy_async") == std::string::npos);
        const Ring negative{.copy = "s(x - k*64, y, k % 3) = select(y < n, image a(x, y):float16, "
                                    "-0.0:float16)"};
        CHECK(by_threads(negative).find("copy_async") == std::string::npos);
    }
    TEST_CASE("fused indices are neighbours as far as that is known") {
        const auto channels = [](const char *n) {
            return Ring{.copy = str("s(x - k*64, y, k % 3) = image a(x % ", n, ", y % 14 + x / ", n,
                                    " % 3, y / 14 + x / ", n, " / 3):float16")};
        };
        has(by_threads(channels("48")), "vectorized for x in [0, +8)");
        has(by_threads(channels("48")), "copy_async");
        has(by_threads(channels("12")), "vectorized for x in [0, +4)");
        has(by_threads(channels("12")), "copy_async");
        has(by_threads(channels("6")), "vectorized for x in [0, +2)");
        for (const char *n : {"3", "n"}) {
            has(by_threads(channels(n)), "vectorized for x in [0, +8)");
            CHECK(by_threads(channels(n)).find("copy_async") == std::string::npos);
            CHECK(!is_by_tiles(channels(n)));
        }
    }
    TEST_CASE("what is computed is stored by 16 bytes") {
        const Ring computed{
            .copy = "s(x - k*64, y, k % 3) = float16(image a(x, y):uint8) * c(y):float16"};
        const std::string text = by_threads(computed);
        has(text, "vectorized for x in [0, +8)");
        CHECK(text.find("copy_async") == std::string::npos);
        CHECK(!is_by_tiles(computed));
        for (const char *from : {"a(x * 2, y)", "a(y, x)", "a(x, y, x)"}) {
            const Ring gathered{.copy = str("s(x - k*64, y, k % 3) = image ", from, ":float16")};
            CHECK(by_threads(gathered).find("copy_async") == std::string::npos);
            CHECK(!is_by_tiles(gathered));
        }
    }
    TEST_CASE("boxes of one, three and four dimensions") {
        CHECK(by_threads({"copies 3 over [0, +64], [0, +3]",
                          "for x in [k*64, +64):", "s(x - k*64, k % 3) = image a(x, 0):float16"})
                  .find("copy_async") != std::string::npos);
        const Ring box{"copies 2 over [0, +16], [0, +4], [0, +3], [0, +2], [0, +2]",
                       "for n in [0, +2): for z in [0, +3): for y in [k, +4): for x in [0, +16):",
                       "s(x, y - k, z, n, k % 2) = image a(x, z, y, n):float16"};
        has(by_threads(box),
            "s(x + copying % 2 * 8, copying / 2 % 4, copying / 8 % 3, copying / 24, k % 2) = ");
    }
    TEST_CASE("further dimensions of what is copied have one coordinate each") {
        const Ring batch{.copy = "s(x - k*64, y, k % 3) = image a(x, b, y, c):float16"};
        CHECK(is_by_tiles(batch));
        has(by_tiles(batch), "a.stride[3], 64, 1, 8, 1, a.stride[0], a.min[0] % 8, 0)");
    }
    TEST_CASE("storage in another order, threads within, and several assignments are refused") {
        says({.storage = "order 0 align 72, 1, 2 copies 3 over [0, +64], [0, +8], [0, +3]"},
             "its storage is in the order of its dimensions, and not aligned");
        says({.storage = "copies 3 over [0, +n], [0, +8], [0, +3]"},
             "how large it may be is known, and not n");
        says({.loops = "for y in [0, +8): gpu_thread for x in [k*64, +64):"},
             "which threads copy is inferred; leave its loops serial");
        says({.copy = "s(x - k*64, y, k % 3) = image a(x, y):float16 if x < n"},
             "there is more than one assignment, or one with a condition");
    }
    TEST_CASE("what is no box is refused") {
        says({.copy = "s((x - k*64) * 2, y, k % 3) = image a(x, y):float16"},
             "each of its loops runs over neighbours, from its first element on");
        says({.copy = "s(x - k*64, x - k*64, k % 3) = image a(x, y):float16"},
             "it has one loop for each of its dimensions");
        says({.loops = "for z in [0, +n): for y in [0, +8): for x in [k*64, +64):"},
             "it has one loop for each of its dimensions");
        says({.loops = "for y in [0, +8): for x in [k*64, +min(y, 64)):"},
             "how far each of its loops runs is the same for all of the box");
    }
    TEST_CASE("threads whose number is not known, and none") {
        CHECK_THROWS_WITH_AS(by_threads({}, "[0, +n)"),
                             doctest::Contains("the number of threads is known"), CompileError);
        CHECK_THROWS_WITH_AS(threads_of(parse_stmt("f(0) = 1")),
                             doctest::Contains("what uses the copy is in no loop over threads"),
                             CompileError);
    }
    TEST_CASE("rows that are places of a convolution, through its lines and images") {
        // Every other place of lines of 9, from -1 on, in 5 lines of an image of 3.
        const auto places = [](const std::string &column) {
            const std::string line = "(y + b*32) / 6 % 5 - 1";
            return Ring{"copies 3 over [0, +64], [0, +32], [0, +3]",
                        "for y in [0, +32): for x in [k*64, +64):",
                        str("s(x - k*64, y, k % 3) = select(0 <= ", column, " - 1 && ", column,
                            " - 1 < 9 && 0 <= ", line, " && ", line, " < 3, image a(x, max(min(",
                            column, " - 1, 8), 0), max(min(", line,
                            ", 2), 0), (y + b*32) / 30):float16, 0.0:float16)")};
        };
        const Ring in_lines = places("(y + b*32) % 6 * 2");
        REQUIRE(is_by_tiles(in_lines));
        const std::string text = by_tiles(in_lines);
        has(text, "\"cp.async.bulk.tensor.4d.im2col.b16.64x32\"");
        // Places of a line begin at -1, and end 9 - 8 behind its last element.
        has(text, "64, 32, 2, 1, -1, -1, 1, 1, a.stride[0], a.min[0] % 8, 0)");
        for (const char *other : {"(y + b*32) % 7 * 2", "(y + b*31) % 6 * 2", "(y + b*32) % 6 * 9",
                                  "(y + b*32) / 2 % 6 * 2", "y % 6 * 2"})
            CHECK_MESSAGE(!is_by_tiles(places(other)), other);
    }
    TEST_CASE("boxes that the machine does not copy by itself") {
        CHECK(!is_by_tiles({"copies 3 over [0, +4], [0, +16], [0, +3]",
                            "for y in [0, +16): for x in [k*4, +4):",
                            "s(x - k*4, y, k % 3) = image a(x, y):float16"}));
        CHECK(!is_by_tiles({"copies 3 over [0, +64], [0, +300], [0, +3]",
                            "for y in [0, +300): for x in [k*64, +64):"}));
        CHECK(!is_by_tiles({.copy = "s(x - k*64, y, k % 3) = image a(x, y, 0, 0, 0, 0):float16"}));
        CHECK(!is_by_tiles({.copy = "s(x - k*64, y, k % 3) = h(x, y)"}));
    }
    TEST_CASE("an element beyond the end is zero where a guard does not hold") {
        const Ring ring{.loops = "for y in [0, +8): for x in [k*64, +min(n, k*64 + 64) - k*64):"};
        const Stmt s = ring.stmt();
        const Realize &realize = *s.as<Realize>();
        const StagedCopy copy(realize, realize.body, {});
        const auto is_zero = [&](const char *guard) {
            // Of the element at ki of the row: the names are those of the ring.
            Stmt guarded = parse_stmt(str("realize s: {float16} in GPUShared async ", ring.storage,
                                          "\nproduce s: ", ring.loops,
                                          " s(ki, y, k % 3) = float16(", guard, ")"));
            Substitution same;
            for (Symbol name : symbols_in(guarded))
                for (Symbol other : symbols_in(s))
                    if (name.text() == other.text()) same[name] = Variable::make(Int(32), other);
            const Provide *store = nullptr;
            for_each_node(guarded, [&](const Provide &p) { store = &p; });
            const Expr condition = substitute(same, store->values[0].as<Cast>()->value);
            const Expr ki = substitute(same, store->args[0]);
            return copy.is_zero_unless(condition, {ki, 0}, {});
        };
        CHECK(is_zero("likely(k*64 + ki < n)"));
        CHECK(is_zero("k*64 + ki <= n"));
        CHECK(is_zero("k*64 + ki < n && k*64 + ki < n + 3"));
        CHECK(!is_zero("k*64 + ki < n - 1"));
        CHECK(!is_zero("ki < n"));
        CHECK(!is_zero("k*64 + ki != n"));
    }
}
