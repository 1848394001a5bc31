#pragma once
#include "ir/type.h"
#include <string>
#include <unordered_set>

namespace tessera::codegen::c {

// The helper functions and types that a file needs, in an order in which C knows each before it is
// used. An operation that needs more than one C expression, or its operands twice, is a function
// here.
class Prelude {
public:
    // The name of a function of helpers.h: for elements of a type, or for no type.
    std::string function(const std::string &what, Type t);
    std::string function(const std::string &name);
    // From floats to integers: cut off, without meaning where the result does not fit; or
    // saturated.
    std::string truncation(Type from, Type to);
    std::string saturation(Type from, Type to);
    // The same bits as another type.
    std::string reinterpretation(Type from, Type to);
    // The name of a type, of a vector too.
    std::string type(Type t);

    bool has(const std::string &name) const { return defined.contains(name); }
    std::string text() const { return definitions; }

private:
    bool is_new(const std::string &name) { return defined.insert(name).second; }
    void define(const std::string &function);
    std::string filled(const std::string &pattern, Type t);

    std::unordered_set<std::string> defined;
    std::string definitions;
};

}  // namespace tessera::codegen::c
