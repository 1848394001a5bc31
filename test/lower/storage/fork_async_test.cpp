#include "lower/pass_test.h"
#include "lower/storage/fork_async.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string fork(std::string_view text) { return run(fork_async, text); }

bool contains(const std::string &text, const std::string &part) {
    CAPTURE(text);
    CAPTURE(part);
    return text.find(part) != std::string::npos;
}

// f is computed in each iteration, and read by g.
std::string rows(const char *storage, const char *produced, const char *region = "[0, +m]",
                 const char *place = "y") {
    return fork(str("realize f: {int32}", storage, " over ", region, "\nfor y in [0, +m):\n",
                    "    produce f", produced, ": f(", place, ") = y\n    consume f: g(y) = f(",
                    place, ")"));
}
// The same, in one of three copies.
std::string ring(const char *storage, const char *produced, const char *region = "[0, +1]") {
    return rows(storage, produced, str(region, ", [0, +3]").c_str(), "0, y % 3");
}

// How often the producer may be ahead: "" if nothing holds it back.
std::string ahead(const std::string &text) {
    const std::string init = "semaphore_init(`f.free`, ";
    const size_t at = text.find(init);
    if (at == text.npos) return "";
    const size_t begin = at + init.size();
    return text.substr(begin, text.find(')', begin) - begin);
}

}  // namespace

TEST_SUITE("fork_async") {
    TEST_CASE("both halves run the loop, one produces and the other consumes") {
        CHECK(rows(" async", "") ==
              printed("realize f: {int32} over [0, +m]\n"
                      "let `f.ready` = alloca(16)\n"
                      "semaphore_init(`f.ready`, 0)\n"
                      "fork:\n"
                      "    for y in [0, +m):\n"
                      "        produce f: f(y) = y\n"
                      "        semaphore_release(`f.ready`, 1)\n"
                      "        no_op\n"
                      "with:\n"
                      "    for y in [0, +m):\n"
                      "        no_op\n"
                      "        acquire `f.ready`, 1: consume f: g(y) = f(y)\n"));
    }
    TEST_CASE("taking turns, by a semaphore each way") {
        CHECK(rows(" async", "", "[0, +4 folded]") ==
              printed("realize f: {int32} over [0, +4 folded]\n"
                      "let `f.free` = alloca(16)\n"
                      "semaphore_init(`f.free`, 1)\n"
                      "let `f.ready` = alloca(16)\n"
                      "semaphore_init(`f.ready`, 0)\n"
                      "fork:\n"
                      "    for y in [0, +m):\n"
                      "        acquire `f.free`, 1:\n"
                      "            produce f: f(y) = y\n"
                      "            semaphore_release(`f.ready`, 1)\n"
                      "        no_op\n"
                      "with:\n"
                      "    for y in [0, +m):\n"
                      "        no_op\n"
                      "        acquire `f.ready`, 1:\n"
                      "            consume f: g(y) = f(y)\n"
                      "            semaphore_release(`f.free`, 1)\n"));
    }
    TEST_CASE("storage that is not to be computed on a thread of its own stays as it is") {
        const std::string text = "realize f: {int32} over [0, +m]\nfor y in [0, +m):\n"
                                 "    produce f: f(y) = y\n    consume f: g(y) = f(y)";
        CHECK(fork(text) == printed(text));
    }
    TEST_CASE("a second run changes nothing") {
        const std::string once = rows(" async", "");
        CHECK(fork(once) == once);
    }
    TEST_CASE("nothing holds back who computes new elements each time") {
        CHECK(ahead(rows(" async", "")) == "");
    }
    TEST_CASE("an index that looks like that of a fold is none") {
        const std::string text = fork("realize f: {int32} async over [0, +m]\nfor y in [0, +m):\n"
                                      "    produce f: f(y % 4) = y\n    consume f: g(y) = f(y)");
        CHECK(ahead(text) == "");
    }
    TEST_CASE("what is folded, and not what is to be") {
        CHECK(ahead(rows(" async", "", "[0, +4 folded]")) == "1");
        CHECK(ahead(rows(" async", "", "[0, +4 folded y by 4]")) == "1");
        CHECK(ahead(rows(" async", "", "[0, +4 fold y by 4]")) == "");
    }
    TEST_CASE("values that pass through others make them take turns, too") {
        CHECK(ahead(rows(" async", " in stages")) == "1");
        CHECK(ahead(rows(" async", " by \"compute\"")) == "1");
    }
    TEST_CASE("copies let the producer be as many productions ahead") {
        CHECK(ahead(ring(" async copies 3", "", "[0, +1]")) == "3");
        CHECK(ahead(ring(" async copies n", "", "[0, +1]")) == "n");
        CHECK(ahead(ring(" async copies 3", " in stages", "[0, +1]")) == "3");
        CHECK(ahead(ring(" async copies 3", "", "[0, +4 folded]")) == "3");
    }
    TEST_CASE("not where several productions share a copy that they overwrite") {
        CHECK(ahead(ring(" async copies 3 shared", "", "[0, +1]")) == "3");
        CHECK(ahead(ring(" async copies 3 shared", " in stages", "[0, +1]")) == "1");
        CHECK(ahead(ring(" async copies 3 shared", "", "[0, +4 folded]")) == "1");
    }
    TEST_CASE("nor where an iteration may produce nothing, so that two in a row may use one copy") {
        const auto text = [](const char *around) {
            return fork(str("realize f: {int32} async copies 3 over [0, +1], [0, +3]\n"
                            "for y in [0, +m):\n    ",
                            around,
                            ":\n        produce f: f(0, y % 3) = y\n"
                            "        consume f: g(y) = f(0, y % 3)"));
        };
        CHECK(ahead(text("if y % 2 == 0")) == "1");
        CHECK(ahead(text("if k == 0")) == "3");
        CHECK(ahead(text("for z in [0, +y)")) == "1");
        CHECK(ahead(text("for z in [0, +k)")) == "3");
    }
    TEST_CASE("the producer computes what it reads, the consumer does not") {
        CHECK(contains(fork("realize f: {int32} async over [0, +m]\nfor y in [0, +m):\n"
                            "    realize h: {int32} over [0, +m]\n"
                            "    produce h: h(y) = y\n"
                            "    consume h:\n"
                            "        produce f: f(y) = h(y)\n"
                            "        consume f: g(y) = f(y)"),
                       "    for y in [0, +m):\n"
                       "        realize h: {int32} over [0, +m]\n"
                       "        produce h:\n"
                       "            h(y) = y\n"
                       "        consume h:\n"
                       "            produce f:\n"
                       "                f(y) = h(y)\n"
                       "            semaphore_release(`f.ready`, 1)\n"
                       "            no_op\n"
                       "with:\n"
                       "    for y in [0, +m):\n"
                       "        no_op\n"
                       "        no_op\n"
                       "        acquire `f.ready`, 1:\n"
                       "            consume f:\n"
                       "                g(y) = f(y)\n"));
    }
    TEST_CASE("what only the consumer reads is not computed by the producer") {
        const std::string text = fork("realize f: {int32} async over [0, +m]\nfor y in [0, +m):\n"
                                      "    produce f: f(y) = y\n"
                                      "    consume f:\n"
                                      "        realize h: {int32} over [0, +m]\n"
                                      "        produce h: h(y) = f(y)\n"
                                      "        consume h: g(y) = h(y)");
        CHECK(text.find("realize h") > text.find("with:"));
        CHECK(contains(text, "consume h:"));
    }
    TEST_CASE("what both read is computed by both, hoisted in each") {
        const std::string text = fork("hoist h\nrealize f: {int32} async over [0, +m]\n"
                                      "for y in [0, +m):\n"
                                      "    realize h: {int32} over [0, +m]\n"
                                      "    produce h: h(y) = y\n"
                                      "    consume h:\n"
                                      "        produce f: f(y) = h(y)\n"
                                      "        consume f: g(y) = f(y) + h(y)");
        CHECK(contains(text, "fork:\n    hoist h\n    for y"));
        CHECK(contains(text, "with:\n    hoist h\n    for y"));
    }
    TEST_CASE("storage that is hoisted within a half is not hoisted again") {
        const std::string text = fork("realize f: {int32} async over [0, +m]\n"
                                      "for y in [0, +m):\n"
                                      "    hoist h\n"
                                      "    realize h: {int32} over [0, +m]\n"
                                      "    produce h: h(y) = y\n"
                                      "    consume h:\n"
                                      "        produce f: f(y) = h(y)\n"
                                      "        consume f: g(y) = f(y) + h(y)");
        CHECK(contains(text, "fork:\n    for y in [0, +m):\n        hoist h"));
        CHECK(contains(text, "with:\n    for y in [0, +m):\n        hoist h"));
    }
    TEST_CASE("a function that two threads read signals each of them") {
        const std::string text = fork("realize f: {int32} async over [0, +m]\n"
                                      "realize h: {int32} async over [0, +m]\n"
                                      "for y in [0, +m):\n"
                                      "    produce f: f(y) = y\n"
                                      "    consume f:\n"
                                      "        produce h: h(y) = f(y)\n"
                                      "        consume h: g(y) = h(y) + f(y)");
        CHECK(contains(text, "        semaphore_release(`f.ready.1`, 1)\n"
                             "        semaphore_release(`f.ready`, 1)\n"));
        CHECK(contains(text, "acquire `f.ready.1`, 1:\n                consume f:\n"
                             "                    produce h:"));
        CHECK(contains(text, "acquire `h.ready`, 1:\n                        consume h:\n"));
    }
    TEST_CASE("an output that is computed on the way is computed by the consumer only") {
        const std::string text = fork("realize f: {int32} async over [0, +m]\n"
                                      "for y in [0, +m):\n"
                                      "    produce f: f(y) = y\n"
                                      "    consume f: produce g: g(y) = f(y)");
        CHECK(text.find("g(y) =") > text.find("with:"));
        CHECK(contains(text, "g(y) = f(y)"));
    }
    TEST_CASE("what both threads would compute into one storage is refused") {
        CHECK_THROWS_WITH_AS(
            fork("realize h: {int32} over [0, +m]\nrealize f: {int32} async over [0, +m]\n"
                 "for y in [0, +m):\n"
                 "    produce h: h(y) = y\n"
                 "    consume h:\n"
                 "        produce f: f(y) = h(y)\n"
                 "        consume f: g(y) = f(y) + h(y)"),
            doctest::Contains("async of f: h is used both by f and by its consumers, is computed "
                              "where f is, and stored further out"),
            CompileError);
    }
}
