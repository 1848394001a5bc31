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

enum class By { Threads, Tiles };

// The message with which the copy is refused; empty: it is made.
std::string refusal(const Ring &written, By by = By::Threads, const char *threads = "[0, +32)") {
    const Stmt s = written.stmt();
    const Realize &ring = *s.as<Realize>();
    const Stmt use = parse_stmt(str("gpu_thread for t in ", threads, ": g(t) = 1.0"));
    try {
        const StagedCopy copy(ring, ring.body, {});
        if (by == By::Threads)
            copy.by_threads(threads_of(use));
        else
            copy.by_tiles(Variable::make(Handle(), Symbol::fresh("barrier")));
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

bool says(const std::string &message, const std::string &part) {
    CAPTURE(message);
    return message.find("async of s: within a kernel it is for copies, such as those of in(): " +
                        part) != std::string::npos;
}

}  // namespace

TEST_SUITE("copies ahead") {
    TEST_CASE("a box that is copied row by row is begun ahead") {
        CHECK(refusal({}) == "");
        CHECK(refusal({}, By::Tiles) == "");
    }
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
    TEST_CASE("storage in another order, threads within the copy, and more than a copy") {
        CHECK(says(
            refusal({.storage = "order 0 align 72, 1, 2 copies 3 over [0, +64], [0, +8], [0, +3]"}),
            "its storage is in the order of its dimensions, and not aligned"));
        CHECK(says(refusal({.loops = "for y in [0, +8): gpu_thread for x in [k*64, +64):"}),
                   "which threads copy is inferred; leave its loops serial"));
        CHECK(says(refusal({.copy = "s(x - k*64, y, k % 3) = image a(x, y):float16 if x < n"}),
                   "there is more than one assignment, or one with a condition"));
        CHECK(says(refusal({.copy = "s(x - k*64, y, k % 3) = image a(x, y):float16 * c:float16"}),
                   "it computes something"));
    }
    TEST_CASE("a copy that is no box") {
        CHECK(says(refusal({"copies 3 over [0, +64], [0, +3]",
                            "for x in [k*64, +64):", "s(x - k*64, k % 3) = image a(x, 0):float16"}),
                   "it has two dimensions of more than one element"));
        CHECK(says(refusal({.copy = "s((x - k*64) * 2, y, k % 3) = image a(x, y):float16"}),
                   "it has one loop for each dimension, over neighbours"));
        CHECK(says(refusal({.copy = "s(x - k*64, x - k*64, k % 3) = image a(x, y):float16"}),
                   "it has another loop for each dimension"));
        CHECK(says(refusal({.loops = "for z in [0, +n): for y in [0, +8): for x in [k*64, +64):"}),
                   "it has one loop for each dimension"));
        CHECK(says(refusal({.copy = "s(x - k*64, y, k % 3) = image a(x * 2, y):float16"}),
                   "each element has the same place in a box of a known size, and not "));
        CHECK(says(refusal({.copy = "s(x - k*64, y, k % 3) = image a(x, y, x):float16"}),
                   "each of its loops runs along one dimension of what it copies, and one in x "
                   "runs along two"));
        CHECK(says(refusal({.loops = "for y in [0, +8): for x in [k*64, +12):"}),
                   "a row has a multiple of 16 bytes, or of 128 if there are more; it has 24"));
    }
    TEST_CASE("threads whose number is not known, and none") {
        CHECK(says(refusal({}, By::Threads, "[0, +n)"), "the number of threads is known"));
        CHECK_THROWS_WITH_AS(threads_of(parse_stmt("f(0) = 1")),
                             doctest::Contains("what uses the copy is in no loop over threads"),
                             CompileError);
    }
    TEST_CASE("boxes that the machine does not copy by itself") {
        CHECK(says(refusal({.loops = "for y in [0, +8): for x in [k*64, +32):"}, By::Tiles),
                   "for wgmma a row has a multiple of 128 bytes; it has 64"));
        CHECK(says(refusal({.loops = "for y in [0, +300): for x in [k*64, +64):"}, By::Tiles),
                   "a box has at most 256 rows"));
        CHECK(says(refusal({.loops = "for y in [0, +min(n, 8)): for x in [k*64, +64):"}, By::Tiles),
                   "for wgmma a box has as many rows in each iteration"));
        CHECK(says(refusal({.copy = "s(x - k*64, y, k % 3) = image a(x, y, 0, 0, 0, 0):float16"},
                           By::Tiles),
                   "for wgmma what is copied has at most 5 dimensions"));
        CHECK(says(refusal({.copy = "s(x - k*64, y, k % 3) = h(x, y):float16"}, By::Tiles),
                   "h has to be an image, or a Func that is computed outside of the kernel"));
    }
}
