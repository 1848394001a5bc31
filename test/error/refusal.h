#pragma once
#include <doctest/doctest.h>
#include <tessera.h>

// What the tests of refusals share.

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

// "file.cpp:12"
inline std::string line_of(const char *file, int line) {
    return to_string(tessera::Location(file, uint32_t(line)));
}

// What a message has to be like, to be compared with one in a CHECK.
struct Expected {
    std::string line;  // "file.cpp:12", with which it begins; empty: it names no source file
    std::string part;  // that it has after that

    friend bool operator==(const std::string &message, const Expected &e) {
        if (e.line.empty() && message.find(".cpp:") != message.npos) return false;
        return message.starts_with(e.line.empty() ? "" : e.line + ":") &&
               message.find(e.part, e.line.size()) != message.npos;
    }
    friend std::ostream &operator<<(std::ostream &s, const Expected &e) {
        return s << (e.line.empty() ? "no line" : e.line) << ": ... " << e.part;
    }
};

// The statement throws a CompileError whose message begins with the line on which it stands, and
// has this part. Within a macro all has one line, the first, even where the statement spans more.
#define REFUSED(statement, part) REFUSED_AT(std::source_location::current().line(), statement, part)
// The same where the mistake was made on the line before, such as that of a directive.
#define REFUSED_ABOVE(statement, part)                                                             \
    REFUSED_AT(std::source_location::current().line() - 1, statement, part)
// The same where it was made on another line of this file.
#define REFUSED_AT(line, statement, part)                                                          \
    CHECK(refusal([&] { (void)(statement); }) == Expected{line_of(__FILE__, int(line)), part})
// The statement throws a RuntimeError whose message has this part.
#define FAILS(statement, part)                                                                     \
    CHECK_THROWS_WITH_AS((void)(statement), doctest::Contains(std::string(part).c_str()),          \
                         tessera::RuntimeError)
