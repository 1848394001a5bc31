#include "interpret/extern_stage.h"

namespace tessera::interpret {

void ExternStage::pass(Type t, Word word) {
    types.push_back(t);
    words.push_back(word);
}

void ExternStage::pass_query(Type t, std::vector<tessera_dimension_t> dims) {
    pass(buffers.emplace_back(t, std::move(dims)));
}

void ExternStage::call() const {
    void *function = find_extern(definition.function, externs);
    int32_t code = int32_t(call_foreign(function, Int(32), types, words));
    if (code) {
        throw RuntimeError(str("extern stage `", definition.function, "` failed with code ", code));
    }
}

std::vector<tessera_dimension_t> box_dimensions(const std::vector<int32_t> &low,
                                                const std::vector<int32_t> &high) {
    std::vector<tessera_dimension_t> dims;
    for (size_t d = 0; d < low.size(); d++) dims.push_back({low[d], high[d] - low[d] + 1, 0, 0});
    return dims;
}

}  // namespace tessera::interpret
