#include "lower/storage/mark_streaming.h"
#include "ir/mutator.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using namespace ir;

class MarkStreaming final : public Mutator {
public:
    MarkStreaming() : Mutator(Mutator::Visits::PerUse) {}

private:
    Stmt visit(const For &loop) override {
        const Streams outer = streams;
        if (loop.origin.known() || loop.streams.any()) streams = loop.streams;
        Stmt body = (*this)(loop.body);
        streams = outer;
        return loop.with<&For::body>(body);
    }
    Stmt visit(const Store &node) override {
        if (!streams.any()) return Stmt(&node);
        bool streaming = node.streaming || contains(streams.stores, node.buffer);
        return node.with<&Store::value, &Store::index, &Store::predicate, &Store::streaming>(
            (*this)(node.value), (*this)(node.index), (*this)(node.predicate), streaming);
    }
    Expr visit(const Load &node) override {
        if (!streams.any()) return Expr(&node);
        bool streaming =
            node.streaming || streams.all_loads || contains(streams.loads, node.buffer);
        return node.with<&Load::index, &Load::predicate, &Load::streaming>(
            (*this)(node.index), (*this)(node.predicate), streaming);
    }
    static bool contains(const std::vector<Symbol> &buffers, Symbol buffer) {
        return std::ranges::find(buffers, buffer) != buffers.end();
    }

    Streams streams;  // of the stage that is being computed
};

}  // namespace

Stmt mark_streaming(const Stmt &s, const lower::Context &) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= loop.streams.any(); });
    return any ? MarkStreaming()(s) : s;
}

}  // namespace tessera::lower
