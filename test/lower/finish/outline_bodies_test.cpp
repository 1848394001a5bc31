#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lower/finish/outline_bodies.h"
#include <algorithm>
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::lower;

namespace {

constexpr const char *head = "module \"m\"\nfunc \"f\"(n: int32, a: input uint8[1], "
                             "b: output uint8[1]):\n";

// The module of the function "f" with this body, outlined and verified.
Module outlined(const std::string &body, const OutlineOptions &options = {}) {
    Module m = outline_bodies(parse_module(head + body), options);
    verify(m, "outline bodies");
    return m;
}

std::string text_of(const std::string &body) { return to_string(outlined(body)); }
std::string printed(const std::string &module) { return to_string(parse_module(module)); }

std::vector<std::string> argument_names(const LoweredFunction &f) {
    std::vector<std::string> names;
    for (const Argument &a : f.args) names.push_back(a.name.text());
    return names;
}

// `count` loops, one after the other.
std::string loops(int count, const std::string &indent) {
    std::string text;
    for (int i = 0; i < count; i++) {
        text += str(indent, "for x", i, " in [0, +n): b[x", i, "] = ", i, ":uint8\n");
    }
    return text;
}

int count_of_kind(const Module &m, FunctionKind kind) {
    return int(std::ranges::count(m.functions, kind, &LoweredFunction::kind));
}

}  // namespace

TEST_SUITE("outline_bodies") {
    TEST_CASE("the body of a parallel loop becomes a function of what it uses") {
        CHECK(text_of("  let t = n * 2\n"
                      "  parallel for y in [0, +n): b[y + t] = a[y]\n") ==
              printed(std::string(head) +
                      "  let t = n * 2\n"
                      "  parallel for y in [0, +n):\n"
                      "    invoke \"f.par_for0\"(y, t, address_of(a[0]:uint8), "
                      "address_of(b[0]:uint8))\n"
                      "body \"f.par_for0\"(y: int32, t: int32, a: storage uint8, b: storage uint8):"
                      "\n  b[y + t] = a[y]\n"));
    }
    TEST_CASE("the struct of a buffer and its elements are two arguments") {
        Module m = outlined("  parallel for y in [0, +n): b[y] = a[y - a.min[0]]\n");
        const LoweredFunction &body = m.function("f.par_for0");
        REQUIRE(argument_names(body) == std::vector<std::string>{"y", "a", "a", "b"});
        CHECK(body.args[1].type == Handle());
        CHECK(body.args[1].kind == ArgumentKind::Scalar);
        CHECK(body.args[2].kind == ArgumentKind::Storage);
    }
    TEST_CASE("what a body binds itself is no argument") {
        Module m = outlined("  parallel for y in [0, +n):\n"
                            "    allocate c: uint8[n] in Heap\n"
                            "    for x in [0, +n):\n"
                            "      let t = let u = x * 2 in u + u\n"
                            "      c[x] = b[t]\n"
                            "    b[y] = c[0]\n");
        CHECK(argument_names(m.function("f.par_for0")) == std::vector<std::string>{"y", "n", "b"});
    }
    TEST_CASE("the mutexes of an atomic update are an argument") {
        Module m = outlined("  let locks = extern handle make_locks(n)\n"
                            "  parallel for y in [0, +n):\n"
                            "    atomic b mutexes locks: b[0] = b[0] + 1:uint8\n");
        CHECK(argument_names(m.function("f.par_for0")) ==
              std::vector<std::string>{"y", "locks", "b"});
    }
    TEST_CASE("loops within loops are functions within functions, an outer one first") {
        Module m = outlined("  parallel for y in [0, +n):\n"
                            "    parallel for x in [0, +n): b[x + y] = 3:uint8\n"
                            "  parallel for z in [0, +n): b[z] = 4:uint8\n");
        REQUIRE(m.functions.size() == 4);
        CHECK(m.functions[1].name == "f.par_for0");
        CHECK(m.functions[2].name == "f.par_for0.par_for1");
        CHECK(m.functions[3].name == "f.par_for2");
        CHECK(argument_names(m.functions[2]) == std::vector<std::string>{"x", "y", "b"});
        CHECK(m.with_invoked(m.functions[0]).size() == 4);
    }
    TEST_CASE("the statements of a fork become tasks") {
        Module m = outlined("  fork: b[0] = a[0]\n  with: b[1] = a[n]\n");
        REQUIRE(count_of_kind(m, FunctionKind::Task) == 2);
        CHECK(argument_names(m.function("f.task0")) == std::vector<std::string>{"a", "b"});
        CHECK(argument_names(m.function("f.task1")) == std::vector<std::string>{"n", "a", "b"});
    }
    TEST_CASE("of more than twenty loops in a row, each becomes a part") {
        CHECK(count_of_kind(outlined(loops(20, "  ")), FunctionKind::Part) == 0);
        CHECK(count_of_kind(outlined(loops(21, "  ")), FunctionKind::Part) == 21);
        CHECK(count_of_kind(outlined(loops(21, "  "), {.outline_loops = false}),
                            FunctionKind::Part) == 0);
        // Those around them are few.
        Module m = outlined("  for y in [0, +n):\n" + loops(21, "    "));
        CHECK(count_of_kind(m, FunctionKind::Part) == 21);
        CHECK(argument_names(m.functions[1]) == std::vector<std::string>{"n", "b"});
    }
    TEST_CASE("loops of a task, and in an atomic update, stay where they are") {
        Module task = outlined("  fork:\n" + loops(21, "    ") + "  with: b[1] = a[n]\n");
        CHECK(count_of_kind(task, FunctionKind::Part) == 0);
        Module atomic = outlined("  atomic b:\n" + loops(21, "    "));
        CHECK(count_of_kind(atomic, FunctionKind::Part) == 0);
        // An iteration of a parallel loop in a task is a function of its own.
        Module both = outlined("  fork:\n    parallel for y in [0, +n):\n" + loops(21, "      ") +
                               "  with: b[1] = a[n]\n");
        CHECK(count_of_kind(both, FunctionKind::Part) == 21);
    }
    TEST_CASE("functions without any of these are left as they are") {
        const std::string body = "  for y in [0, +n): b[y] = a[y]\n";
        CHECK(text_of(body) == printed(head + body));
    }
    TEST_CASE("each pipeline is followed by what it invokes") {
        Module m = outline_bodies(parse_module("module \"m\"\nfunc \"f\"(b: output uint8[1]):\n"
                                               "  parallel for y in [0, +4): b[y] = 1:uint8\n"
                                               "func \"g\"(c: output uint8[1]):\n"
                                               "  parallel for z in [0, +4): c[z] = 2:uint8\n"));
        verify(m, "outline bodies");
        REQUIRE(m.functions.size() == 4);
        CHECK(m.functions[1].name == "f.par_for0");
        CHECK(m.functions[3].name == "g.par_for0");
        CHECK(m.with_invoked(m.function("g")).size() == 2);
    }
}
