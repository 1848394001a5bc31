#include "base/ref.h"
#include <array>
#include <vector>

namespace tessera {

namespace {

// Few objects become free while one is destroyed, mostly.
class ReleaseQueue {
public:
    void push(const RefCounted *object) {
        if (count < few.size()) {
            few[count++] = object;
        } else {
            many.push_back(object);
        }
    }
    const RefCounted *pop() {
        if (many.empty()) return count > 0 ? few[--count] : nullptr;
        const RefCounted *last = many.back();
        many.pop_back();
        return last;
    }

private:
    std::array<const RefCounted *, 16> few;
    size_t count = 0;
    std::vector<const RefCounted *> many;
};

}  // namespace

void release_object(const RefCounted *object) {
    static thread_local ReleaseQueue *queue = nullptr;
    if (queue) return queue->push(object);
    ReleaseQueue mine;
    queue = &mine;
    for (; object; object = mine.pop()) delete object;
    queue = nullptr;
}

}  // namespace tessera
