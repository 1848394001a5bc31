#include "cpu/row_problems.h"

namespace tessera::bench {

namespace {

const Type f32 = Float(32);

// `count` rows of `width`.
Problem softmax(int width, int count) {
    return {.name = "softmax",
            .size = std::to_string(count) + "x" + std::to_string(width),
            .generator = "softmax",
            .inputs = {{"input", f32, {width, count}}},
            .output = {"output", f32, {width, count}},
            .tolerance = 1e-5};
}

Problem layer_norm(int width, int count) {
    return {.name = "layer norm",
            .size = std::to_string(count) + "x" + std::to_string(width),
            .generator = "layer_norm",
            .inputs = {{"input", f32, {width, count}},
                       {"scale", f32, {width}},
                       {"shift", f32, {width}}},
            .output = {"output", f32, {width, count}},
            .tolerance = 1e-5};
}

Problem attention() {
    const int size = 64, count = 512, heads = 8;
    const std::vector<int> all = {size, count, heads};
    return {.name = "attention",
            .size = "B1 H8 S512 D64",
            .generator = "attention",
            .inputs = {{"query", f32, all}, {"key", f32, all}, {"value", f32, all}},
            .output = {"output", f32, all},
            .operations = 4.0 * size * count * count * heads,
            .tolerance = 1e-5};
}

}  // namespace

std::vector<Problem> row_problems() {
    return {softmax(1024, 4096), softmax(512, 512), layer_norm(1024, 4096), layer_norm(768, 512),
            attention()};
}

}  // namespace tessera::bench
