#pragma once
#include <map>
#include <string>
#include <tessera.h>
#include <vector>

// Pipelines as C source: compiled by a C compiler with all its warnings as errors, linked with the
// runtime as a shared library, called, and compared with what the interpreter computes.
namespace tessera::test {

// A C source in a shared library with a runtime of its own, which is never unloaded: its threads
// run on.
class CLibrary {
public:
    struct Options {
        Target target = get_host_target();
        std::string more;  // C functions that the pipeline calls
        std::string flags = "-std=c11 -O1";
        std::string name = "compiled";
        std::string compiler = "";  // empty: the one that the tests were built with
    };
    CLibrary(Pipeline pipeline, const Options &options);

    // What the C function returns for the outputs; the pipeline's parameters are set.
    int call(const std::vector<Buffer<>> &outputs, void *user_context = nullptr) const;
    const std::string &text() const { return source; }
    bool has(const std::string &part) const { return source.find(part) != std::string::npos; }
    template<typename F> F *function(const std::string &name) const {
        return reinterpret_cast<F *>(address(name));
    }

private:
    void *address(const std::string &name) const;
    Options options;
    std::vector<Argument> args;
    std::string source;
    void *library = nullptr;
};

// Runs the Funcs both ways, all of these sizes, and compares: every bit, or with floats that may
// differ by so much of their size. Returns the C source.
std::string compare_with_c(const std::vector<Func> &funcs, const std::vector<int> &sizes,
                           const CLibrary::Options &options = {}, double tolerance = 0);

}  // namespace tessera::test
