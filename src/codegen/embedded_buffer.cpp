#include "codegen/embedded_buffer.h"
#include "base/error.h"
#include "base/str.h"
#include "program/parameter.h"
#include <algorithm>
#include <functional>

namespace tessera::codegen {
namespace {

// The elements at their places, and zeros between them.
std::vector<uint8_t> contents_of(const tessera_buffer_t &buffer, int64_t first, int64_t size) {
    int64_t bytes = (buffer.type.bits + 7) / 8;
    std::vector<uint8_t> contents(size_t(size * bytes));
    std::function<void(int, int64_t)> copy = [&](int dims, int64_t at) {
        if (dims == 0) {
            std::copy_n(buffer.host + at * bytes, bytes,
                        contents.begin() + long((at - first) * bytes));
            return;
        }
        const tessera_dimension_t &d = buffer.dim[dims - 1];
        for (int i = 0; i < d.extent; i++) copy(dims - 1, at + int64_t(i) * d.stride);
    };
    copy(buffer.dimensions, 0);
    return contents;
}

}  // namespace

EmbeddedBuffer embedded_buffer(const ir::Argument &a, const Target &target) {
    const tessera_buffer_t &buffer = *program::parameter_of(a)->buffer;
    auto refuse = [&](const std::string &why) {
        throw CompileError(str("the Buffer ", a.name, " cannot be put into a file: ", why));
    };
    int64_t first = 0, last = 0;  // in elements, from the host pointer
    bool empty = false;
    for (int d = 0; d < buffer.dimensions; d++) {
        const tessera_dimension_t &dim = buffer.dim[d];
        int64_t reach = int64_t(dim.stride) * (dim.extent - 1);
        (reach < 0 ? first : last) += reach;
        empty |= dim.extent <= 0;
    }
    if (empty) first = 0, last = -1;
    int64_t bytes = (buffer.type.bits + 7) / 8;
    if (a.type.is_handle()) refuse("it holds pointers of this process");
    if (!buffer.host && !empty) refuse("it has no memory; call allocate()");
    if (buffer.flags & tessera_buffer_flag_device_dirty) {
        refuse("its values are on a device; call copy_to_host()");
    }
    if ((last - first + 1) * bytes > target.maximum_buffer_size()) {
        refuse("it has more than 2^31 - 1 bytes; add large_buffers to the target");
    }
    if (empty) return {&buffer, 0, {}};
    return {&buffer, first, contents_of(buffer, first, last - first + 1)};
}

}  // namespace tessera::codegen
