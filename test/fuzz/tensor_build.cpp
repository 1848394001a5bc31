#include "tensor_build.h"
#include <tessera.h>

namespace tessera::fuzz {
namespace {

struct Types {
    Type a, b, sum;
    int unit;  // elements of the sum that an instruction has
};
const Types all_types[] = {
    {Float(16), Float(16), Float(32), 16}, {BFloat(16), BFloat(16), Float(32), 16},
    {Float(16), Float(16), Float(16), 16}, {Int(8), Int(8), Int(32), 32},
    {UInt(8), UInt(8), Int(32), 32},       {UInt(8), Int(8), Int(32), 32},
    {Int(8), UInt(8), Int(32), 32},        {Float(32), Float(32), Float(32), 8}};

// ---- Inputs ----

uint64_t mixed(uint64_t h) {
    h *= 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
}

// Small integers, of which sums of products are exact.
template<typename T>
void fill(Buffer<> &to, int salt) {
    Buffer<T> all(to);
    uint64_t count = uint64_t(salt) * 1000003;
    all.for_each_value([&](T &value) {
        const int drawn = int(mixed(++count) % 5);
        value = T(float(std::is_same_v<T, uint8_t> ? drawn : drawn - 2));
    });
}

ImageParam input(Type type, const std::vector<int> &sizes, const char *name, int salt) {
    ImageParam param(type, int(sizes.size()), name);
    Buffer<> values(type, sizes);
    if (type == Float(16)) fill<float16_t>(values, salt);
    if (type == BFloat(16)) fill<bfloat16_t>(values, salt);
    if (type == Float(32)) fill<float>(values, salt);
    if (type == Int(8)) fill<int8_t>(values, salt);
    if (type == UInt(8)) fill<uint8_t>(values, salt);
    if (type == Int(32)) fill<int32_t>(values, salt);
    values.set_host_dirty();
    param.set(values);
    // The machine copies rows that begin at multiples of 16 bytes; threads copy others.
    int stride = 1;
    for (size_t d = 1; d < sizes.size(); d++) {
        stride *= sizes[d - 1];
        if (stride * type.bytes() % 16 != 0) param.dim(int(d)).set_stride(stride);
    }
    return param;
}

// ---- Epilogues ----

Var x("x"), y("y"), z("z"), xi("xi"), yi("yi"), wx("wx"), wy("wy");

// Says what is made of a sum: with a bias of its row or column, and an activation.
Expr activated(const Expr &v, const Expr &bias, int which) {
    switch (which) {
    case 0: return v;
    case 1: return v + bias;
    case 2: return max(v + bias, 0.0f);
    case 3: return min(v, 0.0f) * 0.125f + max(v, 0.0f) + bias;
    case 4: return select(v > bias, v, v * 0.25f);
    case 5: return clamp(v * 0.5f, -4.0f, 20.0f) - bias;
    case 6: return abs(v) * 0.5f + v;
    case 7: return v / (1.0f + abs(v)) + bias;
    default: return v * v * 0.0625f - bias * v;
    }
}
constexpr int activations = 9;

Expr converted(const Expr &v, const TensorPlan &plan) {
    switch (plan.output) {
    case 0: return v;
    case 1: return cast<float16_t>(v);
    case 2: return cast<bfloat16_t>(v);
    default: return cast<int8_t>(clamp(v, -100.0f, 100.0f));
    }
}

// Defines `out` of sums: of one product, or of two.
void define_out(Func &out, const std::vector<Var> &at, const Expr &sum, const Expr &other,
                const TensorPlan &plan, const std::vector<int> &sizes) {
    if (plan.epilogue == 0 && plan.output == 0 && !plan.is_tuple && !other.defined()) {
        out(at) = sum;
        return;
    }
    Expr v = cast<float>(sum);
    if (other.defined()) v = max(v, 0.0f) + cast<float>(other) * 0.5f;
    const bool by_rows = plan.epilogue >= activations;
    const ImageParam bias = input(Float(32), {sizes[by_rows ? 1 : 0]}, "bias", 7);
    const Expr done = activated(v, bias(at[by_rows ? 1 : 0]), plan.epilogue % activations);
    // Rounded halves are exact as they are; quotients might be cut to other integers.
    const Expr first =
        converted(plan.output == 3 && plan.epilogue % activations > 5 ? v : done, plan);
    if (plan.is_tuple)
        out(at) = Tuple(first, cast<float>(v) * 0.5f);
    else
        out(at) = first;
}

TensorInstruction instruction_of(const TensorPlan &plan) {
    const bool is_tf32 = all_types[plan.types].a == Float(32);
    if (plan.instruction == 1 && !is_tf32) return TensorInstruction::any();
    if (is_tf32) return TensorInstruction(plan.is_of_group ? "wgmma.tf32" : "mma.tf32");
    return plan.is_of_group ? TensorInstruction::WGMMA : TensorInstruction::MMA;
}

// ---- Products of matrices ----

// The operands of a product: what it reads, and what is staged of it.
struct Operand {
    ImageParam param;
    Func of;  // of this, unless it is direct
    bool is_direct;

    Func staged(const Func &in) { return is_direct ? param.in(in) : of; }
    Expr at(const std::vector<Expr> &place) { return is_direct ? param(place) : of(place); }
};

// `form` says what an operand is made of: the input itself, or what is computed of it.
Operand operand(Type type, std::vector<int> sizes, int form, const char *name, int salt) {
    std::vector<int> of_input = sizes;
    if (form == 2) of_input[0] -= 1, of_input[1] -= 2;
    if (form == 3) of_input[0] = 2 * sizes[0] - 1;
    if (form == 4) std::swap(of_input[0], of_input[1]);
    for (int &size : of_input) size = std::max(1, size);
    Operand made{input(form == 5 ? Int(8) : type, of_input, name, salt), Func(str("of_", name)),
                 form == 0};
    if (made.is_direct) return made;
    std::vector<Var> at = {x, y};
    std::vector<Expr> rest;
    if (sizes.size() == 3) at.push_back(z), rest.push_back(z);
    const auto read = [&](Expr first, Expr second, auto &&from) {
        std::vector<Expr> place = {first, second};
        place.insert(place.end(), rest.begin(), rest.end());
        return Expr(from(place));
    };
    Expr value;
    if (form == 1) value = read(x, y, made.param) + cast(type, 1);
    if (form == 2) {
        Region box(sizes.size(), {Expr(), Expr()});
        box[0] = {0, of_input[0]}, box[1] = {0, of_input[1]};
        value = read(x - 1, y - 1,
                     BoundaryConditions::constant_exterior(made.param, cast(type, 0), box));
    }
    if (form == 3) value = read(2 * x, y, made.param);
    if (form == 4) value = read(y, x, made.param);
    if (form == 5) value = cast(type, abs(cast<float>(read(x, y, made.param))) * 0.5f);
    if (form == 6) value = cast(type, max(cast<float>(read(x, y, made.param)), 0.0f));
    made.of(at) = value;
    return made;
}

class ProductOfMatrices {
public:
    explicit ProductOfMatrices(const TensorPlan &plan)
        : plan(plan), types(all_types[plan.types]), instruction(instruction_of(plan)) {
        const int of_row = plan.is_of_group ? 64 : 16;
        warp_rows = of_row * (1 + plan.row_tiles);
        warp_columns = 8 * (1 + plan.column_tiles);
        block_rows = warp_rows * (1 + plan.row_warps);
        block_columns = warp_columns * (1 + plan.column_warps);
        k_step = types.unit * (1 + plan.step);
        rows = block_rows * (1 + plan.row_blocks) - plan.rows_cut;
        columns = block_columns * (1 + plan.column_blocks) - plan.columns_cut;
        length = k_step * (1 + plan.steps) - plan.sum_cut;
    }

    TensorPipeline operator()(bool is_scheduled) {
        std::vector<Var> at = {x, y};
        std::vector<int> sizes = {columns, rows};
        if (plan.batch > 0) at.push_back(z), sizes.push_back(1 + plan.batch);
        TensorPipeline made{Func("out"), sizes};
        parts.push_back(define("product", 1));
        if (plan.second == 2) parts.push_back(define("gate", 3));
        define_out(made.out, at, parts[0].of(at), plan.second == 2 ? Expr(parts[1].of(at)) : Expr(),
                   plan, sizes);
        if (is_scheduled)
            schedule(made.out);
        else
            for (Part &p : parts) p.of.compute_root();
        return made;
    }

private:
    // An update of a product, by the sum of its own.
    struct Sum {
        RDom k;
        RVar ko{"ko"}, ki{"ki"};
        std::vector<Operand> factors;  // two of each product
    };
    struct Part {
        Func of;
        std::vector<Sum> sums;
    };

    Part define(const char *name, int salt) {
        Part part{Func(name), {}};
        std::vector<Var> at = {x, y};
        if (plan.batch > 0) at.push_back(z);
        if (plan.initial == 1) part.of(at) = cast(types.sum, x % 3 - y % 2);
        for (int i = 0; i < (plan.second == 1 ? 2 : 1); i++)
            part.sums.push_back(add_products(part.of, salt + 10 * i));
        return part;
    }
    Sum add_products(Func &of, int salt) {
        const auto sizes = [&](int own, bool is_across) {
            std::vector<int> all = is_across ? std::vector{own, length} : std::vector{length, own};
            if (plan.batch > 0) all.push_back(1 + plan.batch);
            return all;
        };
        Expr extent = length;
        if (plan.sum_is_param) {
            Param<int> param("length");
            param.set(length);
            extent = param;
        }
        Sum sum{RDom(0, extent, "k"), RVar("ko"), RVar("ki"), {}};
        const bool has_two = plan.terms == 1 || plan.terms == 2;
        for (int i = 0; i < (has_two ? 2 : 1); i++) {
            const int own_salt = salt + 40 * i;
            sum.factors.push_back(operand(types.a, sizes(rows, plan.a_across), plan.a_form,
                                          i == 0 ? "a" : "c", own_salt));
            sum.factors.push_back(operand(types.b, sizes(columns, plan.b_across), plan.b_form,
                                          i == 0 ? "b" : "d", own_salt + 1));
        }
        const int conditions = 6;
        const Expr when = plan.where == 0 ? Expr() : condition(sum.k, plan.where % conditions);
        const bool is_selected = plan.where >= conditions;
        if (when.defined() && !is_selected) sum.k.where(when);
        const auto at = [&](Operand &o, const Var &own, bool is_across) {
            std::vector<Expr> place = {sum.k, own};
            if (is_across) std::swap(place[0], place[1]);
            if (plan.batch > 0) place.push_back(z);
            return cast(types.sum, o.at(place));
        };
        const auto product = [&](size_t first) {
            const Expr a = at(sum.factors[first], y, plan.a_across),
                       b = at(sum.factors[first + 1], x, plan.b_across),
                       both = plan.factors == 0 ? a * b : b * a;
            return is_selected ? select(when, both, cast(types.sum, 0)) : both;
        };
        const Expr first = product(0), second = has_two ? product(2) : Expr();
        std::vector<Expr> own = {x, y};
        if (plan.batch > 0) own.push_back(z);
        if (plan.terms == 3)
            of(own) -= first;
        else if (plan.terms == 2)
            of(own) += first - second;
        else if (plan.factors == 1 && plan.initial == 1)
            of(own) = has_two ? first + of(own) + second : first + of(own);
        else
            of(own) += has_two ? first + second : first;
        return sum;
    }
    // A condition of what is summed, of rows or of columns.
    Expr condition(const Expr &of_sum, int which) const {
        switch (which) {
        case 0: return of_sum < length - 3;
        case 1: return of_sum % 3 != 1;
        case 2: return of_sum <= y;
        case 3: return of_sum + 2 >= x;
        case 4: return of_sum <= y + 5 && of_sum + 9 >= y && of_sum < x + 20;
        default: return y % 2 == 0 && of_sum > 1;
        }
    }
    template<typename Scheduled>
    Scheduled &over_warps(Scheduled &f) {
        return plan.is_of_group ? f.gpu_warpgroups(wx).gpu_warpgroups(wy) : f.gpu_warps(wx, wy);
    }
    void schedule(Func &out) {
        out.tile(x, y, xi, yi, block_columns, block_rows,
                 plan.guard ? TailStrategy::GuardWithIf : TailStrategy::Auto);
        if (plan.cluster) {
            out.bound(x, 0, columns);
            out.gpu_blocks(x).gpu_clusters(y);
        } else if (plan.batch > 0) {
            out.gpu_blocks(x, y, z);
        } else {
            out.gpu_blocks(x, y);
        }
        // The last tile begins earlier: whether boxes can begin there, or threads copy, is known
        // then.
        if (plan.is_of_group && plan.columns_cut > 0) out.bound(x, 0, columns);
        if (plan.is_of_group && plan.rows_cut > 0) out.bound(y, 0, rows);
        over_warps(out.tile(xi, yi, wx, wy, xi, yi, warp_columns, warp_rows));
        if (plan.order > 0) out.gpu_order(grouped(plan.order));
        if (plan.persistent) out.persistent();
        if (plan.roles == 1) out.warp_specialize();
        if (plan.roles == 2) out.warp_specialize(24, 96);
        for (Part &p : parts) schedule(out, p);
    }
    void schedule(Func &out, Part &p) {
        Func &of = p.of;
        if (plan.guard) of.bound_extent(x, block_columns).bound_extent(y, block_rows);
        of.compute_at(out, x).store_in(MemoryType::Tile);
        over_warps(of.tile(x, y, wx, wy, x, y, warp_columns, warp_rows));
        for (size_t i = 0; i < p.sums.size(); i++) {
            Sum &sum = p.sums[i];
            Stage update = of.update(int(i));
            update.split(sum.k, sum.ko, sum.ki, k_step);
            update.tile(x, y, wx, wy, x, y, warp_columns, warp_rows);
            update.reorder({sum.ki, x, y, wx, wy, sum.ko});
            over_warps(update).tensorize(x, y, sum.ki, instruction);
            for (size_t f = 0; f < sum.factors.size(); f++)
                stage(sum.factors[f], of, sum, f % 2 == 0 ? plan.a_staging : plan.b_staging);
        }
    }
    void stage(Operand &o, Func &of, Sum &sum, int how) {
        if (how == 0) return;
        Func f = o.staged(of);
        f.compute_at(of, sum.ko).store_in(MemoryType::GPUShared);
        if (how == 2) {
            f.async().ring_buffer(2 + plan.stages);
            return;
        }
        f.tile(f.args()[0], f.args()[1], xi, yi, 32, 4).gpu_threads(xi, yi);
        if (plan.stages == 1) f.align_storage(f.args()[0], 5);
        if (plan.stages == 2) f.reorder_storage(f.args()[1], f.args()[0]);
    }

    const TensorPlan &plan;
    const Types types;
    const TensorInstruction instruction;
    int warp_rows, warp_columns, block_rows, block_columns, k_step, rows, columns, length;
    std::vector<Part> parts;
};

// ---- Convolutions ----

Var n("n"), p("p"), q("q"), k("k"), qi("qi"), pi("pi"), w("w"), m("m"), c("c"), s("s"), r("r");

// conv(k, q, p, n) = sum of image(c, q + s, p + r, n) * filter(k, c, s, r).
class Convolution {
public:
    explicit Convolution(const TensorPlan &plan)
        : plan(plan), types(all_types[plan.types]), instruction(instruction_of(plan)) {
        step = types.unit * (1 + plan.step);
        channels = step * (1 + plan.steps);
        filters = 8 * (1 + plan.column_tiles);
        tile_q = plan.is_of_group ? 8 : 4 << (plan.row_tiles % 2);
        tile_p = 16 * (plan.is_of_group ? 4 : 1) / tile_q * (1 + plan.row_tiles / 2);
        warps = 1 + plan.row_warps;
        size_q = tile_q * (1 + plan.column_blocks) + plan.columns_cut % 4;
        size_p = tile_p * warps * (1 + plan.row_blocks) + plan.rows_cut % 3;
        images = 1 + plan.batch;
        taps_s = 1 + plan.taps_x, taps_r = 1 + plan.taps_y;
        stride = 1 + plan.stride, dilation = 1 + plan.dilation;
    }

    TensorPipeline operator()(bool is_scheduled) {
        const std::vector<int> sizes = {filters, size_q, size_p, images};
        TensorPipeline made{Func("out"), sizes};
        define();
        define_out(made.out, {k, q, p, n}, conv(k, q, p, n), Expr(), plan, sizes);
        if (is_scheduled)
            schedule(made.out);
        else
            conv.compute_root();
        return made;
    }

private:
    int of_input(int outputs, int taps) const {
        return std::max(1, (outputs - 1) * stride + (taps - 1) * dilation + 1 - 2 * plan.padding);
    }
    void define() {
        image =
            input(types.a, {channels, of_input(size_q, taps_s), of_input(size_p, taps_r), images},
                  "image", 1);
        const int of_k = plan.b_across ? channels : filters,
                  of_c = plan.b_across ? filters : channels;
        filter = input(types.b, {of_k, of_c, taps_s, taps_r}, "filter", 2);
        sum = RDom(0, channels, 0, taps_s, 0, taps_r, "sum");
        padded = plan.padding > 0 ? BoundaryConditions::constant_exterior(image, cast(types.a, 0))
                                  : image.in();
        const auto at = [&](const Expr &place, const Expr &tap) {
            return place * stride + tap * dilation - plan.padding;
        };
        const auto of_image = [&](const Expr &channel, const Expr &tap_s, const Expr &tap_r) {
            return plan.padding > 0 ? Expr(padded(channel, at(q, tap_s), at(p, tap_r), n))
                                    : Expr(image(channel, at(q, tap_s), at(p, tap_r), n));
        };
        patch(c, q, p, s, r, n) = of_image(c, s, r);
        const Expr factor = plan.has_patch ? Expr(patch(sum.x, q, p, sum.y, sum.z, n))
                                           : of_image(sum.x, sum.y, sum.z);
        const Expr weight =
            plan.b_across ? filter(sum.x, k, sum.y, sum.z) : filter(k, sum.x, sum.y, sum.z);
        if (plan.initial == 1) conv(k, q, p, n) = cast(types.sum, k % 3 + q % 2 - p % 2);
        conv(k, q, p, n) += plan.factors ? cast(types.sum, weight) * cast(types.sum, factor)
                                         : cast(types.sum, factor) * cast(types.sum, weight);
    }
    template<typename F>
    void share(F &&f, const Var &over_q, const Var &over_p) {
        if (plan.is_fused) {
            f.fuse(over_q, over_p, m).split(m, w, m, tile_q * tile_p);
            f.gpu_warps(w);
            return;
        }
        f.split(over_p, w, over_p, tile_p);
        plan.is_of_group ? f.gpu_warpgroups(w) : f.gpu_warps(w);
    }
    void schedule(Func &out) {
        out.bound(k, 0, filters);
        out.tile(q, p, qi, pi, tile_q, tile_p * warps).reorder(k, qi, pi, q, p, n);
        out.gpu_blocks(q, p, n);
        conv.compute_at(out, q).store_in(MemoryType::Tile);
        Stage update = conv.update();
        const RVar taps = sum.y, lines = sum.z, channel = sum.x;
        RVar co("co"), ci("ci"), rs("rs"), t("t");
        update.split(channel, co, ci, step);
        share(out, qi, pi);
        share(conv, q, p);
        share(update, q, p);
        VarOrRVar at = taps;
        std::vector<VarOrRVar> order = {ci, k, q, p, w};
        if (plan.is_fused) order = {ci, k, m, w};
        if (plan.inner == 1) {
            update.fuse(taps, lines, rs).fuse(rs, co, t);
            order.emplace_back(t);
            at = t;
        } else {
            for (const RVar &loop : {taps, lines, co}) order.emplace_back(loop);
        }
        update.reorder(order);
        if (plan.is_fused)
            update.tensorize(k, m, ci, instruction);
        else
            update.tensorize(k, q, ci, instruction).tensorize(p, instruction);
        if (plan.order > 0) out.gpu_order(grouped(plan.order));
        if (plan.persistent) out.persistent();
        if (plan.roles == 1) out.warp_specialize();
        if (plan.a_staging) stage(plan.has_patch ? patch : padded, at);
        if (plan.b_staging) stage(filter.in(), at);
    }
    void stage(Func f, const VarOrRVar &at) {
        f.compute_at(conv, at).store_in(MemoryType::GPUShared);
        f.async().ring_buffer(2 + plan.stages);
    }

    const TensorPlan &plan;
    const Types types;
    const TensorInstruction instruction;
    int step, channels, filters, tile_q, tile_p, warps, size_q, size_p, images, taps_s, taps_r,
        stride, dilation;
    ImageParam image, filter;
    RDom sum;
    Func padded, patch{"patch"}, conv{"conv"};
};

// ---- Chains ----

// second = g(first) * w, where first = a * b, in the registers or the memory of a block.
class Chain {
public:
    explicit Chain(const TensorPlan &plan)
        : plan(plan), types(all_types[plan.types]), instruction(instruction_of(plan)) {
        block_rows = 16 * (1 + plan.row_tiles) * (1 + plan.row_warps);
        rows = block_rows * (1 + plan.row_blocks) - plan.rows_cut;
        inner = std::max(types.unit, 16) * (1 + plan.inner);
        columns = 8 * (1 + plan.column_tiles);
        length = types.unit * (1 + plan.steps);
    }

    TensorPipeline operator()(bool is_scheduled) {
        const std::vector<int> sizes = {columns, rows};
        TensorPipeline made{Func("out"), sizes};
        define();
        define_out(made.out, {x, y}, second(x, y), Expr(), plan, sizes);
        if (is_scheduled) {
            schedule(made.out);
        } else {
            first.compute_root(), between.compute_root(), second.compute_root();
        }
        return made;
    }

private:
    void define() {
        a = input(types.a, plan.a_across ? std::vector{rows, length} : std::vector{length, rows},
                  "a", 1);
        b = input(types.b, plan.b_across ? std::vector{length, inner} : std::vector{inner, length},
                  "b", 2);
        by = input(types.b, {columns, inner}, "w", 3);
        ks = RDom(0, length, "k");
        is = RDom(0, inner, "i");
        const Expr of_a = plan.a_across ? a(y, ks) : a(ks, y),
                   of_b = plan.b_across ? b(ks, x) : b(x, ks);
        first(x, y) += cast(types.sum, of_a) * cast(types.sum, of_b);
        Expr v = first(x, y);
        const bool is_byte = types.a.bits() == 8;
        if (plan.factors == 1) v = max(v, cast(types.sum, 0));
        if (plan.factors == 2) v = cast(types.sum, v + cast(types.sum, x % 3));
        if (is_byte) v = clamp(v, types.a.is_int() ? -50 : 0, 50);
        between(x, y) = cast(types.a, v);
        if (plan.initial == 1) second(x, y) = cast(types.sum, x % 3 - y % 2);
        second(x, y) += cast(types.sum, between(is, y)) * cast(types.sum, by(x, is));
    }
    template<typename F>
    void warps(F &&f, const Var &over_rows) {
        f.split(over_rows, wy, over_rows, 16 * (1 + plan.row_tiles)).gpu_warps(wy);
    }
    void schedule(Func &out) {
        out.bound(x, 0, columns);
        out.tile(x, y, xi, yi, columns, block_rows).gpu_blocks(x, y);
        warps(out, yi);
        if (plan.persistent) out.persistent();
        second.compute_at(out, x).store_in(MemoryType::Tile);
        warps(second, y);
        Stage of_second = second.update(), of_first = first.update();
        of_second.split(y, wy, y, 16 * (1 + plan.row_tiles)).reorder({is.x, x, y, wy});
        of_second.gpu_warps(wy).tensorize(x, y, is.x, instruction);
        first.compute_at(out, x).store_in(MemoryType::Tile);
        warps(first, y);
        RVar ko("ko"), ki("ki");
        of_first.split(ks.x, ko, ki, types.unit);
        of_first.split(y, wy, y, 16 * (1 + plan.row_tiles)).reorder({ki, x, y, wy, ko});
        of_first.gpu_warps(wy).tensorize(x, y, ki, instruction);
        if (plan.in_memory) {
            between.compute_at(out, x).store_in(MemoryType::GPUShared);
            warps(between, y);
        }
        if (plan.a_staging) stage(a.in(), ko);
        if (plan.b_staging) stage(b.in(), ko);
    }
    void stage(Func f, const RVar &at) {
        f.compute_at(first, at)
            .store_in(MemoryType::GPUShared)
            .async()
            .ring_buffer(2 + plan.stages);
    }

    const TensorPlan &plan;
    const Types types;
    const TensorInstruction instruction;
    int block_rows, rows, inner, columns, length;
    ImageParam a, b, by;
    RDom ks, is;
    Func first{"first"}, between{"between"}, second{"second"};
};

// ---- Sums whose loops a mapping chooses ----

// A convolution of small extents, of which one of all mappings is taken.
class Mapped {
public:
    explicit Mapped(const TensorPlan &plan)
        : plan(plan), types(all_types[plan.types]), instruction(instruction_of(plan)) {
        warp_filters = 8 * (1 + plan.column_tiles % 3);
        filters = warp_filters * (1 + plan.column_warps) * (1 + plan.column_blocks);
        size_q = 4 << plan.row_tiles % 3, size_p = 2 << plan.row_blocks % 2,
        images = 2 << plan.batch % 2;
        channels = types.unit * (1 + plan.steps);
    }

    TensorPipeline operator()(bool is_scheduled) {
        const std::vector<int> sizes = {filters, size_q, size_p, images};
        TensorPipeline made{Func("out"), sizes};
        define();
        define_out(made.out, {k, q, p, n}, conv(k, q, p, n), Expr(), plan, sizes);
        if (is_scheduled)
            schedule(made.out);
        else
            conv.compute_root();
        return made;
    }

private:
    void define() {
        const int stride = 1 + plan.stride, dilation = 1 + plan.dilation;
        const int taps_s = 1 + plan.taps_x, taps_r = 1 + plan.taps_y;
        const ImageParam image =
            input(types.a,
                  {channels, (size_q - 1) * stride + (taps_s - 1) * dilation + 1,
                   size_p + taps_r - 1, images},
                  "image", 1);
        const ImageParam filter = input(types.b, {filters, channels, taps_s, taps_r}, "filter", 2);
        sum = RDom(0, channels, 0, taps_s, 0, taps_r, "sum");
        conv(k, q, p, n) +=
            cast(types.sum, image(sum.x, q * stride + sum.y * dilation, p + sum.z, n)) *
            cast(types.sum, filter(k, sum.x, sum.y, sum.z));
    }
    void schedule(Func &out) {
        Var b("b");
        out.bound(q, 0, size_q).bound(p, 0, size_p).bound(n, 0, images).bound(k, 0, filters);
        out.split(k, b, k, warp_filters * (1 + plan.column_warps)).split(k, w, k, warp_filters);
        out.reorder(k, q, p, n, w, b).gpu_blocks(b).gpu_warps(w);
        conv.compute_at(out, b).store_in(MemoryType::Tile);
        conv.split(k, w, k, warp_filters).reorder(k, q, p, n, w).gpu_warps(w);
        Stage update = conv.update();
        update.split(k, w, k, warp_filters).gpu_warps(w);
        // These are tiles of which all rows are there, and whose sum an instruction divides.
        std::vector<Mapping> all = possible_mappings(update, instruction);
        std::erase_if(all, [&](const Mapping &mapping) {
            const auto &summed = mapping.groups()[2].loops();
            const auto is_channel = [&](const VarOrRVar &v) { return v.name() == sum.x.name(); };
            return mapping.groups()[0].loops().size() < 3 ||
                   std::ranges::none_of(summed, is_channel);
        });
        if (all.empty()) throw CompileError("there is no mapping");
        update.tensorize(all[size_t(plan.mapping) % all.size()], instruction);
    }

    const TensorPlan &plan;
    const Types types;
    const TensorInstruction instruction;
    int warp_filters, filters, size_q, size_p, images, channels;
    RDom sum;
    Func conv{"conv"};
};

}  // namespace

TensorPipeline build(const TensorPlan &plan, bool is_scheduled) {
    switch (plan.what()) {
    case TensorKind::Product: return ProductOfMatrices(plan)(is_scheduled);
    case TensorKind::Convolution: return Convolution(plan)(is_scheduled);
    case TensorKind::Chain: return Chain(plan)(is_scheduled);
    case TensorKind::Mapped: return Mapped(plan)(is_scheduled);
    }
    return {};
}

}  // namespace tessera::fuzz
