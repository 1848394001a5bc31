#pragma once
#include "interpret/value.h"
#include "runtime/tessera_runtime.h"
#include <memory>
#include <string>

namespace tessera::interpret {

// The iterations of parallel loops, as a tree: which of them may run at the same time.
class TaskTree {
public:
    static constexpr int root = 0;

    TaskTree() : nodes{{-1, 0, 0}} {}
    int new_loop() { return ++loops; }
    // One iteration of that loop.
    int new_task(int parent, int loop);
    bool concurrent(int a, int b) const;

private:
    struct Node {
        int parent, loop, depth;
    };
    std::vector<Node> nodes;
    int loops = 0;
};

// Identifies who accesses memory, for finding conflicts.
struct Accessor {
    const TaskTree *tasks = nullptr;
    int task = TaskTree::root;
    bool atomic = false;
};

// A flat buffer with what is known of each element: whether it may be accessed, whether it was
// written, and by which iterations of parallel loops it was touched.
// Every broken rule throws RuntimeError.
class Memory {
public:
    // Memory of the interpreted program itself; nothing is written yet. `padding` elements more may
    // be read. `swizzle`: as in ir::AllocationFacts; the memory is kept as the machine keeps it.
    Memory(std::string name, Type type, int64_t size, int padding, int task, int swizzle = 0);
    // Memory that the caller passed. `written`: its elements have values.
    Memory(std::string name, const tessera_buffer_t &buffer, bool is_output, bool written);

    // Returns where the program finds an element of swizzled memory, by the index that it uses;
    // else that index. The machine's own units find elements by the swizzle that they are told of.
    int64_t place_of(int64_t index) const { return place_of(index, swizzle); }
    int64_t place_of(int64_t index, int64_t by_swizzle) const;

    Word load(int64_t index, uint8_t &poison, const Accessor &by);
    void store(int64_t index, Word word, uint8_t poison, const Accessor &by);
    // An asynchronous copy of an element begins, which nobody else may use now and nobody may read
    // before the copy ends.
    void begin_copy(int64_t index, const Accessor &by);
    void end_copy(int64_t index, Word word, uint8_t poison);

    // Units of the machine, such as those of wgmma, read the memory of a block by themselves. They
    // see what a thread has written after a fence of that thread, and nobody may write what they
    // have not read yet.
    void note_unfenced(int64_t index);
    void fence(int64_t index);
    void begin_machine_read(int64_t index);
    void end_machine_read(int64_t index);

    uint8_t *address(int64_t index) const { return host + index * type.bytes(); }
    // From now on no element may be accessed.
    void free() { freed = true; }
    bool is_empty() const { return size == 0; }
    // Returns true if all of these bytes are of its elements.
    bool holds(int64_t first_byte, int64_t count) const {
        return first_byte >= low * bytes() && first_byte + count <= (low + size) * bytes();
    }
    // Memory of the same elements, none of which is written.
    std::shared_ptr<Memory> unwritten_twin() const;
    // Copies the elements of a twin, and what is known of them.
    void copy_from(const Memory &twin);
    // A foreign function may have written the elements of the buffer that are of this memory.
    void mark_written(const tessera_buffer_t &buffer);
    // Throws if there is an element of the box that has no value.
    void check_all_written() const;

    // Returns true if the memory lies between the elements of a buffer with strides, where it may
    // be read.
    bool is_between(int64_t index) const;

    const std::string name;
    const Type type;
    bool is_of_block = false;  // which the threads of a block share

private:
    struct Touched {
        int writer = -1, reader = -1, other_reader = -1;  // tasks
        bool atomic_write = false, atomic_read = false;
    };
    int64_t bytes() const { return type.bytes(); }
    const uint8_t *end() const { return host + (low + size + padding) * bytes(); }
    bool holds(const uint8_t *p) const { return p >= host + low * bytes() && p < end(); }
    void check(int64_t index, bool is_store) const;
    void remember_touches();
    void touch_load(size_t at, const Accessor &by);
    void touch_store(size_t at, const Accessor &by, bool same);
    void conflict(size_t at, const char *what) const;
    [[noreturn]] void fail_undefined(int64_t index) const;
    void check_machine_reads(int64_t index) const;

    int64_t low = 0, size = 0, padding = 0;  // indices [low, low + size)
    int64_t swizzle = 0;
    uint8_t *host = nullptr;
    std::vector<uint8_t> own;
    // The state of an element: it has a value, nobody has stored one, or what was stored has no
    // meaning.
    enum State : uint8_t { defined, unwritten, undefined };
    std::vector<uint8_t> poison;  // State per element; empty: all are defined
    std::vector<uint8_t> in_box;  // per element; empty: all may be accessed
    struct OfMachine {
        uint16_t reads = 0;
        bool is_unfenced = false;
    };
    std::vector<OfMachine> of_machine;  // empty until the machine's units read this memory
    std::vector<Touched> touched;       // empty until an iteration of a parallel loop comes
    int task = TaskTree::root;          // that has this memory for itself
    bool is_output = false, freed = false;
};

using MemoryRef = std::shared_ptr<Memory>;

}  // namespace tessera::interpret
