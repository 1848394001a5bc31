#include "lang/realization.h"
#include "base/error.h"

namespace tessera {

Realization::Realization(std::vector<Buffer<>> buffers, Location at)
    : images(std::move(buffers)), at(at) {
    if (images.empty()) throw RuntimeError(at, "Realization: there are no buffers");
    for (const Buffer<> &b : images) {
        if (!b.defined()) throw RuntimeError(at, "Realization: a Buffer is undefined");
    }
}

Buffer<> &Realization::operator[](size_t i) {
    if (i < images.size()) return images[i];
    throw RuntimeError(str("Realization: there is no result ", i, "; it has ", images.size()));
}
const Buffer<> &Realization::operator[](size_t i) const {
    return const_cast<Realization &>(*this)[i];
}

void Realization::require_single() const {
    if (images.size() == 1) return;
    throw RuntimeError(at, str("a Realization of ", images.size(),
                               " results stands for no single Buffer; say which, as in r[0]"));
}

int Realization::device_sync(JITUserContext *context) {
    for (Buffer<> &b : images) {
        if (int error = b.device_sync(context)) return error;
    }
    return 0;
}

}  // namespace tessera
