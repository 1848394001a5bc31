#pragma once
#include "interpret/foreign_call.h"
#include "interpret/function_state.h"
#include <deque>

namespace tessera::interpret {

// The arguments of a stage written in C, as they are gathered, and its calls.
class ExternStage {
public:
    ExternStage(const program::ExternDefinition &definition, const ExternMap &externs)
        : definition(definition), externs(externs) {}

    void pass(Type t, Word word);
    void pass(OwnedBuffer &b) { pass(Handle(), Word(uintptr_t(&b.buffer))); }
    // A buffer of its own, without memory: in a bounds query the function says what it needs.
    void pass_query(Type t, std::vector<tessera_dimension_t> dims);
    // Throws RuntimeError if the function fails.
    void call() const;

    std::deque<OwnedBuffer> buffers;  // those passed by pass_query, in order

private:
    const program::ExternDefinition &definition;
    const ExternMap &externs;
    std::vector<Type> types;
    std::vector<Word> words;
};

std::vector<tessera_dimension_t> box_dimensions(const std::vector<int32_t> &low,
                                                const std::vector<int32_t> &high);

}  // namespace tessera::interpret
