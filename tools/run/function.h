#pragma once
#include "runtime/tessera_runtime.h"
#include <span>
#include <string>
#include <vector>

namespace tessera::run {

using ArgumentInfo = tessera_filter_argument_t;

// A compiled function, called through pointers to its arguments.
struct Function {
    int (*argv)(void *const *args) = nullptr;
    const tessera_filter_metadata_t *metadata = nullptr;

    std::string name() const { return metadata->name; }
    std::span<const ArgumentInfo> arguments() const {
        return {metadata->arguments, size_t(metadata->num_arguments)};
    }
    // Returns true if the function answers bounds queries.
    bool answers_queries() const;
};

// The function of the name; without a name the only one. Code for one of several targets counts
// only if it is asked for by its name. Throws RuntimeError if there is none, or several.
const Function &choose(const std::vector<Function> &functions, const std::string &name);

// All but code for one of several targets.
std::vector<const Function *> whole_functions(const std::vector<Function> &functions);

// "3 dimensions", "1 dimension"
std::string count_text(int64_t count, const std::string &noun);

// Says what is missing, or the closest of what is there: "; did you mean ...?", or nothing.
std::string suggestion(const std::string &word, const std::vector<std::string> &known);

inline bool is_scalar(const ArgumentInfo &a) {
    return a.kind == tessera_argument_kind_input_scalar;
}
inline bool is_output(const ArgumentInfo &a) {
    return a.kind == tessera_argument_kind_output_buffer;
}

// The program's own pointer: nobody gives it a value.
bool is_user_context(const ArgumentInfo &a);

}  // namespace tessera::run
