#include "harness.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace tessera;
using namespace tessera::test;

namespace {

// What a run reports, an event per line: "f store [2] = 4".
std::vector<std::string> *events = nullptr;

const char *name_of_event(int code) {
    static const char *const names[] = {"load",
                                        "store",
                                        "begin_realization",
                                        "end_realization",
                                        "produce",
                                        "end_produce",
                                        "consume",
                                        "end_consume",
                                        "begin_pipeline",
                                        "end_pipeline",
                                        "tag",
                                        "begin_parallel_task",
                                        "end_parallel_task"};
    return names[code];
}

int32_t record(JITUserContext *, const tessera_trace_event_t *e) {
    std::ostringstream line;
    line << e->func << " " << name_of_event(int(e->event));
    if (e->dimensions > 0) {
        line << " [";
        for (int i = 0; i < e->dimensions; i++) line << (i ? " " : "") << e->coordinates[i];
        line << "]";
    }
    if (e->value) {
        for (int i = 0; i < e->type.lanes; i++) {
            line << " = " << static_cast<const int32_t *>(e->value)[i];
        }
    }
    if (e->trace_tag && *e->trace_tag) line << " \"" << e->trace_tag << "\"";
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    events->push_back(line.str());
    return int32_t(events->size());
}

// The events of a run, but for the beginning and end of the pipeline.
std::vector<std::string> traced(Func f, const std::vector<int32_t> &sizes,
                                const Target &target = Target()) {
    std::vector<std::string> all;
    events = &all;
    JITUserContext context;
    context.handlers.custom_trace = record;
    f.realize(&context, sizes, target);
    REQUIRE(all.size() >= 2);
    CHECK(all.front().find("begin_pipeline") != std::string::npos);
    CHECK(all.back().find("end_pipeline") != std::string::npos);
    return {all.begin() + 1, all.end() - 1};
}

std::string joined(const std::vector<std::string> &lines) {
    std::string all;
    for (const std::string &line : lines) all += line + "; ";
    return all;
}

Var x("x"), y("y");

}  // namespace

TEST_SUITE("tracing") {
    TEST_CASE("loads of a Func, each with place and value") {
        Func f("f"), g("g");
        f(x) = x * x;
        g(x) = f(x + 1) + 1;
        f.compute_root().trace_loads();
        CHECK(joined(traced(g, {3})) == "f load [1] = 1; f load [2] = 4; f load [3] = 9; ");
    }
    TEST_CASE("loads of an image") {
        ImageParam im(Int(32), 2, "im");
        Buffer<int> in(3, 2);
        in.fill([](int i, int j) { return i + 10 * j; });
        im.set(in);
        im.trace_loads();
        im.add_trace_tag("red");
        Func g("g");
        g(x) = im(x, 1);
        CHECK(joined(traced(g, {3})) ==
              "im tag \"red\"; im load [0 1] = 10; im load [1 1] = 11; im load [2 1] = 12; ");
    }
    TEST_CASE("stores, of updates too, and a vector at once") {
        Func f("f");
        f(x) = x;
        f(2) += 10;
        f.vectorize(x, 2).trace_stores();
        CHECK(joined(traced(f, {4})) ==
              "f store [0 1] = 0 = 1; f store [2 3] = 2 = 3; f store [2] = 12; ");
    }
    TEST_CASE("loads and stores of vectors: of each coordinate, all lanes") {
        Func f("f"), g("g");
        f(x, y) = x + 10 * y;
        g(x, y) = f(x, y) + f(0, 1);
        f.compute_root().trace_loads();
        g.bound(x, 0, 2).bound(y, 0, 2).vectorize(x).vectorize(y).trace_stores();
        CHECK(joined(traced(g, {2, 2})) ==
              "f load [0 1 0 1 0 0 1 1] = 0 = 1 = 10 = 11; f load [0 1] = 10; "
              "g store [0 1 0 1 0 0 1 1] = 10 = 11 = 20 = 21; ");
    }
    TEST_CASE("lanes that a condition leaves out are traced one by one") {
        Func f("f"), g("g");
        f(x) = 7 * x;
        g(x) = f(x);
        f.compute_root().trace_loads();
        g.vectorize(x, 2, TailStrategy::GuardWithIf).trace_stores();
        CHECK(joined(traced(g, {3})) ==
              "f load [0] = 0; g store [0] = 0; f load [1] = 7; g store [1] = 7; "
              "f load [2] = 14; g store [2] = 14; ");
    }
    TEST_CASE("stores of what is not undefined, and of each element") {
        Func f("f");
        f(x) = x;
        f(x) = select(x % 2 == 0, undef<int>(), 7);
        f(scatter(0, 1)) = f(gather(1, 0));
        f.trace_stores();
        CHECK(joined(traced(f, {3})) ==
              "f store [0] = 0; f store [1] = 1; f store [2] = 2; f store [1] = 7; "
              "f store [0] = 7; f store [1] = 0; ");
    }
    TEST_CASE("coordinates, wherever in its storage a value is") {
        for (bool ring : {false, true}) {
            Func f("f"), g("g");
            f(x, y) = x + 10 * y;
            g(x, y) = f(x, y) + f(x, y + 1);
            f.compute_at(g, y).trace_stores().trace_loads();
            ring ? f.hoist_storage_root().ring_buffer(2) : f.store_root();
            std::string row[3], loads[2];
            for (int j = 0; j < 3; j++) {
                row[j] = str("f store [0 ", j, "] = ", 10 * j, "; ");
                if (j < 2) {
                    loads[j] = str("f load [0 ", j, "] = ", 10 * j, "; f load [0 ", j + 1,
                                   "] = ", 10 * j + 10, "; ");
                }
            }
            std::string expected =
                row[0] + row[1] + loads[0] + (ring ? row[1] : "") + row[2] + loads[1];
            CHECK(joined(traced(g, {1, 2})) == expected);
        }
    }
    TEST_CASE("a load at a place that is loaded itself, once each") {
        Func f("f"), g("g"), h("h");
        f(x) = x + 1;
        g(x) = 10 * x;
        h(x) = g(clamp(f(x), 0, 3));
        f.compute_root().trace_loads();
        g.compute_root().trace_loads();
        CHECK(joined(traced(h, {1})) == "f load [0] = 1; g load [1] = 10; ");
    }
    TEST_CASE("stores of an atomic update") {
        Func f("f");
        Buffer<int> where(3);
        for (int i = 0; i < 3; i++) where(i) = 2 - i;
        RDom r(0, 3, "r");
        f(x) = 0;
        f(clamp(where(r), 0, 2)) += r + 1;
        f.update().atomic().parallel(r);
        f.trace_stores();
        std::vector<std::string> stores = traced(f, {3});
        std::sort(stores.begin(), stores.end());
        CHECK(joined(stores) == "f store [0] = 0; f store [0] = 3; f store [1] = 0; "
                                "f store [1] = 2; f store [2] = 0; f store [2] = 1; ");
    }
    TEST_CASE("loads and stores of an atomic update, each store with the value that came of it") {
        Func f("f"), out("out");
        RDom r(0, 3, "r");
        f(x) = 0;
        f(x) += r + 1;
        f.compute_root().update().atomic().parallel(r);
        f.trace_loads().trace_stores();
        out(x) = f(x);
        std::vector<std::string> events = traced(out, {1});
        REQUIRE(events.size() == 8);
        CHECK(events.front() == "f store [0] = 0");
        CHECK(events.back() == "f load [0] = 6");
        CHECK(events[6] == "f store [0] = 6");
    }
    TEST_CASE("realizations, and what is produced and consumed in them") {
        Func f("f"), g("g");
        f(x, y) = x;
        g(x, y) = f(x, y) + f(x + 1, y);
        f.compute_at(g, y).trace_realizations();
        std::string row_0 = "f begin_realization [0 3 0 1]; f produce [0 3 0 1]; "
                            "f end_produce [0 3 0 1]; f consume [0 3 0 1]; "
                            "f end_consume [0 3 0 1]; f end_realization [0 3 0 1]; ";
        std::string row_1 = row_0;
        for (size_t at = 0; (at = row_1.find("0 1]", at)) != std::string::npos;) row_1[at] = '1';
        CHECK(joined(traced(g, {2, 2})) == row_0 + row_1);
    }
    TEST_CASE("what says where an atomic update stores is loaded once") {
        Func f("f"), g("g");
        RDom r(0, 3);
        f(x) = x;
        SUBCASE("by the machine's own addition") {
            g(x) = 5;
            g(clamp(f(r), 0, 7)) += 1;
        }
        SUBCASE("in a loop that exchanges what it has computed") {
            g(x) = 5;
            g(clamp(f(r), 0, 7)) = max(g(clamp(f(r), 0, 7)) * 3, 1);
        }
        SUBCASE("under a mutex") {
            g(x) = Tuple(5, 0);
            Expr at = clamp(f(r), 0, 7);
            g(at) = Tuple(g(at)[0] + g(at)[1], g(at)[1] + g(at)[0]);
        }
        f.compute_root().trace_loads();
        g.update().atomic(true).parallel(r);
        std::vector<std::string> events = traced(g, {8});
        std::sort(events.begin(), events.end());
        CHECK(joined(events) == "f load [0] = 0; f load [1] = 1; f load [2] = 2; ");
    }
    TEST_CASE("features of the target trace every Func and image") {
        ImageParam im(Int(32), 1, "im");
        Buffer<int> in(3);
        in.fill(7);
        im.set(in);
        Func f("f"), g("g");
        f(x) = im(x);
        g(x) = f(x) + 1;
        f.compute_root();
        auto with = [&](Target::Feature feature) {
            return joined(traced(g, {2}, get_host_target().with_feature(feature)));
        };
        CHECK(with(Target::TraceLoads) ==
              "im load [0] = 7; im load [1] = 7; f load [0] = 7; f load [1] = 7; ");
        CHECK(with(Target::TraceStores) ==
              "f store [0] = 7; f store [1] = 7; g store [0] = 8; g store [1] = 8; ");
        CHECK(with(Target::TraceRealizations) ==
              "g begin_realization [0 2]; f begin_realization [0 2]; f produce [0 2]; "
              "f end_produce [0 2]; f consume [0 2]; "
              "g produce [0 2]; g end_produce [0 2]; f end_consume [0 2]; "
              "f end_realization [0 2]; g end_realization [0 2]; ");
    }
    TEST_CASE("RoundUp stores beyond what is needed, RoundUpAndBlend what was there") {
        auto last = [](TailStrategy tail) {
            Func f("f"), out("out");
            f(x) = x;
            f(x) = f(x) * 10;
            out(x) = f(x);
            Var xi("xi");
            f.compute_root().update().split(x, x, xi, 4, tail);
            f.trace_stores();
            std::vector<std::string> events = traced(out, {3});
            REQUIRE(events.size() == 8);
            CHECK(events[6] == "f store [2] = 20");
            return events.back();
        };
        CHECK(last(TailStrategy::RoundUp) == "f store [3] = 30");
        CHECK(last(TailStrategy::RoundUpAndBlend) == "f store [3] = 3");
    }
    TEST_CASE("events of a parallel loop have the ids of their threads") {
        static std::mutex mutex;
        static std::condition_variable arrived;
        static std::map<std::thread::id, std::set<int32_t>> ids;
        ids.clear();
        int threads = tessera_set_num_threads(3);
        JITUserContext context;
        context.handlers.custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
            std::unique_lock lock(mutex);
            ids[std::this_thread::get_id()].insert(e->thread_id);
            if (e->event != tessera_trace_store) return 1;
            // So that the loop is not over before a second thread has begun.
            arrived.notify_all();
            arrived.wait_for(lock, std::chrono::seconds(20), [] { return ids.size() > 1; });
            return 1;
        };
        Func f("f");
        f(x, y) = x + y;
        f.parallel(y).trace_stores();
        f.realize(&context, {4, 16});
        tessera_set_num_threads(threads);
        CHECK(ids.size() > 1);
        std::set<int32_t> all;
        for (const auto &[thread, of_thread] : ids) {
            CHECK(of_thread.size() == 1);
            CHECK(*of_thread.begin() > 0);
            CHECK(all.insert(*of_thread.begin()).second);
        }
    }
    TEST_CASE("tasks of a parallel loop, with the iteration and the loop") {
        Func f("f");
        f(x, y) = x + y;
        f.parallel(y).trace_realizations();
        std::vector<std::string> all = traced(f, {2, 3});
        std::ranges::sort(all);
        CHECK(joined(all) == "f begin_parallel_task [0 1] \"f.y\"; "
                             "f begin_parallel_task [1 1] \"f.y\"; "
                             "f begin_parallel_task [2 1] \"f.y\"; "
                             "f begin_realization [0 2 0 3]; "
                             "f end_parallel_task [0 1] \"f.y\"; "
                             "f end_parallel_task [1 1] \"f.y\"; "
                             "f end_parallel_task [2 1] \"f.y\"; "
                             "f end_produce [0 2 0 3]; f end_realization [0 2 0 3]; "
                             "f produce [0 2 0 3]; ");
    }
    TEST_CASE("tasks of an asynchronous producer and of what runs beside it") {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x) + 1;
        f.compute_root().async();
        for (bool of_both : {false, true}) {
            f.trace_realizations();
            if (of_both) g.trace_realizations();
            const std::vector<std::string> all = traced(g, {2});
            CHECK(std::ranges::count(all, "f begin_parallel_task \"async\"") == 1);
            CHECK(std::ranges::count(all, "f end_parallel_task \"async\"") == 1);
            CHECK(std::ranges::count(all, "g begin_parallel_task \"async\"") == (of_both ? 1 : 0));
        }
    }
    TEST_CASE("tags come before everything else") {
        Func f("f");
        f(x) = x;
        f.add_trace_tag("blue").trace_stores();
        CHECK(joined(traced(f, {1})) == "f tag \"blue\"; f store [0] = 0; ");
    }
    TEST_CASE("without a directive nothing is reported") {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x);
        f.compute_root();
        std::vector<std::string> all;
        events = &all;
        JITUserContext context;
        context.handlers.custom_trace = record;
        g.realize(&context, {4});
        CHECK(all.empty());
    }
    TEST_CASE("the realizations of what consumes an asynchronous producer are traced once") {
        Var x("x"), o("o"), i("i");
        Func f("f"), g("g"), h("h");
        f(x) = x;
        g(x) = f(x) * 2;
        h(x) = g(x) + 1;
        g.compute_root().split(x, o, i, 4).trace_realizations();
        f.compute_at(g, o).store_root().async();
        static int begun = 0;
        h.jit_handlers().custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
            begun += e->event == tessera_trace_begin_realization;
            return 1;
        };
        Buffer<int> result = h.realize({20});
        for (int k = 0; k < 20; k++) CHECK(result(k) == 2 * k + 1);
        CHECK(begun == 1);
    }
}
