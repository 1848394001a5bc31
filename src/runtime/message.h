#pragma once
#include "runtime/tessera_runtime.h"
#include <concepts>

namespace tessera {

// Composes a message without allocating, for there may be no memory left. Too long ones are cut.
class Message {
public:
    Message() = default;
    // Begins with a place such as "file.cpp:12", if there is one.
    explicit Message(const char *where) {
        if (where && *where) *this << where << ": ";
    }
    Message &operator<<(const char *s) { return at(tessera_string_to_string(next, last(), s)); }
    Message &operator<<(std::signed_integral auto i) {
        return at(tessera_int64_to_string(next, last(), i, 1));
    }
    Message &operator<<(std::unsigned_integral auto i) {
        return at(tessera_uint64_to_string(next, last(), i, 1));
    }
    Message &operator<<(double d);
    Message &operator<<(const tessera_type_t &t) {
        return at(tessera_type_to_string(next, last(), &t));
    }

    const char *c_str() const { return text; }
    // Tells tessera_error, and returns `code`.
    int raise(void *user_context, tessera_error_code_t code) const {
        tessera_error(user_context, text);
        return code;
    }

private:
    char *last() { return text + sizeof(text); }
    Message &at(char *p) {
        next = p;
        return *this;
    }

    char text[4096] = "";
    char *next = text;
};

}  // namespace tessera
