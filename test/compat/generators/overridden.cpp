#include "../expect.h"
#include "HalideBuffer.h"
#include "HalideRuntime.h"
#include "hooks.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

// A program that defines what compiled pipelines call itself; the library is one whose functions
// take a user_context.

namespace {

int context_of_this_program;
std::atomic<int> allocations, frees, loops, tasks, foreign;
std::string printed, error;

void note(void *user_context, std::atomic<int> &counter) {
    counter++;
    if (user_context != &context_of_this_program) foreign++;
}

}  // namespace

extern "C" {

void *halide_malloc(void *user_context, size_t bytes) {
    note(user_context, allocations);
    return std::aligned_alloc(128, (bytes + 127) / 128 * 128);
}
void halide_free(void *user_context, void *p) {
    if (p) note(user_context, frees);
    std::free(p);
}
void halide_error(void *, const char *message) { error = message; }
void halide_print(void *, const char *message) { printed += message; }
int halide_do_task(void *user_context, halide_task_t f, int index, uint8_t *closure) {
    note(user_context, tasks);
    return f(user_context, index, closure);
}
int halide_do_par_for(void *user_context, halide_task_t f, int min, int size, uint8_t *closure) {
    note(user_context, loops);
    for (int i = min; i < min + size; i++) {
        if (int failed = halide_do_task(user_context, f, i, closure)) return failed;
    }
    return 0;
}
}

int main() {
    Halide::Runtime::Buffer<int32_t> in(9), out(8);
    for (int i = 0; i < 9; i++) in(i) = 70 + i;
    EXPECT(hooks(&context_of_this_program, in, out) == 0);
    EXPECT(out(7) == 2 * 77 + 2 * 78);
    EXPECT(allocations >= 1 && frees == allocations && loops == 1 && tasks == 8);
    EXPECT(foreign == 0);
    EXPECT(printed.find("was doubled") != std::string::npos);

    Halide::Runtime::Buffer<int32_t> large(20);
    EXPECT(hooks(&context_of_this_program, in, large) == halide_error_code_access_out_of_bounds);
    EXPECT(error.find("input") != std::string::npos);

    void *context = &context_of_this_program;
    void *args[] = {&context, in.raw_buffer(), out.raw_buffer()};
    EXPECT(hooks_argv(args) == 0 && loops == 2 && foreign == 0);
    EXPECT(hooks_metadata()->num_arguments == 3);
    std::printf("ok\n");
    return 0;
}
