#include "codegen/c/names.h"
#include "base/str.h"
#include <cctype>
#include <sstream>

namespace tessera::codegen::c {
namespace {

// Holds the functions of <math.h>, without the suffixes that those of float and long double have.
constexpr const char *math_functions =
    "acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb "
    "ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma "
    "tgamma ceil floor nearbyint rint lrint llrint round lround llround trunc fmod remainder "
    "remquo "
    "copysign nan nextafter nexttoward fdim fmax fmin fma exp10 pow10 drem significand gamma "
    "j0 j1 jn y0 y1 yn scalb finite isinf isnan isfinite isnormal signbit fpclassify";
constexpr const char *other_functions =
    "memcpy memmove memset memcmp memchr memccpy mempcpy memmem strcpy strncpy strcat strncat "
    "strcmp strncmp strcoll strxfrm strchr strrchr strspn strcspn strpbrk strstr strtok strlen "
    "strerror strdup strndup stpcpy stpncpy strsignal strsep index rindex bcmp bcopy bzero ffs "
    "strcasecmp strncasecmp main offsetof linux unix";

std::unordered_set<std::string> library_functions() {
    std::unordered_set<std::string> all;
    std::istringstream math(math_functions), others(other_functions);
    for (std::string word; math >> word;) all.insert({word, word + "f", word + "l"});
    for (std::string word; others >> word;) all.insert(word);
    return all;
}

}  // namespace

bool is_library_function(const std::string &name) {
    static const std::unordered_set<std::string> all = library_functions();
    return all.contains(name);
}

std::string LocalNames::of(Symbol s, const std::string &part) {
    std::string word;
    for (char c : s.text()) word += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    // Names that begin with an underscore belong to the compiler.
    if (word.empty() || word[0] == '_' || std::isdigit(static_cast<unsigned char>(word[0]))) {
        word = "v" + word;
    }
    if (!part.empty()) word += "_" + part;
    std::string name = word + "_";
    while (!used.insert(name).second) name = str(word, "_", ++next[word], "_");
    if (!blocks.empty()) blocks.back().push_back(name);
    return name;
}

std::string LocalNames::numbered(const std::string &word) { return str(word, ++next[word + "#"]); }

LocalNames LocalNames::for_inner_function() const {
    LocalNames inner;
    inner.next = next;
    return inner;
}

void LocalNames::close_block() {
    for (const std::string &name : blocks.back()) used.erase(name);
    blocks.pop_back();
}

}  // namespace tessera::codegen::c
