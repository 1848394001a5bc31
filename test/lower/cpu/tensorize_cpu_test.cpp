#include "lower/cpu/tensorize_cpu.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

bool holds(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

Context for_target(const char *text) {
    Context context;
    context.target = Target(text);
    return context;
}

std::string refused(std::string_view text, const char *target) {
    try {
        run(tensorize_cpu, text, for_target(target));
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

std::string with(std::string text, const std::string &part, const std::string &other) {
    const size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.replace(at, part.size(), other);
}

constexpr const char *tiles = "x86-64-linux-avx512_sapphirerapids";

// b is stored by rows of its first dimension, and staged so.
const std::string product =
    "for y in [0, +m) of out y:\n"
    "    realize s: {int8} over [0, +32], [0, +128]\n"
    "    produce s: for k in [0, +128): for x in [0, +32): s(x, k) = image b(x, k):int8\n"
    "    realize f: {int32} in Tile over [0, +32], [y*16, +16]\n"
    "    produce f:\n"
    "        for v in [y*16, +16) of f y: for u in [0, +32) of f x: f(u, v) = 0\n"
    "        for ko in [0, +2) of f ko update 0 reduction:\n"
    "            tensorized for v in [y*16, +16) of f y update 0 instruction amx:\n"
    "                tensorized for u in [0, +32) of f x update 0 instruction amx:\n"
    "                    tensorized for k in [0, +64) of f k update 0 reduction instruction amx:\n"
    "                        f(u, v) = f(u, v):int32 + int32(image a(ko*64 + k, v):int8) * "
    "int32(s(u, ko*64 + k):int8)\n"
    "    consume f:\n"
    "        for v in [y*16, +16): for u in [0, +32): out(u, v) = f(u, v):int32\n";

}  // namespace

TEST_SUITE("tensorize cpu") {
    TEST_CASE("loops become an operation, within which sums are held from zero on") {
        const std::string text = run(tensorize_cpu, product, for_target(tiles));
        CAPTURE(text);
        const size_t configure = text.find("\"tdpbssd\", 0, 0, 0, \"configure\""),
                     hold = text.find("\"tdpbssd\", 16, 32, 0, \"hold from zero\""),
                     zero = text.find("\"tdpbssd\", 16, 32, 0, \"zero\""),
                     multiply = text.find("\"tdpbssd\", 16, 32, 64, \"rows of the host\"");
        CHECK(configure < hold);
        CHECK(hold < zero);
        CHECK(zero < multiply);
        CHECK(multiply != std::string::npos);
        CHECK(!holds(text, "tensorized"));
    }
    TEST_CASE("the Tile lies as the registers do, one instruction's sums behind the other's") {
        const std::string text = run(tensorize_cpu, product, for_target(tiles));
        CAPTURE(text);
        CHECK(holds(text, "realize f: {int32} in Stack over [0, +512]"));
        CHECK(holds(text, "u / 16"));
    }
    TEST_CASE("an operand that the pipeline stores is packed, k%4 innermost") {
        const std::string text = run(tensorize_cpu, product, for_target(tiles));
        CAPTURE(text);
        CHECK(holds(text, "over [0, +32], [0, +32], [0, +4]"));
        CHECK(holds(text, "s(x, k / 4, k % 4) = image b(x, k)"));
    }
    TEST_CASE("one that is packed already stays as it is") {
        std::string text =
            with(product, "over [0, +32], [0, +128]", "over [0, +4], [0, +32], [0, +32]");
        text = with(text, "s(x, k) = ", "s(k % 4, x, k / 4) = ");
        text = with(text, "s(u, ko*64 + k)", "s((ko*64 + k) % 4, u, (ko*64 + k) / 4)");
        const std::string after = run(tensorize_cpu, text, for_target(tiles));
        CAPTURE(after);
        CHECK(holds(after, "s: {int8} over [0, +4], [0, +32], [0, +32]"));
    }
    TEST_CASE("sums that something else reads meanwhile are in memory between operations") {
        const std::string text = run(tensorize_cpu,
                                     with(product, "            tensorized for v in",
                                          "            seen(ko) = f(0, y*16):int32\n"
                                          "            tensorized for v in"),
                                     for_target(tiles));
        CAPTURE(text);
        CHECK(!holds(text, "\"hold"));
        CHECK(holds(text, "\"rows of the host\""));
    }
    TEST_CASE("what does not fit is named") {
        CHECK(holds(refused(product, "x86-64-linux-avx2"),
                    "tdpbssd needs the feature avx512_sapphirerapids of x86"));
        CHECK(holds(refused(with(product, "k in [0, +64)", "k in [0, +32)"), tiles),
                    "tdpbssd does 64 iterations of the loop k of f.update(0) at a time, which has "
                    "32"));
        CHECK(holds(refused(with(product, "[y*16, +16]\n", "[y*16, +32]\n"), tiles),
                    "in dimension 1 f has 32 elements, of which the loops compute 16"));
        CHECK(holds(refused(with(product, "a(ko*64 + k, v)", "a(ko*64 + k, u)"), tiles),
                    "runs along none of i, j and k"));
        CHECK(holds(refused(with(product, "a(ko*64 + k, v)", "a(v, ko*64 + k)"), tiles),
                    "reads a in rows"));
        CHECK(holds(refused(with(product, "+ int32(image a", "+ 2 * int32(image a"), tiles),
                    "its products are multiplied by 2 as well"));
    }
}
