#include "cpu/libraries.h"
#include "peers/libraries/loops.h"

namespace tessera::bench {

namespace {

const float *floats(const Buffer<> &b) { return static_cast<const float *>(b.data()); }

// Returns a function that runs the loops of a problem with a number of threads; empty if there are
// none.
std::function<void(int)> run_of(const Loops &loops, Data &data, const Buffer<> &output) {
    const std::string &problem = data.problem.generator;
    float *out = static_cast<float *>(output.data());
    const int width = output.dim(0).extent(), height = output.dim(1).extent();
    if (problem == "blur_f32" || problem == "softmax") {
        const float *in = floats(data.input("input"));
        auto *run = problem == "softmax" ? loops.softmax : loops.blur_f32;
        return [=](int threads) { run(in, out, width, height, threads); };
    }
    if (problem == "layer_norm") {
        const float *in = floats(data.input("input")), *scale = floats(data.input("scale")),
                    *shift = floats(data.input("shift"));
        auto *run = loops.layer_norm;
        return [=](int threads) { run(in, scale, shift, out, width, height, threads); };
    }
    if (problem == "attention") {
        const float *query = floats(data.input("query")), *key = floats(data.input("key")),
                    *value = floats(data.input("value"));
        const int heads = output.dim(2).extent();
        auto *run = loops.attention;
        return [=](int threads) { run(query, key, value, out, width, height, heads, threads); };
    }
    return nullptr;
}

}  // namespace

std::vector<Implementation> loop_implementations(const std::shared_ptr<Data> &data) {
    std::vector<Implementation> all;
    for (bool fast : {false, true}) {
        Buffer<> output = data->new_output();
        auto run = run_of(fast ? fast_math_loops() : loops(), *data, output);
        if (!run) return {};
        auto threads = std::make_shared<int>(1);
        all.push_back({fast ? "C++ loops, fast-math" : "C++ loops", [=] { run(*threads); },
                       [=](int count) { *threads = count; }, [=] { return output; }});
    }
    return all;
}

}  // namespace tessera::bench
