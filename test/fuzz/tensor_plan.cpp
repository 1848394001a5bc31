#include "tensor_plan.h"
#include "base/str.h"
#include "plan.h"
#include <sstream>

namespace tessera::fuzz {

static const char *const kinds[] = {"product", "convolution", "chain", "mapped"};

std::vector<TensorPlan::Choice> TensorPlan::choices() {
#define CHOICE(name) Choice{#name, &name},
    return {TESSERA_FUZZ_TENSOR(CHOICE)};
#undef CHOICE
}

std::string to_text(TensorPlan plan) {
    std::string text = kinds[plan.kind];
    for (const TensorPlan::Choice &c : plan.choices()) {
        if (*c.value != 0 && c.value != &plan.kind) text += str(" ", c.name, "=", *c.value);
    }
    return text + "\n";
}

TensorPlan tensor_plan_of(const std::string &text) {
    TensorPlan plan;
    plan.is_drawn = true;
    std::istringstream words(text);
    std::string word;
    while (words >> word) {
        const size_t at = word.find('=');
        for (size_t k = 0; k < std::size(kinds); k++)
            if (word == kinds[k]) plan.kind = int(k);
        for (const TensorPlan::Choice &c : plan.choices())
            if (word.substr(0, at) == c.name) *c.value = std::stoi(word.substr(at + 1));
    }
    return plan;
}

namespace {

// Draws what is mostly legal, and mostly small.
class Drawing {
public:
    explicit Drawing(uint64_t seed) : random(seed) {
        plan.is_drawn = true;
        plan.kind = random.pick(std::vector{0, 0, 0, 0, 0, 1, 1, 2, 3});
        plan.types = random.pick(std::vector{0, 0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 7});
        plan.instruction = random.chance(0.2);
        plan.initial = random.chance(0.25);
        plan.epilogue = random.chance(0.3) ? 0 : random.range(1, 17);
        plan.output = random.pick(std::vector{0, 0, 1, 1, 2, 3});
        plan.is_tuple = random.chance(0.1);
        plan.stages = random.range(0, 2);
        plan.factors = random.range(0, 2);
        plan.is_compiled = random.chance(0.2);
        switch (plan.what()) {
        case TensorKind::Product: draw_product(); break;
        case TensorKind::Convolution: draw_convolution(); break;
        case TensorKind::Chain: draw_chain(); break;
        case TensorKind::Mapped: draw_mapped(); break;
        }
    }
    TensorPlan plan;

private:
    static constexpr int steps_of_panel = 4;  // of 32 bytes each

    bool has_16_bits() const { return plan.types < 3; }
    bool has_floats() const { return has_16_bits() || plan.types == 7; }
    void draw_sizes() {
        plan.row_tiles = random.pick(std::vector{0, 0, 1, 2});
        plan.column_tiles = random.range(0, 7);
        plan.row_warps = random.chance(0.4);
        plan.column_warps = random.chance(0.3);
        plan.row_blocks = random.chance(0.4);
        plan.column_blocks = random.chance(0.4);
        plan.steps = random.range(0, 3);
        plan.step = random.range(0, 2);
        plan.batch = random.pick(std::vector{0, 0, 0, 1, 2});
    }
    void draw_product() {
        draw_sizes();
        plan.is_of_group = random.chance(0.4);
        plan.a_form = random.chance(0.5) ? 0 : random.range(1, 6);
        plan.b_form = random.chance(0.5) ? 0 : random.range(1, 6);
        plan.a_across = random.chance(0.4);
        plan.b_across = random.chance(0.6);
        if (plan.is_of_group) {
            plan.a_staging = plan.b_staging = 2;
            plan.row_tiles = random.chance(0.2);
            if (!has_16_bits()) plan.a_across = plan.b_across = 0;
            if (plan.b_across) plan.column_tiles = 7;
            if (!has_16_bits()) plan.column_tiles |= 1;
            if (!plan.a_across || !plan.b_across)
                plan.step = steps_of_panel * (random.chance(0.15) ? 2 : 1) - 1;
            if (random.chance(0.3)) {
                plan.roles = random.range(1, 2);
                plan.a_form = plan.b_form = 0;
            }
        } else {
            plan.a_staging = random.pick(std::vector{0, 1, 2, 2});
            plan.b_staging = random.pick(std::vector{0, 1, 2, 2});
        }
        has_rings();
        const bool is_filled = plan.a_staging == 2 && plan.b_staging == 2;
        if ((is_filled || !plan.is_of_group) && random.chance(0.4)) {
            plan.sum_cut = random.range(1, std::min(15, 8 * (1 + plan.step) - 1));
            plan.sum_is_param = random.chance(0.4);
        }
        // A result is at least as large as a block.
        if (plan.row_blocks > 0) plan.rows_cut = random.pick(std::vector{0, 0, 1, 3, 8});
        if (plan.column_blocks > 0) plan.columns_cut = random.pick(std::vector{0, 0, 1, 3, 7});
        plan.guard = plan.rows_cut == 0 && plan.columns_cut == 0 && random.chance(0.2);
        plan.second = random.pick(std::vector{0, 0, 0, 0, 1, 2});
        plan.persistent = random.chance(0.2);
        if (random.chance(0.1) && plan.batch == 0)
            plan.cluster = 1, plan.persistent = plan.roles = 0;
        else if (random.chance(0.2))
            plan.order = random.range(1, 3);
        if (random.chance(0.35)) plan.terms = has_floats() ? random.range(1, 3) : 1;
        if (random.chance(plan.is_of_group ? 0.05 : 0.3)) plan.where = random.range(1, 12);
    }
    // Copies are made ahead in a loop of several steps.
    void has_rings() {
        if (plan.a_staging == 2 || plan.b_staging == 2) plan.steps = std::max(plan.steps, 1);
    }
    void draw_convolution() {
        draw_sizes();
        plan.is_of_group = random.chance(0.3);
        plan.b_across = random.chance(0.4);
        plan.taps_x = random.range(0, 2), plan.taps_y = random.range(0, 2);
        plan.padding = random.pick(std::vector{0, 0, 1, 2});
        plan.stride = random.pick(std::vector{0, 0, 1});
        plan.dilation = random.pick(std::vector{0, 0, 1});
        plan.has_patch = random.chance(0.3);
        plan.inner = random.chance(0.3);
        plan.a_staging = random.chance(0.6) ? 2 : 0;
        plan.b_staging = random.chance(0.6) ? 2 : 0;
        plan.columns_cut = random.range(0, 3), plan.rows_cut = random.range(0, 2);
        plan.batch = random.chance(0.3);
        plan.row_tiles = random.range(0, 3);
        plan.steps = random.range(0, 1);
        if (plan.is_of_group) {
            plan.a_staging = plan.b_staging = 2;
            plan.row_tiles = random.chance(0.2) ? 2 : 0;
            plan.step = steps_of_panel - 1;
            if (!has_16_bits()) plan.b_across = 1, plan.column_tiles |= 1;
            if (!plan.b_across) plan.column_tiles = 7;
            if (plan.stride || plan.dilation) plan.has_patch = 1;
            plan.taps_x = std::min(plan.taps_x, 1), plan.row_blocks = plan.column_blocks = 0;
        } else {
            plan.is_fused = random.chance(0.25);
        }
        plan.persistent = random.chance(0.15);
        if (random.chance(0.15)) plan.order = random.range(1, 3);
    }
    void draw_chain() {
        draw_sizes();
        plan.types = random.pick(std::vector{0, 0, 1, 3, 4, 5});
        plan.in_memory = !has_16_bits() || random.chance(0.4);
        plan.inner = random.range(0, 2);
        plan.a_across = random.chance(0.3), plan.b_across = random.chance(0.3);
        plan.a_staging = random.chance(0.4) ? 2 : 0;
        plan.b_staging = random.chance(0.4) ? 2 : 0;
        if (plan.row_blocks > 0) plan.rows_cut = random.pick(std::vector{0, 0, 1, 3, 8});
        plan.persistent = random.chance(0.15);
        has_rings();
    }
    void draw_mapped() {
        draw_sizes();
        plan.taps_x = random.range(0, 2), plan.taps_y = random.range(0, 1);
        plan.stride = random.chance(0.3), plan.dilation = random.chance(0.3);
        plan.steps = random.chance(0.3);
        plan.row_tiles = random.range(1, 2);
        plan.mapping = random.range(0, 1000);
    }

    Random random;
};

}  // namespace

TensorPlan draw_tensor_plan(uint64_t seed) { return Drawing(seed).plan; }

}  // namespace tessera::fuzz
