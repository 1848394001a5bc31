#include "ir/enums.h"
#include <array>

namespace tessera {
namespace {

template<size_t N, typename Enum>
std::string_view look_up(const std::array<std::string_view, N> &names, Enum value) {
    return size_t(value) < N ? names[size_t(value)] : "?";
}

}  // namespace

std::string_view name_of(LoopKind k) {
    switch (k) {
#define CASE(name, text)                                                                           \
    case LoopKind::name: return text;
        TESSERA_LOOP_KINDS(CASE)
#undef CASE
    }
    return "?";
}
std::string_view name_of(Partition p) {
    return look_up(std::array<std::string_view, 3>{"Auto", "Never", "Always"}, p);
}
std::string_view name_of(MemoryType m) {
    switch (m) {
#define CASE(name)                                                                                 \
    case MemoryType::name: return #name;
        TESSERA_MEMORY_TYPES(CASE)
#undef CASE
    }
    return "?";
}
std::string_view name_of(MachineOpKind op) {
    switch (op) {
#define CASE(name)                                                                                 \
    case MachineOpKind::name: return #name;
        TESSERA_MACHINE_OPS(CASE)
#undef CASE
    }
    return "?";
}
std::string_view name_of(TailStrategy t) {
    return look_up(std::array<std::string_view, 9>{"RoundUp", "GuardWithIf", "Predicate",
                                                   "PredicateLoads", "PredicateStores",
                                                   "ShiftInwards", "ShiftInwardsAndBlend",
                                                   "RoundUpAndBlend", "Auto"},
                   t);
}
std::string_view name_of(PrefetchBoundStrategy s) {
    return look_up(std::array<std::string_view, 3>{"Clamp", "GuardWithIf", "NonFaulting"}, s);
}
std::string_view name_of(ReduceOp op) {
    return look_up(
        std::array<std::string_view, 7>{"add", "saturating_add", "mul", "min", "max", "and", "or"},
        op);
}
std::string_view name_of(BufferField f) {
    return look_up(std::array<std::string_view, 8>{"min", "extent", "stride", "host", "dimensions",
                                                   "type_code", "type_bits", "device"},
                   f);
}

}  // namespace tessera
