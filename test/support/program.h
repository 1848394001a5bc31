#pragma once
#include "runtime/tessera_runtime.h"
#include <cstring>
#include <string>
#include <vector>

// Calls of compiled functions, made by a program of its own, which may be another machine's.
namespace tessera::test {

struct Machine {
    std::string c_compiler, cxx_compiler;
    std::string runner;  // what runs its programs; empty if this machine does
};
// AArch64 by qemu-user, as a CPU that has the instructions of this one and no more; "max" has all
// that qemu knows. This machine.
Machine aarch64_machine(const std::string &cpu = "max");
Machine this_machine();

// The value of an argument: a buffer, whose contents are replaced by what the program made of them,
// or the bytes of a scalar.
class Passed {
public:
    Passed(tessera_buffer_t *buffer) : buffer(buffer) {}
    template<typename T> static Passed scalar(T value) {
        Passed p(nullptr);
        std::memcpy(&p.bits, &value, sizeof value);
        return p;
    }
    tessera_buffer_t *buffer;
    uint64_t bits = 0;
};

struct CallResult {
    int code = 0;
    std::string message;  // of the error
};

class Program {
public:
    explicit Program(const Machine &machine);
    ~Program();
    Program(const Program &) = delete;

    // A path in the program's own folder. What is called `*.o` or `*.a` there is linked,
    // and so is `*.c` when it has been compiled, with all warnings as errors.
    std::string path(const std::string &file) const { return folder + "/" + file; }
    // Assembles every `*.s` in the folder, for a machine with these instructions only (GNU's
    // names): whether that can be done.
    bool assemble(const std::string &instructions);
    // Calls function + "_argv"; buffers are read and written by run(). Gives the number of the
    // call.
    size_t call(const std::string &function, std::vector<Passed> arguments);
    // Builds the program and runs it; fails the test if that cannot be done.
    void run();
    const CallResult &result(size_t call) const { return results[call]; }

private:
    void write_calls() const;
    void write_functions() const;
    void read_results();
    std::string files(const char *extension) const;
    bool execute(const std::string &command) const;
    void must_execute(const std::string &command) const;

    struct Call {
        size_t function;
        std::vector<Passed> arguments;
    };
    Machine machine;
    std::string folder;
    std::vector<std::string> functions;
    std::vector<Call> calls;
    std::vector<CallResult> results;
};

}  // namespace tessera::test
