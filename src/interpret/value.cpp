#include "interpret/value.h"
#include "base/error.h"
#include "ir/float_bits.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera::interpret {

Value Value::of_int(Type t, int64_t value) {
    Value v(t);
    for (Word &lane : v.lanes) lane = word_of_int(t, value);
    return v;
}

Value Value::of_float(Type t, double value) {
    Value v(t);
    for (Word &lane : v.lanes) lane = word_of_double(t, value);
    return v;
}

void Value::reset(Type t) {
    type = t;
    lanes.assign(size_t(t.lanes()), 0);
    poison.assign(size_t(t.lanes()), 0);
}

double Value::as_double(int lane) const { return double_of_word(type, word(lane)); }

bool Value::any_poison() const {
    return std::find(poison.begin(), poison.end(), uint8_t(1)) != poison.end();
}

Word word_of_int(Type t, int64_t value) {
    if (t.is_float()) return word_of_double(t, (long double)value);
    int unused = 64 - t.bits();
    if (t.is_int()) return Word(int64_t(Word(value) << unused) >> unused);
    return Word(value) << unused >> unused;
}

Word word_of_double(Type t, long double value) {
    if (t.bits() == 64) return std::bit_cast<Word>(double(value));
    if (t.bits() == 32) return std::bit_cast<uint32_t>(float(value));
    return ir::bits_of_float(t, ir::rounded_to(t, rounded_to_odd(value)));
}

double double_of_word(Type t, Word word) {
    if (t.is_int()) return double(int64_t(word));
    if (!t.is_float()) return double(word);
    return ir::float_of_bits(t, word);
}

Word load_word(Type t, const void *from) {
    Word word = 0;
    std::memcpy(&word, from, size_t(t.bytes()));
    return t.is_int() ? word_of_int(Int(8 * t.bytes()), int64_t(word)) : word;
}

void store_word(Type t, void *to, Word word) { std::memcpy(to, &word, size_t(t.bytes())); }

}  // namespace tessera::interpret
