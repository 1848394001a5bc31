#pragma once
#include "lang/buffer.h"

namespace tessera {

// The results of a pipeline: one Buffer per value.
class Realization {
public:
    // `at`: the line that errors of conversions, which can take no Location, name.
    explicit Realization(std::vector<Buffer<>> buffers,
                         Location at = std::source_location::current());
    explicit Realization(std::initializer_list<Buffer<>> buffers)
        : Realization(std::vector<Buffer<>>(buffers)) {}
    explicit Realization(Buffer<> &buffer) : Realization(std::vector<Buffer<>>{buffer}) {}
    template<typename T, int D, typename... Args>
    explicit Realization(const Buffer<T, D> &first, const Args &...rest)
        : Realization(std::vector<Buffer<>>{first, Buffer<>(rest)...}) {}

    size_t size() const { return images.size(); }
    const Buffer<> &operator[](size_t i) const;
    Buffer<> &operator[](size_t i);
    // The Buffer of a single result.
    template<typename T, int D>
    operator Buffer<T, D>() const {
        require_single();
        return Buffer<T, D>(images[0], at);
    }
    // Returns an error code of the runtime.
    int device_sync(JITUserContext *context = nullptr);

    auto begin() { return images.begin(); }
    auto end() { return images.end(); }
    auto begin() const { return images.begin(); }
    auto end() const { return images.end(); }

private:
    void require_single() const;
    std::vector<Buffer<>> images;
    Location at;
};

// The buffers that realize() writes into.
struct RealizationArg {
    template<typename T, int D>
    RealizationArg(const Buffer<T, D> &b) : buffers{b.raw_buffer()}, owners{Buffer<>(b)} {}
    RealizationArg(const Realization &r)
        : RealizationArg(std::vector<Buffer<>>(r.begin(), r.end())) {}
    RealizationArg(const std::vector<Buffer<>> &list) : owners(list) {
        for (const Buffer<> &b : list) buffers.push_back(b.raw_buffer());
    }
    template<BufferView B>
    RealizationArg(B &view) : buffers{view.raw_buffer()} {}
    RealizationArg(tessera_buffer_t *buffer) : buffers{buffer} {}
    template<typename T, int D, typename... Args>
    RealizationArg(const Buffer<T, D> &a, const Args &...rest) requires(sizeof...(rest) > 0)
        : RealizationArg(std::vector<Buffer<>>{a, Buffer<>(rest)...}) {}

    std::vector<tessera_buffer_t *> buffers;
    std::vector<Buffer<>> owners;
};

}  // namespace tessera
