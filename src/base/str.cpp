#include "base/str.h"
#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

// Levenshtein distance: the number of inserted, removed or replaced characters.
size_t edit_distance(const std::string &a, const std::string &b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 0; i < a.size(); i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.size(); j++) {
            size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string closest_match(const std::string &word, const std::vector<std::string> &candidates) {
    std::string best;
    if (word.size() < 2) return best;  // every other letter is as close
    size_t best_distance = std::max<size_t>(1, word.size() / 2) + 1;
    for (const std::string &candidate : candidates) {
        size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string choices_text(const std::string &word, const std::vector<std::string> &all,
                         const char *intro) {
    const std::string near = closest_match(word, all);
    const std::string question = near.empty() ? "" : str("; did you mean ", near, "?");
    if (!near.empty() && all.size() == 1) return question;
    if (!intro) intro = all.size() == 1 ? "there is" : "there are";
    return str(question, "; ", intro, " ", all.empty() ? std::string("none") : join(all));
}

}  // namespace tessera
