#include "function.h"
#include "base/error.h"
#include <algorithm>
#include <cctype>

namespace tessera::run {
namespace {

// The name that the compiler gives to the code of `whole` for one of its targets.
std::string variant_name(const Function &whole, const Function &variant) {
    std::string name = whole.name() + "_";
    for (const char *c = variant.metadata->target; *c; c++) {
        name += std::isalnum(static_cast<unsigned char>(*c)) ? *c : '_';
    }
    return name;
}

bool is_variant(const Function &f, const std::vector<Function> &all) {
    return std::ranges::any_of(
        all, [&](const Function &whole) { return f.name() == variant_name(whole, f); });
}

}  // namespace

bool Function::answers_queries() const {
    return std::string(metadata->target).find("no_bounds_query") == std::string::npos;
}

std::vector<const Function *> whole_functions(const std::vector<Function> &functions) {
    std::vector<const Function *> whole;
    for (const Function &f : functions) {
        if (!is_variant(f, functions)) whole.push_back(&f);
    }
    return whole;
}

const Function &choose(const std::vector<Function> &functions, const std::string &name) {
    for (const Function &f : functions) {
        if (f.name() == name) return f;
    }
    std::vector<const Function *> whole = whole_functions(functions);
    std::vector<std::string> names;
    for (const Function *f : whole) names.push_back(f->name());
    if (name.empty() && whole.size() == 1) return *whole[0];
    if (name.empty()) {
        throw RuntimeError(str("there are several functions: ", join(names), "; say --name="));
    }
    throw RuntimeError(
        str("there is no function ", name, suggestion(name, names), "; there is ", join(names)));
}

std::string count_text(int64_t count, const std::string &noun) {
    return str(count, " ", noun, count == 1 ? "" : "s");
}

std::string suggestion(const std::string &word, const std::vector<std::string> &known) {
    std::string near = closest_match(word, known);
    return near.empty() ? "" : str("; did you mean ", near, "?");
}

bool is_user_context(const ArgumentInfo &a) {
    return a.type.code == tessera_type_handle && std::string(a.name) == "__user_context";
}

}  // namespace tessera::run
