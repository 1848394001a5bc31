#include "base/warning.h"
#include "lower/gpu/bank_conflicts.h"
#include "lower/gpu/pad_shared.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

Context cuda(const char *target = "x86-64-linux-cuda") {
    Context context;
    context.target = Target(target);
    return context;
}

std::string padded(std::string_view text, const Context &context = cuda()) {
    return run(pad_shared, text, context);
}

// A tile of these bounds that is written by rows and read in another order, by 32 x 4 threads.
std::string tile(const std::string &type, const std::string &bounds, const std::string &read,
                 const std::string &threads = "32", const std::string &order = "") {
    const std::string loops = "    gpu_thread for y in [0, +4):\n"
                              "        gpu_thread for x in [0, +" +
                              threads + "):\n            ";
    return "gpu_block for b in [0, +n):\n    realize f: {" + type + "} in GPUShared" + order +
           " over " + bounds + "\n" + loops + "f(x, y) = image a(x, y):" + type + "\n" + loops +
           "g(x, y) = " + read + ":" + type + "\n";
}

// The order of storage that the text tells of.
std::string order_in(const std::string &text) {
    const size_t at = text.find(" order ");
    return at == text.npos ? "" : text.substr(at + 1, text.find(" over", at) - at - 1);
}

std::vector<std::string> warnings_of(const std::string &text) {
    static std::vector<std::string> all;
    all.clear();
    const WarningHandler before =
        set_warning_handler([](const std::string &message) { all.push_back(message); });
    padded(text);
    set_warning_handler(before);
    return all;
}

WarpAccess along(std::vector<int64_t> step, int bytes, int threads = 32) {
    WarpAccess access{{}, bytes};
    for (int lane = 0; lane < threads; lane++) {
        WarpAccess::Thread thread{lane, {}};
        for (int64_t s : step) thread.coordinates.push_back(s * lane);
        access.threads.push_back(std::move(thread));
    }
    return access;
}

}  // namespace

TEST_SUITE("bank conflicts") {
    TEST_CASE("neighbours are served at once, and so are those who want the same word") {
        CHECK(bank_conflicts(along({1}, 4), {1}, 4).requests == 1);
        CHECK(bank_conflicts(along({0}, 4), {1}, 4).requests == 1);
        CHECK(bank_conflicts(along({1}, 1), {1}, 1).requests == 1);
        CHECK(bank_conflicts(along({-1}, 4), {1}, 4).requests == 1);
    }
    TEST_CASE("words of one bank come one after the other") {
        CHECK(bank_conflicts(along({1}, 4), {32}, 4).degree == 32);
        CHECK(bank_conflicts(along({1}, 4), {33}, 4).degree == 1);
        CHECK(bank_conflicts(along({1}, 4), {2}, 4).degree == 2);
        CHECK(bank_conflicts(along({1}, 4, 8), {32}, 4).degree == 8);
        CHECK(bank_conflicts(along({1}, 1), {32}, 1).degree == 8);
    }
    TEST_CASE("wide accesses take turns by halves and quarters of a warp") {
        CHECK(bank_conflicts(along({1}, 8), {1}, 8).requests == 2);
        CHECK(bank_conflicts(along({1}, 8), {1}, 8).degree == 1);
        CHECK(bank_conflicts(along({4}, 16), {1}, 4).requests == 4);
        CHECK(bank_conflicts(along({8}, 16), {1}, 4).requests == 8);
        CHECK(bank_conflicts(along({1}, 16), {36}, 4).degree == 1);
        CHECK(bank_conflicts(along({1}, 16), {32}, 4).degree == 8);
    }
}

TEST_SUITE("pad_shared") {
    TEST_CASE("rows get longer where columns are read by neighbouring threads") {
        CHECK(order_in(padded(tile("float32", "[0, +32], [0, +32]", "f(y, x)"))) ==
              "order 0 align 33, 1");
        CHECK(order_in(padded(tile("uint8", "[0, +32], [0, +32]", "f(y, x)"))) ==
              "order 0 align 36, 1");
        CHECK(order_in(padded(tile("float64", "[0, +16], [0, +32]", "f(y, x)"))) ==
              "order 0 align 17, 1");
    }
    TEST_CASE("what is free of conflicts stays as it is") {
        for (const char *read : {"f(x, y)", "f(31 - x, y)", "f(y, 3)"}) {
            const std::string text = tile("float32", "[0, +32], [0, +32]", read);
            CHECK(padded(text) == printed(text));
        }
    }
    TEST_CASE("rows that have the right length are left alone") {
        const std::string text = tile("float32", "[0, +33], [0, +32]", "f(y, x)");
        CHECK(padded(text) == printed(text));
    }
    TEST_CASE("rows of other threads count, by the shape of the block") {
        // A warp is two rows of 16.
        CHECK(order_in(padded(tile("float32", "[0, +16], [0, +16]", "f(y, x)", "16"))) ==
              "order 0 align 18, 1");
    }
    TEST_CASE("vectors stay at multiples of their size") {
        const std::string text = "gpu_block for b in [0, +n):\n"
                                 "    realize f: {float32} in GPUShared over [0, +32], [0, +32]\n"
                                 "    gpu_thread for x in [0, +32):\n"
                                 "        vectorized for v in [0, +4):\n"
                                 "            g(x, v) = f(v, x):float32\n";
        CHECK(order_in(padded(text)) == "order 0 align 36, 1");
    }
    TEST_CASE("minima, lets and unknown serial loops cancel out") {
        const std::string text = "gpu_block for b in [0, +n):\n"
                                 "    let first = b*32\n"
                                 "    realize f: {float32} in Auto over [first, +32], [3, +32]\n"
                                 "    for r in [0, +m):\n"
                                 "        gpu_thread for x in [first, +32):\n"
                                 "            let at = x - first\n"
                                 "            g(x, r) = f(r + first, at + 3):float32\n";
        CHECK(order_in(padded(text)) == "order 0 align 33, 1");
    }
    TEST_CASE("coordinates that wrap around are followed thread by thread") {
        const std::string text = "gpu_block for b in [0, +n):\n"
                                 "    realize f: {float32} in GPUShared over [0, +8], [0, +32]\n"
                                 "    gpu_thread for x in [0, +32):\n"
                                 "        g(x) = f(x/32, x % 32):float32\n";
        CHECK(order_in(padded(text)) == "order 0 align 9, 1");
    }
    TEST_CASE("what nobody can tell, or others lay out, is left alone") {
        for (const std::string &text :
             {tile("float32", "[0, +m], [0, +32]", "f(y, x)"),
              tile("float32", "[0, +32], [0, +32]", "f(y, x)", "32", " order 0 align 32, 1"),
              tile("float32", "[0, +32], [0, +32]", "f(image i(x):int32, image j(x):int32)"),
              tile("float32", "[0, +32], [0, +32]", "f(y, x)", "m")}) {
            CHECK(padded(text) == printed(text));
        }
        const std::string text = tile("float32", "[0, +32], [0, +32]", "f(y, x)");
        CHECK(run(pad_shared, text) == printed(text));
    }
    TEST_CASE("the memory of a block is not exceeded, and a warning says what remains") {
        const std::string text = tile("float32", "[0, +32], [0, +384]", "f(y, x)");
        CHECK(padded(text) == printed(text));
        const auto warnings = warnings_of(text);
        REQUIRE(warnings.size() == 1);
        CHECK(warnings[0].find("threads of a warp access 32 words in one bank of the memory of "
                               "their block at once where they use f") != std::string::npos);
        const Context since_80 = cuda("x86-64-linux-cuda-cuda_capability_80");
        CHECK(order_in(padded(text, since_80)) == "order 0 align 33, 1");
        CHECK(warnings_of(tile("float32", "[0, +32], [0, +32]", "f(y, x)")).empty());
    }
}
