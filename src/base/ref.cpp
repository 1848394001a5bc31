#include "base/ref.h"
#include <vector>

namespace tessera {

void release_object(const RefCounted *object) {
    static thread_local std::vector<const RefCounted *> *queue = nullptr;
    if (queue) {
        queue->push_back(object);
        return;
    }
    std::vector<const RefCounted *> mine{object};
    queue = &mine;
    while (!mine.empty()) {
        const RefCounted *next = mine.back();
        mine.pop_back();
        delete next;
    }
    queue = nullptr;
}

}  // namespace tessera
