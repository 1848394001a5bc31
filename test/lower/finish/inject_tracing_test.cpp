#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/finish/inject_tracing.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// A pipeline of f, and g that is its output, with what is traced of either.
std::string traced(const char *of_f, const char *of_g = "", const Context &context = {}) {
    return run_on_function(inject_tracing, str("g: output int32[1]", of_g),
                           str("    realize f: {int32}", of_f,
                               " over [0, +9]\n"
                               "    produce f: f(0) = 1\n"
                               "    produce g: g(3) = f(0) + 2"),
                           context);
}

bool has(const std::string &text, std::string_view part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

using Events = std::vector<int64_t>;

// The codes of the events, in the order in which they stand.
Events events(const std::string &text) {
    Events all;
    for_each_node(ir::parse_stmt(text), [&](const ir::IntrinsicCall &c) {
        if (c.op != ir::Intrinsic::trace) return;
        all.push_back(*ir::as_const_int(c.args[0].as<ir::IntrinsicCall>()->args[5]));
    });
    return all;
}

}  // namespace

TEST_SUITE("inject_tracing") {
    TEST_CASE("nothing where nobody asks") { CHECK(events(traced("")).empty()); }
    TEST_CASE("stores, with value and place") {
        const std::string text = traced("", " traced stores");
        CHECK(events(text) == Events{tessera_trace_begin_pipeline, tessera_trace_store,
                                     tessera_trace_end_pipeline});
        CHECK(has(text, "make_struct(\"g\", make_struct(g_value), make_struct(3), "));
    }
    TEST_CASE("loads, after the value is there") {
        const std::string text = traced(" traced loads");
        CHECK(events(text) ==
              Events{tessera_trace_begin_pipeline, tessera_trace_load, tessera_trace_end_pipeline});
        CHECK(has(text, "let f_loaded = f(0) in return_second("));
    }
    TEST_CASE("realizations, with what is computed in them") {
        const Events all = {tessera_trace_begin_pipeline,  tessera_trace_begin_realization,
                            tessera_trace_produce,         tessera_trace_end_produce,
                            tessera_trace_end_realization, tessera_trace_end_pipeline};
        CHECK(events(traced(" traced realizations")) == all);
        CHECK(events(traced("", " traced realizations")) == all);
    }
    TEST_CASE("the region of an output is that of its buffer") {
        const std::string text = run_on_function(
            inject_tracing, "b: output int32[1] of g traced realizations", "    g(3) = 2");
        CHECK(has(text, "make_struct(b.min[0], b.extent[0])"));
    }
    TEST_CASE("loads of an image that is traced") {
        const auto loads = [](const char *of_image) {
            return events(run_on_function(
                inject_tracing, str("i: input int32[1]", of_image, ", g: output int32[1]"),
                "    g(3) = image i(5)"));
        };
        CHECK(loads("").empty());
        CHECK(loads(" traced loads").size() == 3);
    }
    TEST_CASE("which copy of the storage it is, is no coordinate") {
        const std::string text =
            run(inject_tracing, "realize f: {int32} traced stores copies 2 over [0, +9], "
                                "[0, +2]\nf(4, 1) = 7");
        CHECK(has(text, "make_struct(\"f\", make_struct(7), make_struct(4), "));
    }
    TEST_CASE("tags come first") {
        const std::string text = traced(" traced \"blue\"");
        CHECK(events(text) ==
              Events{tessera_trace_begin_pipeline, tessera_trace_tag, tessera_trace_end_pipeline});
        CHECK(has(text, "\"blue\""));
    }
    TEST_CASE("the target may ask for the pipeline alone") {
        Context context;
        context.target.set_feature(Target::TracePipeline);
        CHECK(events(traced("", "", context)).size() == 2);
    }
}
