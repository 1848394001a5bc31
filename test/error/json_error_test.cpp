#include "error/refusal.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace tessera;
using nlohmann::json;

namespace {

// A schedule that can be applied, for tests to damage.
struct Blur {
    Var x{"x"}, y{"y"}, xi{"xi"};
    RDom r{0, 8, "r"};
    Param<int> p{"p"};
    Func in{"in"}, out{"out"};
    Blur() {
        in(x, y) = x * y + p;
        out(x, y) = in(x, y) + in(x, y + 1);
        out(x, y) += r;
    }
    json schedule() {
        Blur other;
        other.in.compute_at(other.out, y).vectorize(x, 8);
        other.out.split(x, x, xi, other.p * 2, TailStrategy::GuardWithIf).parallel(y);
        return json::parse(Pipeline(other.out).schedule_as_json());
    }
    // The step that has this word.
    static json &step(json &schedule, const char *word) {
        for (json &s : schedule["steps"]) {
            if (s.contains(word)) return s;
        }
        throw std::runtime_error("there is no such step");
    }
    void apply(const json &schedule, Location at = Here::current()) {
        Pipeline(out).apply_schedule(schedule.dump(), {}, at);
    }
};

}  // namespace

TEST_SUITE("refused schedules in JSON") {
    TEST_CASE("what is no JSON is refused with line and column") {
        Blur b;
        Pipeline p(b.out);
        const char *text = "{\"tessera_schedule\": 1,\n oops";
        int line = __LINE__ + 1;
        std::string message = refusal([&] { p.apply_schedule(text); });
        CHECK(message.find(line_of(__FILE__, line) + ": ") == 0);
        CHECK(message.find("line 2, column 2") != message.npos);
        REFUSED(p.apply_schedule(""), "cannot be read");
        REFUSED(p.apply_schedule("[1, 2]"), "a schedule is an object");
        REFUSED(p.apply_schedule("{}"), "a schedule has no \"tessera_schedule\"");
        REFUSED(p.apply_schedule("{\"tessera_schedule\": \"1\"}"), "to be an integer");
        REFUSED(p.apply_schedule("{\"tessera_schedule\": 1}"), "no \"functions\"");
        REFUSED(p.apply_schedule("{\"tessera_schedule\": 2}"), "of version 2; version 1 is wanted");
    }
    TEST_CASE("a schedule of another algorithm") {
        Blur b;
        json s = b.schedule();
        s["functions"][0]["args"].push_back("z");
        REFUSED(b.apply(s), "another algorithm: in has 3 dimensions, and in has 2");
        s = b.schedule();
        s["functions"][1]["rvars"] = json::array();
        REFUSED(b.apply(s), "out has 0 updates, and out has 1");
        s = b.schedule();
        s["functions"][1]["rvars"][0] = json::array();
        REFUSED(b.apply(s), "0 reduction variables");
        s = b.schedule();
        s["functions"].erase(0);
        REFUSED(b.apply(s), "it has 1 functions, and the pipeline has 2");
        s = b.schedule();
        s["functions"][1]["args"] = {"y", "x"};
        REFUSED(b.apply(s), "one variable of several functions");
        s["functions"][1]["args"] = 3;
        REFUSED(b.apply(s), "\"args\" is to be a list");
    }
    TEST_CASE("steps that are no directives") {
        Blur b;
        json s = b.schedule();
        json &split = Blur::step(s, "split");
        split["splitt"] = split["split"];
        split.erase("split");
        REFUSED(b.apply(s), "\"splitt\" is no directive; did you mean \"split\"?");
        s = b.schedule();
        s["steps"].push_back(json::object());
        REFUSED(b.apply(s), "one of these words is wanted: wrap, split");
        s = b.schedule();
        Blur::step(s, "split")["async"] = true;
        REFUSED(b.apply(s), "several directives at once");
        s = b.schedule();
        Blur::step(s, "split")["factr"] = 3;
        REFUSED(b.apply(s), "\"factr\" has no meaning here; the words of a step are factor");
        s = b.schedule();
        Blur::step(s, "split").erase("factor");
        REFUSED(b.apply(s), "a step has no \"factor\"");
        s = b.schedule();
        s["more"] = 1;
        REFUSED(b.apply(s), "\"more\" has no meaning here");
        s = b.schedule();
        s["steps"][0] = 7;
        REFUSED(b.apply(s), "step 0 of the schedule, 7: a step is an object");
    }
    TEST_CASE("names and values that do not exist") {
        Blur b;
        auto changed = [&](const char *step, const char *word, const json &value) {
            json s = b.schedule();
            for (json &one : s["steps"]) {
                if (one.contains(step) && one.value("stage_of", "out") == "out") one[word] = value;
            }
            return refusal([&] { b.apply(s); });
        };
        auto says = [](const std::string &message, const char *part) {
            CAPTURE(message);
            CHECK(message.find(part) != message.npos);
        };
        says(changed("split", "stage_of", "outt"), "there is no function named outt");
        says(changed("split", "stage_of", "outt"), "did you mean out?");
        says(changed("split", "stage", 2), "out has no stage 2; its stages are 0 to 1");
        says(changed("split", "split", "q"), "no loop named q in stage");
        says(changed("split", "tail", "Sideways"), "Sideways is none of RoundUp, GuardWithIf");
        says(changed("split", "factor", "p +"), "IR text, line 1, column 4");
        says(changed("split", "factor", "q * 2"), "there is no parameter named q; those of the "
                                                  "pipeline are in, out, p");
        says(changed("split", "factor", 0), "the factor 0 is not between 1 and");
        says(changed("split", "factor", json::array()), "\"factor\" is no expression");
        says(changed("split", "factor", "p:float32"), "of type int32, but is used as a scalar of "
                                                      "type float32");
        says(changed("split", "factor", "p.extent[0]"), "has no dimension 0");
        says(changed("split", "specialization", {0}), "out has no specialization 0");
        says(changed("split", "written", "nowhere"), "looks like blur.cpp:12");
        says(changed("compute", "compute", {{"place", "nowhere"}}), "\"nowhere\" is no place");
        says(changed("compute", "compute", {{"func", "f"}, {"loop", "x"}, {"stage", 0}}),
             "no function named f");
        says(changed("compute", "of", 1), "\"of\" is to be a text, but is 1");
    }
    TEST_CASE("the message has the step and the line where it was written first") {
        Blur b;
        json s = b.schedule();
        json &split = Blur::step(s, "split");
        std::string written = split["written"];
        CHECK(written.find("json_error_test.cpp:") == 0);
        Blur::step(s, "loop")["loop"] = "nobody";
        std::string message = refusal([&] { b.apply(s); });
        CHECK(message.find("of the schedule, {") != message.npos);
        CHECK(message.find("json_error_test.cpp:") == 0);
        CHECK(message.rfind("no loop named nobody") != message.npos);
    }
    TEST_CASE("a schedule that is refused half way leaves the one that was there") {
        Blur b;
        b.out.vectorize(b.x, 4).specialize(b.p > 3).unroll(b.y, 2);
        std::string before = Pipeline(b.out).schedule_as_json();
        json s = b.schedule();
        json wrong = Blur::step(s, "compute");
        wrong["of"] = "nobody";
        s["steps"].push_back(wrong);
        REFUSED(b.apply(s), "there is no function named nobody");
        CHECK(Pipeline(b.out).schedule_as_json() == before);
        b.p.set(5);
        Buffer<int> result = b.out.realize({10, 4});
        CHECK(result(3, 2) == 6 + 9 + 10 + 28);
    }
    TEST_CASE("parameters of the schedule alone are handed over") {
        Blur first, second;
        Param<bool> wide("wide");
        first.out.specialize(wide).vectorize(first.x, 8);
        std::string text = first.out.schedule_as_json();
        REFUSED(second.out.apply_schedule(text), "no parameter named wide");
        second.out.apply_schedule(text, {wide});
        CHECK(second.out.schedule_as_json() == text);
        CHECK(second.out.schedule_as_cpp().find(
                  "// wide: the parameter \"wide\", which only the schedule has") !=
              std::string::npos);
        REFUSED(Pipeline(first.in).get_param("q"), "no scalar parameter named q; it has p");
        REFUSED(Pipeline(first.in).get_image_param("q"), "no image parameter named q; it has none");
    }
    TEST_CASE("two parameters of one name cannot be told apart in a text") {
        Var x("x");
        Func f("f");
        Param<int> a("same"), b("same");
        f(x) = x + a + b;
        f.bound(x, a, b);
        REFUSED(f.schedule_as_json(), "two parameters of the name same");
    }
}
