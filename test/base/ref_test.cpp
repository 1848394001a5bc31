#include "base/error.h"
#include "base/large_stack.h"
#include "base/ref.h"
#include "deep_recursion.h"
#include <doctest/doctest.h>

using namespace tessera;

namespace {

struct Link : RefCounted {
    Ref<Link> next;
};

int depth_of(int n) { return n == 0 ? 0 : 1 + depth_of(n - 1); }

}  // namespace

TEST_CASE("a chain of a million objects is destroyed without recursion") {
    Ref<Link> head;
    for (int i = 0; i < 1000000; i++) {
        auto link = make_ref<Link>();
        link->next = head;
        head = link;
    }
    CHECK(head->use_count() == 1);
    head = nullptr;
    CHECK_FALSE(head);
}

TEST_CASE("a large stack holds a recursion that the ordinary one does not" *
          doctest::skip(!may_recurse_deeply)) {
    int depth = 0;
    run_on_large_stack([&] { depth = depth_of(2000000); });
    CHECK(depth == 2000000);
}

TEST_CASE("what runs on a large stack passes errors on") {
    CHECK_THROWS_AS(run_on_large_stack([] { throw CompileError("x"); }), CompileError);
}

TEST_CASE("closest_match finds a likely misspelling and nothing far off") {
    CHECK(closest_match("compute_rot", {"compute_at", "compute_root"}) == "compute_root");
    CHECK(closest_match("zzz", {"compute_at"}).empty());
    CHECK(closest_match("t", {"x", "y"}).empty());
}

TEST_CASE("choices_text says what there is, and nothing twice") {
    CHECK(choices_text("bluer", {"blur"}) == "; did you mean blur?");
    CHECK(choices_text("zzz", {"blur"}) == "; there is blur");
    CHECK(choices_text("bluer", {"blur", "x"}) == "; did you mean blur?; there are blur, x");
    CHECK(choices_text("zzz", {}, "it has") == "; it has none");
}
