#pragma once
#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace tessera::python {

// Up to N objects on the stack, or any number on the heap; they are made one after another.
template<typename T, size_t N> class FewOf {
public:
    explicit FewOf(size_t most)
        : place(most <= N ? reinterpret_cast<T *>(own)
                          : static_cast<T *>(::operator new(most * sizeof(T)))) {}
    ~FewOf() {
        for (size_t i = count; i-- > 0;) place[i].~T();
        if (place != reinterpret_cast<T *>(own)) ::operator delete(place);
    }
    FewOf(const FewOf &) = delete;
    FewOf &operator=(const FewOf &) = delete;

    template<typename... Args> T &add(Args &&...args) {
        T *made = new (static_cast<void *>(place + count)) T(std::forward<Args>(args)...);
        count++;
        return *made;
    }
    std::span<T> all() { return {place, count}; }

private:
    alignas(T) std::byte own[N * sizeof(T)];
    T *place;
    size_t count = 0;
};

}  // namespace tessera::python
