#include "hooks.h"
#include "base/str.h"
#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace tessera::run {
namespace {

// Handlers of C have no object that they belong to.
std::mutex guard;
std::string first_failure;
std::unordered_map<void *, size_t> sizes;
uint64_t allocated = 0, peak = 0;

void keep_failure(void *, const char *message) {
    std::lock_guard lock(guard);
    if (first_failure.empty()) first_failure = message;
}

void *counted_malloc(void *user_context, size_t bytes) {
    void *p = tessera_default_malloc(user_context, bytes);
    if (!p) return nullptr;
    std::lock_guard lock(guard);
    sizes[p] = bytes;
    allocated += bytes;
    peak = std::max(peak, allocated);
    return p;
}

void counted_free(void *user_context, void *p) {
    {
        std::lock_guard lock(guard);
        auto found = sizes.find(p);
        if (found != sizes.end()) {
            allocated -= found->second;
            sizes.erase(found);
        }
    }
    tessera_default_free(user_context, p);
}

// A library may have the runtime's setters a second time.
template<typename Setter>
void set(Setter *setter, const char *name, auto handler,
         const std::function<void *(const std::string &)> &find) {
    setter(handler);
    auto *own = find ? reinterpret_cast<Setter *>(find(name)) : nullptr;
    if (own && own != setter) own(handler);
}

}  // namespace

Hooks::Hooks(bool track_memory, const std::function<void *(const std::string &)> &find) {
    set(tessera_set_error_handler, "tessera_set_error_handler", keep_failure, find);
    if (!track_memory) return;
    set(tessera_set_custom_malloc, "tessera_set_custom_malloc", counted_malloc, find);
    set(tessera_set_custom_free, "tessera_set_custom_free", counted_free, find);
}

Hooks::~Hooks() {
    tessera_set_error_handler(nullptr);
    tessera_set_custom_malloc(nullptr);
    tessera_set_custom_free(nullptr);
}

std::string Hooks::call(const Function &f, const std::vector<void *> &args) {
    return run([&] { return f.argv(args.data()); });
}

std::string Hooks::run(const std::function<int()> &work) {
    {
        std::lock_guard lock(guard);
        first_failure.clear();
    }
    int code = work();
    std::lock_guard lock(guard);
    if (code == 0) return "";
    return first_failure.empty() ? str("it returned the error code ", code) : first_failure;
}

uint64_t Hooks::take_memory_peak() {
    std::lock_guard lock(guard);
    uint64_t bytes = peak;
    peak = allocated;
    return bytes;
}

}  // namespace tessera::run
