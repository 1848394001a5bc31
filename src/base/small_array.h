#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tessera {

// An array of a size that is known when it is made. Up to N elements stand within the object, so
// that a small one takes no memory of the heap.
template<typename T, size_t N> class SmallArray {
public:
    explicit SmallArray(size_t size) : heap(size <= N ? 0 : size), count(size) {}
    SmallArray(const SmallArray &) = delete;
    SmallArray &operator=(const SmallArray &) = delete;

    T *data() { return count <= N ? own.data() : heap.data(); }
    size_t size() const { return count; }
    T &operator[](size_t i) { return data()[i]; }
    T *begin() { return data(); }
    T *end() { return data() + count; }
    // Returns the first `n` elements.
    std::span<T> first(size_t n) { return {data(), n}; }

private:
    std::array<T, N> own;
    std::vector<T> heap;
    size_t count;
};

}  // namespace tessera
