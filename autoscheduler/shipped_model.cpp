#include "autoscheduler/learned_cost.h"
#include <string_view>

#ifndef TESSERA_SHIPPED_COST_MODEL  // the build says where the file is
#define TESSERA_SHIPPED_COST_MODEL "autoscheduler/weights/cpu.json"
#endif

// The text of the file is in the library: nothing has to be found when a program runs.
asm(".pushsection .rodata\n"
    "tessera_shipped_cost_model: .incbin \"" TESSERA_SHIPPED_COST_MODEL "\"\n"
    "tessera_shipped_cost_model_end: .byte 0\n"
    ".popsection\n");
extern "C" {
extern const char begin_of_model[] asm("tessera_shipped_cost_model");
extern const char end_of_model[] asm("tessera_shipped_cost_model_end");
}

namespace tessera::autoscheduler {

const BoostedTrees &LearnedCost::shipped_model() {
    static const BoostedTrees model = BoostedTrees::from_json(
        std::string_view(begin_of_model, size_t(end_of_model - begin_of_model)), feature_names());
    return model;
}

}  // namespace tessera::autoscheduler
