#pragma once
#include "ir/type.h"
#include <vector>

namespace tessera::interpret {

// The bits of one lane. A signed integer is sign-extended; everything else is zero-extended, a
// float as the bits of its own format.
using Word = uint64_t;

// A value of any type while a program is interpreted. A poisoned lane has no meaning: it came from
// memory that nobody wrote.
struct Value {
    Type type;
    std::vector<Word> lanes;
    std::vector<uint8_t> poison;  // per lane: 1 if it has no meaning

    Value() = default;
    explicit Value(Type t) { reset(t); }
    static Value of_int(Type t, int64_t value);
    static Value of_float(Type t, double value);

    // Makes it a value of this type, whose lanes are zero and not poisoned.
    void reset(Type t);
    void assign(Word word) {
        lanes[0] = word;
        poison[0] = 0;
    }

    Word word(int lane = 0) const { return lanes[size_t(lane)]; }
    int64_t as_int(int lane = 0) const { return int64_t(lanes[size_t(lane)]); }
    double as_double(int lane = 0) const;
    bool as_bool(int lane = 0) const { return lanes[size_t(lane)] != 0; }
    bool any_poison() const;
};

// The word for a number in the element type t: integers wrap, floats are rounded.
Word word_of_int(Type t, int64_t value);
Word word_of_double(Type t, long double value);
double double_of_word(Type t, Word word);

// Loads or stores an element of type t, which takes t.bytes() bytes (bool: one).
Word load_word(Type t, const void *from);
void store_word(Type t, void *to, Word word);

}  // namespace tessera::interpret
