#include "capture.h"
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

tessera_trace_event_t event_of(int32_t code, const std::vector<int32_t> &coordinates) {
    tessera_trace_event_t event{};
    event.func = "f";
    event.event = code;
    event.coordinates = const_cast<int32_t *>(coordinates.data());
    event.dimensions = int32_t(coordinates.size());
    return event;
}

}  // namespace

TEST_SUITE("runtime trace") {
    TEST_CASE("events are printed as lines, and have rising ids") {
        std::vector<int32_t> region{0, 10, -1, 5}, site{3, 4};
        int32_t first = 0, second = 0;
        std::string text = stderr_of([&] {
            first = tessera_trace(nullptr, [&] {
                static tessera_trace_event_t e;
                e = event_of(tessera_trace_begin_realization, region);
                return &e;
            }());
            tessera_trace_event_t store = event_of(tessera_trace_store, site);
            float value = 1.5f;
            store.value = &value;
            store.type = {tessera_type_float, 32, 1};
            store.parent_id = first;
            store.value_index = 1;
            store.trace_tag = "tag";
            second = tessera_trace(nullptr, &store);
        });
        CHECK(first > 0);
        CHECK(second == first + 1);
        size_t thread = text.find(", thread ");
        REQUIRE(thread != text.npos);
        std::string on = text.substr(thread, text.find('\n') - thread) + "\n";
        CHECK(text == "begin realization f [0, +10) [-1, +5)  #" + std::to_string(first) +
                          " in #0" + on + "store f(3, 4).1 = 1.5 \"tag\"  #" +
                          std::to_string(second) + " in #" + std::to_string(first) + on);
    }
    TEST_CASE("an event has the layout of halide_trace_event_t, and the thread in its padding") {
        struct Other {
            const char *func;
            void *value;
            int32_t *coordinates;
            const char *trace_tag;
            struct {
                uint8_t code, bits;
                uint16_t lanes;
            } type;
            int32_t event, parent_id, value_index, dimensions;
        };
        CHECK(sizeof(tessera_trace_event_t) == sizeof(Other));
        CHECK(offsetof(tessera_trace_event_t, trace_tag) == offsetof(Other, trace_tag));
        CHECK(offsetof(tessera_trace_event_t, type) == offsetof(Other, type));
        CHECK(offsetof(tessera_trace_event_t, lanes) == offsetof(Other, type) + 2);
        CHECK(offsetof(tessera_trace_event_t, event) == offsetof(Other, event));
        CHECK(offsetof(tessera_trace_event_t, value_index) == offsetof(Other, value_index));
        CHECK(offsetof(tessera_trace_event_t, dimensions) == offsetof(Other, dimensions));
        CHECK(offsetof(tessera_trace_event_t, thread_id) ==
              offsetof(Other, dimensions) + sizeof(int32_t));
    }
    TEST_CASE("an event has the id of its thread, whatever the caller says") {
        static std::vector<int32_t> ids;
        ids.clear();
        auto old = tessera_set_custom_trace([](void *, const tessera_trace_event_t *e) {
            ids.push_back(e->thread_id);
            return int32_t(ids.size());
        });
        tessera_trace_event_t event = event_of(tessera_trace_produce, {});
        event.thread_id = 12345;
        tessera_trace(nullptr, &event);
        std::thread([&] { tessera_trace(nullptr, &event); }).join();
        tessera_trace(nullptr, &event);
        tessera_set_custom_trace(old);
        REQUIRE(ids.size() == 3);
        CHECK(ids[0] == ids[2]);
        CHECK(ids[0] != ids[1]);
        CHECK(ids[0] != 12345);
        CHECK(event.thread_id == 12345);
    }
    TEST_CASE("vectors show the site and value of each lane") {
        std::vector<int32_t> site{3, 4, 7, 7};
        int8_t values[] = {-1, 2};
        tessera_trace_event_t load = event_of(tessera_trace_load, site);
        load.value = values;
        load.type = {tessera_type_int, 8, 2};
        std::string text = stderr_of([&] { tessera_trace(nullptr, &load); });
        CHECK(text.find("load f(<3, 4>, <7, 7>) = <-1, 2>") == 0);
    }
    TEST_CASE("values of every type are printed") {
        std::vector<int32_t> site{0};
        auto printed = [&](tessera_type_t type, const void *value) {
            tessera_trace_event_t load = event_of(tessera_trace_load, site);
            load.value = const_cast<void *>(value);
            load.type = type;
            std::string text = stderr_of([&] { tessera_trace(nullptr, &load); });
            size_t from = text.find("= ") + 2;
            return text.substr(from, text.find("  #") - from);
        };
        int64_t minus = -2;
        uint64_t large = UINT64_MAX;
        double real = 0.5;
        uint16_t half = 0x3c00, brain = 0x3f80;
        uint8_t largest = 0x7e, least = 0x81, not_a_number = 0x7f, infinity = 0x7c;
        CHECK(printed({tessera_type_int, 8, 1}, &minus) == "-2");
        CHECK(printed({tessera_type_int, 16, 1}, &minus) == "-2");
        CHECK(printed({tessera_type_int, 32, 1}, &minus) == "-2");
        CHECK(printed({tessera_type_int, 64, 1}, &minus) == "-2");
        CHECK(printed({tessera_type_uint, 1, 1}, "\1") == "1");
        CHECK(printed({tessera_type_uint, 8, 1}, &large) == "255");
        CHECK(printed({tessera_type_uint, 16, 1}, &large) == "65535");
        CHECK(printed({tessera_type_uint, 32, 1}, &large) == "4294967295");
        CHECK(printed({tessera_type_uint, 64, 1}, &large) == "18446744073709551615");
        CHECK(printed({tessera_type_float, 64, 1}, &real) == "0.5");
        CHECK(printed({tessera_type_float, 16, 1}, &half) == "1");
        CHECK(printed({tessera_type_bfloat, 16, 1}, &brain) == "1");
        CHECK(printed({tessera_type_float8_e4m3, 8, 1}, &largest) == "448");
        CHECK(printed({tessera_type_float8_e4m3, 8, 1}, &least) == "-0.001953125");
        CHECK(printed({tessera_type_float8_e4m3, 8, 1}, &not_a_number) == "nan");
        CHECK(printed({tessera_type_float8_e5m2, 8, 1}, &infinity) == "inf");
        CHECK(printed({tessera_type_float8_e5m2, 8, 1}, &least) == "-1.52587891e-05");
    }
    TEST_CASE("packets are appended to the file named by the environment") {
        std::filesystem::path path =
            std::filesystem::temp_directory_path() / ("tessera_trace_" + std::to_string(getpid()));
        setenv("TESSERA_TRACE_FILE", path.c_str(), 1);
        std::vector<int32_t> site{3, 4};
        uint16_t value = 258;
        tessera_trace_event_t store = event_of(tessera_trace_store, site);
        store.value = &value;
        store.type = {tessera_type_uint, 16, 1};
        int32_t id = tessera_trace(nullptr, &store);
        CHECK(tessera_shutdown_trace() == 0);
        CHECK(tessera_trace(nullptr, &store) == id + 1);
        CHECK(tessera_shutdown_trace() == 0);
        unsetenv("TESSERA_TRACE_FILE");
        std::ifstream in(path, std::ios::binary);
        std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
        std::filesystem::remove(path);
        uint32_t size;
        REQUIRE(bytes.size() >= 4);
        std::memcpy(&size, bytes.data(), 4);
        CHECK(bytes.size() == 2 * size);
        int32_t packet_id;
        std::memcpy(&packet_id, bytes.data() + 4, 4);
        CHECK(packet_id == id);
        CHECK(bytes[28] == 3);
        CHECK(bytes[36] == 2);
        CHECK(bytes[38] == 'f');
        int32_t thread;
        std::memcpy(&thread, bytes.data() + size - 4, 4);
        CHECK(thread > 0);
        CHECK(thread < 1000);
    }
    TEST_CASE("a file that cannot be written is an error") {
        Capture capture;
        setenv("TESSERA_TRACE_FILE", "/nowhere/at/all", 1);
        tessera_trace_event_t event = event_of(tessera_trace_begin_pipeline, {});
        CHECK(tessera_trace(nullptr, &event) == tessera_error_code_trace_failed);
        unsetenv("TESSERA_TRACE_FILE");
        CHECK(capture.has("Cannot write to the trace file /nowhere/at/all: No such file"));
    }
    TEST_CASE("what writes files can be replaced") {
        static std::string written;
        auto old = tessera_set_custom_append_to_file(
            [](void *, const char *path, const void *data, size_t bytes) {
                written += std::string(path) + "+" + std::to_string(bytes) + (data ? " " : "-");
                return written.size() > 20 ? ENOSPC : 0;
            });
        Capture capture;
        setenv("TESSERA_TRACE_FILE", "a trace", 1);
        tessera_trace_event_t event = event_of(tessera_trace_begin_pipeline, {});
        event.func = "name";
        written.clear();
        CHECK(tessera_trace(nullptr, &event) > 0);
        CHECK(tessera_trace(nullptr, &event) == tessera_error_code_trace_failed);
        unsetenv("TESSERA_TRACE_FILE");
        tessera_set_custom_append_to_file(old);
        CHECK(written.starts_with("a trace+"));
        CHECK(capture.has("Cannot write to the trace file a trace: No space"));
    }
    TEST_CASE("two files in turn") {
        auto path_of = [](const char *name) {
            return (std::filesystem::temp_directory_path() / (name + std::to_string(getpid())))
                .string();
        };
        std::string a = path_of("tessera_file_a"), b = path_of("tessera_file_b");
        for (const char *part : {"1", "2"}) {
            CHECK(tessera_append_to_file(nullptr, a.c_str(), part, 1) == 0);
            CHECK(tessera_append_to_file(nullptr, b.c_str(), part, 1) == 0);
        }
        CHECK(tessera_close_file() == 0);
        for (const std::string &path : {a, b}) {
            std::string text;
            std::ifstream(path) >> text;
            CHECK(text == "12");
            std::filesystem::remove(path);
        }
    }
    TEST_CASE("tracing can be replaced") {
        static int events;
        events = 0;
        auto old = tessera_set_custom_trace(
            [](void *, const tessera_trace_event_t *) { return int32_t(++events); });
        tessera_trace_event_t event = event_of(tessera_trace_produce, {});
        CHECK(tessera_trace(nullptr, &event) == 1);
        tessera_set_custom_trace(old);
        CHECK(events == 1);
    }
}
