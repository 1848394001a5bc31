#include "capture.h"
#include <chrono>
#include <doctest/doctest.h>

namespace {

const char *const funcs[] = {"producer", "consumer"};

void busy_for(int milliseconds) {
    auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (std::chrono::steady_clock::now() < until) continue;
}

}  // namespace

TEST_SUITE("runtime profiler") {
    TEST_CASE("time goes to the Func that is current") {
        REQUIRE(tessera_profiler_reset() == 0);
        tessera_profiler_instance_t instance;
        REQUIRE(tessera_profiler_instance_start(nullptr, "p", 2, funcs, &instance) == 0);
        CHECK(tessera_profiler_enter_func(&instance, 1) == -1);
        tessera_profiler_incr_active_threads(&instance);
        busy_for(30);
        tessera_profiler_decr_active_threads(&instance);
        CHECK(instance.active_threads == 0);
        CHECK(tessera_profiler_enter_func(&instance, 0) == 1);
        tessera_profiler_set_current_func(&instance, 1);
        CHECK(tessera_profiler_instance_end(nullptr, &instance) == 0);
        tessera_profiler_func_stats_t producer, consumer;
        tessera_profiler_pipeline_stats_t pipeline;
        REQUIRE(tessera_profiler_get_func("p", 0, &producer));
        REQUIRE(tessera_profiler_get_func("p", 1, &consumer));
        REQUIRE(tessera_profiler_get_pipeline("p", &pipeline));
        CHECK(pipeline.time_ns >= 30000000);
        CHECK(consumer.time_ns > producer.time_ns);
        CHECK(consumer.time_ns + producer.time_ns <= pipeline.time_ns);
        CHECK(consumer.calls == 1);
        CHECK(pipeline.runs == 1);
        CHECK(pipeline.num_funcs == 2);
        CHECK(std::string(consumer.name) == "consumer");
        CHECK_FALSE(tessera_profiler_get_func("p", 2, &consumer));
        CHECK_FALSE(tessera_profiler_get_pipeline("q", &pipeline));
    }
    TEST_CASE("memory is counted by Func and for the pipeline") {
        REQUIRE(tessera_profiler_reset() == 0);
        tessera_profiler_instance_t instance;
        REQUIRE(tessera_profiler_instance_start(nullptr, "p", 2, funcs, &instance) == 0);
        tessera_profiler_memory_allocate(nullptr, &instance, 0, 100);
        tessera_profiler_memory_allocate(nullptr, &instance, 1, 50);
        tessera_profiler_memory_free(nullptr, &instance, 0, 100);
        tessera_profiler_memory_allocate(nullptr, &instance, 0, 70);
        tessera_profiler_stack_peak(nullptr, &instance, 1, 32);
        tessera_profiler_stack_peak(nullptr, &instance, 1, 16);
        tessera_profiler_func_stats_t producer, consumer;
        tessera_profiler_pipeline_stats_t pipeline;
        REQUIRE(tessera_profiler_get_func("p", 0, &producer));
        REQUIRE(tessera_profiler_get_func("p", 1, &consumer));
        REQUIRE(tessera_profiler_get_pipeline("p", &pipeline));
        CHECK(producer.memory_current == 70);
        CHECK(producer.memory_peak == 100);
        CHECK(producer.memory_total == 170);
        CHECK(producer.num_allocations == 2);
        CHECK(consumer.stack_peak == 32);
        CHECK(pipeline.memory_peak == 150);
        CHECK(pipeline.num_allocations == 3);
        tessera_profiler_instance_end(nullptr, &instance);
    }
    TEST_CASE("several instances are live at once, and end in any order") {
        REQUIRE(tessera_profiler_reset() == 0);
        tessera_profiler_instance_t a, b, c;
        tessera_profiler_instance_start(nullptr, "p", 2, funcs, &a);
        tessera_profiler_instance_start(nullptr, "q", 1, funcs, &b);
        tessera_profiler_instance_start(nullptr, "p", 2, funcs, &c);
        tessera_profiler_instance_end(nullptr, &b);
        tessera_profiler_instance_end(nullptr, &c);
        tessera_profiler_instance_end(nullptr, &a);
        tessera_profiler_pipeline_stats_t stats;
        REQUIRE(tessera_profiler_get_pipeline("p", &stats));
        CHECK(stats.runs == 2);
        REQUIRE(tessera_profiler_get_pipeline("q", &stats));
        CHECK(stats.runs == 1);
    }
    TEST_CASE("the report names pipelines and Funcs; a reset forgets them") {
        Capture capture;
        REQUIRE(tessera_profiler_reset() == 0);
        tessera_profiler_instance_t instance;
        tessera_profiler_instance_start(nullptr, "blur", 2, funcs, &instance);
        tessera_profiler_enter_func(&instance, 0);
        tessera_profiler_memory_allocate(nullptr, &instance, 0, 100);
        CHECK(tessera_profiler_reset() != 0);
        CHECK(capture.has("while a pipeline is running"));
        capture.text().clear();
        tessera_profiler_instance_end(nullptr, &instance);
        tessera_profiler_report(nullptr);
        CHECK(capture.has("blur\n  total time: "));
        CHECK(capture.has("runs: 1,"));
        CHECK(capture.has("  producer: "));
        CHECK(capture.has("heap peak: 100 bytes"));
        CHECK_FALSE(capture.has("consumer"));
        CHECK(tessera_profiler_reset() == 0);
        capture.text().clear();
        tessera_profiler_report(nullptr);
        CHECK(capture.text().empty());
    }
}
