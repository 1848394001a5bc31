#include "lower/pass_test.h"
#include "lower/storage/fold_scans.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// A loop over r, each iteration of which computes m from `begin` to r and reads it at `read`.
struct Loop {
    std::string kind = "for", begin = "select(r == 0, -1, r)", read = "r - 1", asked = "";
    std::string also = "", stages = " in stages";

    std::string text(const std::string &over, const std::string &end) const {
        return str("realize m: {int32} over [", over, asked, "]\n", also, kind,
                   " r in [0, +n):\n    let b = ", begin, "\n    produce m", stages,
                   ":\n        for k in [b, +r - b + 1): m((k)", end,
                   ") = 0\n        for j in [max(b, 0), +r - max(b, 0) + 1): m((j)", end,
                   ") = m((j - 1)", end, ") + j\n    consume m: o(0) = m((r)", end, ") + m((", read,
                   ")", end, ")");
    }
    std::string before() const { return text("-1, +n + 1", ""); }
    std::string after() const { return run(fold_scans, before()); }
    std::string folded(const std::string &by, const std::string &said = "folded") const {
        Loop done = *this;
        done.asked = "";
        return printed(done.text(str("0, +", by, " ", said), str(" % ", by)));
    }
    bool is_left_alone() const { return after() == printed(before()); }
    std::string refusal() const {
        try {
            return after();
        } catch (const CompileError &e) {
            return e.what();
        }
    }
};

}  // namespace

TEST_SUITE("fold_scans") {
    TEST_CASE("what an iteration reads of those before it is kept") {
        Loop loop;
        CHECK(loop.after() == loop.folded("2"));
        loop.read = "r - 2";
        loop.begin = "select(r == 0, -2, r)";
        CHECK(loop.after() == loop.folded("4"));
    }
    TEST_CASE("the first iteration may compute more") {
        Loop loop;
        loop.begin = "select(r == 0, -6, r)";
        CHECK(loop.after() == loop.folded("8"));
    }
    TEST_CASE("not where each iteration computes all again, or reads what is long past") {
        Loop loop;
        loop.begin = "-1";
        CHECK(loop.is_left_alone());
        loop.begin = "select(r == 0, -1, r)", loop.read = "0";
        CHECK(loop.is_left_alone());
        loop.read = "h(r)";
        CHECK(loop.is_left_alone());
    }
    TEST_CASE("not where iterations run at once, or others read it outside of the loop") {
        Loop loop;
        loop.kind = "parallel for";
        CHECK(loop.is_left_alone());
        loop.kind = "for", loop.also = "o(1) = m(0)\n";
        CHECK(loop.is_left_alone());
    }
    TEST_CASE("not where there are no updates, whose regions say what is read") {
        Loop loop;
        loop.stages = "";
        CHECK(loop.is_left_alone());
    }
    TEST_CASE("as the user asks") {
        Loop loop;
        loop.asked = " fold k by 3";
        CHECK(loop.after().find("% 3") != std::string::npos);
        loop.asked = " fold k by 1";
        CHECK(loop.refusal().find("needs 2 points; fold by a constant that is at least so many") !=
              std::string::npos);
        loop.read = "0";
        CHECK(loop.refusal().find("leave fold_storage out") != std::string::npos);
        loop.read = "r", loop.also = "o(1) = m(0)\n";
        CHECK(loop.refusal().find("read or computed in several places") != std::string::npos);
    }
    TEST_CASE("registers of threads have no computed places: points move down") {
        Loop loop;
        std::string text = loop.before();
        text.replace(text.find("realize m: {int32} over"), 23, "realize m: {int32} in Tile over");
        const std::string after = run(fold_scans, text);
        CAPTURE(after);
        const auto has = [&](const std::string &part) {
            CAPTURE(part);
            CHECK(after.find(part) != std::string::npos);
        };
        has("in Tile over [0, +2 folded]");
        has("if r > 0:");
        has("m(0) = m(1)");
        has("unrolled for slot in [0, +2)");
        has("m(slot) = 0");
        has("m(1) = m(0) + j");
        has("o(0) = m(1) + m(0)");
    }
}
