#pragma once
#include <tessera.h>

// A small program for each directive. docs/directives.md is made of their text and of their loops.
namespace directives {

struct Example {
    const char *name;
    tessera::Func (*build)(bool scheduled);
};

// Returns them in the order of the page. Where `build` is null, the name is a heading.
const std::vector<Example> &examples();

}  // namespace directives
