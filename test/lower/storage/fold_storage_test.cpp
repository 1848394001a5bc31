#include "lower/pass_test.h"
#include "lower/storage/fold_storage.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// A loop over y, in each iteration of which f is computed from `min` to `max` and read at both.
struct Walk {
    std::string loop = "for y in [0, +m)", min = "y - 1", max = "y + 1";
    std::string facts = "", asked = "", range = "", produced = "";

    std::string text(const std::string &storage, const std::string &index_end,
                     const std::string &of) const {
        return str("realize f: {int32}", facts, " over ", storage, "\n", loop,
                   ":\n    let a = ", min, "\n    let b = ", max, "\n    produce f", produced, of,
                   ":\n        for x in [a, +b - a + 1): f(x", index_end,
                   ") = x\n    consume f: g(y) = f(y - 1", index_end, ") + f(y + 1", index_end,
                   ")");
    }
    std::string before() const {
        return text(str("[-1, +m + 2", asked, "]"), "", str(" of [a, b", range, "]"));
    }
    std::string after() const { return run(fold_storage, before()); }
    bool is_left_alone() const { return after() == printed(before()); }
    // With y - 1 in parentheses, so that both can be folded.
    std::string folded(const std::string &by, const std::string &said) const {
        std::string s = text(str("[0, +", by, " ", said, "]"), str(") % ", by, ")"),
                             str(" of [a, b", range, "]"));
        for (size_t at = 0; (at = s.find("f(", at)) != s.npos; at += 3) s.replace(at, 2, "f((");
        for (size_t at = 0; (at = s.find("))", at)) != s.npos; at++) s.erase(at, 1);
        return printed(s);
    }
    std::string refusal() const {
        try {
            return after();
        } catch (const CompileError &e) {
            return e.what();
        }
    }
};

bool contains(const std::string &text, const std::string &part) {
    CAPTURE(text);
    CAPTURE(part);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("fold_storage") {
    TEST_CASE("three rows are kept in four, used in turn") {
        Walk w;
        CHECK(w.after() == w.folded("4", "folded"));
        CHECK_FALSE(w.is_left_alone());
    }
    TEST_CASE("walking backward, too") {
        Walk w;
        w.min = "-1 - y", w.max = "1 - y";
        CHECK(w.after() == w.folded("4", "folded"));
    }
    TEST_CASE("by what the user says") {
        Walk w;
        w.asked = " fold z by 3";
        CHECK(w.after() == w.folded("3", "folded z by 3"));
    }
    TEST_CASE("a factor that is known when it runs is checked there") {
        Walk w;
        w.asked = " fold z by n";
        CHECK(contains(w.after(), "[0, +n folded z by n]"));
        CHECK(contains(w.after(), "assert 3 <= n, extern int32 tessera_error_fold_factor_too_small("
                                  "user_context(), \"\", \"f\", \"z\", n, \"y\", 3)"));
    }
    TEST_CASE("a factor that is too small fails when it runs") {
        Walk w;
        w.asked = " fold z by 2";
        CHECK(
            contains(w.after(), "assert false, extern int32 tessera_error_fold_factor_too_small"));
    }
    TEST_CASE("the number has room for what splits compute beyond what is read") {
        Walk w;
        w.range = " by 8";
        CHECK(w.after() == w.folded("8", "folded"));
        w.range = " by 9";
        CHECK(w.after() == w.folded("16", "folded"));
    }
    TEST_CASE("not where it is not known how far they go, or points are mixed") {
        Walk w;
        w.range = " rounded";
        CHECK(w.is_left_alone());
        w.range = " mixed";
        CHECK(w.is_left_alone());
        w.range = " by 2048";
        CHECK(w.is_left_alone());
    }
    TEST_CASE("not where the loop is parallel") {
        Walk w;
        w.loop = "parallel for y in [0, +m)";
        CHECK(w.is_left_alone());
        w.loop = "unrolled for y in [0, +4)";
        CHECK_FALSE(w.is_left_alone());
    }
    TEST_CASE("not where the window jumps to and fro, stands still, or grows") {
        Walk w;
        w.min = "y % 3", w.max = "y % 3 + 2";
        CHECK(w.is_left_alone());
        w.min = "0", w.max = "2";
        CHECK(w.is_left_alone());
        w.min = "0", w.max = "y";
        CHECK(w.is_left_alone());
    }
    TEST_CASE("not where more than 1024 rows are needed at once") {
        Walk w;
        w.max = "y + 1023";
        CHECK(w.is_left_alone());
        w.max = "y + 1022";
        CHECK(w.after() == w.folded("1024", "folded"));
    }
    TEST_CASE("not where nothing says what region is asked for, or it is stored within the loop") {
        const std::string unknown = Walk().text("[-1, +m + 2]", "", "");
        CHECK(run(fold_storage, unknown) == printed(unknown));
        const char *within = "for y in [0, +m):\n    realize f: {int32} over [y, +1]\n"
                             "    produce f of [y, y]: f(y) = 1\n    consume f: g(y) = f(y)";
        CHECK(run(fold_storage, within) == printed(within));
    }
    TEST_CASE("a second run changes nothing") {
        Walk w;
        w.asked = " fold z by 3";
        CHECK(run(fold_storage, w.after()) == w.after());
        w.asked = "";
        CHECK(run(fold_storage, w.after()) == w.after());
    }
    TEST_CASE("traced accesses keep their coordinates") {
        Walk w;
        w.facts = " traced loads";
        CHECK(contains(w.after(), "f(return_second(x, x % 4)) = x"));
        CHECK(contains(w.after(), "f(return_second(y + 1, (y + 1) % 4))"));
    }
    TEST_CASE("what functions in C are passed is folded only if the user wants it") {
        Walk w;
        w.facts = " passed";
        CHECK(w.is_left_alone());
        w.asked = " fold z by 4";
        CHECK(contains(w.after(), "realize f: {int32} passed over [0, +4 folded z by 4]"));
    }
    TEST_CASE("the part that such a function is passed is in one piece") {
        const std::string text =
            run(fold_storage, "realize f: {int32} passed over [0, +m fold z by 4]\n"
                              "for y in [0, +m):\n"
                              "    let a = y\n"
                              "    produce f by \"compute\" of [a, a]:\n"
                              "        let o = make_buffer(address_of(f(a)), 0, 32, 1, a, 1, 1)\n"
                              "        assert (extern int32 compute(o:handle)) == 0, 1\n"
                              "    consume f: g(y) = f(y)");
        CHECK(contains(text, "assert 1 <= 4 - a % 4, extern int32 tessera_error_bad_extern_fold("
                             "user_context(), \"\", \"f\", \"compute\", 0, a, 1, a - a % 4, 4)"));
    }
    TEST_CASE("a loop within another, whose iterations have rows in common, is left alone") {
        const auto text = [](const char *z) {
            return run(fold_storage, str("realize f: {int32} over [0, +m], [0, +n]\n"
                                         "for z in [0, +n):\n"
                                         "    for y in [0, +m):\n"
                                         "        let a = y\n"
                                         "        let b = y + 1\n"
                                         "        let c = z\n"
                                         "        let d = z + ",
                                         z,
                                         "\n        produce f of [a, b], [c, d]: f(a, c) = 1\n"
                                         "        consume f: g(y, z) = f(y, z)"));
        };
        CHECK(contains(text("0"), "over [0, +2 folded], [0, +1 folded]"));
        CHECK(contains(text("1"), "over [0, +m], [0, +2 folded]"));
    }
    TEST_CASE("several places where it is computed use the same fold, the largest") {
        const auto text = [](const char *max) {
            return run(fold_storage, str("realize f: {int32} over [0, +m]\n"
                                         "for y in [0, +m):\n"
                                         "    if c:bool:\n"
                                         "        let a = y\n"
                                         "        let b = y + 1\n"
                                         "        produce f of [a, b]: f(a) = 1\n"
                                         "    else:\n"
                                         "        let d = y\n"
                                         "        let e = ",
                                         max,
                                         "\n        produce f of [d, e]: f(d) = 2\n"
                                         "    consume f: g(y) = f(y)"));
        };
        CHECK(contains(text("y + 4"), "over [0, +8 folded]"));
        CHECK(contains(text("y + 4"), "f(a % 8) = 1"));
        CHECK(contains(text("m"), "over [0, +m]\n"));
    }
    TEST_CASE("not where something else is computed into it, of which nothing is known") {
        const char *text = "realize f: {int32} over [0, +m]\nproduce f: f(0) = 1\n"
                           "for y in [0, +m):\n    let a = y\n    produce f of [a, a]: f(a) = 2\n"
                           "    consume f: g(y) = f(y)";
        CHECK(run(fold_storage, text) == printed(text));
    }
    TEST_CASE("other storage of the same function is folded for itself") {
        const std::string text = run(fold_storage, "if c:bool:\n"
                                                   "    realize f: {int32} over [0, +m]\n"
                                                   "    for y in [0, +m):\n"
                                                   "        let a = y\n"
                                                   "        produce f of [a, a]: f(a) = 1\n"
                                                   "        consume f: g(y) = f(y)\n"
                                                   "else:\n"
                                                   "    realize f: {int32} over [0, +m]\n"
                                                   "    produce f: f(3) = 1\n"
                                                   "    consume f: g(0) = f(3)");
        CHECK(contains(text, "f(a % 1) = 1"));
        CHECK(contains(text, "f(3) = 1"));
    }
}

TEST_SUITE("what fold_storage refuses that the user asks for") {
    Walk asking() {
        Walk w;
        w.asked = " fold z by 4";
        return w;
    }
    TEST_CASE("an update that mixes points") {
        Walk w = asking();
        w.range = " mixed";
        CHECK(contains(w.refusal(), "fold_storage(z) of f: an update of f does not compute each "
                                    "point of z by itself"));
    }
    TEST_CASE("splits that go nobody knows how far") {
        Walk w = asking();
        w.range = " rounded";
        CHECK(contains(w.refusal(), "it is not known how far splits, vectors or unrolled loops of "
                                    "z go beyond what is needed"));
    }
    TEST_CASE("no loop that moves along the dimension") {
        Walk w = asking();
        w.min = "0", w.max = "2";
        CHECK(contains(w.refusal(), "no loop between where f is stored and where it is computed "
                                    "moves along z"));
    }
    TEST_CASE("a parallel loop") {
        Walk w = asking();
        w.loop = "parallel for y in [0, +m)";
        CHECK(contains(w.refusal(), "the loop y, which moves along z, is parallel; only a serial"));
    }
    TEST_CASE("a window that jumps to and fro") {
        Walk w = asking();
        w.min = "y % 3", w.max = "y % 3 + 2";
        CHECK(contains(w.refusal(), "what the iterations of the loop y need does not move along z "
                                    "in one direction"));
    }
    TEST_CASE("storage where it is computed") {
        CHECK_THROWS_WITH_AS(run(fold_storage, "realize f: {int32} over [0, +m fold z by 4]\n"
                                               "produce f: f(0) = 1\nconsume f: g(0) = f(0)"),
                             doctest::Contains("fold_storage(z) of f: it is stored where it is "
                                               "computed"),
                             CompileError);
    }
    TEST_CASE("what functions in C are passed, computed in several places") {
        CHECK_THROWS_WITH_AS(
            run(fold_storage, "realize f: {int32} passed over [0, +m fold z by 4]\n"
                              "for y in [0, +m):\n"
                              "    let a = y\n"
                              "    if c:bool: produce f of [a, a]: f(a) = 1\n"
                              "    else: produce f of [a, a]: f(a) = 2\n"
                              "    consume f: g(y) = f(y)"),
            doctest::Contains("an extern stage computes or reads f, which is computed in several "
                              "places; leave fold_storage out"),
            CompileError);
    }
}
