#include "files/array.h"
#include "base/error.h"
#include <limits>
#include <new>

namespace tessera::files {

uint64_t product_of(const std::vector<int> &extents) {
    uint64_t product = 1;
    for (int extent : extents) {
        if (extent <= 0) return 0;
        if (__builtin_mul_overflow(product, uint64_t(extent), &product)) {
            return std::numeric_limits<uint64_t>::max();
        }
    }
    return product;
}

Array::Array(tessera_type_t type, std::vector<int> extents)
    : type(type), extents(std::move(extents)) {
    uint64_t elements = product_of(this->extents);
    bool fits = elements <= std::numeric_limits<uint64_t>::max() / 64;
    try {
        if (fits) bytes.resize(size_t(elements) * size_t(type.bytes()));
    } catch (const std::exception &) {
        fits = false;
    }
    if (!fits) {
        throw RuntimeError(str("there is no memory for an array of ", join(this->extents, "x"), " ",
                               name_of(type)));
    }
}

size_t Array::number_of_elements() const { return bytes.size() / size_t(type.bytes()); }

std::string name_of(tessera_type_t type) {
    if (type.code == tessera_type_uint && type.bits == 1) return "bool";
    if (type.code == tessera_type_float8_e4m3) return "float8_e4m3";
    if (type.code == tessera_type_float8_e5m2) return "float8_e5m2";
    const char *names[] = {"int", "uint", "float", "handle", "bfloat"};
    return type.code < 5 ? str(names[type.code], int(type.bits)) : "an unknown type";
}

}  // namespace tessera::files
