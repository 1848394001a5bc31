#include "codegen/host/host_emitter.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include <utility>

namespace tessera::codegen {
namespace {

// So that the bytes of as many elements of any type fit 63 bits.
constexpr int64_t most_elements_when_large = int64_t(1) << 56;

}  // namespace

void HostEmitter::allocate_in_memory(const Allocate &node) {
    if (place_of(node) == Place::Growing) {
        allocate_in_place(node);
    } else {
        allocate_on_heap(node);
    }
    host().owned.erase(node.buffer);
}

// If nothing is needed of a producer (in an iteration beyond a loop's guard, or a domain whose
// predicate never holds), its regions end before they begin. Coordinates end at 2^30: an extent
// further below 0 has overflowed, and counts as too much.
Value *HostEmitter::allocation_extent(const Expr &e) {
    constexpr int64_t least = -(int64_t(1) << 30);
    Value *extent = cast(value(e), e.type(), Int(64));
    Value *is_nothing = b.CreateICmpULT(b.CreateSub(extent, int64(least)), int64(-least));
    return select(is_nothing, int64(0), extent);
}

// The number of elements; the pipeline fails if it is more than can be indexed.
Value *HostEmitter::checked_elements(Symbol buffer, Type type, const std::vector<Expr> &extents) {
    Value *overflows = b.getFalse();
    auto times = [&](Value *x, Value *y) {
        Value *product =
            b.CreateIntrinsic(llvm::Intrinsic::umul_with_overflow, {b.getInt64Ty()}, {x, y});
        overflows = b.CreateOr(overflows, b.CreateExtractValue(product, 1));
        return b.CreateExtractValue(product, 0);
    };
    Value *elements = int64(1);
    for (const Expr &e : extents) elements = times(elements, allocation_extent(e));
    int64_t limit = target.has_large_buffers() ? most_elements_when_large : INT32_MAX;
    Value *too_many = b.CreateOr(overflows, b.CreateICmpUGT(elements, int64(limit)));
    if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(too_many);
        constant && constant->isZero()) {
        return elements;
    }
    branch(
        too_many,
        [&] {
            Value *bytes = times(elements, int64(type.bytes()));
            bytes = b.CreateSelect(overflows, int64(-1), bytes);  // as many as 64 bits hold
            fail(call_runtime("tessera_error_buffer_allocation_too_large", b.getInt32Ty(),
                              {host().user_context, string_constant(buffer.text()), bytes,
                               int64(limit * type.bytes())}));
            start(new_block("unreachable"));
        },
        nullptr);
    return elements;
}

Value *HostEmitter::allocation_bytes(const Allocate &node) {
    Value *padded =
        b.CreateAdd(checked_elements(node.buffer, node.type, node.extents), int64(node.padding));
    Value *bytes = b.CreateMul(padded, int64(node.type.bytes()));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, bytes, int64(1));
}

Value *HostEmitter::request_memory(const Allocate &node, Value *bytes) {
    Value *p = call_runtime("tessera_malloc", b.getPtrTy(), {host().user_context, bytes});
    Value *none = llvm::ConstantPointerNull::get(b.getPtrTy());
    branch(
        b.CreateICmpEQ(p, none),
        [&] {
            fail(call_runtime("tessera_error_out_of_memory", b.getInt32Ty(),
                              {host().user_context, string_constant(node.buffer.text()), bytes}));
            start(new_block("unreachable"));
        },
        nullptr);
    return p;
}

void HostEmitter::free_memory(Value *pointer) {
    call_runtime("tessera_free", b.getVoidTy(), {host().user_context, pointer});
}

void HostEmitter::allocate_on_heap(const Allocate &node) {
    Value *pointer;
    {
        MemoScope forget(*this);
        auto allocate = [&] { return request_memory(node, allocation_bytes(node)); };
        auto nothing = [&]() -> Value * { return llvm::ConstantPointerNull::get(b.getPtrTy()); };
        pointer = node.condition.defined() ? choose(value(node.condition), allocate, nothing)
                                           : allocate();
    }
    const int64_t known = node.condition.defined() ? 0 : constant_bytes(node).value_or(0);
    f->buffers[node.buffer] = {pointer, nullptr, 128, known};
    f->variables[node.buffer] = pointer;
    if (!freed_early.count(node.buffer)) {
        with_cleanup([=, this] { free_memory(pointer); }, [&] { run(node.body); });
        return;
    }
    // If the pipeline fails, this slot says whether the buffer is still to be freed.
    auto *to_free = stack_slot(b.getPtrTy(), 1, 8);
    b.CreateStore(pointer, to_free, true);
    host().owned[node.buffer].to_free = to_free;
    host().cleanups.push_back(
        {[=, this] { free_memory(b.CreateLoad(b.getPtrTy(), to_free, true)); }});
    run(node.body);
    host().cleanups.pop_back();
}

// One that no buffer occupies now, or a new one, which begins with no memory.
int HostEmitter::free_place() {
    for (size_t i = 0; i < host().places.size(); i++) {
        if (!host().places[i].in_use) return int(i);
    }
    GrowingPlace place{stack_slot(b.getPtrTy(), 1, 8), stack_slot(b.getInt64Ty(), 1, 8)};
    llvm::IRBuilder<> at_entry(f->entry);
    at_entry.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), place.pointer);
    at_entry.CreateStore(int64(0), place.bytes);
    host().places.push_back(place);
    return int(host().places.size()) - 1;
}

void HostEmitter::grow_place(const GrowingPlace &place, const Allocate &node, Value *bytes) {
    Value *is_small = b.CreateICmpULT(b.CreateLoad(b.getInt64Ty(), place.bytes), bytes);
    branch(
        is_small,
        [&] {
            Value *old = b.CreateLoad(b.getPtrTy(), place.pointer);
            b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), place.pointer);
            b.CreateStore(int64(0), place.bytes);
            free_memory(old);
            b.CreateStore(request_memory(node, bytes), place.pointer);
            b.CreateStore(bytes, place.bytes);
        },
        nullptr);
}

void HostEmitter::allocate_in_place(const Allocate &node) {
    const int place = free_place();
    host().places[size_t(place)].in_use = true;
    const GrowingPlace p = host().places[size_t(place)];
    {
        MemoScope forget(*this);
        auto grow = [&] { grow_place(p, node, allocation_bytes(node)); };
        if (node.condition.defined())
            branch(value(node.condition), grow, nullptr);
        else
            grow();
    }
    Value *pointer = b.CreateLoad(b.getPtrTy(), p.pointer);
    f->buffers[node.buffer] = {pointer, nullptr, 128, 0};
    host().owned[node.buffer].place = place;
    f->variables[node.buffer] = pointer;
    run(node.body);
    const int occupied = host().owned.at(node.buffer).place;  // none, if it has been freed
    if (occupied >= 0) host().places[size_t(occupied)].in_use = false;
}

void HostEmitter::free_places() {
    for (const GrowingPlace &p : host().places) {
        free_memory(b.CreateLoad(b.getPtrTy(), p.pointer));
    }
}

Value *HostEmitter::host_free(const IntrinsicCall &c) {
    Symbol buffer = address_taken(c.args[0]).buffer;
    auto found = host().owned.find(buffer);
    if (found == host().owned.end()) {
        // On the stack, where another buffer may take its place.
        Value *base = f->buffers.at(buffer).base;
        if (llvm::isa<llvm::AllocaInst>(base)) b.CreateLifetimeEnd(base);
        return int32(0);
    }
    OwnedMemory &memory = found->second;
    if (memory.place >= 0) host().places[size_t(std::exchange(memory.place, -1))].in_use = false;
    if (!memory.to_free) return int32(0);
    free_memory(f->buffers.at(buffer).base);
    b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), memory.to_free, true);
    return int32(0);
}

}  // namespace tessera::codegen
