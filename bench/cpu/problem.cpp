#include "cpu/problem.h"

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

namespace tessera::bench {

namespace {

int64_t count_of(const Buffer<> &b) { return int64_t(b.number_of_elements()); }

// Calls `f` with a pointer to the buffer's elements, of their C++ type.
template<typename F>
void with_elements(const Buffer<> &b, F f) {
    void *data = b.data();
    const Type t = b.type();
    if (t == Float(32)) return f(static_cast<float *>(data));
    if (t == Int(32)) return f(static_cast<int32_t *>(data));
    if (t == Int(8)) return f(static_cast<int8_t *>(data));
    if (t == UInt(8)) return f(static_cast<uint8_t *>(data));
    if (t == UInt(16)) return f(static_cast<uint16_t *>(data));
    if (t == BFloat(16)) return f(static_cast<bfloat16_t *>(data));
    throw std::runtime_error("no benchmark has elements of this type yet");
}

void fill(Buffer<> &b, uint32_t seed) {
    with_elements(b, [&](auto *data) {
        using T = std::remove_pointer_t<decltype(data)>;
        std::minstd_rand random(seed + 1);
        for (int64_t i = 0; i < count_of(b); i++) {
            const uint32_t bits = uint32_t(random()) >> 7;  // 24 of them
            if constexpr (std::is_integral_v<T>) {
                data[i] = T(bits);
            } else {
                data[i] = T(float(bits) / float(1 << 24));
            }
        }
    });
}

}  // namespace

bool is_set(const Problem &problem, const std::string &name) {
    return (" " + problem.params + " ").find(" " + name + "=true ") != std::string::npos;
}

Data::Data(const Problem &problem) : problem(problem) {
    for (const Shape &shape : problem.inputs) {
        Buffer<> b = allocate(shape);
        fill(b, uint32_t(inputs.size()));
        inputs.emplace(shape.name, std::move(b));
    }
}

Buffer<> Data::allocate(const Shape &shape) {
    Buffer<> b(shape.type, shape.extents, shape.name);
    if (!shape.mins.empty()) b.set_min(shape.mins);
    std::memset(b.data(), 0, b.size_in_bytes());  // so that no page is touched first when timed
    return b;
}

double Data::bytes() const {
    double sum = 0;
    auto add = [&](const Shape &shape) {
        double size = shape.type.bytes();
        for (int extent : shape.extents) size *= extent;
        sum += size;
    };
    for (const Shape &shape : problem.inputs) add(shape);
    add(problem.output);
    return sum;
}

double difference(const Buffer<> &result, const Buffer<> &expected) {
    double largest = 0, off = 0;
    with_elements(result, [&](auto *a) {
        const auto *b = static_cast<decltype(a)>(expected.data());
        for (int64_t i = 0; i < count_of(result); i++) {
            const double magnitude = std::abs(double(b[i]));
            if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
            const double x = double(a[i]), y = double(b[i]);
            if (x == y || (std::isnan(x) && std::isnan(y))) continue;
            const double distance = std::abs(x - y);  // of what is not finite it may be no number
            off = std::max(off, std::isfinite(distance) ? distance : INFINITY);
        }
    });
    const bool is_float = !result.type().is_int_or_uint();
    return is_float && largest > 0 ? off / largest : off;
}

}  // namespace tessera::bench
