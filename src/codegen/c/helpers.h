#pragma once
#include "ir/type.h"
#include <span>
#include <vector>

namespace tessera::codegen::c {

// A helper function, for elements of one type. In its text stand
//     $T the type     $N its name        $B its bits      $L, $H its lowest and highest value
//     $V the unsigned type of its bits   $W the unsigned type that its sums are taken in
//     $D the integer with twice as many bits
//     $F the function that makes a float of 16 bits a float     $C the C library's floor
//     @word the name of another function for this type, which is defined before.
struct HelperRow {
    const char *name;
    const char *text;
};
std::vector<std::span<const HelperRow>> helpers_for(Type t);

// One that is for no type, and the others that it calls.
struct WholeHelper {
    const char *name, *text, *needs;
};
std::span<const WholeHelper> whole_helpers();

}  // namespace tessera::codegen::c
