#include "interpret/statement_run.h"
#include "ir/operators.h"
#include "lower/finish/runtime_calls.h"
#include "runtime/tessera_runtime.h"
#include <cstring>

// This file evaluates the expressions of lowered code, except for their arithmetic.
namespace tessera::interpret {

using namespace ir;

namespace {

void lose(Value &result, size_t lane) {
    result.lanes[lane] = 0;
    result.poison[lane] = never_written;
}

}  // namespace

const Value *StatementRun::variable(const Variable &v) {
    auto found = frame.variables.find(v.name);
    if (found == frame.variables.end()) {
        throw RuntimeError(str("variable ", v.name, " is used where it is not bound"));
    }
    return &found->second;
}

void StatementRun::evaluate(const ExprNode &node, Operands operands, Value &result) {
    switch (node.kind) {
    case NodeKind::Load: return load(static_cast<const Load &>(node), operands, result);
    case NodeKind::Call: return call(static_cast<const Call &>(node), operands, result);
    case NodeKind::ExternCall:
        return extern_call(static_cast<const ExternCall &>(node), operands, result);
    case NodeKind::IntrinsicCall:
        return intrinsic(static_cast<const IntrinsicCall &>(node), operands, result);
    case NodeKind::BufferProperty: {
        const auto &p = static_cast<const BufferProperty &>(node);
        return result.assign(Word(property_of(buffer(p.buffer), p.buffer, p.field, p.dim)));
    }
    default: throw InternalError("the interpreter does not know this expression");
    }
}

const tessera_buffer_t &StatementRun::buffer(Symbol name) {
    auto argument = shared.buffers.find(name);
    const tessera_buffer_t *b = nullptr;
    if (argument != shared.buffers.end()) {
        b = argument->second;
    } else if (auto local = frame.variables.find(name); local != frame.variables.end()) {
        b = reinterpret_cast<const tessera_buffer_t *>(local->second.word());
    }
    if (!b) throw RuntimeError(str("a property of buffer ", name, ", which is not there"));
    return *b;
}

Memory &StatementRun::memory(Symbol name) {
    auto found = frame.memories.find(name);
    if (found == frame.memories.end()) {
        throw RuntimeError(str("buffer ", name, " is accessed where it is not allocated"));
    }
    Memory &m = *found->second;
    if (!shared.places_copies || shared.of_kernels.contains(&m)) return m;
    return frame.in_kernel ? shared.device.seen_by_kernel(m) : shared.device.seen_by_host(m);
}

void StatementRun::load(const Load &node, Operands operands, Value &result) {
    const Value &index = *operands[0];
    const Value *predicate = operands.size() > 1 ? operands[1] : nullptr;
    Memory &m = memory(node.buffer);
    if (m.type != node.type.element_of()) {
        throw RuntimeError(str("load of ", node.type, " from ", node.buffer, " of ", m.type));
    }
    bool first_lane = !index.poison[0] && (!predicate || predicate->as_bool());
    int64_t modulus = node.alignment.modulus;
    if (first_lane && modulus > 1 && (index.as_int() - node.alignment.remainder) % modulus != 0) {
        throw RuntimeError(str("a load from ", node.buffer, " at ", index.as_int(),
                               " is said to be at ", node.alignment.remainder, " modulo ",
                               modulus));
    }
    const auto is_dense = [&](size_t i) {
        const size_t before = i == 0 ? 0 : i - 1;
        return index.lanes.size() > 1 && index.lanes[before + 1] == index.lanes[before] + 1;
    };
    for (size_t i = 0; i < index.lanes.size(); i++) {
        bool skipped = predicate && (!predicate->lanes[i] || predicate->poison[i]);
        const int64_t at = int64_t(index.lanes[i]);
        // One dense load stands for lanes that are some elements apart: what lies between is
        // dropped.
        if (skipped || index.poison[i] || (is_dense(i) && m.is_between(at))) {
            lose(result, i);
        } else {
            result.lanes[i] = m.load(m.place_of(at), result.poison[i], accessor());
        }
    }
}

FuncStorage &StatementRun::realization(Symbol f, size_t values) {
    auto &found = frame.realizations[f];
    if (found) return *found;
    // An argument of the function that is interpreted.
    found = std::make_shared<FuncStorage>();
    auto named = shared.options.buffers.find(f);
    std::vector<Symbol> names =
        named == shared.options.buffers.end() ? std::vector<Symbol>{f} : named->second;
    if (names.size() < values) throw RuntimeError(str(f, " is not realized"));
    for (Symbol name : names) found->values.push_back(frame.memories.at(name));
    const tessera_buffer_t &b = buffer(names[0]);
    for (int d = 0; d < b.dimensions; d++) {
        found->add_dimension(b.dim[d].min, b.dim[d].extent, b.dim[d].stride);
    }
    return *found;
}

int64_t StatementRun::offset_of(const FuncStorage &r, Symbol f,
                                const std::vector<const Value *> &args, size_t lane) const {
    int64_t offset = 0;
    for (size_t d = 0; d < args.size(); d++) {
        const Value &v = *args[d];
        int64_t at = int64_t(v.lanes[v.lanes.size() == 1 ? 0 : lane]);
        if (at < r.min[d] || at >= r.min[d] + r.extent[d]) {
            throw RuntimeError(str("out of bounds access of ", f, " at ", at, " in dimension ", d,
                                   ": it is there from ", r.min[d], " to ",
                                   r.min[d] + r.extent[d] - 1));
        }
        offset += (at - r.min[d]) * r.stride[d];
    }
    return offset;
}

void StatementRun::call(const Call &node, Operands operands, Value &result) {
    FuncStorage &r = realization(node.callee, size_t(node.value_index) + 1);
    std::vector<const Value *> args(operands.begin(), operands.end());
    for (size_t i = 0; i < result.lanes.size(); i++) {
        bool lost = false;
        for (const Value *arg : args) lost |= arg->poison[arg->lanes.size() == 1 ? 0 : i] != 0;
        if (lost) {
            lose(result, i);
            continue;
        }
        int64_t offset = offset_of(r, node.callee, args, i);
        result.lanes[i] =
            r.values[size_t(node.value_index)]->load(offset, result.poison[i], accessor());
    }
}

void StatementRun::intrinsic(const IntrinsicCall &node, Operands operands, Value &result) {
    switch (node.op) {
    case Intrinsic::user_context:
        return result.assign(Word(uintptr_t(shared.options.user_context)));
    case Intrinsic::stringify:
        shared.texts.push_back(stringify(node, operands));
        return result.assign(Word(uintptr_t(shared.texts.back().c_str())));
    case Intrinsic::make_struct: return make_struct(operands, result);
    case Intrinsic::make_buffer:
        make_buffer(operands, result);
        return note_part(node.args[0], result.word());
    case Intrinsic::address_of: {
        const auto &load = *node.args[0].as<Load>();
        const auto found = frame.memories.find(load.buffer);
        if (found == frame.memories.end()) memory(load.buffer);  // which refuses it
        return result.assign(Word(uintptr_t(found->second->address(operands[0]->as_int()))));
    }
    case Intrinsic::alloca:
        shared.blocks.emplace_back(size_t(operands[0]->as_int()), uint8_t(0));
        return result.assign(Word(uintptr_t(shared.blocks.back().data())));
    case Intrinsic::prefetch: return result.assign(0);
    case Intrinsic::free:
        frame.memories.at(address_taken(node.args[0]).buffer)->free();
        return result.assign(0);
    case Intrinsic::require: {
        const Value &condition = *operands[0];
        for (size_t i = 0; i < condition.lanes.size(); i++) {
            if (condition.lanes[i] || condition.poison[i]) continue;
            std::vector<Expr> parts(node.args.begin() + 3, node.args.end());
            Expr text = IntrinsicCall::make(Handle(), Intrinsic::stringify, std::move(parts));
            std::string message = stringify(*text.as<IntrinsicCall>(), operands.subspan(3));
            throw PipelineFailed{tessera_error_requirement_failed(
                shared.options.user_context, reinterpret_cast<const char *>(operands[2]->word()),
                message.empty() ? "a requirement" : "", message.c_str())};
        }
        result = *operands[1];
        return;
    }
    case Intrinsic::is_device_dirty: {
        const auto *b = reinterpret_cast<const tessera_buffer_t *>(operands[0]->word());
        return result.assign((b->flags & tessera_buffer_flag_device_dirty) != 0);
    }
    case Intrinsic::set_buffer_field: {
        auto *b = reinterpret_cast<tessera_buffer_t *>(operands[0]->word());
        auto field = BufferField(operands[1]->as_int());
        int64_t dim = operands[2]->as_int(), value = operands[3]->as_int();
        if (field == BufferField::Min) b->dim[dim].min = int32_t(value);
        if (field == BufferField::Extent) b->dim[dim].extent = int32_t(value);
        if (field == BufferField::Stride) b->dim[dim].stride = int32_t(value);
        if (field == BufferField::TypeCode) b->type.code = uint8_t(value);
        if (field == BufferField::TypeBits) b->type.bits = uint8_t(value);
        return result.reset(result.type);
    }
    case Intrinsic::semaphore_init:
        shared.semaphores[operands[0]->word()] = operands[1]->as_int();
        return result.assign(0);
    case Intrinsic::semaphore_release:
        return result.assign(Word(shared.semaphores[operands[0]->word()] += operands[1]->as_int()));
    case Intrinsic::gpu_barrier:
    case Intrinsic::gpu_warp_barrier:
    case Intrinsic::gpu_cluster_barrier: meet(node); return result.assign(0);
    case Intrinsic::gpu_role_barrier:
        meet_in_role(node, operands[0]->as_int(), operands[1]->as_int());
        return result.assign(0);
    case Intrinsic::gpu_set_registers: return result.assign(0);
    case Intrinsic::cluster_load: return cluster_load(node, operands, result);
    case Intrinsic::shuffle_lanes: return shuffle(node, operands, result);
    case Intrinsic::gpu_processors: return result.assign(3);  // few, so that blocks take turns
    case Intrinsic::device_address: return result.assign(0);  // machine code looks at it alone
    case Intrinsic::tensor_map: return result.assign(tensor_map(node, operands));
    default:
        if (asynchronous_intrinsic(node, operands, result)) return;
        if (device_intrinsic(node, operands, result)) return;
        if (is_runtime_intrinsic(node.op)) return runtime_call(node, operands, result);
        throw RuntimeError(str("lowered code holds the intrinsic ", info_of(node.op).name));
    }
}

// Returns false if it is none.
bool StatementRun::device_intrinsic(const IntrinsicCall &node, Operands operands, Value &result) {
    const Word handle = operands.empty() ? 0 : operands[0]->word();
    switch (node.op) {
    case Intrinsic::device_buffer: {
        make_buffer(operands, result);
        const OwnedBuffer &made = *shared.made_buffers.at(result.word());
        const Symbol buffer = address_taken(node.args[0]).buffer;
        shared.device.add(result.word(), frame.memories.at(buffer),
                          int64_t(tessera_buffer_number_of_elements(&made.buffer)));
        return true;
    }
    case Intrinsic::copy_to_host: shared.device.copy_to_host(handle); break;
    case Intrinsic::copy_to_device: shared.device.copy_to_device(handle); break;
    case Intrinsic::device_free: shared.device.free(handle); break;
    case Intrinsic::mark_host_dirty: shared.device.mark(handle, false); break;
    case Intrinsic::mark_device_dirty: shared.device.mark(handle, true); break;
    case Intrinsic::device_part: share_part(operands); break;
    case Intrinsic::device_release_crop: release_part(handle); break;
    case Intrinsic::device_buffer_copy: copy_parts(operands); break;
    case Intrinsic::on_device: result = *operands[0]; return true;
    default: return false;
    }
    result.assign(0);
    return true;
}

void StatementRun::make_struct(Operands operands, Value &result) {
    std::vector<uint8_t> bytes;
    for (const Value *v : operands) {
        size_t size = size_t(v->type.bytes());
        bytes.resize((bytes.size() + size - 1) / size * size);
        for (Word word : v->lanes) {
            bytes.resize(bytes.size() + size);
            store_word(v->type.element_of(), bytes.data() + bytes.size() - size, word);
        }
    }
    shared.blocks.push_back(std::move(bytes));
    result.assign(Word(uintptr_t(shared.blocks.back().data())));
}

void StatementRun::make_buffer(Operands operands, Value &result) {
    Type t(TypeCode(operands[1]->as_int()), int(operands[2]->as_int()));
    std::vector<tessera_dimension_t> dims;
    for (size_t i = 4; i + 2 < operands.size(); i += 3) {
        dims.push_back({int32_t(operands[i]->as_int()), int32_t(operands[i + 1]->as_int()),
                        int32_t(operands[i + 2]->as_int()), 0});
    }
    auto made = std::make_unique<OwnedBuffer>(t, std::move(dims));
    made->buffer.host = reinterpret_cast<uint8_t *>(operands[0]->word());
    Word address = Word(uintptr_t(&made->buffer));
    shared.made_buffers[address] = std::move(made);
    result.assign(address);
}

void StatementRun::runtime_call(const IntrinsicCall &node, Operands operands, Value &result) {
    const Expr call = lower::as_c_call(node);
    const auto &c = *call.as<ExternCall>();
    std::vector<const Value *> all(operands.begin(), operands.end());
    Value user_context(Handle());
    if (c.args.size() > all.size()) {
        user_context.assign(Word(uintptr_t(shared.options.user_context)));
        all.insert(all.begin(), &user_context);
    }
    call_extern(c, all, shared.options.externs, result);
}

void StatementRun::extern_call(const ExternCall &node, Operands operands, Value &result) {
    call_extern(node, operands, shared.options.externs, result);
    for (const Value *operand : operands) {
        if (!operand->type.is_handle()) continue;
        auto made = shared.made_buffers.find(operand->word());
        if (made != shared.made_buffers.end()) {
            const tessera_buffer_t &b = made->second->buffer;
            if (!use_part(operand->word(), b)) mark_what_foreign_code_wrote(b);
        }
        for (const auto &[name, b] : shared.buffers) {
            if (b && Word(uintptr_t(b)) == operand->word()) mark_what_foreign_code_wrote(*b);
        }
    }
}

// Nobody knows which of its buffers a C function writes: all count as written.
void StatementRun::mark_what_foreign_code_wrote(const tessera_buffer_t &b) {
    if (!b.host) return;
    for (const auto &weak : shared.memories) {
        if (MemoryRef m = weak.lock()) m->mark_written(b);
    }
}

}  // namespace tessera::interpret
