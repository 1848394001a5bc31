#include "../program.h"
#include <atomic>
#include <cstring>

namespace {
std::string text;
std::atomic<int> count{0};
void take_print(void *, const char *message) { text += message; }
void take_error(void *, const char *message) { text += message; }
int32_t take_trace(void *, const halide_trace_event_t *) { return ++count; }
int add_index(void *, int i, uint8_t *closure) {
    *reinterpret_cast<std::atomic<int> *>(closure) += i;
    return 0;
}
int one_after_the_other(void *context, halide_task_t f, int min, int size, uint8_t *closure) {
    count++;
    for (int i = min; i < min + size; i++) {
        if (int r = halide_do_task(context, f, i, closure)) return r;
    }
    return 0;
}
int counted_task(void *context, halide_task_t f, int i, uint8_t *closure) {
    count++;
    return f(context, i, closure);
}
}  // namespace

PROGRAM(printing_and_errors) {
    text.clear();
    halide_print_t print_before = halide_set_custom_print(take_print);
    halide_error_handler_t error_before = halide_set_error_handler(take_error);
    halide_print(nullptr, "hello ");
    halide_error(nullptr, "world");
    halide_set_error_handler(error_before);
    halide_set_custom_print(print_before);
    EXPECT(text == "hello world");
    halide_default_print(nullptr, "");
    return 0;
}

PROGRAM(memory) {
    void *p = halide_malloc(nullptr, 100);
    EXPECT(p && reinterpret_cast<uintptr_t>(p) % 32 == 0);
    std::memset(p, 1, 100);
    halide_free(nullptr, p);
    void *q = halide_default_malloc(nullptr, 10);
    EXPECT(q);
    halide_default_free(nullptr, q);
    halide_malloc_t before = halide_set_custom_malloc([](void *c, size_t n) {
        count++;
        return halide_default_malloc(c, n);
    });
    count = 0;
    halide_free(nullptr, halide_malloc(nullptr, 8));
    halide_set_custom_malloc(before);
    EXPECT(count == 1);
    return 0;
}

PROGRAM(parallel_loops) {
    std::atomic<int> total{0};
    auto *closure = reinterpret_cast<uint8_t *>(&total);
    EXPECT(halide_do_par_for(nullptr, add_index, 0, 100, closure) == 0 && total == 4950);
    EXPECT(halide_default_do_par_for(nullptr, add_index, 0, 10, closure) == 0 && total == 4995);
    EXPECT(halide_default_do_task(nullptr, add_index, 5, closure) == 0 && total == 5000);
    count = 0;
    halide_do_par_for_t before = halide_set_custom_do_par_for(one_after_the_other);
    halide_do_task_t task_before = halide_set_custom_do_task(counted_task);
    EXPECT(halide_do_par_for(nullptr, add_index, 0, 4, closure) == 0);
    halide_set_custom_do_task(task_before);
    halide_set_custom_do_par_for(before);
    EXPECT(count == 5 && total == 5006);
    int threads = halide_set_num_threads(3);
    EXPECT(halide_get_num_threads() == 3);
    halide_set_num_threads(threads);
    halide_shutdown_thread_pool();
    return 0;
}

PROGRAM(semaphores_and_mutexes) {
    halide_semaphore_t s;
    EXPECT(halide_semaphore_init(&s, 1) == 1 && halide_semaphore_try_acquire(&s, 1));
    EXPECT(!halide_semaphore_try_acquire(&s, 1) && halide_semaphore_release(&s, 2) == 2);
    halide_mutex m = {{0}};
    halide_mutex_lock(&m);
    halide_mutex_unlock(&m);
    static int value;
    value = 0;
    halide_thread *t = halide_spawn_thread([](void *p) { *static_cast<int *>(p) = 5; }, &value);
    halide_join_thread(t);
    EXPECT(value == 5);
    return 0;
}

PROGRAM(traces) {
    count = 0;
    halide_trace_t before = halide_set_custom_trace(take_trace);
    halide_trace_event_t e = {};
    int at[] = {3};
    float v = 1.5f;
    e.func = "f";
    e.event = halide_trace_store;
    e.type = halide_type_of<float>();
    e.coordinates = at;
    e.value = &v;
    e.dimensions = 1;
    EXPECT(halide_trace(nullptr, &e) == 1 && count == 1);
    halide_set_custom_trace(before);
    return 0;
}

PROGRAM(features_of_the_machine) {
    uint64_t words[(halide_target_feature_end + 63) / 64] = {};
    const int n = int(std::size(words));
    EXPECT(halide_can_use_target_features(n, words) == 1);
    words[halide_target_feature_cuda / 64] |= uint64_t(1) << (halide_target_feature_cuda % 64);
    EXPECT(halide_default_can_use_target_features(n, words) ==
           int(host_supports_target_device(Target("host-cuda"))));
    return 0;
}

PROGRAM(devices) {
    halide_buffer_t b = {};
    EXPECT(halide_copy_to_host(nullptr, &b) == 0 && halide_device_free(nullptr, &b) == 0);
    text.clear();
    halide_error_handler_t before = halide_set_error_handler(take_error);
    EXPECT(halide_copy_to_device(nullptr, &b, nullptr) != 0);
    halide_set_error_handler(before);
    EXPECT(!text.empty());
    halide_memoization_cache_set_size(1 << 20);
    halide_memoization_cache_cleanup();
    return 0;
}

PROGRAM(half_precision) {
    EXPECT(halide_float16_bits_to_float(0x3e00) == 1.5f);
    EXPECT(halide_float16_bits_to_double(0xc000) == -2.0);
    return 0;
}

PROGRAM(texts) {
    char line[64];
    char *end = line + sizeof(line);
    char *at = halide_int64_to_string(line, end, -42, 1);
    at = halide_string_to_string(at, end, " is ");
    halide_double_to_string(at, end, 0.5, 0);
    EXPECT(std::strncmp(line, "-42 is 0.5", 10) == 0);
    return 0;
}
