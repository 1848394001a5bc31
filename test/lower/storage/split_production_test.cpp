#include "ir/visitor.h"
#include "lower/pass_test.h"
#include "lower/storage/split_production.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// The first node of a kind whose name is this.
template<typename Node>
ir::Stmt find(const ir::Stmt &s, std::string_view name, Symbol Node::*symbol) {
    ir::Stmt found;
    ir::for_each_node(s, [&](const Node &node) {
        if (!found.defined() && (node.*symbol).text() == name) found = ir::Stmt(&node);
    });
    REQUIRE(found.defined());
    return found;
}

// Splits what is in the storage of f; of a loop, if one is named, its body.
SplitProduction split(const ir::Stmt &all, std::string_view loop = "",
                      const SplitReason &reason = {"pipeline", {}}) {
    const ir::Stmt storage = find<ir::Realize>(all, "f", &ir::Realize::func);
    const auto &f = *storage.as<ir::Realize>();
    const ir::Stmt body =
        loop.empty() ? f.body : find<ir::For>(f.body, loop, &ir::For::name).as<ir::For>()->body;
    return split_production(body, f, SplitScope({"f", {}, all}), reason);
}
SplitProduction split(std::string_view text, std::string_view loop = "") {
    return split(ir::parse_stmt(text), loop);
}

std::string producer(std::string_view text, std::string_view loop = "") {
    return to_string(split(text, loop).producer.stmt);
}
std::string consumer(std::string_view text, std::string_view loop = "") {
    return to_string(split(text, loop).consumer.stmt);
}
std::string slots(std::string_view text, std::string_view loop = "") {
    const ir::Expr n = split(text, loop).slots;
    return n.defined() ? to_string(n) : "";
}

bool contains(const std::string &text, std::string_view part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

// f of three copies is computed in each iteration, and read by g.
const char *const ring = "realize f: {int32} copies 3 over [0, +4], [0, +3]\n"
                         "for y in [0, +m):\n"
                         "    produce f:\n        for x in [0, +4): f(x, y % 3) = x + y\n"
                         "    consume f:\n        for x in [0, +4): g(x, y) = f(x, y % 3)\n";

// h is computed in each iteration, for f and for g.
std::string used_twice(const char *before, const char *within) {
    return str(before, "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n    ", within,
               "produce h: h(y) = y\n"
               "    consume h:\n"
               "        produce f: f(y) = h(y)\n"
               "        consume f: g(y) = f(y) + h(y)");
}

}  // namespace

TEST_SUITE("split_production") {
    TEST_CASE("both parts run the loops in the storage") {
        const char *text = "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                           "    produce f: f(y) = y\n    consume f: g(y) = f(y)";
        CHECK(producer(text) == printed("for y in [0, +m):\n    produce f: f(y) = y\n    no_op"));
        CHECK(consumer(text) ==
              printed("for y in [0, +m):\n    no_op\n    consume f: g(y) = f(y)"));
    }
    TEST_CASE("the body of a loop, with the indices of the copies in both parts") {
        CHECK(producer(ring, "y") ==
              printed("produce f:\n    for x in [0, +4): f(x, y % 3) = x + y\nno_op"));
        CHECK(consumer(ring, "y") ==
              printed("no_op\nconsume f:\n    for x in [0, +4): g(x, y) = f(x, y % 3)"));
        CHECK(slots(ring, "y") == "3");
    }
    TEST_CASE("slots go round: free to the producer, ready to the consumer") {
        const SplitProduction split = ::split(ring, "y");
        CHECK(split.producer.acquired == Signal::Free);
        CHECK(split.producer.released == Signal::Ready);
        CHECK(split.consumer.acquired == Signal::Ready);
        CHECK(split.consumer.released == Signal::Free);
    }
    TEST_CASE("nobody waits for a slot where nothing is overwritten") {
        const SplitProduction split =
            ::split(used_twice("", "realize h: {int32} over [0, +m]\n    "));
        CHECK_FALSE(split.slots.defined());
        CHECK_FALSE(split.producer.acquired);
        CHECK(split.producer.released == Signal::Ready);
        CHECK(split.consumer.acquired == Signal::Ready);
        CHECK_FALSE(split.consumer.released);
    }
    TEST_CASE("parts take turns where an iteration of a loop around may produce nothing") {
        const auto text = [](const char *condition) {
            return str("realize f: {int32} copies 3 over [0, +3]\nfor y in [0, +m):\n    if ",
                       condition, ":\n        for z in [0, +4):\n",
                       "            produce f: f(y % 3) = z\n",
                       "            consume f: g(y, z) = f(y % 3)");
        };
        CHECK(slots(text("y % 2 == 0")) == "1");
        CHECK(slots(text("y % 2 == 0"), "z") == "1");
        CHECK(slots(text("k == 0"), "z") == "3");
    }
    TEST_CASE("what f is computed from goes with the producer") {
        const char *text = "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                           "    realize h: {int32} over [0, +m]\n"
                           "    produce h: h(y) = y\n"
                           "    consume h:\n"
                           "        produce f: f(y) = h(y)\n"
                           "        consume f: g(y) = f(y)";
        CHECK(producer(text, "y") == printed("realize h: {int32} over [0, +m]\n"
                                             "produce h: h(y) = y\n"
                                             "consume h:\n"
                                             "    produce f: f(y) = h(y)\n"
                                             "    no_op"));
        CHECK(consumer(text, "y") == printed("no_op\nno_op\nconsume f: g(y) = f(y)"));
    }
    TEST_CASE("what only its consumers read, or compute on the way, stays with the consumer") {
        const char *text = "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                           "    produce f: f(y) = y\n"
                           "    consume f:\n"
                           "        realize h: {int32} over [0, +m]\n"
                           "        produce h: h(y) = f(y)\n"
                           "        consume h: produce g: g(y) = h(y)";
        CHECK(producer(text, "y") == printed("produce f: f(y) = y\nno_op"));
        CHECK(contains(consumer(text, "y"), "produce h:"));
        CHECK(contains(consumer(text, "y"), "g(y) = h(y)"));
        CHECK(split(text, "y").in_both.empty());
    }
    TEST_CASE("what is read for the sake of the consumer alone is not read by the producer") {
        const char *text = "realize f: {int32} over [0, +m]\nrealize h: {int32} over [0, +m]\n"
                           "produce h: h(0) = 1\n"
                           "consume h:\n"
                           "    for y in [0, +m):\n"
                           "        produce f: f(y) = y\n"
                           "        consume f:\n"
                           "            let t = h(y)\n"
                           "            g(y) = f(y) + t";
        CHECK_FALSE(contains(producer(text), "h("));
        CHECK(contains(consumer(text), "let t = h(y)"));
    }
    TEST_CASE("conditions around are in both parts") {
        const char *text = "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                           "    if y < k:\n"
                           "        produce f: f(y) = y\n        consume f: g(y) = f(y)";
        CHECK(contains(producer(text, "y"), "if y < k:\n    produce f"));
        CHECK(contains(consumer(text, "y"), "if y < k:\n    no_op\n    consume f"));
    }
    TEST_CASE("what both compute has storage in each") {
        const std::string text = used_twice("", "realize h: {int32} over [0, +m]\n    ");
        CHECK(contains(producer(text, "y"), "realize h: {int32} over [0, +m]"));
        CHECK(contains(consumer(text, "y"), "realize h: {int32} over [0, +m]"));
        const std::set<Symbol> in_both = split(text, "y").in_both;
        REQUIRE(in_both.size() == 1);
        CHECK(in_both.begin()->text() == "h");
    }
    TEST_CASE("a function of two values is known by its buffers") {
        const char *text = "realize h: {int32, int32} held by first, second over [0, +m]\n"
                           "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                           "    produce f: f(y) = y\n"
                           "    consume f:\n"
                           "        produce h: h(y) = {f(y), 1}\n"
                           "        consume h: g(y) = extern int32 read(second:handle)";
        CHECK(contains(consumer(text), "consume h:"));
        CHECK_FALSE(contains(producer(text), "h("));
    }
    TEST_CASE("the consumer may be split again, for another function") {
        const ir::Stmt all = ir::parse_stmt("realize e: {int32} over [0, +m]\n"
                                            "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                                            "    produce e: e(y) = y\n"
                                            "    produce f: f(y) = y\n"
                                            "    consume e: consume f: g(y) = f(y) + e(y)");
        const SplitScope scope({"f", {}, all});
        const ir::Stmt f = find<ir::Realize>(all, "f", &ir::Realize::func);
        const ir::Stmt e = find<ir::Realize>(all, "e", &ir::Realize::func);
        const SplitProduction of_f =
            split_production(f.as<ir::Realize>()->body, *f.as<ir::Realize>(), scope, {"", {}});
        const SplitProduction of_e =
            split_production(of_f.consumer.stmt, *e.as<ir::Realize>(), scope, {"", {}});
        CHECK(to_string(of_f.producer.stmt) ==
              printed("for y in [0, +m):\n    no_op\n    produce f: f(y) = y\n    no_op"));
        CHECK(to_string(of_e.producer.stmt) ==
              printed("for y in [0, +m):\n    produce e: e(y) = y\n    no_op\n    no_op"));
        CHECK(contains(to_string(of_e.consumer.stmt), "g(y) = f(y) + e(y)"));
    }
    TEST_CASE("values of a function are computed where they are stored, and not where it is read") {
        const ir::Stmt all = ir::parse_stmt(ring);
        const SplitProduction parts = split(all);
        Symbol f = find<ir::Realize>(all, "f", &ir::Realize::func).as<ir::Realize>()->func;
        CHECK(computes(parts.producer.stmt, f, SplitScope({"f", {}, all})));
        CHECK_FALSE(computes(parts.consumer.stmt, f, SplitScope({"f", {}, all})));
    }
    TEST_CASE("what both would compute into one storage is refused, in the words of who asks") {
        const std::string text = used_twice("realize h: {int32} over [0, +m]\n", "");
        CHECK_THROWS_WITH_AS(split(text),
                             doctest::Contains("pipeline of f: h is used both by f and by its "
                                               "consumers, is computed where f is, and stored "
                                               "further out, so that both would write it; make h "
                                               "pipeline too"),
                             CompileError);
        CHECK_THROWS_AS(split(text, "y"), CompileError);
    }
    TEST_CASE("the refusal says where the user asked for it") {
        const std::string text = used_twice("realize h: {int32} over [0, +m]\n", "");
        const Location written{"app.cpp", 12};
        CHECK_THROWS_WITH_AS(split(ir::parse_stmt(text), "y", {"pipeline", written}),
                             doctest::Contains("app.cpp:12"), CompileError);
    }
    TEST_CASE("storage that only encloses the body of the loop is refused, too") {
        CHECK_THROWS_AS(split("realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                              "    realize h: {int32} over [0, +m]\n"
                              "    for z in [0, +2):\n"
                              "        produce h: h(y) = y\n"
                              "        consume h:\n"
                              "            produce f: f(y) = h(y)\n"
                              "            consume f: g(y) = f(y) + h(y)",
                              "z"),
                        CompileError);
    }
    TEST_CASE("what is computed outside of the body is read by both") {
        const char *text = "realize h: {int32} over [0, +m]\nrealize f: {int32} over [0, +m]\n"
                           "produce h: h(0) = 1\n"
                           "consume h:\n"
                           "    for y in [0, +m):\n"
                           "        produce f: f(y) = h(0)\n"
                           "        consume f: g(y) = f(y) + h(0)";
        CHECK_THROWS_AS(split(text), CompileError);
        CHECK(producer(text, "y") == printed("produce f: f(y) = h(0)\nno_op"));
        CHECK(consumer(text, "y") == printed("no_op\nconsume f: g(y) = f(y) + h(0)"));
    }
}
