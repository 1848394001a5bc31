#include "autoscheduler/copies.h"
#include <algorithm>

namespace tessera::autoscheduler {

int image_behind(const Graph &graph, int function) {
    const FunctionNode &f = graph.functions[size_t(function)];
    if (f.stages.size() != 1) return -1;
    const StageNode &pure = graph.stages[size_t(f.stages[0])];
    const bool is_read = pure.operations.total() == 0 && pure.accesses.size() == 1;
    return is_read ? pure.accesses[0].source.image : -1;
}

bool is_copy(const Graph &graph, int function) {
    const Symbol name = graph.functions[size_t(function)].function->name;
    return std::ranges::any_of(graph.structure, [&](const program::Step &step) {
        const auto *wrap = std::get_if<program::WrapStep>(&step.what);
        return wrap && !wrap->is_clone && wrap->made == name;
    });
}

}  // namespace tessera::autoscheduler
