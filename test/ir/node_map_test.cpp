#include "ir/node_map.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

namespace {

std::vector<Expr> numbers(int count) {
    std::vector<Expr> all;
    for (int i = 0; i < count; i++) all.push_back(IntImm::make(Int(32), i));
    return all;
}

}  // namespace

TEST_SUITE("node_map") {
    TEST_CASE("a map finds what was set, however much") {
        const std::vector<Expr> keys = numbers(1000), others = numbers(1000);
        NodeMap<int> map;
        for (int i = 0; i < 1000; i++) map[keys[i].get()] = i;
        CHECK(map.size() == 1000);
        for (int i = 0; i < 1000; i++) {
            REQUIRE(map.find(keys[i].get()));
            CHECK(*map.find(keys[i].get()) == i);
            CHECK_FALSE(map.find(others[i].get()));
        }
    }
    TEST_CASE("nodes are seen once, be they few or many") {
        for (int count : {0, 1, 8, 9, 1000}) {
            const std::vector<Expr> nodes = numbers(count);
            SeenNodes<const ExprNode *> seen;
            for (const Expr &e : nodes) {
                CHECK_FALSE(seen.contains(e.get()));
                CHECK(seen.insert(e.get()));
            }
            for (const Expr &e : nodes) {
                CHECK(seen.contains(e.get()));
                CHECK_FALSE(seen.insert(e.get()));
            }
            CHECK(seen.size() == size_t(count));
        }
    }
    TEST_CASE("seen expressions are kept alive") {
        SeenNodes<Expr> seen;
        for (const Expr &e : numbers(20)) seen.insert(e);
        for (const Expr &e : numbers(20)) CHECK(seen.insert(e));
        CHECK(seen.size() == 40);
    }
}

TEST_SUITE("visitor") {
    TEST_CASE("a shared name is counted once, by those that look for names too") {
        const Expr x = Variable::make(Int(32), Symbol::fresh("x"));
        const Expr sum = x + x * x, all = sum * sum;
        int names = 0, sums = 0, products = 0;
        for_each_node(all, [&](const Variable &) { names++; });
        for_each_node(all, [&](const Add &) { sums++; });
        for_each_node(all, [&](const Mul &) { products++; });
        CHECK(names == 1);
        CHECK(sums == 1);
        CHECK(products == 2);
    }
}
