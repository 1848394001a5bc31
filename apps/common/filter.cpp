#include "common/filter.h"

namespace tessera::apps {

tessera_buffer_t FilterArgument::buffer() {
    tessera_buffer_t b = {};
    b.host = host;
    b.type = type;
    b.dimensions = int32_t(dims.size());
    b.dim = dims.data();
    return b;
}

std::string FilterArgument::description() const {
    char text[64];
    tessera_type_to_string(text, text + sizeof(text), &type);
    if (!is_buffer()) return std::string("a ") + text;
    return std::to_string(dims.size()) + " dimensions of " + text;
}

}  // namespace tessera::apps
