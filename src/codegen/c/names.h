#pragma once
#include "base/symbol.h"
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tessera::codegen::c {

// Returns true if C's headers, which the file includes, have a function of this name.
bool is_library_function(const std::string &name);

// The names of one C function's variables. Those of symbols end with an underscore, which no
// keyword, macro or name of the headers does; all others that the printer makes end with a number.
class LocalNames {
public:
    // A name for a variable of the program, or for a part of it: free in all blocks that are open.
    std::string of(Symbol s, const std::string &part = "");
    // "text1", "text2", ...
    std::string numbered(const std::string &word);

    void open_block() { blocks.emplace_back(); }
    void close_block();
    void take(const std::string &name) { used.insert(name); }
    // For a function that gets some of this one's variables: none of its own is called like them.
    LocalNames for_inner_function() const;

private:
    std::unordered_set<std::string> used;
    std::unordered_map<std::string, int> next;
    std::vector<std::vector<std::string>> blocks;
};

}  // namespace tessera::codegen::c
