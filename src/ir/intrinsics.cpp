#include "ir/intrinsics.h"
#include <array>

namespace tessera::ir {
namespace {

constexpr IntrinsicInfo table[] = {
#define ROW(name, arity, pure) {#name, arity, pure},
    TESSERA_INTRINSICS(ROW)
#undef ROW
};

}  // namespace

const IntrinsicInfo &info_of(Intrinsic i) { return table[size_t(i)]; }

bool is_runtime_intrinsic(Intrinsic i) {
    switch (i) {
#define CASE(name, arity, pure) case Intrinsic::name:
        TESSERA_RUNTIME_INTRINSICS(CASE)
#undef CASE
        return true;
    default: return false;
    }
}

bool find_intrinsic(std::string_view name, Intrinsic &found) {
    for (size_t i = 0; i < std::size(table); i++) {
        if (table[i].name == name) {
            found = Intrinsic(i);
            return true;
        }
    }
    return false;
}

}  // namespace tessera::ir
