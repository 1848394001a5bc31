#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::autoscheduler {

// A sum of regression trees over rows of numbers.
class BoostedTrees {
public:
    BoostedTrees() = default;  // 0 for every row

    // Reads the text of a model, as to_json or XGBoost writes it. std::exception if it is damaged
    // or was trained on other columns than these.
    static BoostedTrees from_json(std::string_view text, std::span<const std::string_view> columns);
    static BoostedTrees from_xgboost(std::string_view text);
    std::string to_json(std::span<const std::string_view> columns) const;

    float operator()(std::span<const float> row) const;
    size_t tree_count() const { return roots.size(); }
    // The number of the splits by each column.
    std::vector<int> uses(size_t columns) const;

private:
    struct Node {
        int left = -1;    // the other child stands behind it; -1: a leaf
        int column = 0;   // goes left if the number of this column is below the value
        float value = 0;  // or the leaf's
    };
    std::vector<Node> nodes;
    std::vector<int> roots;
};

struct BoostingOptions {
    int rounds = 100;
    int depth = 6;
    double rate = 0.1;             // by which each tree is believed
    double regularization = 1;     // XGBoost's lambda
    double least_child = 0;        // the least sum of second derivatives in a leaf
    double columns = 1, rows = 1;  // the part of them that each tree sees
    uint64_t seed = 1;
};

// Returns true if XGBoost is installed (libxgboost.so.0); without it nothing can be trained.
bool can_train();

// The first and second derivatives of a loss by the value that each row has now.
using Gradient = std::function<void(std::span<const float> values, std::span<float> first,
                                    std::span<float> second)>;

// Trees that make the loss small (Chen and Guestrin, XGBoost: a scalable tree boosting system,
// 2016). `rows`: one after the other, of `columns` numbers each. RuntimeError if XGBoost is not
// installed or fails.
BoostedTrees train(std::span<const float> rows, size_t columns, const Gradient &gradient,
                   const BoostingOptions &options);

}  // namespace tessera::autoscheduler
