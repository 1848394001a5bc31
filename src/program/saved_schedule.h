#pragma once
#include "program/function.h"

namespace tessera::program {

// The schedules of all functions that some outputs reach, as they are now. They can be put back
// into the same functions and stages, whose handles stay good; wrappers, clones and the
// intermediate functions of rfactor that were made in between are then part of no pipeline.
class SavedSchedule {
public:
    explicit SavedSchedule(const std::vector<FunctionRef> &outputs);
    void restore() const;

private:
    struct SavedStage {
        DefinitionRef of, saved;
        std::vector<SavedStage> specializations;
    };
    struct SavedFunction {
        FunctionRef of;
        std::vector<SavedStage> stages;
        FuncSchedule schedule;
        std::map<Symbol, Ref<FunctionContents>> wrappers;
        bool frozen;
    };
    static SavedStage save(const DefinitionRef &d);
    static void restore(const SavedStage &s);
    std::vector<SavedFunction> functions;
};

}  // namespace tessera::program
