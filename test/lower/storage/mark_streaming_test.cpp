#include "lower/pass_test.h"
#include "lower/storage/mark_streaming.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
// A function f with a loop x, and its schedule to fill in.
struct Streamed {
    ir::NamedSymbols scope;
    Context context;
    program::FunctionRef f = make_ref<program::FunctionContents>();

    Streamed() {
        f->name = scope["f"];
        f->stages = {make_ref<program::Definition>()};
        context.functions[f->name] = f;
        context.order = {f};
        context.buffers[f->name] = {f->name};
        context.loops[scope["x"]] = {f->name, scope["x"], 0, &schedule()};
    }
    program::StageSchedule &schedule() { return f->stages[0]->schedule; }
    std::string run(std::string_view text) {
        return to_string(mark_streaming(ir::parse_stmt(text, scope), context));
    }
};
}  // namespace

TEST_SUITE("mark_streaming") {
    TEST_CASE("stores of a stage") {
        Streamed s;
        s.schedule().stream_stores = true;
        CHECK(s.run("for x in [0, +n): f[x] = g[x]\nf[0] = 1") ==
              printed("for x in [0, +n): f[x streaming] = g[x]\nf[0] = 1"));
    }
    TEST_CASE("loads by name, or all") {
        Streamed s;
        s.schedule().stream_loads = {s.scope["g"]};
        CHECK(s.run("for x in [0, +n): f[x] = g[x] + h[x]") ==
              printed("for x in [0, +n): f[x] = g[x streaming] + h[x]"));
        s.schedule().stream_all_loads = true;
        CHECK(s.run("for x in [0, +n): f[x] = g[x] + h[x]") ==
              printed("for x in [0, +n): f[x] = g[x streaming] + h[x streaming]"));
    }
}
