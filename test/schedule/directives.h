#pragma once
#include <tessera.h>

// A small program for each directive. docs/directives.md is made of their text and of their loops.
namespace directives {

struct Example {
    const char *name;
    tessera::Func (*build)(bool scheduled);
};

// In the order of the page; a name ends a heading's group where `build` is null.
const std::vector<Example> &examples();

}  // namespace directives
