#include "fill.h"
#include "files/number.h"
#include <cmath>
#include <cstring>
#include <random>

namespace tessera::run {
namespace {

using files::Array;

// The same for a seed on every machine: the standard's distributions are not.
void fill_randomly(Array &array, uint64_t seed) {
    std::mt19937_64 random(seed);
    size_t bytes = size_t(array.type.bytes());
    for (size_t i = 0; i < array.number_of_elements(); i++) {
        uint64_t bits = random();
        uint8_t *element = array.bytes.data() + i * bytes;
        if (files::is_float(array.type)) {
            // With so few bits, no rounding makes a 1 of it.
            int kept = array.type.bits == 64                    ? 53
                       : array.type.bits == 32                  ? 24
                       : array.type.code == tessera_type_bfloat ? 8
                       : array.type.bits == 8                   ? 3
                                                                : 11;
            files::store_number(array.type, element,
                                std::ldexp(static_cast<long double>(bits >> (64 - kept)), -kept));
        } else if (array.type.bits == 1) {
            *element = uint8_t(bits >> 63);
        } else {
            std::memcpy(element, &bits, bytes);
        }
    }
}

// In an array of one dimension, the element at 0 has both coordinates equal, as if the second were
// 0.
void fill_diagonal(Array &array, const std::vector<int> &mins) {
    size_t bytes = size_t(array.type.bytes()), width = size_t(array.extent(0));
    auto min = [&](size_t d) { return d < mins.size() ? int64_t(mins[d]) : 0; };
    for (size_t i = 0; i < array.number_of_elements(); i++) {
        int64_t x = int64_t(i % width) + min(0);
        int64_t y = int64_t(i / width % size_t(array.extent(1))) + min(1);
        if (x == y) files::store_number(array.type, array.bytes.data() + i * bytes, 1);
    }
}

}  // namespace

Array filled_array(tessera_type_t type, const std::vector<int> &mins,
                   const std::vector<int> &extents, const InputText &text) {
    Array array(type, extents);
    if (text.fill == InputText::Fill::Random) fill_randomly(array, text.seed.value_or(0));
    if (text.fill == InputText::Fill::Identity) fill_diagonal(array, mins);
    if (text.fill == InputText::Fill::Constant) {
        Scalar value = parse_scalar(type, text.value);
        size_t bytes = size_t(type.bytes());
        for (size_t i = 0; i < array.number_of_elements(); i++) {
            std::memcpy(array.bytes.data() + i * bytes, value.bytes, bytes);
        }
    }
    return array;
}

}  // namespace tessera::run
