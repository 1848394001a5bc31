#include "base/fields.h"
#include "ir/equal.h"
#include "lower/lower.h"
#include "program/canonical.h"
#include "program/print_schedule.h"
#include "program/schedule_json.h"
#include "program/steps.h"
#include "schedule/cases.h"
#include <doctest/doctest.h>
#include <malloc.h>
#include <thread>

// Algorithms and schedules as values, and what they make together.
using namespace tessera;
using namespace tessera::program;
using schedule_cases::Case;

namespace {

Program with_outputs(Program program, const ScheduledProgram &scheduled) {
    program.outputs = scheduled.outputs();
    return program;
}

Expr form(const Program &program) { return canonical_form(copy_reachable(program)); }

struct Blurred {
    Var x{"x"}, y{"y"}, xi{"xi"}, u{"u"};
    Func in, rows, out;
    RDom r{0, 64, "r"};
    explicit Blurred(const std::string &prefix = "")
        : in(prefix + "in"), rows(prefix + "rows"), out(prefix + "out") {
        in(x, y) = x + y;
        rows(x, y) = 0;
        rows(x, y) += in(x + r, y);
        out(x, y) = rows(x, y) + rows(x, y + 1);
    }
    Algorithm algorithm() const { return Algorithm({out.function()}); }
    Schedule schedule() const { return schedule_of({out.function()}); }
};

// With everything that changes definitions, or makes functions.
Blurred scheduled() {
    Blurred b;
    RVar ro("ro"), ri("ri");
    b.out.vectorize(b.x, 8);
    b.rows.compute_at(b.out, b.y).store_root();
    b.rows.update().split(b.r, ro, ri, 8);
    Func parts = b.rows.update().rfactor(ro, b.u);
    parts.compute_at(b.rows, b.y);
    b.in.compute_root();
    b.in.in(parts).compute_at(b.out, b.y);
    b.out.specialize(b.out.output_buffer().width() > 100).unroll(b.y, 2);
    return b;
}

std::string loops_of(const ScheduledProgram &scheduled) {
    Program program;
    program.name = "out";
    program.outputs = scheduled.outputs();
    const lower::Lowering l = lower::nests(program, Target("x86-64-linux-avx2-cuda"));
    return ir::to_string(l.function.body);
}

// ---- Changing each field of a directive ----

template<typename T>
void change(T &field) {
    if constexpr (std::is_same_v<T, Symbol>) {
        field = Symbol::interned("another");
    } else if constexpr (std::is_same_v<T, Expr>) {
        field = Expr(77);
    } else if constexpr (std::is_same_v<T, std::string>) {
        field += "more";
    } else if constexpr (std::is_same_v<T, bool>) {
        field = !field;
    } else if constexpr (std::is_enum_v<T>) {
        field = field == T(0) ? T(1) : T(0);
    } else if constexpr (std::is_same_v<T, program::LoopLevel>) {
        field = program::LoopLevel::at(Symbol::interned("f"), Symbol::interned("another"));
    } else {
        field.emplace_back();  // a list
    }
}

// Calls check(directive) with each field of a default one changed in its turn.
template<typename Directive, typename Check, size_t... i>
void with_each_field_changed(Check check, std::index_sequence<i...>) {
    auto one = [&]<size_t n>(std::integral_constant<size_t, n>) {
        Directive d;
        change(std::get<n>(fields_of(d)));
        check(d);
    };
    (one(std::integral_constant<size_t, i>()), ...);
}

Schedule of_one(const StageDirective &d) {
    return {{Step{Symbol::interned("f"), StageStep{0, {}, {d, {}}}}}};
}
Schedule of_one(const FuncDirective &d) {
    return {{Step{Symbol::interned("f"), FuncStep{{d, {}}}}}};
}

template<typename... Ds>
int check_fields(const std::variant<Ds...> &) {
    const Algorithm none;
    int fields = 0;
    auto all_of = [&]<typename D>(const D &plain) {
        using Directive = std::variant<Ds...>;
        const Schedule before = of_one(Directive(plain));
        CHECK(before == of_one(Directive(D())));
        with_each_field_changed<D>(
            [&](const D &changed) {
                const Schedule after = of_one(Directive(changed));
                CHECK_FALSE(before == after);
                CHECK(before.hash(none) != after.hash(none));
                fields++;
            },
            std::make_index_sequence<field_count<D>>());
    };
    (all_of(Ds()), ...);
    return fields;
}

}  // namespace

TEST_SUITE("algorithm and schedule are values") {
    TEST_CASE("together they are the program that directives have made") {
        for (const Case &c : schedule_cases::all()) {
            CAPTURE(std::string(c.name));
            const Pipeline bare = c.build(false), p = c.build(true);
            const std::vector<FunctionRef> outputs = p.program().outputs;
            const Algorithm algorithm(outputs);
            CHECK(algorithm.hash() == Algorithm(bare.program().outputs).hash());
            const Schedule schedule = schedule_of(outputs);
            const ScheduledProgram scheduled = apply(algorithm, schedule);
            CHECK(ir::equal(form(p.program()), form(with_outputs(p.program(), scheduled))));
            CHECK(schedule_of(scheduled.outputs()) == schedule);
        }
    }
    TEST_CASE("what is fetched or streamed and is no part of the pipeline is refused of both") {
        for (bool fetch : {true, false}) {
            Var x("x");
            Func unused("unused"), f("f");
            unused(x) = x;
            f(x) = x;
            fetch ? f.prefetch(unused, x, x, 2) : f.stream_loads({unused});
            const Program program = f.pipeline().program();
            const Algorithm algorithm(program.outputs);
            const Schedule schedule = schedule_of(program.outputs);
            const Program made = with_outputs(program, apply(algorithm, schedule));
            CHECK(ir::equal(form(program), form(made)));
            CHECK(schedule_of(made.outputs) == schedule);
            for (const Program &p : {program, made}) {
                CHECK_THROWS_WITH_AS(lower::nests(p, Target("x86-64-linux-avx2")),
                                     doctest::Contains("reads"), CompileError);
            }
        }
    }
    TEST_CASE("nothing of the Funcs is needed, or changed, in any order of their ends") {
        Algorithm algorithm;
        Schedule schedule;
        std::string loops, text;
        {
            const Blurred b = scheduled();
            algorithm = b.algorithm();
            schedule = b.schedule();
            text = b.out.schedule_as_cpp();
            loops = loops_of(apply(algorithm, schedule));
            CHECK(b.out.schedule_as_cpp() == text);
        }
        ScheduledProgram scheduled = apply(algorithm, schedule);
        algorithm = {};
        const ScheduledProgram copy = scheduled;
        scheduled = {};
        CHECK(loops_of(copy) == loops);
    }
    TEST_CASE("candidates stand side by side, are extended, undone, compared and printed") {
        const Blurred b;
        const Algorithm algorithm = b.algorithm();
        const Symbol out = b.out.function()->name, x = Symbol::interned("x");
        const Schedule none;
        Schedule first;
        first.steps.push_back(
            {out, StageStep{0, {}, {SetLoopKind{Symbol::interned("y"), LoopKind::Parallel}, {}}}});
        Schedule second = first;
        second.steps.push_back(
            {out, StageStep{0, {}, {SetLoopKind{x, LoopKind::Unrolled}, {"file.cpp", 7}}}});
        CHECK(loops_of(apply(algorithm, first)) != loops_of(apply(algorithm, none)));
        const std::string cpp = print_schedule(algorithm, first);
        CHECK(cpp.find(".parallel(y)") != std::string::npos);
        CHECK(print_schedule(algorithm, second).find(".unroll(x)") != std::string::npos);
        second.steps.pop_back();
        CHECK(second == first);
        const std::string json = schedule_to_json(algorithm, first);
        CHECK(schedule_from_json(algorithm, json, {}, {}) == first);
    }
    TEST_CASE("lines are no part of what is equal") {
        const Symbol x = Symbol::interned("x");
        auto parallel = [&](const Location &at) {
            return Schedule{{{x, StageStep{0, {}, {SetLoopKind{x, LoopKind::Parallel}, at}}}}};
        };
        CHECK(parallel({"a.cpp", 1}) == parallel({"b.cpp", 2}));
        CHECK(parallel({"a.cpp", 1}).hash({}) == parallel({"b.cpp", 2}).hash({}));
    }
    TEST_CASE("hashes do not depend on names, or on what was made before") {
        const Blurred a = scheduled();
        for (int i = 0; i < 100; i++) Symbol::fresh("between");
        const Blurred b = scheduled(), other("other_");
        CHECK(a.algorithm().hash() == b.algorithm().hash());
        CHECK(a.algorithm().hash() == other.algorithm().hash());
        CHECK(a.schedule().hash(a.algorithm()) == b.schedule().hash(b.algorithm()));
        CHECK(a.schedule().hash(a.algorithm()) != other.schedule().hash(other.algorithm()));
        Blurred changed;
        changed.out(changed.x, changed.y) += 1;
        CHECK(changed.algorithm().hash() != a.algorithm().hash());
    }
    TEST_CASE("every field of every directive counts") {
        CHECK(check_fields(StageDirective()) > 25);
        CHECK(check_fields(FuncDirective()) >= 25);
    }
    TEST_CASE("a step that cannot be done leaves the program as it was") {
        const Blurred b;
        ScheduledProgram program(b.algorithm());
        const std::string before = loops_of(program);
        const Symbol out = b.out.function()->name, z = Symbol::interned("z");
        CHECK_THROWS_AS(
            program.perform({out, StageStep{0, {}, {SetLoopKind{z, LoopKind::Parallel}, {}}}}),
            CompileError);
        CHECK_THROWS_AS(
            program.perform({out, StageStep{3, {}, {SetLoopKind{z, LoopKind::Parallel}, {}}}}),
            CompileError);
        CHECK_THROWS_AS(program.perform({z, FuncStep{{AsyncDirective{}, {}}}}), CompileError);
        CHECK(loops_of(program) == before);
    }
    TEST_CASE("on many threads at once") {
        const Blurred b = scheduled();
        const Algorithm algorithm = b.algorithm();
        const Schedule schedule = b.schedule();
        const std::string loops = loops_of(apply(algorithm, schedule));
        std::vector<int> equal(8);
        {
            std::vector<std::jthread> threads;
            for (int &n : equal) {
                threads.emplace_back([&n, &algorithm, &schedule, &loops] {
                    for (int i = 0; i < 20; i++) {
                        n += loops_of(apply(algorithm, schedule)) == loops;
                    }
                });
            }
        }
        CHECK(equal == std::vector<int>(8, 20));
    }
#ifdef __GLIBC__
    TEST_CASE("2,000 candidates leave the memory of a process as it was") {
        const Blurred b = scheduled();
        const Algorithm algorithm = b.algorithm();
        const Schedule schedule = b.schedule();
        auto try_many = [&](int count) {
            for (int i = 0; i < count; i++) loops_of(apply(algorithm, schedule));
            return mallinfo2().uordblks;
        };
        const size_t before = try_many(100), after = try_many(2000);
        CHECK(after < before + 100'000);
    }
#endif
}
