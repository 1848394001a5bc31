#include "lower/pass_test.h"
#include "lower/storage/mark_streaming.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// What the pass makes of a loop that says this, around this body.
std::string within(const char *says, const char *body) {
    return run(mark_streaming, str("for x in [0, +n) ", says, ":\n    ", body));
}
std::string printed_within(const char *says, const char *body) {
    return printed(str("for x in [0, +n) ", says, ":\n    ", body));
}

}  // namespace

TEST_SUITE("mark_streaming") {
    TEST_CASE("stores of the loop, and not those outside") {
        CHECK(run(mark_streaming,
                  "f[1] = 2\nfor x in [0, +n) of f x streaming stores f: f[x] = g[x]\nf[0] = 1") ==
              printed("f[1] = 2\n"
                      "for x in [0, +n) of f x streaming stores f: f[x streaming] = g[x]\n"
                      "f[0] = 1"));
    }
    TEST_CASE("loads by name") {
        const char *says = "of f x streaming loads g";
        CHECK(within(says, "f[x] = g[x] + h[x]") ==
              printed_within(says, "f[x] = g[x streaming] + h[x]"));
    }
    TEST_CASE("several loads by name, and a store") {
        const char *says = "of f x streaming loads g, h stores f, k";
        CHECK(within(says, "f[x] = g[x] + h[x]\n    k[x] = i[x]\n    l[x] = 0") ==
              printed_within(says, "f[x streaming] = g[x streaming] + h[x streaming]\n"
                                   "    k[x streaming] = i[x]\n    l[x] = 0"));
    }
    TEST_CASE("all loads, but no stores") {
        const char *says = "of f x streaming all";
        CHECK(within(says, "f[x] = g[x] + h[x]") ==
              printed_within(says, "f[x] = g[x streaming] + h[x streaming]"));
    }
    TEST_CASE("loads within indices, predicates and lets") {
        const char *says = "of f x streaming loads g";
        CHECK(within(says, "let a = g[x]\n    f[g[a] if g[x] < 3] = h[g[x + 1]]") ==
              printed_within(says, "let a = g[x streaming]\n    f[g[a streaming] if "
                                   "g[x streaming] < 3] = h[g[x + 1 streaming]]"));
    }
    TEST_CASE("conditions and bounds of loops within") {
        const char *says = "of f x streaming loads g";
        CHECK(within(says, "if g[x] < 3: f[x] = 1\n    assert g[0] == 1, 2") ==
              printed_within(says,
                             "if g[x streaming] < 3: f[x] = 1\n    assert g[0 streaming] == 1, 2"));
    }
    TEST_CASE("a loop of another stage within it streams nothing that it does not say") {
        const char *says = "of f x streaming all stores f, h";
        CHECK(within(says, "for y in [0, +n) of h y: h[y] = g[y]\n    f[x] = h[x]") ==
              printed_within(says, "for y in [0, +n) of h y: h[y] = g[y]\n"
                                   "    f[x streaming] = h[x streaming]"));
    }
    TEST_CASE("a loop of another stage that streams something else") {
        const char *says = "of f x streaming stores f";
        const char *other = "for y in [0, +n) of h y streaming loads g: ";
        CHECK(within(says, str(other, "f[y] = g[y]").c_str()) ==
              printed_within(says, str(other, "f[y] = g[y streaming]").c_str()));
    }
    TEST_CASE("a loop that lowering has made streams what the one around it does") {
        const char *says = "of f x streaming stores f";
        CHECK(within(says, "for y in [0, +4): f[x + y] = g[y]") ==
              printed_within(says, "for y in [0, +4): f[x + y streaming] = g[y]"));
    }
    TEST_CASE("what streams already goes on to, with its predicate and alignment") {
        const char *says = "of f x streaming stores f";
        CHECK(within(says, "f[x aligned(4, 1)] = g[x streaming]") ==
              printed_within(says, "f[x aligned(4, 1) streaming] = g[x streaming]"));
    }
    TEST_CASE("without a loop that streams nothing is copied") {
        const ir::Stmt before =
            ir::parse_stmt("for x in [0, +n) of f x: f[x] = g[x]\nf[0 streaming] = 1");
        CHECK(mark_streaming(before, {}).same_as(before));
    }
}
