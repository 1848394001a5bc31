// Mappings of a definition's loops onto those of an instruction: how many there are, and that each
// computes the definition when it is run tile by tile by the instruction's meaning.
#include "ir/operators.h"
#include "lang/mapped_run.h"
#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;
using namespace mapped_run;

namespace {

Var n("n"), k("k"), p("p"), q("q"), g("g"), m("m"), d("d"), i("i"), j("j");

// D(i, j) += A(i, k) * B(k, j), of these extents and types; without i and j if these are 0.
ir::Instruction product(int i_extent, int j_extent, int k_extent, Type element = Float(16),
                        Type sum = Float(32)) {
    const auto at = [](const char *name) {
        return ir::Variable::make(Int(32), Symbol::interned(name));
    };
    const auto of = [&](const char *name, Type type, const std::vector<Expr> &args) {
        return ir::Call::make(type, Symbol::interned(name), CallKind::Func, 0, args);
    };
    std::vector<Expr> of_sum, of_a{at("k")}, of_b = of_a;
    if (i_extent > 0) {
        of_sum = {at("i"), at("j")};
        of_a = {at("i"), at("k")};
        of_b = {at("k"), at("j")};
    }
    const Expr a = of("A", element, of_a), b = of("B", element, of_b), s = of("D", sum, of_sum);
    ir::Stmt meaning =
        ir::Provide::make(Symbol::interned("D"), {s + cast(sum, a) * cast(sum, b)}, of_sum);
    const auto loop = [&](const char *name, int extent) {
        if (extent > 0)
            meaning = ir::For::make(Symbol::interned(name), 0, extent, LoopKind::Serial,
                                    Partition::Never, meaning);
    };
    loop("k", k_extent);
    loop("j", j_extent);
    loop("i", i_extent);
    ir::Instruction made{.name = "product", .meaning = meaning};
    for (const auto &[name, type] : {std::pair("D", sum), {"A", element}, {"B", element}})
        made.operands.push_back({Symbol::interned(name), type, {}, {}});
    return made;
}

Expr times(const Expr &a, const Expr &b) { return cast<float>(a) * cast<float>(b); }

struct Case {
    Func o{"o"};
    ImageParam x, w;
    std::vector<VarOrRVar> fixed = {};

    Case(int x_dimensions, int w_dimensions, Type type = Float(16))
        : x(type, x_dimensions, "x"), w(type, w_dimensions, "w") {}
    size_t count(MappingRule rule, const std::vector<VarOrRVar> &fixed_loops = {}) const {
        return possible_mappings(o, TensorInstruction::MMA, {rule, fixed_loops}).size();
    }
};

RDom domain(std::initializer_list<int> extents) {
    Region region;
    for (int extent : extents) region.emplace_back(0, extent);
    return RDom(region, "r");
}

Case gmv() {
    Case c(2, 1);
    const RDom r = domain({4});
    c.o(m) += times(c.x(r, m), c.w(r));
    return c;
}
Case gmm() {
    Case c(2, 2);
    const RDom r = domain({4});
    c.o(n, m) += times(c.x(r, m), c.w(n, r));
    return c;
}
Case c1d(int stride = 1) {
    Case c(3, 3);
    const RDom r = domain({3, 2});  // of s, c
    c.o(p, k, n) += times(c.x(stride * p + r.x, r.y, n), c.w(r.x, r.y, k));
    return c;
}
Case c2d(int dilation = 1) {
    Case c(4, 4);
    const RDom r = domain({3, 2, 2});  // of s, r, c
    c.o(q, p, k, n) +=
        times(c.x(q + dilation * r.x, p + dilation * r.y, r.z, n), c.w(r.x, r.y, r.z, k));
    return c;
}
Case c3d() {
    Case c(5, 5);
    const RDom r = domain({2, 2, 2, 2});  // of s, r, t, c
    c.o(q, p, d, k, n) += times(c.x(q + r.x, p + r.y, d + r.z, r.w, n), c.w(r.x, r.y, r.z, r.w, k));
    return c;
}
Case grouped_conv() {
    Case c(5, 5);
    const RDom r = domain({2, 2, 2});
    c.o(q, p, k, g, n) += times(c.x(q + r.x, p + r.y, r.z, g, n), c.w(r.x, r.y, r.z, k, g));
    return c;
}
Case depthwise() {
    Case c(4, 3);
    const RDom r = domain({2, 2});
    c.o(q, p, k, n) += times(c.x(q + r.x, p + r.y, k, n), c.w(r.x, r.y, k));
    return c;
}
Case batched_conv() {
    Case c(4, 5);
    const RDom r = domain({2, 2, 2});
    c.o(q, p, k, n) += times(c.x(q + r.x, p + r.y, r.z, n), c.w(r.x, r.y, r.z, k, n));
    return c;
}
Case capsules() {
    Case c(6, 6);
    const RDom r = domain({2, 2, 2, 2});  // of s, r, c, l
    c.o(j, i, q, p, k, n) +=
        times(c.x(r.w, i, q + r.x, p + r.y, r.z, n), c.w(j, r.w, r.x, r.y, r.z, k));
    c.fixed = {i, r.w};
    return c;
}
// Each input is added to a window of outputs, 2 apart.
Case scatter() {
    Case c(4, 4);
    const RDom r = domain({3, 3, 2, 3, 2});  // of s, r, q, p, c
    const RVar rs = r[0], rr = r[1], rq = r[2], rp = r[3], rc = r[4];
    c.o(2 * rq + rs, 2 * rp + rr, k, n) += times(c.x(rq, rp, rc, n), c.w(rs, rr, rc, k));
    c.fixed = {rr, rs};
    return c;
}
Case grouped_dense() {
    Case c(3, 3);
    const RDom r = domain({2});
    c.o(k, g, n) += times(c.x(r, g, n), c.w(r, k, g));
    return c;
}
Case variance() {
    Case c(2, 1);
    const RDom r = domain({4});
    c.o(m) += times(c.x(r, m), c.x(r, m));
    return c;
}
Case scan() {
    Case c(2, 2);
    const RDom r = domain({4});
    c.o(m, n) += times(c.x(r, n), c.w(m, r));
    return c;
}

template<typename T> Buffer<T> filled(const std::vector<int> &sizes) {
    Buffer<T> b(sizes);
    int count = 0;
    b.for_each_value([&](T &value) { value = T(float(count++ * 7 % 11 - 5)); });
    return b;
}

template<typename T> Values values_of(const Buffer<T> &b) {
    return [b](const Point &at) {
        std::vector<int> indices(at.begin(), at.end());
        return double(b(indices.data()));
    };
}

// Counts the mappings that compute what the definition does, and all that there are.
template<typename T>
std::pair<size_t, size_t> run_all(Case &c, const std::vector<int> &sizes,
                                  const std::vector<int> &x_sizes, const std::vector<int> &w_sizes,
                                  const ir::Instruction &instruction, bool either_order = false) {
    using Sum = std::conditional_t<std::is_same_v<T, float16_t>, float, int32_t>;
    const Buffer<T> x = filled<T>(x_sizes), w = filled<T>(w_sizes);
    c.x.set(x);
    c.w.set(w);
    const Buffer<Sum> right = c.o.realize(sizes);
    const Stage stage = c.o.update();
    std::unordered_map<Symbol, int64_t> extents;
    const std::vector<Var> args = c.o.args();
    for (size_t a = 0; a < args.size(); a++) extents[args[a].symbol()] = sizes[a];
    for (const RVar &r : c.o.rvars()) extents[r.symbol()] = *ir::as_const_int(r.extent());
    const program::StageRef &s = stage.scheduled({});
    std::pair<size_t, size_t> counts{0, 0};
    const program::MappingOptions options{.either_order = either_order};
    for (const program::Mapping &mapping :
         program::possible_mappings(*s.function, s.definition(), instruction, options)) {
        MappedRun run(stage, instruction, mapping, extents,
                      {{Func(c.x).function()->name, values_of(x)},
                       {Func(c.w).function()->name, values_of(w)}});
        run.run();
        bool same = true;
        right.for_each_element([&](const int *at) {
            const Point point(at, at + sizes.size());
            same &= double(right(at)) == run.result[point];
        });
        counts.first += same;
        counts.second++;
    }
    return counts;
}

using Counts = std::pair<size_t, size_t>;

std::string printed(const std::vector<Mapping> &mappings) {
    std::string text;
    for (const Mapping &mapping : mappings) text += str(mapping, "\n");
    return text;
}

}  // namespace

TEST_SUITE("mappings") {
    TEST_CASE("the numbers of AMOS, and those that are right") {
        const struct {
            const char *name;
            Case c;
            size_t subscripts, right;
        } rows[] = {
            {"GMV", gmv(), 1, 1},
            {"GMM", gmm(), 1, 1},
            {"C1D", c1d(), 6, 9},
            {"C2D", c2d(), 35, 49},
            {"C3D", c3d(), 180, 225},
            {"GRP", grouped_conv(), 35, 49},
            {"DIL", c2d(2), 35, 49},
            {"DEP", depthwise(), 11, 21},
            {"BCV", batched_conv(), 11, 21},
            {"GFC", grouped_dense(), 1, 1},
            {"VAR", variance(), 1, 1},
            {"SCN", scan(), 1, 1},
            {"scatter", scatter(), 21, 21},
        };
        for (const auto &row : rows) {
            CAPTURE(row.name);
            CHECK(row.c.count(MappingRule::Subscripts) == row.subscripts);
            CHECK(row.c.count(MappingRule::Right) == row.right);
        }
    }
    TEST_CASE("loops that stay around") {
        CHECK(c2d().count(MappingRule::Subscripts, {p, q}) == 7);
        const Case t2d = scatter(), caps = capsules();
        CHECK(t2d.count(MappingRule::Subscripts, t2d.fixed) == 7);
        CHECK(caps.count(MappingRule::Subscripts, caps.fixed) == 105);
        CHECK(caps.count(MappingRule::Subscripts) == 585);
        CHECK(caps.count(MappingRule::Right) == 675);
    }
    TEST_CASE("every mapping computes the definition") {
        const ir::Instruction small = product(4, 2, 3);
        Case line = c1d(), plane = c2d(), strided = c1d(2), dilated = c2d(2);
        CHECK(run_all<float16_t>(line, {5, 3, 2}, {7, 2, 2}, {3, 2, 3}, small) == Counts(9, 9));
        CHECK(run_all<float16_t>(strided, {4, 3, 2}, {9, 2, 2}, {3, 2, 3}, small) == Counts(9, 9));
        CHECK(run_all<float16_t>(plane, {2, 3, 3, 2}, {4, 4, 2, 2}, {3, 2, 2, 3}, small) ==
              Counts(49, 49));
        CHECK(run_all<float16_t>(dilated, {2, 1, 3, 2}, {6, 3, 2, 2}, {3, 2, 2, 3}, small) ==
              Counts(49, 49));
        Case depth = depthwise();
        CHECK(run_all<float16_t>(depth, {2, 3, 2, 2}, {3, 4, 2, 2}, {2, 2, 2}, small) ==
              Counts(21, 21));
        Case on_warps = c1d();
        CHECK(run_all<float16_t>(on_warps, {5, 9, 4}, {7, 2, 4}, {3, 2, 9},
                                 *ir::find_instruction("mma.m16n8k16.f32.f16")) == Counts(9, 9));
    }
    TEST_CASE("a transposed convolution is written once by no loops that meet in an argument") {
        Case c = scatter();
        CHECK(run_all<float16_t>(c, {5, 7, 2, 2}, {2, 3, 2, 2}, {3, 3, 2, 2}, product(4, 2, 3)) ==
              Counts(21, 21));
    }
    TEST_CASE("operands exchanged: the transposed product") {
        Case c = c1d();
        CHECK(run_all<float16_t>(c, {5, 3, 2}, {7, 2, 2}, {3, 2, 3}, product(4, 2, 3), true) ==
              Counts(18, 18));
    }
    TEST_CASE("an instruction with sums alone") {
        Case c(4, 4, Int(8));
        const RDom r = domain({3, 2, 2});
        c.o(q, p, k, n) +=
            cast<int>(c.x(q + r.x, p + r.y, r.z, n)) * cast<int>(c.w(r.x, r.y, r.z, k));
        const ir::Instruction dot = product(0, 0, 4, Int(8), Int(32));
        CHECK(possible_mappings(c.o.update(), dot).size() == 7);
        CHECK(run_all<int8_t>(c, {2, 3, 3, 2}, {4, 4, 2, 2}, {3, 2, 2, 3}, dot) == Counts(7, 7));
        CHECK(possible_mappings(c.o.update(), product(16, 8, 32, Int(8), Int(32))).size() == 49);
        CHECK(possible_mappings(c.o.update(), product(4, 2, 3)).empty());
    }
    TEST_CASE("quotients and remainders are uses of a loop, in what is read and written") {
        Case c(3, 2);
        const RDom r = domain({4, 6});
        c.o(r.y % 2, r.y / 2, k) += times(c.x(r.x / 2, r.x % 2, r.y), c.w(k, r.x));
        CHECK(printed(possible_mappings(c.o, TensorInstruction::MMA)) ==
              "map({r$y}, {k}, {r$x})\n");
        CHECK(run_all<float16_t>(c, {2, 3, 5}, {2, 2, 6}, {5, 4}, product(4, 2, 3)) ==
              Counts(1, 1));
        Case lossy(3, 2);
        lossy.o(r.y % 3, r.y / 2, k) += times(lossy.x(r.x / 2, r.x % 2, r.y), lossy.w(k, r.x));
        CHECK(printed(possible_mappings(lossy.o, TensorInstruction::MMA)) ==
              "map({r$y}, {k}, {r$x})\n");
        Case twice(3, 2);
        twice.o(r.y % 3, k) += times(twice.x(r.x / 2, r.x % 2, r.y), twice.w(k, r.x));
        CHECK(possible_mappings(twice.o, TensorInstruction::MMA).empty());
    }
    TEST_CASE("boundary conditions and gathers are operands like others") {
        Case c(3, 3);
        ImageParam places(Int(32), 1, "places");
        const Func padded = BoundaryConditions::constant_exterior(c.x, cast<float16_t>(0),
                                                                  {{0, 9}, {0, 2}, {0, 2}});
        const RDom r = domain({3, 2});
        c.o(p, k, n) += times(padded(places(p) + r.x - 1, r.y, n), c.w(r.x, r.y, k));
        CHECK(c.count(MappingRule::Right) == 9);
        CHECK(c.count(MappingRule::Subscripts) == 6);
        Case inlined(3, 3);
        const Expr at = p + r.x - 1;
        const Expr value =
            select(at >= 0 && at < 9, inlined.x(clamp(at, 0, 8), r.y, n), cast<float16_t>(0));
        inlined.o(p, k, n) += times(value, inlined.w(r.x, r.y, k));
        CHECK(inlined.count(MappingRule::Right) == 9);
    }
    TEST_CASE("sums and products in any order, and what is none") {
        Case c = gmm();
        Func other("other"), half("half"), own("own");
        const RDom r = domain({4});
        other(n, m) = 1.0f;
        other(n, m) = times(c.w(n, r), c.x(r, m)) + other(n, m);
        CHECK(printed(possible_mappings(other, TensorInstruction::MMA)) ==
              "map({n}, {m}, {r$x})\n");
        CHECK(printed(possible_mappings(other, TensorInstruction::WGMMA, {.either_order = true})) ==
              "map({n}, {m}, {r$x})\nmap({m}, {n}, {r$x})\n");
        half(n, m) += c.x(r, m) * c.w(n, r);
        CHECK(possible_mappings(half, TensorInstruction("mma.m16n8k16.f32.f16")).empty());
        CHECK(possible_mappings(half, TensorInstruction::MMA).size() == 1);
        own(n, m) = 0.0f;
        own(n, r) = own(n, r - 1) + times(c.x(r, r), c.w(n, r));
        CHECK(possible_mappings(own, TensorInstruction::MMA).empty());
    }
    TEST_CASE("loops as they are now, but for those that have a kind or a condition") {
        Case c = gmm();
        Var mo("mo"), mi("mi");
        c.o.update().split(m, mo, mi, 16).gpu_blocks(mo);
        CHECK(printed(possible_mappings(c.o, TensorInstruction::MMA)) == "map({mi}, {n}, {r$x})\n");
        Case where(2, 2);
        RDom r = domain({4, 4});
        r.where(r.x < r.y);
        where.o(n, m) += times(where.x(r.x + r.y, m), where.w(n, r.y));
        CHECK(printed(possible_mappings(where.o, TensorInstruction::MMA)) ==
              "map({m}, {n}, {r$y})\n");
    }
    TEST_CASE("an operand has all loops of a condition, to be zero elsewhere") {
        const RDom r = domain({4});
        const auto of = [&](const Expr &condition, const std::vector<VarOrRVar> &fixed = {}) {
            Case c(2, 2);
            c.o(n, m) += select(condition, times(c.x(r, m), c.w(n, r)), 0.0f);
            return printed(possible_mappings(c.o, TensorInstruction::MMA, {.fixed = fixed}));
        };
        for (const Expr &condition : {r<m, r> n && r < m, n < 5})
            CHECK(of(condition) == "map({m}, {n}, {r$x})\n");
        CHECK(of(n < m) == "");
        CHECK(of(n < m, {n}) == "map({m}, {}, {r$x})\n");
    }
    TEST_CASE("a sum of products is computed term by term, with operands in either order") {
        const auto sum = [](bool is_mixed) {
            Case c = c1d();
            const RDom r = domain({3, 2});
            Func two("o");
            const Expr x = c.x(p + 2 - r.x, r.y, n), w = c.w(r.x, r.y, k);
            two(p, k, n) += times(c.x(p + r.x, r.y, n), c.w(r.x, r.y, k)) +
                            (is_mixed ? times(w, c.x(r.x, r.y, n)) : times(w, x));
            c.o = two;
            return c;
        };
        Case c = sum(false);
        CHECK(run_all<float16_t>(c, {5, 3, 2}, {7, 2, 2}, {3, 2, 3}, product(4, 2, 3)) ==
              Counts(9, 9));
        // In the second product p is of no factor.
        for (const Mapping &mapping : possible_mappings(sum(true).o, TensorInstruction::MMA)) {
            const auto &rows = mapping.groups()[0].loops();
            CHECK(std::ranges::none_of(rows, [](const VarOrRVar &v) { return v.name() == "p"; }));
        }
    }
    TEST_CASE("a mapping is directives: loops are fused, put inside of others and tensorized") {
        Case c = c2d();
        RVar cc("c"), r("r"), s("s");
        const std::vector<RVar> of_sum = c.o.rvars();
        Stage conv = c.o.update();
        conv.rename(of_sum[0], s).rename(of_sum[1], r).rename(of_sum[2], cc);
        const std::vector<Mapping> all = possible_mappings(conv, TensorInstruction::MMA);
        CHECK(str(all.back()) == "map({n, p, q}, {k}, {c, r, s})");
        CHECK(all.back() == map({n, p, q}, {k}, {cc, r, s}));
        CHECK(all.front() == map(n, k, cc));
        conv.tensorize(map({n, p, q}, {k}, {cc, r, s}), TensorInstruction::MMA);
        CHECK(conv.dump_argument_list() == "Vars: c_r_s, n_p_q, k\n");
        const std::string json = Pipeline(c.o).schedule_as_json();
        const std::string cpp = Pipeline(c.o).schedule_as_cpp();
        CAPTURE(cpp);
        CHECK(cpp.find("RVar") < cpp.find("r_s"));
        CHECK(cpp.find("Var p_q(") != cpp.npos);
        CHECK(cpp.find("RVar r_s(") != cpp.npos);
        CHECK(cpp.find(".tensorize(n_p_q, TensorInstruction::MMA)") != cpp.npos);
        Case again = c2d();
        Pipeline(again.o).apply_schedule(json);
        CHECK(Pipeline(again.o).schedule_as_json() == json);
    }
}
