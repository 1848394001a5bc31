#pragma once
#include <doctest/doctest.h>
#include <tessera.h>

// What the tests of refusals share.

// The statement throws a CompileError whose message has this part.
#define REFUSED(statement, part)                                                                   \
    CHECK_THROWS_WITH_AS((void)(statement), doctest::Contains(part), tessera::CompileError)
// The same for an error when the pipeline runs.
#define FAILS(statement, part)                                                                     \
    CHECK_THROWS_WITH_AS((void)(statement), doctest::Contains(part), tessera::RuntimeError)

// The message of the CompileError that f() throws.
template<typename F>
std::string refusal(F f) {
    try {
        f();
    } catch (const tessera::CompileError &e) {
        return e.what();
    }
    return "nothing was refused";
}

// "file.cpp:12", so many lines after here.
inline std::string line_of(const char *file, int line) {
    std::string path = file;
    return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}
