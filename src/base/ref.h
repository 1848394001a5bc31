#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

namespace tessera {

// Intrusive reference counting: the count lives in the object, so a handle is one pointer.
class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted &) = delete;
    RefCounted &operator=(const RefCounted &) = delete;
    virtual ~RefCounted() = default;

    // Returns the number of handles that share this object; a hint only while other threads hold
    // some.
    int use_count() const { return count.load(std::memory_order_relaxed); }

private:
    template<typename T>
    friend class Ref;
    friend void release_object(const RefCounted *);
    mutable std::atomic<int> count{0};
};

// Destroys an object whose last handle is gone. Objects that become free meanwhile are queued, so
// that a long chain of nodes is destroyed in a loop and not by recursion.
void release_object(const RefCounted *object);

template<typename T>
class Ref {
public:
    Ref() = default;
    Ref(std::nullptr_t) {}
    explicit Ref(T *p) : ptr(p) { acquire(); }
    Ref(const Ref &o) : ptr(o.ptr) { acquire(); }
    Ref(Ref &&o) noexcept : ptr(std::exchange(o.ptr, nullptr)) {}
    // A handle to a derived class is one to its base.
    template<typename U>
    requires std::is_convertible_v<U *, T *> Ref(const Ref<U> &o) : ptr(o.get()) {
        acquire();
    }
    Ref &operator=(Ref o) noexcept {
        std::swap(ptr, o.ptr);
        return *this;
    }
    ~Ref() {
        if (ptr && ptr->count.fetch_sub(1, std::memory_order_acq_rel) == 1) release_object(ptr);
    }

    T *get() const { return ptr; }
    T *operator->() const { return ptr; }
    T &operator*() const { return *ptr; }
    explicit operator bool() const { return ptr != nullptr; }
    friend bool operator==(const Ref &a, const Ref &b) { return a.ptr == b.ptr; }

private:
    void acquire() const {
        if (ptr) ptr->count.fetch_add(1, std::memory_order_relaxed);
    }
    T *ptr = nullptr;
};

template<typename T, typename... Args>
Ref<T> make_ref(Args &&...args) {
    return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace tessera

template<typename T>
struct std::hash<tessera::Ref<T>> {
    size_t operator()(const tessera::Ref<T> &r) const { return std::hash<const void *>()(r.get()); }
};
