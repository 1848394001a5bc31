#include "lower/storage/mark_streaming.h"
#include "ir/mutator.h"
#include <optional>
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

// What the stage that is being computed streams.
struct Streams {
    std::unordered_set<Symbol> loads, stores;
    bool all_loads = false;
    bool any() const { return all_loads || !loads.empty() || !stores.empty(); }
};

class MarkStreaming final : public Mutator {
public:
    explicit MarkStreaming(const lower::Context &context)
        : Mutator(Mutator::Context::Matters), context(context) {}

private:
    Stmt visit(const For &loop) override {
        Streams outer = streams;
        auto origin = context.loops.find(loop.name);
        if (origin != context.loops.end()) streams = streams_of(origin->second);
        Stmt body = (*this)(loop.body);
        streams = outer;
        return loop.with<&For::body>(body);
    }
    Stmt visit(const Store &node) override {
        if (!streams.any()) return Stmt(&node);
        bool streaming = node.streaming || streams.stores.count(node.buffer) != 0;
        return node.with<&Store::value, &Store::index, &Store::predicate, &Store::streaming>(
            (*this)(node.value), (*this)(node.index), (*this)(node.predicate), streaming);
    }
    Expr visit(const Load &node) override {
        if (!streams.any()) return Expr(&node);
        bool streaming = node.streaming || streams.all_loads || streams.loads.count(node.buffer);
        return node.with<&Load::index, &Load::predicate, &Load::streaming>(
            (*this)(node.index), (*this)(node.predicate), streaming);
    }

    void add_buffers(Symbol name, std::unordered_set<Symbol> &all) const {
        auto found = context.buffers.find(name);
        if (found == context.buffers.end()) {
            all.insert(name);
        } else {
            all.insert(found->second.begin(), found->second.end());
        }
    }
    // A reduction that is computed inline streams what the stage around it does.
    Streams streams_of(const LoopOrigin &origin) const {
        if (!origin.schedule) return {};
        const program::FunctionContents *f = context.function(origin.func);
        bool is_inline =
            f && !context.is_output(f->name) && f->schedule.compute_level.means_inlined();
        Streams s = is_inline ? streams : Streams();
        s.all_loads |= origin.schedule->stream_all_loads;
        for (Symbol name : origin.schedule->stream_loads) add_buffers(name, s.loads);
        if (origin.schedule->stream_stores) add_buffers(origin.func, s.stores);
        return s;
    }

    const lower::Context &context;
    Streams streams;
};

}  // namespace

Stmt mark_streaming(const Stmt &s, const Context &context) {
    bool any = false;
    for (const auto &[loop, origin] : context.loops) {
        if (!origin.schedule) continue;
        any |= origin.schedule->stream_stores || origin.schedule->stream_all_loads ||
               !origin.schedule->stream_loads.empty();
    }
    return any ? MarkStreaming(context)(s) : s;
}

}  // namespace tessera::lower
