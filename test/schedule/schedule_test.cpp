#include "program/canonical.h"
#include "program/steps.h"
#include "schedule/cases.h"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace tessera;
using nlohmann::json;
using schedule_cases::Case;

namespace {

uint64_t form(const Pipeline &p) {
    return program::canonical_form(program::copy_reachable(p.program())).hash();
}

// Without what is no matter to the loops: the lines, and what nameless loops are called.
json without_lines(const std::string &text) {
    json j = json::parse(text);
    j.erase("loops");
    for (json &step : j["steps"]) step.erase("written");
    return j;
}

}  // namespace

TEST_SUITE("schedules are data") {
    TEST_CASE("written as JSON and read on the bare algorithm, each gives the same loops") {
        for (size_t i = 0; i < schedule_cases::all().size(); i++) {
            const Case &c = schedule_cases::all()[i];
            CAPTURE(std::string(c.name));
            Pipeline first = c.build(true), second = c.build(false);
            std::string text = first.schedule_as_json();
            CHECK(form(first) != form(second));
            second.apply_schedule(text);
            CHECK(second.schedule_as_json() == text);
            CHECK(form(first) == form(second));
            if (i % 4 == 3) CHECK(first.loop_nest() == second.loop_nest());
        }
    }
    TEST_CASE("printed as C++, which was compiled into this test, each gives the same loops") {
        for (size_t i = 0; i < schedule_cases::all().size(); i++) {
            const Case &c = schedule_cases::all()[i];
            Pipeline first = c.build(true), second = c.build(false);
            CAPTURE(std::string(c.name));
            CAPTURE(first.schedule_as_cpp());
            schedule_cases::pasted()[i](second);
            CHECK(without_lines(second.schedule_as_json()) ==
                  without_lines(first.schedule_as_json()));
        }
    }
    TEST_CASE("the cases use every directive") {
        std::set<size_t> stage, func;
        for (const Case &c : schedule_cases::all()) {
            Pipeline p = c.build(true);
            for (const auto &step : program::schedule_of(p.program().outputs).steps) {
                if (const auto *s = std::get_if<program::StageStep>(&step.what)) {
                    stage.insert(s->written.directive.index());
                } else if (const auto *f = std::get_if<program::FuncStep>(&step.what)) {
                    func.insert(f->written.directive.index());
                }
            }
        }
        CHECK(stage.size() == std::variant_size_v<program::StageDirective>);
        CHECK(func.size() == std::variant_size_v<program::FuncDirective>);
    }
}
