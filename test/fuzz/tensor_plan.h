#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::fuzz {

// Lists the choices that make a definition that tensor instructions compute, and its schedule. They
// are small numbers, of which 0 is the simplest: what fails is made small by making them smaller.
// clang-format off
#define TESSERA_FUZZ_TENSOR(X)                                                                     \
    X(kind) X(types) X(is_of_group) X(instruction)                                                 \
    /* sizes: tiles of a warp, warps of a block, blocks, and what is cut off */                    \
    X(row_tiles) X(column_tiles) X(row_warps) X(column_warps) X(row_blocks) X(column_blocks)       \
    X(rows_cut) X(columns_cut) X(step) X(steps) X(sum_cut) X(batch)                                \
    /* operands: along which index they lie, what they are, and how they are staged */             \
    X(a_across) X(b_across) X(a_form) X(b_form) X(a_staging) X(b_staging) X(stages) X(factors)     \
    X(sum_is_param)                                                                                \
    /* what is added: one product, two, a difference, or what is taken away; and when */           \
    X(terms) X(where)                                                                              \
    /* what is around */                                                                           \
    X(initial) X(second) X(epilogue) X(output) X(is_tuple) X(order) X(persistent) X(roles)         \
    X(cluster) X(guard)                                                                            \
    /* convolutions, chains and mappings */                                                        \
    X(taps_x) X(taps_y) X(stride) X(dilation) X(padding) X(has_patch) X(is_fused) X(in_memory)     \
    X(inner) X(mapping)                                                                           \
    /* the code of kernels is made, too, where there is no GPU */                                  \
    X(is_compiled)
// clang-format on

enum class TensorKind : uint8_t { Product, Convolution, Chain, Mapped };

// A product of matrices, a convolution, a chain of two products, or a sum that a mapping finds.
struct TensorPlan {
    bool is_drawn = false;
#define FIELD(name) int name = 0;
    TESSERA_FUZZ_TENSOR(FIELD)
#undef FIELD

    TensorKind what() const { return TensorKind(kind); }
    struct Choice {
        const char *name;
        int *value;
    };
    std::vector<Choice> choices();
};

TensorPlan draw_tensor_plan(uint64_t seed);
// Returns the choices that are not 0, by their names; and the plan that such a text is of.
std::string to_text(TensorPlan plan);
TensorPlan tensor_plan_of(const std::string &text);

}  // namespace tessera::fuzz
