#include "interpret/memory.h"
#include "base/error.h"
#include "ir/layout.h"
#include <algorithm>
#include <cstring>

namespace tessera::interpret {
namespace {

constexpr int64_t most_elements_to_track = int64_t(1) << 28;

// Sets what is known of each element of a buffer whose first one is at `at`.
void set_elements(std::vector<uint8_t> &known, uint8_t value, const tessera_buffer_t &b, int dims,
                  int64_t at) {
    auto within = [&](int64_t i) { return std::clamp<int64_t>(i, 0, int64_t(known.size())); };
    if (dims == 0 || (dims == 1 && b.dim[0].stride == 1)) {
        int64_t end = at + (dims == 0 ? 1 : std::max(b.dim[0].extent, 0));
        return std::fill(known.begin() + within(at), known.begin() + within(end), value);
    }
    const tessera_dimension_t &outer = b.dim[dims - 1];
    for (int i = 0; i < outer.extent; i++) {
        set_elements(known, value, b, dims - 1, at + int64_t(i) * outer.stride);
    }
}

}  // namespace

int TaskTree::new_task(int parent, int loop) {
    nodes.push_back({parent, loop, nodes[size_t(parent)].depth + 1});
    return int(nodes.size()) - 1;
}

bool TaskTree::concurrent(int a, int b) const {
    auto node = [&](int i) -> const Node & { return nodes[size_t(i)]; };
    while (node(a).depth > node(b).depth) a = node(a).parent;
    while (node(b).depth > node(a).depth) b = node(b).parent;
    if (a == b) return false;
    while (node(a).parent != node(b).parent) {
        a = node(a).parent;
        b = node(b).parent;
    }
    return node(a).loop == node(b).loop;
}

Memory::Memory(std::string name, Type type, int64_t size, int padding, int task, int swizzle)
    : name(std::move(name)), type(type), size(size), padding(padding), swizzle(swizzle),
      task(task) {
    if (swizzle != 0 && (size * bytes() % swizzle != 0 || padding != 0))
        throw RuntimeError(str("the memory of ", this->name, " has no whole number of rows of ",
                               swizzle, " bytes that are swizzled"));
    // Without elements it has an address, too: extern stages take a null one for a bounds query.
    own.assign(std::max<size_t>(1, size_t((size + padding) * bytes())), 0);
    poison.assign(size_t(size + padding), unwritten);
    host = own.data();
}

Memory::Memory(std::string name, const tessera_buffer_t &b, bool is_output, bool written)
    : name(std::move(name)), type(TypeCode(b.type.code), b.type.bits), host(b.host),
      is_output(is_output) {
    int64_t highest = 0, elements = 1;
    for (int d = 0; d < b.dimensions; d++) {
        int64_t reach = int64_t(b.dim[d].stride) * (b.dim[d].extent - 1);
        (reach < 0 ? low : highest) += reach;
        elements *= std::max(b.dim[d].extent, 0);
    }
    size = elements == 0 ? 0 : highest - low + 1;
    if (elements == 0) low = 0;
    if (size > most_elements_to_track) return;
    if (!written) poison.assign(size_t(size), unwritten);
    if (size == elements) return;
    in_box.assign(size_t(size), 0);
    set_elements(in_box, 1, b, b.dimensions, -low);
}

std::shared_ptr<Memory> Memory::unwritten_twin() const {
    auto twin = std::make_shared<Memory>(name, type, size, padding, TaskTree::root);
    twin->low = low;
    twin->host -= low * bytes();
    twin->in_box = in_box;
    twin->is_output = is_output;
    return twin;
}

void Memory::copy_from(const Memory &twin) {
    const size_t count = size_t(size + padding);
    if (poison.empty() && !twin.poison.empty()) poison.assign(count, defined);
    for (size_t at = 0; at < count; at++) {
        if (!in_box.empty() && !in_box[at]) continue;
        const int64_t index = int64_t(at) + low;
        std::memcpy(address(index), twin.address(index), size_t(bytes()));
        if (poison.empty()) continue;
        poison[at] = twin.poison.empty() ? uint8_t(defined) : twin.poison[at];
    }
}

bool Memory::is_between(int64_t index) const {
    if (in_box.empty() || freed || index < low || index >= low + size) return false;
    return !in_box[size_t(index - low)];
}

int64_t Memory::place_of(int64_t index, int64_t by_swizzle) const {
    if (index < low || index >= low + size) return index;  // which is refused
    return ir::swizzled(index * bytes(), by_swizzle) / bytes();
}

void Memory::check(int64_t index, bool is_store) const {
    int64_t above = low + size + (is_store ? 0 : padding);
    const char *what = is_store ? "store to " : "load from ";
    if (freed) throw RuntimeError(str(what, name, " after it was freed"));
    if (index < low || index >= above) {
        throw RuntimeError(str("out of bounds ", what, name, " at ", index, ": its elements are [",
                               low, ", ", low + size, ")"));
    }
    if (is_between(index)) {
        throw RuntimeError(str("out of bounds ", what, name, " at ", index,
                               ": between the elements of the buffer"));
    }
}

Word Memory::load(int64_t index, uint8_t &is_poison, const Accessor &by) {
    check(index, false);
    size_t at = size_t(index - low);
    if (by.task != task) touch_load(at, by);
    is_poison = poison.empty() ? 0 : poison[at] != defined;
    return load_word(type, address(index));
}

void Memory::store(int64_t index, Word word, uint8_t is_poison, const Accessor &by) {
    check(index, true);
    check_machine_reads(index);
    size_t at = size_t(index - low);
    // Storing the value that is there does no harm: the ends of a split loop overlap, and a blend
    // keeps what another iteration has computed, or will compute, which is checked at the end.
    bool same_word = load_word(type, address(index)) == word;
    bool was_poison = !poison.empty() && poison[at] != defined;
    if (is_output && is_poison && !was_poison && !(poison.empty() && same_word)) {
        fail_undefined(index);
    }
    if (by.task != task) touch_store(at, by, same_word && was_poison == bool(is_poison));
    if (!poison.empty() && !(is_poison && was_poison && same_word)) {
        poison[at] = is_poison ? undefined : defined;
    }
    store_word(type, address(index), word);
}

void Memory::note_unfenced(int64_t index) {
    if (of_machine.empty()) of_machine.resize(size_t(size + padding));
    of_machine.at(size_t(index - low)).is_unfenced = true;
}

void Memory::fence(int64_t index) { of_machine.at(size_t(index - low)).is_unfenced = false; }

void Memory::begin_machine_read(int64_t index) {
    check(index, false);
    if (of_machine.empty()) of_machine.resize(size_t(size + padding));
    OfMachine &element = of_machine.at(size_t(index - low));
    if (element.is_unfenced)
        throw RuntimeError(str("an instruction reads what a thread has written to ", name, ", at ",
                               index, ", without a fence between (async_wait)"));
    element.reads++;
}

void Memory::end_machine_read(int64_t index) { of_machine.at(size_t(index - low)).reads--; }

void Memory::check_machine_reads(int64_t index) const {
    if (of_machine.empty() || of_machine[size_t(index - low)].reads == 0) return;
    throw RuntimeError(str("a write to ", name, " at ", index,
                           ", which an instruction may still read: nobody has waited for it"));
}

void Memory::begin_copy(int64_t index, const Accessor &by) {
    check(index, true);
    check_machine_reads(index);
    const auto at = size_t(index - low);
    if (by.task != task) {
        remember_touches();
        const Touched before = touched[at];
        touch_store(at, by, false);
        touched[at] = before;  // what the copy writes comes later
    }
    if (!poison.empty()) poison[at] = unwritten;
}

void Memory::end_copy(int64_t index, Word word, uint8_t is_poison) {
    store_word(type, address(index), word);
    if (!of_machine.empty()) of_machine[size_t(index - low)].is_unfenced = false;
    if (!poison.empty()) poison[size_t(index - low)] = is_poison ? undefined : defined;
}

void Memory::conflict(size_t at, const char *what) const {
    throw RuntimeError(str("two iterations of a parallel loop ", what, " the same element of ",
                           name, ", at ", int64_t(at) + low));
}

void Memory::remember_touches() {
    if (!touched.empty()) return;
    try {
        touched.resize(size_t(size + padding));
    } catch (const std::bad_alloc &) {
        throw RuntimeError(str("allocation of ", name, " is too large to interpret"));
    }
}

void Memory::touch_load(size_t at, const Accessor &by) {
    remember_touches();
    Touched &t = touched[at];
    bool both_atomic = by.atomic && t.atomic_write;
    if (t.writer >= 0 && !both_atomic && by.tasks->concurrent(t.writer, by.task)) {
        conflict(at, "write and read");
    }
    if (t.reader == by.task) {
        t.atomic_read = t.atomic_read && by.atomic;
        return;
    }
    bool overlaps = t.reader >= 0 && by.tasks->concurrent(t.reader, by.task);
    t.atomic_read = overlaps ? t.atomic_read && by.atomic : by.atomic;
    t.other_reader = overlaps ? t.reader : -1;
    t.reader = by.task;
}

void Memory::touch_store(size_t at, const Accessor &by, bool same) {
    remember_touches();
    Touched &t = touched[at];
    if (t.writer >= 0 && !same && !(by.atomic && t.atomic_write) &&
        by.tasks->concurrent(t.writer, by.task)) {
        conflict(at, "write");
    }
    for (int reader : {t.reader, t.other_reader}) {
        if (reader >= 0 && !(by.atomic && t.atomic_read) && by.tasks->concurrent(reader, by.task)) {
            conflict(at, "read and write");
        }
    }
    t.writer = by.task;
    t.atomic_write = by.atomic;
}

void Memory::mark_written(const tessera_buffer_t &b) {
    if (poison.empty() || !holds(b.host)) return;
    set_elements(poison, defined, b, b.dimensions, (b.host - host) / bytes() - low);
}

void Memory::check_all_written() const {
    for (size_t at = 0; at < poison.size(); at++) {
        if (poison[at] == defined || !(in_box.empty() || in_box[at])) continue;
        int64_t index = int64_t(at) + low;
        if (poison[at] == undefined) fail_undefined(index);
        throw RuntimeError(str("output ", name, " is never written at ", index));
    }
}

void Memory::fail_undefined(int64_t index) const {
    throw RuntimeError(
        str("a value that was never computed is stored to output ", name, " at ", index));
}

}  // namespace tessera::interpret
