#include "interpret/oracle_device.h"
#include "interpret/statement_run.h"

// These parts run on the host and use buffers that may be on the device: copies, and functions in
// C.
namespace tessera::interpret {

using namespace ir;

static tessera_buffer_t &struct_of(const Value &handle) {
    return *reinterpret_cast<tessera_buffer_t *>(handle.word());
}

// Notes where in which memory a buffer that is made begins, unless it has none.
void StatementRun::note_part(const Expr &first, Word handle) {
    const auto *c = first.as<IntrinsicCall>();
    if (!c || c->op != Intrinsic::address_of) return;
    const auto found = frame.memories.find(c->args[0].as<Load>()->buffer);
    if (found == frame.memories.end()) return;
    const tessera_buffer_t &made = shared.made_buffers.at(handle)->buffer;
    const MemoryRef &memory = found->second;
    shared.parts[handle] = {memory, (made.host - memory->address(0)) / memory->type.bytes(), 0};
}

// device_part(whole, first, part)
void StatementRun::share_part(Operands operands) {
    const Word handle = operands[0]->word();
    tessera_buffer_t &part = struct_of(*operands[2]);
    const MemoryRef here = shared.device.on_host(handle), there = shared.device.on_device(handle);
    if (there && here->is_empty()) part.host = nullptr;
    part.set_host_dirty(shared.device.is_dirty(handle, false));
    part.set_device_dirty(shared.device.is_dirty(handle, true));
    if (!there) return;
    part.device = uint64_t(uintptr_t(there->address(operands[1]->as_int())));
    part.device_interface = oracle_device();
    shared.parts[operands[2]->word()].whole = handle;
}

void StatementRun::release_part(Word handle) {
    auto &part = *reinterpret_cast<tessera_buffer_t *>(handle);
    part.device = 0;
    part.device_interface = nullptr;
    part.flags = 0;
    shared.parts[handle].whole = 0;
}

// device_buffer_copy(from, into, is_to_device): element by element, so that what is known of each
// is copied, too.
void StatementRun::copy_parts(Operands operands) {
    const tessera_buffer_t &from = struct_of(*operands[0]), &into = struct_of(*operands[1]);
    const Part &src = shared.parts.at(operands[0]->word());
    const Part &dst = shared.parts.at(operands[1]->word());
    Memory &read = shared.device.newest(*src.memory);
    Memory &written = !shared.places_copies   ? *dst.memory
                      : operands[2]->as_int() ? shared.device.seen_by_kernel(*dst.memory)
                                              : shared.device.seen_by_host(*dst.memory);
    std::vector<int32_t> low, high;
    for (int d = 0; d < from.dimensions; d++) {
        const tessera_dimension_t &a = from.dim[d], &b = into.dim[d];
        low.push_back(std::max(a.min, b.min));
        high.push_back(std::min(a.min + a.extent, b.min + b.extent) - 1);
    }
    for_each_point(low, high, [&](const std::vector<int32_t> &point) {
        int64_t at = src.first, to = dst.first;
        for (size_t d = 0; d < point.size(); d++) {
            at += (int64_t(point[d]) - from.dim[d].min) * from.dim[d].stride;
            to += (int64_t(point[d]) - into.dim[d].min) * into.dim[d].stride;
        }
        uint8_t poison = 0;
        const Word word = read.load(at, poison, accessor());
        written.store(to, word, poison, accessor());
    });
}

// A function in C that gets the part must find it on the device, and may have written it there.
// Returns false if the part is not on the device.
bool StatementRun::use_part(Word handle, const tessera_buffer_t &part) {
    const auto found = shared.parts.find(handle);
    if (found == shared.parts.end() || !found->second.whole) return false;
    shared.device.seen_by_kernel(*found->second.memory);
    tessera_buffer_t there = part;
    there.host = reinterpret_cast<uint8_t *>(part.device);
    shared.device.on_device(found->second.whole)->mark_written(there);
    return true;
}

}  // namespace tessera::interpret
