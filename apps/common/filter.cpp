#include "common/filter.h"

#include <stdexcept>

namespace tessera::apps {

tessera_buffer_t FilterArgument::buffer() {
    tessera_buffer_t b = {};
    b.host = host;
    b.type = type;
    b.dimensions = int32_t(dims.size());
    b.dim = dims.data();
    return b;
}

namespace {

std::string description(bool is_buffer, tessera_type_t type, size_t dimensions) {
    char text[64];
    tessera_type_to_string(text, text + sizeof(text), &type);
    if (!is_buffer) return std::string("a number of ") + text;
    return std::to_string(dimensions) + " dimensions of " + text;
}

}  // namespace

void check_arguments(const Filter &filter, const std::vector<WantedArgument> &wanted,
                     const std::vector<FilterArgument> &given) {
    if (given.size() != wanted.size()) {
        throw std::runtime_error(filter.generator + " takes " + std::to_string(wanted.size()) +
                                 " arguments, not " + std::to_string(given.size()));
    }
    for (size_t i = 0; i < given.size(); i++) {
        const WantedArgument &w = wanted[i];
        const std::string is = description(w.is_buffer, w.type, w.dimensions);
        const std::string got =
            description(given[i].is_buffer(), given[i].type, given[i].dims.size());
        if (is == got) continue;
        std::string what = w.name + " of ";
        what.append(filter.generator).append(" is ").append(is).append(", not ").append(got);
        throw std::runtime_error(what);
    }
}

}  // namespace tessera::apps
