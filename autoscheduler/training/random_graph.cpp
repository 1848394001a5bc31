#include "autoscheduler/training/random_graph.h"
#include <vector>

namespace tessera::autoscheduler::training {
namespace {

// A stage as others read it: at (x, y) or (x, y, c).
struct Node {
    Func f;
    Type type;
    int shrunk = 0;  // its resolution is that of the image, halved so often
};

class GraphBuilder {
public:
    explicit GraphBuilder(Random &random)
        : random(random), channels(random.any_of({0, 0, 0, 2, 3, 4})),
          width(64 * random.between(6, 32)), height(16 * random.between(12, 90)) {}

    Sample operator()() {
        add_input();
        if (random.one_in(3)) add_input();
        for (int stages = random.between(2, 10); stages > 0; stages--) add_stage();
        Func out("out");
        const Node &last = nodes.back();
        out(args()) = to(Float(32), last.f(args())) * 0.5f;
        std::vector<Range> estimates = {{0, width >> last.shrunk}, {0, height >> last.shrunk}};
        if (channels) estimates.emplace_back(0, channels);
        out.set_estimates(estimates);
        return {"graph", Pipeline(out)};
    }

private:
    std::vector<Var> args() const {
        return channels ? std::vector<Var>{x, y, c} : std::vector<Var>{x, y};
    }
    std::vector<Expr> at(const Expr &i, const Expr &j) const {
        return channels ? std::vector<Expr>{i, j, c} : std::vector<Expr>{i, j};
    }
    static Expr to(Type t, const Expr &e) { return e.type() == t ? e : cast(t, e); }
    // Sums of bytes need more bits.
    static Type wider(Type t) { return t == UInt(8) ? UInt(16) : t == UInt(16) ? UInt(32) : t; }
    Expr read(const Node &n, const Expr &i, const Expr &j) const {
        return to(wider(n.type), n.f(at(i, j)));
    }
    Expr constant(Type t) {
        return t.is_float() ? cast(t, random.weight()) : cast(t, random.between(1, 7));
    }

    const Node &any_node() {
        // The latest are the likeliest.
        const int n = int(nodes.size());
        return nodes[size_t(n - 1 - std::min(random.below(n), random.below(n)))];
    }
    const Node *another_like(const Node &n) {
        std::vector<const Node *> all;
        for (const Node &o : nodes) {
            if (&o != &n && o.shrunk == n.shrunk) all.push_back(&o);
        }
        return all.empty() ? nullptr : all[size_t(random.below(int(all.size())))];
    }

    void add_input() {
        const Type t = random.any_of({Float(32), Float(32), UInt(8), UInt(16)});
        ImageParam image(t, channels ? 3 : 2, "image" + std::to_string(nodes.size()));
        Func f("input" + std::to_string(nodes.size()));
        if (random.one_in(2)) {
            Func bounded = BoundaryConditions::repeat_edge(image, image_bounds());
            f(args()) = bounded(args());
        } else {
            f(args()) = image(args());
        }
        nodes.push_back({f, t, 0});
    }
    Region image_bounds() const {
        Region bounds = {{0, width}, {0, height}};
        if (channels) bounds.emplace_back(0, channels);
        return bounds;
    }

    void add(const Expr &value, int shrunk) {
        Func f("stage" + std::to_string(nodes.size()));
        f(args()) = value;
        nodes.push_back({f, value.type(), shrunk});
    }

    void add_stage() {
        const Node from = any_node();
        switch (random.below(12)) {
        case 0:
        case 1: return add_map(from);
        case 2:
        case 3:
        case 4: return add_stencil(from);
        case 5: return add_window(from);
        case 6: return from.shrunk < 3 ? add(shrunk(from), from.shrunk + 1) : add_stencil(from);
        case 7: return from.shrunk > 0 ? add(grown(from), from.shrunk - 1) : add_map(from);
        case 8: return random.one_in(2) ? add_scan(from) : add_map(from);
        case 9: return add_gather(from);
        case 10: return channels ? add_mix(from) : add_stencil(from);
        default: return random.one_in(3) ? add_histogram(from) : add_stencil(from);
        }
    }

    Expr mapped(const Expr &a, const Expr &b) {
        const Type t = a.type();
        switch (random.below(t.is_float() ? 9 : 6)) {
        case 0: return a + b * constant(t);
        case 1: return max(a, b) - min(a, b);
        case 2: return select(a > constant(t), a, b);
        case 3: return a * constant(t) + b * constant(t) + constant(t);
        case 4: return (a + b) / cast(t, 2);
        case 5: return between(a, b);
        case 6: return sqrt(abs(a) + 0.5f) * b;
        case 7: return exp(-abs(a)) + b;
        default: return a / (abs(b) + 1.0f);
        }
    }
    // Written out, because the log knows a pipeline by its definitions: clamp() of floats has
    // another order of its two operations.
    Expr between(const Expr &a, const Expr &b) {
        const Expr high = constant(a.type()) + b, low = constant(a.type());
        return max(min(a, high), low);
    }
    void add_map(const Node &from) {
        Expr a = read(from, x, y);
        const Node *other = random.one_in(2) ? another_like(from) : nullptr;
        Expr b = other ? to(a.type(), other->f(args())) : constant(a.type());
        for (int more = random.below(4); more >= 0; more--) a = mapped(a, b);
        add(random.one_in(3) ? narrowed(a) : a, from.shrunk);
    }
    // Back to bytes, as images are kept.
    Expr narrowed(const Expr &a) {
        return a.type().is_float() ? a : cast(UInt(8), min(a, cast(a.type(), 255)));
    }

    void add_stencil(const Node &from) {
        const int radius = random.between(1, 3), step = random.any_of({1, 1, 1, 2, 4});
        const int shape = random.below(3);  // a row, a column, or both
        const bool is_sum = !random.one_in(4);
        Expr sum;
        for (int j = -radius; j <= radius; j++) {
            for (int i = -radius; i <= radius; i++) {
                if ((shape == 0 && j != 0) || (shape == 1 && i != 0)) continue;
                if (shape == 2 && radius > 1 && random.one_in(2)) continue;
                const Expr tap = read(from, x + i * step, y + j * step);
                if (!sum.defined()) {
                    sum = tap;
                } else {
                    sum = !is_sum            ? max(sum, tap)
                          : random.one_in(2) ? sum + tap * constant(tap.type())
                                             : sum + tap;
                }
            }
        }
        if (!sum.defined()) sum = read(from, x, y);
        add(random.one_in(2) ? narrowed(sum) : sum, from.shrunk);
    }
    // A sum over a window with a kernel of its own.
    void add_window(const Node &from) {
        const int w = random.between(2, 9), h = random.between(1, 7);
        RDom r(0, w, 0, h);
        Func f("stage" + std::to_string(nodes.size()));
        const Expr value = to(Float(32), from.f(at(x + r.x, y + r.y)));
        f(args()) += random.one_in(2) ? value * (cast<float>(r.x + r.y) + 0.5f) : value;
        nodes.push_back({f, Float(32), from.shrunk});
    }
    Expr shrunk(const Node &from) {
        if (random.one_in(3)) return read(from, 2 * x, 2 * y);
        const Expr sum = read(from, 2 * x, 2 * y) + read(from, 2 * x + 1, 2 * y) +
                         read(from, 2 * x, 2 * y + 1) + read(from, 2 * x + 1, 2 * y + 1);
        return sum / cast(sum.type(), 4);
    }
    Expr grown(const Node &from) {
        if (random.one_in(3)) return read(from, x / 2, y / 2);
        const Expr sum = read(from, x / 2, y / 2) + read(from, (x + 1) / 2, y / 2) +
                         read(from, x / 2, (y + 1) / 2) + read(from, (x + 1) / 2, (y + 1) / 2);
        return sum / cast(sum.type(), 4);
    }
    // Along the rows or the columns, each value from the one before it.
    void add_scan(const Node &from) {
        Func f("stage" + std::to_string(nodes.size()));
        f(args()) = to(Float(32), from.f(args()));
        const int w = width >> from.shrunk, h = height >> from.shrunk;
        const float k = random.weight();
        if (random.one_in(2)) {
            RDom r(1, w - 1);
            f(at(r, y)) += f(at(r - 1, y)) * k;
        } else {
            RDom r(1, h - 1);
            f(at(x, r)) += f(at(x, r - 1)) * k;
        }
        Func g("scan" + std::to_string(nodes.size()));
        g(args()) = f(at(clamp(x, 0, w - 1), clamp(y, 0, h - 1)));
        nodes.push_back({g, Float(32), from.shrunk});
    }
    void add_gather(const Node &from) {
        const Node *by = another_like(from);
        if (!by) return add_map(from);
        const Expr shift = clamp(cast<int32_t>(to(Float(32), by->f(args()))), 0, 15);
        add(random.one_in(2) ? read(from, x + shift, y) : read(from, x, y + shift), from.shrunk);
    }
    // Each channel from all of them.
    void add_mix(const Node &from) {
        Func f("stage" + std::to_string(nodes.size()));
        RDom r(0, channels);
        f(args()) += to(Float(32), from.f(x, y, r)) * (cast<float>(r + c) + 0.25f);
        nodes.push_back({f, Float(32), from.shrunk});
    }
    // Counts how often each brightness comes up, and maps the image by it.
    void add_histogram(const Node &from) {
        const int w = width >> from.shrunk, h = height >> from.shrunk;
        Func count("count" + std::to_string(nodes.size()));
        RDom r(0, w, 0, h);
        Var i("i");
        const std::vector<Expr> where =
            channels ? std::vector<Expr>{r.x, r.y, 0} : std::vector<Expr>{r.x, r.y};
        auto bin = [](const Expr &e) { return clamp(cast<int32_t>(e), 0, 255); };
        count(i) = 0;
        count(bin(from.f(where))) += 1;
        add(cast<float>(count(bin(from.f(args())))), from.shrunk);
    }

    Random &random;
    const int channels, width, height;
    Var x{"x"}, y{"y"}, c{"c"};
    std::vector<Node> nodes;
};

}  // namespace

Sample random_graph(Random &random) { return GraphBuilder(random)(); }

}  // namespace tessera::autoscheduler::training
