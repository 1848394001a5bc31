#pragma once
#include "program/function.h"

namespace tessera::program {

// The definitions and schedules of some functions as they are now, to go back to. Handles of
// stages and specializations stay what they are.
class Snapshot {
public:
    explicit Snapshot(const std::vector<FunctionRef> &functions);
    void restore() const;

private:
    struct SavedDefinition {
        DefinitionRef definition;
        DefinitionRef copy;
        std::vector<Specialization> specializations;  // with the definitions themselves
    };
    struct SavedFunction {
        FunctionRef function;
        std::vector<DefinitionRef> stages;
        FuncSchedule schedule;
        std::map<Symbol, Ref<FunctionContents>> wrappers;
        bool frozen;
    };
    void save(const DefinitionRef &d);

    std::vector<SavedFunction> functions;
    std::vector<SavedDefinition> definitions;
};

}  // namespace tessera::program
