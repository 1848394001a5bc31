#include "deep_recursion.h"
#include "interpret/definition.h"
#include "ir/operators.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::program;
using namespace tessera::interpret;

namespace {

Expr var(const char *name) { return Variable::make(Int(32), Symbol::interned(name)); }

// A function of int32 values in the making.
struct Builder {
    FunctionRef f{make_ref<FunctionContents>()};

    Builder(const char *name, std::vector<const char *> args) {
        f->name = Symbol::fresh(name);
        for (const char *arg : args) f->args.push_back(Symbol::interned(arg));
    }
    Builder &pure(std::vector<Expr> values) {
        std::vector<Expr> args;
        for (Symbol arg : f->args) args.push_back(Variable::make(Int(32), arg));
        for (const Expr &v : values) f->types.push_back(v.type());
        return update(args, values);
    }
    Builder &update(std::vector<Expr> args, std::vector<Expr> values,
                    std::vector<ReductionVariable> reduction = {}, Expr predicate = {}) {
        auto d = make_ref<Definition>();
        d->args = std::move(args);
        d->values = std::move(values);
        d->reduction = std::move(reduction);
        d->predicate = predicate;
        f->stages.push_back(d);
        return *this;
    }
    Expr operator()(std::vector<Expr> args, int k = 0) const { return program::call(f, args, k); }
    // As it is used inside of the function itself.
    Expr self(std::vector<Expr> args, int k = 0) const {
        return Call::make(f->types[size_t(k)], f->name, CallKind::Func, k, std::move(args));
    }
};

ReductionVariable domain(const char *name, Expr min, Expr extent) {
    return {Symbol::interned(name), min, extent};
}

using Values = std::vector<int32_t>;

struct Image {
    std::vector<int32_t> data;
    std::vector<tessera_dimension_t> dims;
    tessera_buffer_t buffer = {};
    Image(std::vector<int> min, std::vector<int> extent) {
        int stride = 1;
        for (size_t d = 0; d < min.size(); d++) {
            dims.push_back({min[d], extent[d], stride, 0});
            stride *= extent[d];
        }
        data.assign(size_t(stride), -777);
        buffer.host = reinterpret_cast<uint8_t *>(data.data());
        buffer.type = {tessera_type_int, 32, 1};
        buffer.dimensions = int32_t(dims.size());
        buffer.dim = dims.data();
    }
    Image(const Image &) = delete;
};

Values realize(const Builder &b, std::vector<int> min, std::vector<int> extent,
               const DefinitionOptions &options = {}) {
    Image out(min, extent);
    Program p;
    p.outputs = {b.f};
    tessera_buffer_t *buffers[] = {&out.buffer};
    evaluate_definition(p, buffers, options);
    return out.data;
}

Expr image_call(const ParameterRef &p, std::vector<Expr> args) {
    return Call::make(p->type, p->name, CallKind::Image, 0, std::move(args), p);
}

const Expr x = var("x"), y = var("y"), r = var("r"), s = var("s");

// out(x) = in(x) + in(x + 1), one element more is needed.
extern "C" int add_neighbours(tessera_buffer_t *in, int32_t offset, tessera_buffer_t *out) {
    if (!in->host) {
        in->dim[0].min = out->dim[0].min;
        in->dim[0].extent = out->dim[0].extent + 1;
        return 0;
    }
    for (int i = 0; i < out->dim[0].extent; i++) {
        const auto *from = reinterpret_cast<const int32_t *>(in->host) +
                           (out->dim[0].min + i - in->dim[0].min) * in->dim[0].stride;
        reinterpret_cast<int32_t *>(out->host)[i] = from[0] + from[in->dim[0].stride] + offset;
    }
    return offset < 0 ? -1 : 0;
}

// out(x) = in(x) * 2, of as many pairs as it takes; says first what it reads for what is asked.
extern "C" int double_pairs(tessera_buffer_t *in, tessera_buffer_t *out) {
    tessera_dimension_t &to = out->dim[0], &from = in->dim[0];
    if (!in->host) {
        from = to;
        const int first = to.min & ~1, end = (to.min + to.extent + 1) & ~1;
        to.min = first;
        to.extent = end - first;
        return 0;
    }
    if (to.min % 2 || to.extent % 2 || from.min > to.min || from.extent < to.extent) return 7;
    for (int i = 0; i < to.extent; i++) {
        reinterpret_cast<int32_t *>(out->host)[i] =
            2 * reinterpret_cast<const int32_t *>(in->host)[(to.min + i - from.min) * from.stride];
    }
    return 0;
}

}  // namespace

TEST_SUITE("definition interpreter") {
    TEST_CASE("pure functions at the points of the output") {
        Builder f("f", {"x", "y"}), g("g", {"x", "y"});
        f.pure({x * 10 + y});
        g.pure({f({x - 1, y}) + f({x + 1, y * 2})});
        CHECK(realize(g, {3, 1}, {2, 2}) == Values{63, 83, 66, 86});
    }
    TEST_CASE("a sum over a domain, one variable fastest, with a predicate") {
        Builder f("f", {"x"});
        f.pure({Expr(1)});
        f.update({x}, {f.self({x}) * 3 + r + 10 * s}, {domain("r", 0, 2), domain("s", 0, 2)},
                 r + s < 2);
        // 1 -> (0,0): 3 -> (1,0): 10 -> (0,1): 40
        CHECK(realize(f, {0}, {2}) == Values{40, 40});
    }
    TEST_CASE("a scan goes along the domain") {
        Builder f("f", {"x", "y"});
        f.pure({y});
        f.update({x, r}, {f.self({x, r - 1}) + f.self({x, r})}, {domain("r", 1, 5)});
        CHECK(realize(f, {0, 4}, {1, 2}) == Values{10, 15});
    }
    TEST_CASE("a histogram writes where the data says") {
        auto in = make_buffer_parameter(Symbol::fresh("in"), Int(32), 1);
        Image data({0}, {6});
        data.data = {1, 2, 1, 5, 1, 2};
        in->buffer = &data.buffer;
        Builder h("h", {"x"}), c("c", {"x"});
        h.pure({Expr(0)});
        Expr at = image_call(in, {r});
        h.update({at}, {h.self({at}) + 1}, {domain("r", 0, 6)});
        c.pure({Expr(0)});
        c.update({r}, {c.self({r - 1}) + h({r})}, {domain("r", 1, 5)});
        CHECK(realize(h, {0}, {4}) == Values{0, 3, 2, 0});
        CHECK(realize(c, {0}, {6}) == Values{0, 3, 5, 5, 5, 6});
    }
    TEST_CASE("updates over a whole dimension that others mix") {
        Builder f("f", {"x"}), g("g", {"x"});
        f.pure({x});
        f.update({x}, {f.self({x}) * 2});
        f.update({Expr(0)}, {f.self({Expr(7)}) + f.self({Expr(0)})});
        f.update({x}, {f.self({x}) + 1});
        g.pure({f({x}) + f({x + 20})});
        CHECK(realize(f, {0}, {3}) == Values{15, 3, 5});
        CHECK(realize(g, {0}, {2}) == Values{15 + 41, 3 + 43});
    }
    TEST_CASE("values of several types, updated together from what they were") {
        Builder f("f", {"x"});
        f.pure({x, x + 100});
        f.update({x}, {f.self({x}, 1), f.self({x}, 0)});
        Image a({0}, {2}), b({0}, {2});
        Program p;
        p.outputs = {f.f};
        tessera_buffer_t *buffers[] = {&a.buffer, &b.buffer};
        evaluate_definition(p, buffers);
        CHECK(a.data == Values{100, 101});
        CHECK(b.data == Values{0, 1});
    }
    TEST_CASE("scatter and gather read all before they write any") {
        Builder f("f", {"x"});
        f.pure({x});
        auto both = [](Intrinsic op, Expr a, Expr b) { return ir::call(Int(32), op, {a, b}); };
        f.update({both(Intrinsic::scatter, 0, 1)}, {f.self({both(Intrinsic::gather, 1, 0)}) * 10});
        CHECK(realize(f, {0}, {3}) == Values{10, 0, 2});
    }
    TEST_CASE("undef leaves what is there") {
        Builder f("f", {"x"});
        Expr undef = ir::call(Int(32), Intrinsic::undef, {});
        f.pure({undef});
        f.update({r}, {Expr(5)}, {domain("r", 1, 2)});
        f.update({x}, {Select::make(x < 3, undef, Expr(9))});
        CHECK(realize(f, {0}, {5}) == Values{-777, 5, 5, 9, 9});
    }
    TEST_CASE("parameters, and properties of images") {
        auto scale = make_scalar_parameter(Symbol::fresh("scale"), Int(32));
        auto in = make_buffer_parameter(Symbol::fresh("in"), Int(32), 1);
        Builder f("f", {"x"});
        Expr extent = BufferProperty::make(in->name, BufferField::Extent, 0, in);
        f.pure({image_call(in, {clamp(x, 0, extent - 1)}) * parameter_value(scale)});
        CHECK_THROWS_WITH_AS(realize(f, {0}, {1}), doctest::Contains("no "), RuntimeError);
        Image data({0}, {2});
        data.data = {3, 4};
        in->buffer = &data.buffer;
        scale->scalar_bits = 100;
        scale->scalar_is_set = true;
        CHECK(realize(f, {-1}, {5}) == Values{300, 300, 400, 400, 400});
    }
    TEST_CASE("reading outside of an image matters only if an output depends on it") {
        auto in = make_buffer_parameter(Symbol::fresh("in"), Int(32), 1);
        Image data({0}, {2});
        data.data = {3, 4};
        in->buffer = &data.buffer;
        Builder f("f", {"x"}), g("g", {"x"});
        f.pure({image_call(in, {x})});
        g.pure({select(x < 2, f({x}), 0)});
        CHECK(realize(g, {1}, {2}) == Values{4, 0});
        CHECK_THROWS_WITH_AS(realize(f, {1}, {2}), doctest::Contains("is read at (2)"),
                             RuntimeError);
    }
    TEST_CASE("a coordinate that is lost matters only to functions that depend on it") {
        auto in = make_buffer_parameter(Symbol::fresh("in"), Int(32), 1);
        Image data({0}, {2});
        data.data = {3, 4};
        in->buffer = &data.buffer;
        Builder f("f", {"x", "y"}), g("g", {"x"}), h("h", {"x"});
        f.pure({y * 2, x});
        g.pure({f({image_call(in, {x}), x}, 0)});
        h.pure({f({image_call(in, {x}), x}, 1)});
        CHECK(realize(g, {1}, {2}) == Values{2, 4});
        CHECK_THROWS_WITH_AS(realize(h, {1}, {2}), doctest::Contains("is read at (2)"),
                             RuntimeError);
    }
    TEST_CASE("extern stages, asked first what they need") {
        Builder f("f", {"x"}), e("e", {"x"}), g("g", {"x"});
        f.pure({x * x});
        e.f->types = {Int(32)};
        e.f->extern_definition = std::make_shared<ExternDefinition>();
        e.f->extern_definition->function = "add_neighbours";
        e.f->extern_definition->args = {{f.f, {}, {}}, {{}, {}, Expr(1000)}};
        g.pure({e({x}) + e({x + 3})});
        DefinitionOptions options;
        options.externs["add_neighbours"] = reinterpret_cast<void *>(add_neighbours);
        CHECK(realize(e, {2}, {2}, options) == Values{1013, 1025});
        CHECK(realize(g, {0}, {1}, options) == Values{1001 + 1025});
        Builder gather("gather", {"x"});  // asks for more after the stage ran, and again
        gather.pure({e({e({x}) - 1000})});
        CHECK(realize(gather, {-3}, {3}, options) == Values{1365, 1061, 1005});
        e.f->extern_definition->args[1].scalar = Expr(-1);
        CHECK_THROWS_WITH_AS(realize(e, {0}, {1}, options), doctest::Contains("failed with code"),
                             RuntimeError);
    }
    TEST_CASE("an extern stage may compute more than it was asked for") {
        Builder f("f", {"x"}), e("e", {"x"}), g("g", {"x"});
        f.pure({x + 5});
        e.f->types = {Int(32)};
        e.f->extern_definition = std::make_shared<ExternDefinition>();
        e.f->extern_definition->function = "double_pairs";
        e.f->extern_definition->args = {{f.f, {}, {}}};
        g.pure({e({x + 1})});
        DefinitionOptions options;
        options.externs["double_pairs"] = reinterpret_cast<void *>(double_pairs);
        CHECK(realize(g, {0}, {3}, options) == Values{12, 14, 16});
        CHECK(realize(g, {4}, {1}, options) == Values{20});
    }
    TEST_CASE("an image that an extern stage reads is passed as it is, or with zeros beyond") {
        auto in = make_buffer_parameter(Symbol::fresh("in"), Int(32), 1);
        Image data({3}, {4});
        data.data = {1, 10, 100, 1000};
        in->buffer = &data.buffer;
        Builder e("e", {"x"}), g("g", {"x"});
        e.f->types = {Int(32)};
        e.f->extern_definition = std::make_shared<ExternDefinition>();
        e.f->extern_definition->function = "add_neighbours";
        e.f->extern_definition->args = {{{}, in, {}}, {{}, {}, Expr(0)}};
        g.pure({e({x})});
        DefinitionOptions options;
        options.externs["add_neighbours"] = reinterpret_cast<void *>(add_neighbours);
        CHECK(realize(g, {4}, {2}, options) == Values{110, 1100});
        CHECK(realize(g, {4}, {3}, options) == Values{110, 1100, 1000});
    }
    TEST_CASE("a failed requirement says what was required") {
        Builder f("f", {"x"});
        f.pure({x});
        Image out({0}, {1});
        Program p;
        p.outputs = {f.f};
        p.requirements = {{Expr(1) > Expr(2), {Expr("the sky is "), Expr(7)}, {}}};
        tessera_buffer_t *buffers[] = {&out.buffer};
        CHECK_THROWS_WITH_AS(evaluate_definition(p, buffers), doctest::Contains("the sky is 7"),
                             RuntimeError);
        Builder g("g", {"x"});
        g.pure({ir::call(Int(32), Intrinsic::require, {x < 3, x, Expr(""), Expr("x is "), x})});
        CHECK(realize(g, {1}, {2}) == Values{1, 2});
        CHECK_THROWS_WITH_AS(realize(g, {1}, {3}), doctest::Contains("x is 3"), RuntimeError);
    }
    TEST_CASE("three thousand functions in a row" * doctest::skip(!may_recurse_deeply)) {
        std::vector<Builder> chain;
        chain.emplace_back("f", std::vector<const char *>{"x"}).pure({x});
        for (int i = 0; i < 3000; i++) {
            Builder next("f", {"x"});
            next.pure({chain.back()({x}) + 1});
            if (i % 3 == 0) next.update({x}, {next.self({x}) + r}, {domain("r", 0, 2)});
            chain.push_back(next);
        }
        CHECK(realize(chain.back(), {5}, {2}) == Values{4005, 4006});
    }
}
