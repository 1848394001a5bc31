// Messages say what is wrong with a mapping, and what would be right.
#include "error/refusal.h"

using namespace tessera;

namespace {

Var n("n"), k("k"), p("p"), q("q"), other("other");

// conv(p, k, n) += in(p + s, c, n) * w(s, c, k)
struct Convolution {
    ImageParam in, w;
    Func conv{"conv"};
    RVar s{"s"}, c{"c"};

    explicit Convolution(Type of_in = Float(16), Type of_w = Float(16))
        : in(of_in, 3, "in"), w(of_w, 3, "w") {
        const RDom r(0, 3, 0, 2, "r");
        conv(p, k, n) += cast<float>(in(p + r.x, r.y, n)) * cast<float>(w(r.x, r.y, k));
        conv.update().rename(r.x, s).rename(r.y, c);
    }
    void tensorize(const Mapping &mapping, Location at = Here::current()) {
        conv.update().tensorize(mapping, TensorInstruction::MMA, at);
    }
};

}  // namespace

TEST_SUITE("errors of mappings") {
    TEST_CASE("loops that are of other operands") {
        Convolution a;
        REFUSED(a.tensorize(map({n, p}, {a.c}, {a.s})),
                "tensorize(map({n, p}, {c}, {s})): the loop c cannot be on j of "
                "mma.m16n8k16.f32.f16: it is of A (in_im) and B (w_im), and j is of D (conv) "
                "and B (w_im); put it on k");
        REFUSED(a.tensorize(map({n, p, k}, {}, {a.c})),
                "the loop k cannot be on i of mma.m16n8k16.f32.f16: it is of D (conv) and B "
                "(w_im), and i is of D (conv) and A (in_im); put it on j");
        // Both orders of the operands are tried.
        a.tensorize(map(k, {n, p}, {a.c, a.s}));
        CHECK(a.conv.update().dump_argument_list() == "Vars: c_s, n_p, k\n");
        Func batched("batched");
        const RDom r(0, 4, "r");
        batched(k, p, n) += cast<float>(a.in(r, p, n)) * cast<float>(a.w(k, r, n));
        REFUSED(batched.update().tensorize(map({n, p}, {k}, {r}), TensorInstruction::MMA),
                "the loop n cannot be on i of mma.m16n8k16.f32.f16: it is of D (batched), A "
                "(in_im) and B (w_im), and i is of D (batched) and A (in_im); it fits none of the "
                "instruction's loops and stays around");
    }
    TEST_CASE("loops that are not there, or twice, and groups") {
        Convolution a;
        REFUSED(
            a.tensorize(map(other, k, a.c)),
            "tensorize: no loop named other in stage conv.update(0); its loops are s, c, p, k, n");
        REFUSED(a.tensorize(map({n, p, n}, k, a.c)), "the loop n is there twice");
        REFUSED(a.tensorize(map({n, p}, k)),
                "mma.m16n8k16.f32.f16 has 3 loops, i, j, k, and the mapping 2; it has a "
                "group for each, which is empty if no loop is on that");
        REFUSED(a.tensorize(map({}, {}, {})), "the mapping has no loops");
        a.conv.update().gpu_blocks(n);
        REFUSED(a.tensorize(map({n, p}, k, a.c)),
                "the loop n cannot be on i of mma.m16n8k16.f32.f16: it is gpu_blocks "
                "already");
        REFUSED(a.conv.update().tensorize(map(n, k, a.c), TensorInstruction("mna")),
                "there is no instruction mna; there are any, ");
        REFUSED(possible_mappings(a.conv, TensorInstruction::MMA, {.fixed = {other}}),
                "possible_mappings: no loop named other in stage conv.update(0)");
        REFUSED(possible_mappings(a.in.in(), TensorInstruction::MMA),
                "has no update definition; an instruction computes one");
    }
    TEST_CASE("types, and definitions that are no sums of products") {
        Convolution floats(Float(32)), mixed(Float(16), BFloat(16));
        REFUSED(floats.tensorize(map({n, p}, k, floats.c)),
                "A of mma.m16n8k16.f32.f16 is of float16, and in_im of float32; cast that "
                "to float16 in a Func of its own, or take an instruction for float32");
        REFUSED(mixed.tensorize(map({n, p}, k, mixed.c)),
                "B of mma.m16n8k16.f32.f16 is of float16, and w_im of bfloat16");
        Convolution a;
        Func doubles("doubles"), shorts("shorts"), largest("largest"), own("own"), pairs("pairs");
        const RDom r(0, 4, "r");
        const Mapping mapping = map(p, k, RVar(r));
        doubles(k, p) += cast<double>(a.in(r, p, 0)) * cast<double>(a.w(k, r, 0));
        REFUSED(doubles.update().tensorize(mapping, TensorInstruction::MMA),
                "D of mma.m16n8k16.f32.f16 is of float32, and doubles of float64");
        shorts(k, p) += cast<int>(a.in(r, p, 0)) * cast<int>(a.w(k, r, 0));
        REFUSED(shorts.update().tensorize(mapping, TensorInstruction::MMA),
                "A of mma.m16n8k32.s32.s8 is of int8, and in_im of float16");
        const Expr product = cast<float>(a.in(r, p, 0)) * cast<float>(a.w(k, r, 0));
        largest(k, p) = 0.0f;
        largest(k, p) = max(largest(k, p), product);
        REFUSED(largest.update().tensorize(mapping, TensorInstruction::MMA),
                "computes D(i, j):float32 + float32(A(i, k):float16) * float32(B(k, j):float16), "
                "and the definition of largest is max(");
        own(k, p) = 0.0f;
        own(k, r) = own(k, r - 1) + cast<float>(a.in(r, r, 0)) * cast<float>(a.w(k, r, 0));
        REFUSED(own.update().tensorize(mapping, TensorInstruction::MMA), "no loop named p");
        REFUSED(own.update().tensorize(map(k, {}, RVar(r)), TensorInstruction::MMA),
                "the definition of own reads other elements of own than the one that it writes");
        pairs(k, p) = Tuple(0.0f, 0.0f);
        pairs(k, p) = Tuple(pairs(k, p)[0] + product, pairs(k, p)[1] + product);
        REFUSED(pairs.update().tensorize(mapping, TensorInstruction::MMA),
                "pairs is a Tuple, and an instruction has one result");
    }
    TEST_CASE("elements that would be written twice, and conditions") {
        Convolution a;
        Func scatter("scatter"), lower("lower");
        const RDom r(0, 3, 0, 5, 0, 2, "r");
        scatter(2 * r.y + r.x, k) += cast<float>(a.in(r.y, r.z, 0)) * cast<float>(a.w(r.x, r.z, k));
        REFUSED(scatter.update().tensorize(map({r.y}, {r.x}, {r.z}), TensorInstruction::MMA),
                "an element at (2 * r$y + r$x, k) may be written by several elements of D of "
                "mma.m16n8k16.f32.f16; leave one of the loops that meet in an argument "
                "around");
        scatter.update().tensorize(map(r.y, k, r.z), TensorInstruction::MMA);
        const RDom t(0, 3, "t");
        lower(p, k) += select(p < k, cast<float>(a.in(p, t, 0)) * cast<float>(a.w(k, t, 0)), 0.0f);
        REFUSED(lower.update().tensorize(map(p, k, t.x), TensorInstruction::MMA),
                "the update is done only if p < k, and no operand of mma.m16n8k16.f32.f16 has all "
                "loops on which that depends, to be zero elsewhere; leave one of them around");
    }
}
