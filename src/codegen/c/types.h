#pragma once
#include "ir/type.h"
#include <string>

// These functions write types and numbers in C. A float of 16 bits or 8 is its bits, a
// uint16_t or uint8_t; a vector is a struct of an array `v`.
namespace tessera::codegen::c {

// "int32_t", "float", "bool", "void *": of one element.
std::string scalar_type(Type t);
// The same, or the name of the struct: "float32x8".
std::string type_name(Type t);
// Returns the definition of the struct.
std::string struct_definition(Type t);
// "int32_t x", "void *const x": a declaration up to its initializer.
std::string declaration(const std::string &type, const std::string &name, bool is_const);

// The unsigned type that sums are taken in so that they wrap.
std::string wrapping_type(Type t);

std::string literal(Type t, int64_t value);  // of integers, the bits of a uint64
std::string float_literal(Type t, double value);
std::string lowest(Type t);  // of integers
std::string highest(Type t);
// In quotes, with escapes.
std::string string_literal(const std::string &text);

}  // namespace tessera::codegen::c
