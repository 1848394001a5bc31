#include "../expect.h"
#include "HalideBuffer.h"
#include "HalideRuntime.h"
#include "arrays.h"
#include "by_hand.h"
#include "configured.h"
#include "interleaved.h"
#include "mix.h"
#include "mix_largest.h"
#include "named.h"
#include "plain_c.h"
#include "shift_by_42.h"
#include "short_of.h"
#include "tuples.h"
#include <cmath>
#include <cstdio>
#include <cstring>

// Libraries that generators made, called by a program that has no compiler in it.
using Halide::Runtime::Buffer;

namespace {

std::string last_error;

void remember_error(void *, const char *message) { last_error = message; }

int call_with_buffers() {
    Buffer<uint8_t> a(50, 3), b(50, 3), out(50, 3);
    a.for_each_element([&](int x, int y) { a(x, y) = uint8_t(x + y); });
    b.for_each_element([&](int x, int y) { b(x, y) = uint8_t(3 * x + y); });
    EXPECT(mix(a, b, 0.5f, out) == 0);
    EXPECT(out(20, 1) == 41);
    // Of another function name, with parameters, for several targets.
    EXPECT(mixed_by_largest(a, b, 1.0f, out) == 0);
    EXPECT(out(20, 1) == 62);
    halide_buffer_t *raw = out.raw_buffer();
    EXPECT(mix(a.raw_buffer(), b.raw_buffer(), 0.0f, raw) == 0);
    return 0;
}

int ask_for_bounds() {
    Buffer<uint8_t> a(nullptr, 0, 0), b(nullptr, 0, 0), out(50, 3);
    EXPECT(mix(a, b, 0.5f, out) == 0);
    EXPECT(a.width() == 50 && a.height() == 3 && b.dim(0).extent() == 50);
    a.allocate();
    EXPECT(a.data() != nullptr);
    return 0;
}

int call_by_pointers() {
    Buffer<uint8_t> a(20, 2), b(20, 2), out(20, 2);
    a.fill(10), b.fill(20);
    float offset = 1.0f;
    void *args[] = {a.raw_buffer(), b.raw_buffer(), &offset, out.raw_buffer()};
    EXPECT(mix_argv(args) == 0);
    EXPECT(out(19, 1) == 16);
    return 0;
}

int describe() {
    const halide_filter_metadata_t *m = mix_metadata();
    EXPECT(m->num_arguments == 4);
    EXPECT(!std::strcmp(m->name, "mix"));
    const halide_filter_argument_t &first = m->arguments[0], &offset = m->arguments[2];
    EXPECT(!std::strcmp(first.name, "first") && first.dimensions == 2);
    EXPECT(first.kind == halide_argument_kind_input_buffer);
    EXPECT(first.type == halide_type_of<uint8_t>());
    EXPECT(first.buffer_estimates && *first.buffer_estimates[1] == 640);
    EXPECT(offset.kind == halide_argument_kind_input_scalar);
    EXPECT(offset.type.code == halide_type_float && offset.type.bits == 32);
    EXPECT(offset.scalar_def && offset.scalar_def->u.f32 == 0.5f);
    EXPECT(offset.scalar_max && offset.scalar_max->u.f32 == 10.0f);
    EXPECT(offset.scalar_estimate && offset.scalar_estimate->u.f32 == 1.0f);
    EXPECT(m->arguments[3].kind == halide_argument_kind_output_buffer);
    const halide_filter_metadata_t *a = arrays_metadata();
    EXPECT(!std::strcmp(a->arguments[1].name, "pair_0"));
    return 0;
}

int arrays_of_everything() {
    Buffer<uint8_t> picture(2, 2);
    Buffer<float> pair0(8), pair1(8), results0(8), results1(8),
        total = Buffer<float>::make_scalar();
    Buffer<int32_t> many0(8), many1(8), doubled0(8), doubled1(8);
    Buffer<int16_t> b0(8), b1(8);
    Buffer<uint16_t> open0(4, 4), copied(4, 4);
    picture.fill(9), pair0.fill(0.5f), pair1.fill(0.25f), many0.fill(3), many1.fill(4);
    b0.fill(-5), b1.fill(6), open0.fill(11);
    EXPECT(arrays(picture, pair0, pair1, many0, many1, b0, b1, open0, 2.0f, 3.0f, 100, 200,
                  results0, results1, doubled0, doubled1, copied, total) == 0);
    EXPECT(results0(7) == 106.5f && results1(0) == 212.25f);
    EXPECT(doubled0(3) == -10 && doubled1(3) == 12 && copied(3, 3) == 11 && total() == 20.f);
    return 0;
}

int several_outputs() {
    Buffer<float> in(8, 3), largest(3), assigned(8, 3);
    Buffer<int32_t> where(3), first(5), second(5);
    in.for_each_element([&](int x, int y) { in(x, y) = float((x * 5 + y * 3) % 8); });
    EXPECT(tuples(in, largest, where, assigned, first, second) == 0);
    for (int y = 0; y < 3; y++) EXPECT(largest(y) == 7.f && in(where(y), y) == 7.f);
    Buffer<uint8_t> a(4), e0(4), e1(4), bytes(4);
    Buffer<int16_t> untyped(4), func(4);
    Buffer<int32_t> out(4);
    Buffer<float> floats(4);
    a.fill(1), e0.fill(2), e1.fill(2), untyped.fill(3), func.fill(4);
    EXPECT(configured(a, e0, e1, untyped, 10, 100, func, out, bytes, floats) == 0);
    EXPECT(out(2) == 1120 && bytes(2) == 1 && floats(2) == 2.f);
    return 0;
}

int other_kinds_of_libraries() {
    Buffer<int32_t> in(4), out(4);
    in.fill(8);
    EXPECT(shift_by_42(in, out) == 0 && out(3) == 50);
    Buffer<float> fin(4), fout(4);
    fin.fill(3.0f);
    EXPECT(plain_c(fin, fout) == 0 && fout(3) == 7.0f);  // compiled as C
    Buffer<float, 2> image(9, 2);
    Buffer<int16_t, 2> shorts(9, 2);
    image.fill(-3.75f);
    EXPECT(short_of(image, shorts) == 0 && shorts(8, 1) == -3);
    EXPECT(photo::filters::named(image, shorts) == 0 && shorts(7, 1) == -3);
    Buffer<int32_t> numbers(6), results(6);
    numbers.fill(5);
    EXPECT(by_hand(numbers, 2, results) == 0 && results(5) == 37);
    EXPECT(by_hand_metadata()->num_arguments == 3);
    auto colours = Buffer<uint8_t>::make_interleaved(10, 4, 3);
    auto inverted = Buffer<uint8_t>::make_interleaved(10, 4, 3);
    colours.fill(5);
    EXPECT(interleaved(colours, nullptr, true, inverted) == 0 && inverted(9, 3, 2) == 250);
    return 0;
}

int mistakes_are_told() {
    halide_set_error_handler(remember_error);
    Buffer<uint8_t> a(20, 2), narrow(10, 2), out(10, 2), planar(10, 4, 3);
    EXPECT(mix(a, narrow, 0.5f, out) == halide_error_code_requirement_failed);
    EXPECT(last_error.find("widths differ:") != std::string::npos);
    EXPECT(mix(a, a, 11.0f, out) == halide_error_code_param_too_large);
    Buffer<uint8_t> large(40, 2);
    EXPECT(mix(a, a, 1.0f, large) == halide_error_code_access_out_of_bounds);
    Buffer<int8_t> of_another_type(20, 2);
    EXPECT(mix(a, of_another_type, 1.0f, out) == halide_error_code_bad_type);
    EXPECT(mix(a, nullptr, 1.0f, out) == halide_error_code_buffer_argument_is_null);
    auto wanted = Buffer<uint8_t>::make_interleaved(10, 4, 3);
    EXPECT(interleaved(planar, nullptr, true, wanted) == halide_error_code_constraint_violated);
    halide_set_error_handler(nullptr);
    return 0;
}

int runtime_functions() {
    EXPECT(halide_set_num_threads(2) >= 0 && halide_get_num_threads() == 2);
    int64_t before = halide_current_time_ns(nullptr);
    EXPECT(halide_current_time_ns(nullptr) >= before);
    uint64_t features[2] = {};
    EXPECT(halide_can_use_target_features(2, features) == 1);
    halide_profiler_reset();
    EXPECT(halide_profiler_get_pipeline_state("mix") == nullptr);
    halide_shutdown_thread_pool();
    return 0;
}

}  // namespace

int main() {
    int failed = call_with_buffers() + ask_for_bounds() + call_by_pointers() + describe() +
                 arrays_of_everything() + several_outputs() + other_kinds_of_libraries() +
                 mistakes_are_told() + runtime_functions();
    std::printf("%d failed\n", failed);
    return failed;
}
