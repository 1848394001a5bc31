#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/finish/inject_tracing.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
// A pipeline of f, and g that is its output.
struct Traced {
    ir::NamedSymbols scope;
    Context context;
    program::FunctionRef f = make_ref<program::FunctionContents>();
    program::FunctionRef g = make_ref<program::FunctionContents>();

    Traced() {
        for (const auto &[function, name] : {std::pair(f, "f"), std::pair(g, "g")}) {
            function->name = scope[name];
            function->args = {scope["x"]};
            context.functions[function->name] = function;
            context.order.push_back(function);
        }
        context.outputs = {g->name};
    }
    ir::Stmt run() {
        ir::Stmt s = ir::parse_stmt("realize f: {int32} over [0, +9]\n"
                                    "produce f: f(0) = 1\nproduce g: g(a) = f(0) + 2",
                                    scope);
        return inject_tracing(s, context);
    }
    // The codes of the events, in the order in which they stand.
    std::vector<int64_t> events(const ir::Stmt &s) {
        std::vector<int64_t> all;
        for_each_node(s, [&](const ir::IntrinsicCall &c) {
            if (c.op != ir::Intrinsic::trace) return;
            all.push_back(*ir::as_const_int(c.args[0].as<ir::IntrinsicCall>()->args[5]));
        });
        return all;
    }
};
}  // namespace

TEST_SUITE("inject_tracing") {
    TEST_CASE("nothing where nobody asks") {
        Traced t;
        CHECK(t.events(t.run()).empty());
    }
    TEST_CASE("stores, with value and place") {
        Traced t;
        t.g->schedule.trace.stores = true;
        ir::Stmt s = t.run();
        CHECK(t.events(s) == std::vector<int64_t>{tessera_trace_begin_pipeline, tessera_trace_store,
                                                  tessera_trace_end_pipeline});
        CHECK(to_string(s).find("make_struct(\"g\", make_struct(g_value), make_struct(a), ") !=
              std::string::npos);
    }
    TEST_CASE("loads, after the value is there") {
        Traced t;
        t.f->schedule.trace.loads = true;
        ir::Stmt s = t.run();
        CHECK(t.events(s) == std::vector<int64_t>{tessera_trace_begin_pipeline, tessera_trace_load,
                                                  tessera_trace_end_pipeline});
        CHECK(to_string(s).find("let f_loaded = f(0) in return_second(") != std::string::npos);
    }
    TEST_CASE("realizations, with what is computed in them") {
        Traced t;
        t.f->schedule.trace.realizations = true;
        CHECK(t.events(t.run()) ==
              std::vector<int64_t>{tessera_trace_begin_pipeline, tessera_trace_begin_realization,
                                   tessera_trace_produce, tessera_trace_end_produce,
                                   tessera_trace_end_realization, tessera_trace_end_pipeline});
        Traced output;
        output.g->schedule.trace.realizations = true;
        CHECK(output.events(output.run()) ==
              std::vector<int64_t>{tessera_trace_begin_pipeline, tessera_trace_begin_realization,
                                   tessera_trace_produce, tessera_trace_end_produce,
                                   tessera_trace_end_realization, tessera_trace_end_pipeline});
    }
    TEST_CASE("tags come first") {
        Traced t;
        t.f->schedule.trace.tag = "blue";
        CHECK(t.events(t.run()) == std::vector<int64_t>{tessera_trace_begin_pipeline,
                                                        tessera_trace_tag,
                                                        tessera_trace_end_pipeline});
    }
    TEST_CASE("the target may ask for everything") {
        Traced t;
        t.context.target.set_feature(Target::TraceStores);
        CHECK(t.events(t.run()).size() == 4);
        Traced pipeline;
        pipeline.context.target.set_feature(Target::TracePipeline);
        CHECK(pipeline.events(pipeline.run()).size() == 2);
    }
}
