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
        if (program::made_by(step) != name) return false;
        if (const auto *wrap = std::get_if<program::WrapStep>(&step.what)) return !wrap->is_clone;
        const program::StageDirective &made =
            std::get<program::StageStep>(step.what).written.directive;
        return std::holds_alternative<program::CopyInput>(made);
    });
}

int dimension_along(const Graph &graph, int function, size_t variable) {
    for (int c : graph.functions[size_t(function)].consumers) {
        for (const Access &a : graph.stages[size_t(c)].accesses) {
            if (a.source.function != function) continue;
            for (size_t d = 0; d < a.index.size(); d++) {
                if (a.index[d].slope(variable) == 1) return int(d);
            }
        }
    }
    return -1;
}

}  // namespace tessera::autoscheduler
