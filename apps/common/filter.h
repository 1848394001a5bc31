// An app's pipeline as a function that can be called. There are two programs of each app: one has
// the compiler within itself, and compiles the app's generator when it starts (filter_jit.cpp); one
// is linked with what the generator has been compiled to before, and with the runtime
// (filter_library.cpp). An app does the same in both.
#pragma once

#include "common/image.h"
#include "runtime/tessera_runtime.h"

#include <array>
#include <concepts>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::apps {

// A generator, and what is set of it; by both together a library is found, too.
struct Filter {
    std::string generator;
    std::string params = {};  // "name=value name=value"
};

// An argument of a compiled function: a number, or an Image's memory. An output comes last.
struct FilterArgument {
    template<typename T>
    requires std::is_arithmetic_v<T> FilterArgument(T number) : type(type_of<T>()) {
        std::memcpy(&value, &number, sizeof(T));
    }
    // The first `dimensions` dimensions of an image, which begin at `mins`.
    template<typename T>
    FilterArgument(Image<T> &image, int dimensions, std::array<int, 4> mins)
        : type(type_of<T>()), host(reinterpret_cast<uint8_t *>(image.data())) {
        const int extents[] = {image.width(), image.height(), image.channels(), image.count()};
        int stride = 1;
        for (size_t d = 0; d < size_t(dimensions); d++) {
            dims.emplace_back(mins[d], extents[d], stride);
            stride *= extents[d];
        }
    }

    bool is_buffer() const { return host != nullptr; }
    tessera_buffer_t buffer();  // refers to this argument

    tessera_type_t type;
    tessera_scalar_value_t value{};
    uint8_t *host = nullptr;
    std::vector<tessera_dimension_t> dims;

private:
    template<typename T> static tessera_type_t type_of() {
        const int code = std::is_floating_point_v<T> ? tessera_type_float
                         : std::is_signed_v<T>       ? tessera_type_int
                                                     : tessera_type_uint;
        return {code, std::is_same_v<T, bool> ? 1 : int(8 * sizeof(T))};
    }
};

template<typename T>
FilterArgument as_buffer(Image<T> &image, int dimensions, std::array<int, 4> mins = {}) {
    return {image, dimensions, mins};
}

// A call of the filter that can be made again and again: each computes the output.
struct PreparedFilter {
    std::function<void()> call;
    std::string prepared;  // how: "compiled in 12.3 ms"
};

// Describes an argument that a compiled function takes.
struct WantedArgument {
    std::string name;
    bool is_buffer;
    tessera_type_t type;
    size_t dimensions;
};
// Throws std::runtime_error unless these are the arguments given: argv functions trust their
// caller.
void check_arguments(const Filter &filter, const std::vector<WantedArgument> &wanted,
                     const std::vector<FilterArgument> &given);

// Throws std::runtime_error if there is no such filter, or if it takes other arguments.
PreparedFilter prepare(const Filter &filter, std::vector<FilterArgument> arguments);

}  // namespace tessera::apps
