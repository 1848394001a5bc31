#include <doctest/doctest.h>
#include <lower/lower.h>
#include <optional>
#include <program/steps.h>
#include <tessera.h>

// Symbols are freed once nobody can name them any more, and no sooner. (A sanitizer sees what is
// used after it is gone.)

using namespace tessera;

namespace {

using Funcs = std::vector<program::FunctionRef>;

ir::Module lowered(const program::ScheduledProgram &scheduled) {
    program::Program p;
    p.name = "made";
    p.outputs = scheduled.outputs();
    return lower::lower(p, get_host_target());
}

// A pipeline of Funcs, and all kinds of what is made from it and names its symbols.
struct Made {
    std::optional<Func> output, wrapper, clone, partial;
    std::optional<RDom> domain;
    std::optional<Var> unnamed;
    std::optional<LoopLevel> level;
    std::optional<Buffer<float>> buffer;
    std::optional<Expr> expr;
    std::optional<program::Algorithm> algorithm;
    std::optional<program::Schedule> schedule;
    std::optional<program::ScheduledProgram> scheduled;
    std::optional<ir::Module> module;

    Made();

private:
    void make_program(const Funcs &outputs);
};

Made::Made() : domain(RDom(0, 8, 0, 8)), unnamed(Var()), buffer(Buffer<float>(8, 8)) {
    const Var x("x"), y("y");
    const Param<float> scale;
    const ImageParam image(Float(32), 2);
    Func f, g, sum, out;
    f(x, y) = image(x, y) * scale + (*buffer)(x, y);
    g(x, y) = f(x, y) + f(x, y + 1);
    sum(x) = 0.0f;
    sum(x) += g(domain->x, domain->y) * x;
    out(x, y) = f(x, y) + g(x, y) + sum(x);
    out.vectorize(x, 4);
    wrapper = f.in(out);
    wrapper->compute_at(out, y);
    clone = f.clone_in(g);
    clone->compute_root().store_in(MemoryType::Heap);
    partial = sum.update().rfactor(domain->y, *unnamed);
    partial->compute_root().update().vectorize(*unnamed, 4);
    sum.compute_root().update().unroll(domain->y, 2);
    g.compute_root().split(x, x, Var(), 4).specialize(scale > 1.0f);
    level = LoopLevel(out, y);
    expr = g(*unnamed, y);
    output = out;
    make_program({out.function()});
}

void Made::make_program(const Funcs &outputs) {
    algorithm = program::Algorithm(outputs);
    schedule = program::schedule_of(outputs);
    scheduled = program::apply(*algorithm, *schedule);
    module = lowered(*scheduled);
}

// All texts of the program's symbols, and more.
std::string text_of(const program::ScheduledProgram &p) {
    std::string text;
    for (const auto &[name, f] : p.functions()) {
        text += str(name, f->stages[0]->values[0], f->stages[0]->schedule.loops[0].var);
    }
    return text;
}

void use(const Made &m) {
    for (const auto &f : {m.output, m.wrapper, m.clone, m.partial}) {
        if (!f) continue;
        CHECK(f->name()[0] == 'f');
        CHECK(str(f->function()->stages[0]->values[0]) != "");
        for (const VarOrRVar &v : f->split_vars()) CHECK(v.name() != "");
    }
    if (m.output) CHECK(m.output->schedule_as_cpp().find("rfactor") != std::string::npos);
    if (m.output) CHECK(m.output->pipeline().infer_arguments().size() == 2);
    if (m.domain) CHECK(str(Expr(m.domain->x)) == m.domain->x.name());
    if (m.unnamed) CHECK(m.unnamed->name()[0] == 'v');
    if (m.level) CHECK(m.level->func()[0] == 'f');
    if (m.buffer) CHECK(m.buffer->name()[0] == 'b');
    if (m.expr) CHECK(str(*m.expr).find("y)") != std::string::npos);
    if (m.algorithm) CHECK(m.algorithm->hash() != 0);
    if (m.algorithm && m.schedule) {
        CHECK(text_of(program::apply(*m.algorithm, *m.schedule)).find("f") != std::string::npos);
    }
    if (m.scheduled) CHECK(text_of(*m.scheduled).find("f") != std::string::npos);
    if (m.module) CHECK(ir::to_string(*m.module).find("made") != std::string::npos);
}

// Drops each of the members, the k-th last, and uses after each what is still there.
template<typename... Members>
void drop_all_but_one_first(Made &m, size_t k, Members... members) {
    size_t n = 0;
    const auto drop = [&](auto member) {
        (m.*member).reset();
        use(m);
    };
    ((n++ == k ? void() : drop(members)), ...);
    n = 0;
    ((n++ == k ? drop(members) : void()), ...);
}

}  // namespace

TEST_SUITE("symbols that nobody can name") {
    TEST_CASE("none is left of pipelines that are made, scheduled, lowered and dropped") {
        Made();  // whatever is made once
        const size_t before = Symbol::number_of_counted();
        for (int i = 0; i < 10; i++) {
            use(Made());
            CHECK(Symbol::number_of_counted() == before);
        }
    }
    TEST_CASE("whatever is left of a pipeline keeps those that it names") {
        Made();
        const size_t before = Symbol::number_of_counted();
        for (size_t k = 0; k < 13; k++) {
            CAPTURE(k);
            Made m;
            drop_all_but_one_first(m, k, &Made::output, &Made::wrapper, &Made::clone,
                                   &Made::partial, &Made::domain, &Made::unnamed, &Made::level,
                                   &Made::buffer, &Made::expr, &Made::algorithm, &Made::schedule,
                                   &Made::scheduled, &Made::module);
            CHECK(Symbol::number_of_counted() == before);
        }
    }
    TEST_CASE("a schedule and an algorithm give programs when the Funcs are gone") {
        Made m;
        m.output = m.wrapper = m.clone = m.partial = std::nullopt;
        m.domain.reset();
        m.scheduled.reset();
        program::ScheduledProgram again = program::apply(*m.algorithm, *m.schedule);
        const ir::Module module = lowered(again);
        const std::string before = ir::to_string(module);
        again = {};
        m.algorithm.reset();
        m.schedule.reset();
        CHECK(ir::to_string(module) == before);
    }
}
