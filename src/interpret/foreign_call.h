#pragma once
#include "interpret/tape.h"
#include <string>
#include <unordered_map>

namespace tessera::interpret {

// C functions by name, for externs that the dynamic linker does not know.
using ExternMap = std::unordered_map<std::string, void *>;

// Finds the function in the map, the runtime, or the process. Throws RuntimeError if nowhere.
void *find_extern(const std::string &name, const ExternMap &externs);

// Calls a C function of any signature (of a moderate number of arguments), given by their types and
// words; the result type may be a number or a handle.
Word call_foreign(void *function, Type result, std::span<const Type> types,
                  std::span<const Word> words);

// One call per lane. A poisoned operand poisons the result; then no call is made.
void call_extern(const ir::ExternCall &call, Operands operands, const ExternMap &externs,
                 Value &result);

// The operands' texts, one after the other, as compiled code prints them.
std::string stringify(const ir::IntrinsicCall &call, Operands operands);

}  // namespace tessera::interpret
