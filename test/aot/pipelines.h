#pragma once
#include "random.h"
#include "support/program.h"
#include <functional>
#include <tessera.h>

// Pipelines that use what differs between machines, compiled for one of them into a program, and
// compared with plain C++ on random data.
namespace tessera::test {

struct FloatOperations;

class Pipelines {
public:
    Pipelines(const Machine &machine, const Target &target, uint64_t seed)
        : program(machine), target(target), random(seed) {}
    // Written as objects without this; as C source, which check() compiles; or as assembly, which
    // has to be assembled before.
    void as(OutputFileType of_files) { form = of_files; }
    bool assemble(const std::string &instructions) { return program.assemble(instructions); }

    // One or two of each kind; sums of products and floats of each type; these and more.
    void add_few();
    void add_numbers();
    void add_all();
    // Runs the program, and compares.
    void check();

private:
    // pipelines.cpp
    using Check = std::function<void(const CallResult &)>;
    void call(Pipeline p, const std::vector<Argument> &parameters,
              const std::vector<Passed> &arguments, Check check);
    // Likewise for a run that has to succeed.
    void add(Pipeline p, const std::vector<Argument> &parameters,
             const std::vector<Passed> &arguments, std::function<void()> check);
    template<typename T> Buffer<T> data(std::vector<int> extents);
    template<typename T> void add_tails();
    template<typename A, typename B, typename Sum> void add_dot();
    void add_stencil();
    void add_gathers();
    void add_strides();
    void add_runtime();
    void add_reductions();
    void add_threads();
    void add_atomics();
    void add_errors();
    void add_streams();

    // pipelines_float.cpp
    void add_floats();
    template<typename T>
    void add_operations(const FloatOperations &operations, const std::vector<int> &lane_counts);
    template<typename From, typename To> void add_cast();

    struct Case {
        std::string name;
        size_t call;
        Check check;
    };
    Program program;
    Target target;
    OutputFileType form = OutputFileType::object;
    Random random;
    std::vector<Case> cases;
};

// Floats are a few eighths, so that their sums and products are exact.
template<typename T> Buffer<T> Pipelines::data(std::vector<int> extents) {
    Buffer<T> b(extents);
    b.for_each_value([&](T &v) {
        if constexpr (std::is_same_v<T, int16_t>) {
            v = T(random.between(-3000, 3000));
        } else if constexpr (std::is_integral_v<T>) {
            v = T(random.between(-100000, 100000));
        } else {
            v = T(float(random.between(-80, 80)) / 8.0f);
        }
    });
    return b;
}

}  // namespace tessera::test
