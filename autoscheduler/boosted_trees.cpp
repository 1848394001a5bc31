#include "autoscheduler/boosted_trees.h"
#include "base/error.h"
#include "base/str.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

namespace tessera::autoscheduler {

using nlohmann::json;

namespace {

// The functions of XGBoost's library, which is opened where something is to be trained: programs
// run without it.
// clang-format off
#define XGBOOST_FUNCTIONS(X)                                                                       \
    X(XGBGetLastError) X(XGDMatrixCreateFromMat) X(XGDMatrixFree) X(XGBoosterCreate)               \
    X(XGBoosterFree) X(XGBoosterSetParam) X(XGBoosterBoostOneIter) X(XGBoosterPredict)             \
    X(XGBoosterSaveModelToBuffer)
// clang-format on
// NOLINTBEGIN(readability-identifier-naming, bugprone-macro-parentheses): members are called as
// what they point to
struct Library {
#define MEMBER(name) decltype(&::name) name = nullptr;
    XGBOOST_FUNCTIONS(MEMBER)
#undef MEMBER
    bool is_complete = false;

    Library() {
        void *handle = dlopen("libxgboost.so.0", RTLD_NOW | RTLD_LOCAL);
        if (!handle) return;
        is_complete = true;
#define FIND(name)                                                                                 \
    name = reinterpret_cast<decltype(name)>(dlsym(handle, #name));                                 \
    is_complete &= name != nullptr;
        XGBOOST_FUNCTIONS(FIND)
#undef FIND
    }
};
// NOLINTEND(readability-identifier-naming, bugprone-macro-parentheses)

const Library &library() {
    static const Library opened;
    return opened;
}

void require(int status) {
    if (status != 0) throw RuntimeError(str("XGBoost failed: ", library().XGBGetLastError()));
}

}  // namespace

bool can_train() { return library().is_complete; }

float BoostedTrees::operator()(std::span<const float> row) const {
    float sum = 0;
    for (int at : roots) {
        const Node *node = &nodes[size_t(at)];
        while (node->left >= 0) {
            const bool goes_left = row[size_t(node->column)] < node->value;
            node = &nodes[size_t(node->left) + (goes_left ? 0 : 1)];
        }
        sum += node->value;
    }
    return sum;
}

std::vector<int> BoostedTrees::uses(size_t columns) const {
    std::vector<int> count(columns, 0);
    for (const Node &n : nodes) {
        if (n.left >= 0) count[size_t(n.column)]++;
    }
    return count;
}

std::string BoostedTrees::to_json(std::span<const std::string_view> columns) const {
    json text = {{"columns", columns}, {"roots", roots}};
    for (const Node &n : nodes) {
        text["left"].push_back(n.left);
        text["column"].push_back(n.column);
        // Five digits do for values that are added up. But a threshold is often one of the values
        // that it splits, which has to stay on its side.
        char digits[32];
        std::snprintf(digits, sizeof(digits), n.left < 0 ? "%.5g" : "%.9g", double(n.value));
        text["value"].push_back(std::stod(digits));
    }
    return text.dump();
}

BoostedTrees BoostedTrees::from_json(std::string_view text,
                                     std::span<const std::string_view> columns) {
    const json model = json::parse(text);
    const auto of = model.at("columns").get<std::vector<std::string>>();
    if (!std::ranges::equal(of, columns))
        throw RuntimeError("the model was trained on other features than those of today");
    BoostedTrees trees;
    trees.roots = model.at("roots").get<std::vector<int>>();
    const auto left = model.at("left").get<std::vector<int>>(),
               column = model.at("column").get<std::vector<int>>();
    const auto value = model.at("value").get<std::vector<float>>();
    if (left.size() != column.size() || left.size() != value.size())
        throw RuntimeError("the model is damaged: its lists are of different lengths");
    for (size_t i = 0; i < left.size(); i++) {
        // Children stand behind their parents, so that each walk ends.
        if (left[i] >= 0 && (left[i] <= int(i) || left[i] + 1 >= int(left.size())))
            throw RuntimeError("the model is damaged: a node has no children");
        if (column[i] < 0 || size_t(column[i]) >= columns.size())
            throw RuntimeError("the model is damaged: there is no such column");
        trees.nodes.push_back({left[i], column[i], value[i]});
    }
    for (int root : trees.roots) {
        if (root < 0 || root >= int(left.size()))
            throw RuntimeError("the model is damaged: a tree has no root");
    }
    return trees;
}

BoostedTrees BoostedTrees::from_xgboost(std::string_view text) {
    const json model = json::parse(text);
    BoostedTrees result;
    for (const json &tree : model.at("learner").at("gradient_booster").at("model").at("trees")) {
        const auto left = tree.at("left_children").get<std::vector<int>>(),
                   right = tree.at("right_children").get<std::vector<int>>(),
                   column = tree.at("split_indices").get<std::vector<int>>();
        const auto value = tree.at("split_conditions").get<std::vector<float>>();
        // Breadth first, with both children side by side.
        result.roots.push_back(int(result.nodes.size()));
        std::vector<std::pair<int, size_t>> open = {{0, result.nodes.size()}};
        result.nodes.emplace_back();
        for (size_t i = 0; i < open.size(); i++) {
            const auto [from, to] = open[i];
            Node node{-1, column[size_t(from)], value[size_t(from)]};
            if (left[size_t(from)] >= 0) {
                node.left = int(result.nodes.size());
                open.emplace_back(left[size_t(from)], result.nodes.size());
                open.emplace_back(right[size_t(from)], result.nodes.size() + 1);
                result.nodes.resize(result.nodes.size() + 2);
            }
            result.nodes[to] = node;
        }
    }
    return result;
}

BoostedTrees train(std::span<const float> rows, size_t columns, const Gradient &gradient,
                   const BoostingOptions &options) {
    const Library &xgboost = library();
    if (!xgboost.is_complete) {
        throw RuntimeError("a cost model cannot be trained: XGBoost (libxgboost.so.0, of Debian's "
                           "package libxgboost0) is not installed");
    }
    const size_t count = rows.size() / columns;
    DMatrixHandle matrix = nullptr;
    require(xgboost.XGDMatrixCreateFromMat(rows.data(), count, columns, NAN, &matrix));
    const std::unique_ptr<void, int (*)(void *)> owned_matrix(matrix, xgboost.XGDMatrixFree);
    BoosterHandle booster = nullptr;
    require(xgboost.XGBoosterCreate(&matrix, 1, &booster));
    const std::unique_ptr<void, int (*)(void *)> owned_booster(booster, xgboost.XGBoosterFree);
    const std::pair<const char *, std::string> parameters[] = {
        {"verbosity", "0"},
        {"base_score", "0"},
        {"nthread", "1"},  // the same trees each time, and no threads that a fork would lose
        {"tree_method", "hist"},
        {"max_depth", str(options.depth)},
        {"eta", str(options.rate)},
        {"lambda", str(options.regularization)},
        {"min_child_weight", str(options.least_child)},
        {"colsample_bytree", str(options.columns)},
        {"subsample", str(options.rows)},
        {"seed", str(options.seed)},
    };
    for (const auto &[name, value] : parameters)
        require(xgboost.XGBoosterSetParam(booster, name, value.c_str()));
    std::vector<float> first(count), second(count);
    for (int round = 0; round < options.rounds; round++) {
        constexpr int margins = 1;
        bst_ulong length = 0;
        const float *values = nullptr;
        require(xgboost.XGBoosterPredict(booster, matrix, margins, 0, 1, &length, &values));
        gradient({values, count}, first, second);
        require(xgboost.XGBoosterBoostOneIter(booster, matrix, first.data(), second.data(), count));
    }
    bst_ulong length = 0;
    const char *text = nullptr;
    require(xgboost.XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &length, &text));
    return BoostedTrees::from_xgboost({text, length});
}

}  // namespace tessera::autoscheduler
