#pragma once
#include "base/str.h"
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

namespace tessera {

// A line of the user's program, for messages. Made from std::source_location; empty if unknown.
struct Location {
    const char *file = "";
    uint32_t line = 0;

    Location() = default;
    Location(const char *file, uint32_t line) : file(file), line(line) {}
    Location(const std::source_location &at) : file(at.file_name()), line(at.line()) {}
    bool known() const { return line != 0; }
};

// "file.cpp:12", without the folders; empty if unknown.
std::string to_string(const Location &at);
// The same, if it is a place of the user's own; empty if it is within Tessera.
std::string place_of_user(const Location &at);

// Every failure is one of the three below; the type says whose mistake it is.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    // Returns the line of the user's program that the message begins with; an unknown one where it
    // begins with none, or where that was another process's.
    const Location &where() const { return at; }

protected:
    Error(const std::string &what, const Location &at) : std::runtime_error(what), at(at) {}

private:
    Location at;
};

// The program or schedule, as written, cannot be compiled. The user can fix it.
class CompileError : public Error {
public:
    using Error::Error;
    // Begins with the place, unless that is unknown or within Tessera itself.
    CompileError(const Location &at, const std::string &what);
};

// A compiled pipeline failed when it ran: a buffer does not fit, memory ran out, ...
class RuntimeError : public Error {
public:
    using Error::Error;
    // Begins with the place, as a CompileError, unless the message begins with one already.
    RuntimeError(const Location &at, const std::string &what);
};

// The compiler broke its own rules. The user cannot fix it; please report it.
class InternalError : public Error {
public:
    explicit InternalError(const std::string &what,
                           std::source_location at = std::source_location::current());
};

}  // namespace tessera
