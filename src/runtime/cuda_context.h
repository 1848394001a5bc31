#pragma once
#include "runtime/cuda_driver.h"
#include "runtime/device_impl.h"
#include <atomic>
#include <mutex>
#include <vector>

namespace tessera::cuda {

// Holds the resources of a device that one launch may ask for.
struct Limits {
    int threads, block[3], grid[3];
    int shared;  // bytes a block can have, where it asks for more than usual
    int pitch;   // bytes from row to row that a copy of rows can have
};

// Two pieces of pinned memory, through which copies of other memory go in turns.
struct Staging {
    struct Piece {
        uint8_t *memory = nullptr;
        Event copied = nullptr;  // of what was last copied to or from it
    };
    Piece pieces[2];
};

// Memory of the pool that was freed in the order of the default stream, which may use it at once:
// the last few blocks, the oldest first.
struct FreedMemory {
    struct Block {
        Address base;
        uint64_t bytes;
    };
    static constexpr int most = 16;
    Block blocks[most];
    int count = 0;

    Address remove(int i) {
        const Address base = blocks[i].base;
        for (count--; i < count; i++) blocks[i] = blocks[i + 1];
        return base;
    }
};

// Holds what the runtime keeps for a context.
struct State {
    Context context = nullptr;
    Device device = 0;
    int capability = 0;  // 90 for 9.0
    char name[128] = "";
    Limits limits = {};
    Pool pool = nullptr;                   // NULL: the device has none
    std::atomic<bool> has_streams{false};  // whether any but the default one has been used
    std::mutex mutex;                      // of what follows
    FreedMemory freed;
    std::vector<Staging *> unused_staging;
    std::vector<tessera_cuda_reports_t *> unused_reports;
};

// Makes a context current while it lives, and the former one after.
class Current {
public:
    Current(const Driver &driver, Context context);
    ~Current();
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;
    Result result() const { return failure; }

private:
    const Driver &driver;
    Result failure = result::success;
    bool pushed = false;
};

// Says what a Scope expects of the user's context.
enum class Enter {
    Create,   // that it is there, or can be made
    IfThere,  // nothing
    // Nothing, and nothing to say if the driver has shut down, or the context has failed and
    // somebody has been told: what was in it is gone anyway.
    ToFree,
};

// The user's context while it lives: acquired, current, and released at the end. A failure is
// reported, and is the `error`.
class Scope {
public:
    explicit Scope(void *user_context, Enter how = Enter::Create);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    int error() const { return failure; }
    bool has_context() const { return !failure && in; }
    const Driver &driver() const { return *of; }
    State &state() const { return *in; }
    Stream stream() const { return on; }
    // Reports that `what` failed, if it did; `code` then.
    int check(tessera_error_code_t code, Result r, const Message &what) const {
        return r ? raise(user_context, code, *of, r, what) : 0;
    }

private:
    Scope() = default;
    int enter(Enter how);
    int enter_context(Context context, Enter how);

    void *user_context = nullptr;
    const Driver *of = nullptr;
    State *in = nullptr;
    Stream on = nullptr;
    int failure = 0;
    bool acquired = false, pushed = false;
};

// Changes whenever something that threads remember is given up.
uint64_t epoch();
void begin_epoch();

// Gives up what the runtime has in the user's context.
void release(void *user_context);
int compute_capability(void *user_context, int *major, int *minor);

// In cuda_copy.cpp.
int copy(void *user_context, const CopyPlan &plan, CopySide src, CopySide dst);
// In cuda_memory.cpp: whether memory of buffers lives in the context.
bool has_allocations(Context context);
// Gives freed memory back to the pool. Memory that the driver does not give back stays as it is.
void free_to_pool(const Driver &driver, State &state);
// In cuda_tensor_map.cpp: frees what this thread has copied for the maps of a kernel, which has
// been launched, so that its rows begin at multiples of 16 bytes.
void free_copies_of_maps(void *user_context);
// In cuda_launch.cpp: unloads all kernels of the context, which is current, and begins an epoch.
void unload_kernels(const Driver &driver, Context context);

}  // namespace tessera::cuda
