#include "error/refusal.h"
#include "harness.h"
#include <map>
#include <mutex>

// Extern stages whose functions are called in loops, for a piece each time; and storage that is
// folded around them.

using namespace tessera;
using namespace tessera::test;

namespace {

struct Piece {
    int min_x, extent_x, min_y, extent_y;
    friend auto operator<=>(const Piece &, const Piece &) = default;
};

// What the calls of a run were for, in no order.
class Pieces {
public:
    void add(const tessera_buffer_t &b) {
        std::lock_guard lock(mutex);
        all[{b.dim[0].min, b.dim[0].extent, b.dim[1].min, b.dim[1].extent}]++;
    }
    std::map<Piece, int> take() {
        std::lock_guard lock(mutex);
        return std::exchange(all, {});
    }

private:
    std::mutex mutex;
    std::map<Piece, int> all;
};

Pieces pieces;
int points_of_input = 0;

}  // namespace

// out(x, y) = in(x, y) + 2 * in(x, y + 1)
extern "C" inline int add_below(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent + (d == 1);
        }
        return 0;
    }
    pieces.add(*out);
    points_of_input += in->dim[0].extent * in->dim[1].extent;
    Buffer<int> from(*in), to(*out);
    to.for_each_element([&](int x, int y) { to(x, y) = from(x, y) + 2 * from(x, y + 1); });
    return 0;
}
// a(x, y) = in(x, y), b(x, y) = -in(x, y): of both values of a Tuple.
extern "C" inline int swapped_signs(tessera_buffer_t *p, tessera_buffer_t *q, tessera_buffer_t *a,
                                    tessera_buffer_t *b) {
    if (!p->host || !q->host) {
        for (int d = 0; d < 2; d++) p->dim[d] = q->dim[d] = a->dim[d];
        return 0;
    }
    Buffer<int> first(*p), second(*q), plus(*a), minus(*b);
    plus.for_each_element([&](int x, int y) {
        plus(x, y) = -second(x, y);
        minus(x, y) = -first(x, y);
    });
    return 0;
}
// out(x, y) = x + 10 * y
extern "C" inline int grid(tessera_buffer_t *out) {
    Buffer<int> to(*out);
    to.for_each_element([&](int x, int y) { to(x, y) = x + 10 * y; });
    return 0;
}
[[maybe_unused]] static const bool registered =
    detail::register_extern("add_below", reinterpret_cast<void *>(&add_below)) &&
    detail::register_extern("swapped_signs", reinterpret_cast<void *>(&swapped_signs)) &&
    detail::register_extern("grid", reinterpret_cast<void *>(&grid));

namespace {

// f -> e (extern) -> out
struct Chain {
    Var x{"x"}, y{"y"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, t{"t"};
    Func f{"f"}, e{"e"}, out{"out"};
    Chain() {
        f(x, y) = x + 10 * y;
        e.define_extern("add_below", {f}, Int(32), {x, y});
        out(x, y) = e(x, y) + 1;
        f.compute_root();
        e.compute_root();
    }
    void check(const std::vector<int> &sizes) const {
        Lowered(out).check<int>(sizes, [](int i, int j) { return 3 * i + 30 * j + 21; });
    }
    // The calls of the extern function in one run.
    std::map<Piece, int> run(const std::vector<int> &sizes) {
        pieces.take();
        points_of_input = 0;
        Buffer<int> b = out.realize(sizes);
        Lowered::compare(b, [](int i, int j) { return 3 * i + 30 * j + 21; });
        return pieces.take();
    }
};

}  // namespace

TEST_SUITE("extern stages in pieces") {
    TEST_CASE("one call computes all, unless the schedule says otherwise") {
        Chain c;
        CHECK(c.run({12, 6}) == std::map<Piece, int>{{{0, 12, 0, 6}, 1}});
        c.check({12, 6});
    }
    TEST_CASE("serial: one call for each iteration") {
        Chain c;
        c.e.serial(c.y);
        CHECK(c.run({4, 3}) ==
              std::map<Piece, int>{{{0, 4, 0, 1}, 1}, {{0, 4, 1, 1}, 1}, {{0, 4, 2, 1}, 1}});
        c.e.serial(c.x);
        CHECK(c.run({2, 2}) ==
              std::map<Piece, int>{
                  {{0, 1, 0, 1}, 1}, {{0, 1, 1, 1}, 1}, {{1, 1, 0, 1}, 1}, {{1, 1, 1, 1}, 1}});
        c.check({7, 5});
    }
    TEST_CASE("tile and split: one call for each tile, with any tail") {
        using T = TailStrategy;
        for (T tail : {T::Auto, T::GuardWithIf, T::Predicate, T::RoundUp, T::ShiftInwards}) {
            CAPTURE(int(tail));
            Chain c;
            c.e.tile(c.x, c.y, c.xo, c.yo, c.xi, c.yi, 4, 3, tail);
            CHECK(c.run({8, 3}) == std::map<Piece, int>{{{0, 4, 0, 3}, 1}, {{4, 4, 0, 3}, 1}});
            std::map<Piece, int> rest = c.run({6, 3});
            const bool ends = tail == T::GuardWithIf || tail == T::Predicate;
            const int first = tail == T::Auto || tail == T::ShiftInwards ? 2 : 4;
            CHECK(rest ==
                  std::map<Piece, int>{{{0, 4, 0, 3}, 1}, {{first, ends ? 2 : 4, 0, 3}, 1}});
            for (int size : {1, 5, 9}) c.check({size, 5});
        }
    }
    TEST_CASE("parallel, unrolled, fused, renamed and reordered loops around calls") {
        for (int way = 0; way < 9; way++) {
            CAPTURE(way);
            Chain c;
            if (way == 0) c.e.parallel(c.y);
            if (way == 1) c.e.split(c.y, c.yo, c.yi, 4).unroll(c.yi);
            if (way == 2) c.e.unroll(c.y, 2);
            if (way == 3) c.e.fuse(c.x, c.y, c.t).parallel(c.t);
            if (way == 4) c.e.rename(c.y, c.t).serial(c.t);
            if (way == 5) c.e.reorder(c.y, c.x).serial(c.x);
            if (way == 6) {
                c.e.tile(c.x, c.y, c.xo, c.yo, c.xi, c.yi, 4, 4, TailStrategy::GuardWithIf);
                c.e.fuse(c.xo, c.yo, c.t).parallel(c.t);
                c.f.compute_at(c.e, c.t);
            }
            if (way == 7) c.e.fuse(c.x, c.y, c.t).split(c.t, c.yo, c.yi, 5);
            if (way == 8) c.e.parallel(c.y, 2);
            for (int size : {1, 6, 9}) c.check({size, 5});
            if (way == 0) CHECK(c.run({3, 5}).size() == 5);
            if (way == 8) CHECK(c.run({3, 6}).size() == 3);
        }
    }
    TEST_CASE("splits of splits, where a tail may leave nothing to a call") {
        using T = TailStrategy;
        for (auto [outer, inner] :
             {std::pair(T::GuardWithIf, T::GuardWithIf), std::pair(T::GuardWithIf, T::RoundUp),
              std::pair(T::RoundUp, T::GuardWithIf)}) {
            for (bool of_outer : {false, true}) {
                Chain c;
                c.e.split(c.y, c.yo, c.yi, 4, outer);
                c.e.split(of_outer ? c.yo : c.yi, c.xo, c.t, 3, inner);
                c.f.compute_at(c.e, of_outer ? c.t : c.xo);
                for (int size : {1, 4, 7, 9, 14}) {
                    c.check({3, size});
                    for (const auto &[piece, times] : c.run({3, size})) {
                        CHECK(piece.extent_y > 0);
                    }
                }
            }
        }
    }
    TEST_CASE("in parts of tiles of which nothing is left to some") {
        Chain c;
        Var xio("xio"), xii("xii"), ex("ex"), ey("ey");
        c.out.split(c.x, c.xo, c.xi, 16, TailStrategy::GuardWithIf)
            .fuse(c.xo, c.y, c.t)
            .split(c.xi, xio, xii, 4, TailStrategy::GuardWithIf)
            .reorder(xii, xio, c.t);
        c.e.compute_at(c.out, xio).tile(c.x, c.y, ex, ey, 4, 2, TailStrategy::ShiftInwards);
        for (int width : {1, 5, 16, 17, 23}) c.check({width, 3});
    }
    TEST_CASE("inputs computed for each piece, and for all of them") {
        for (int place = 0; place < 8; place++) {
            CAPTURE(place);
            Chain c;
            c.e.tile(c.x, c.y, c.xo, c.yo, c.xi, c.yi, 4, 2, TailStrategy::GuardWithIf);
            const Var at[] = {c.xi, c.yi, c.xo, c.yo, Var::outermost()};
            if (place < 5) c.f.compute_at(c.e, at[place]);
            if (place == 5) c.f.store_at(c.e, c.yo).compute_at(c.e, c.xo);
            if (place == 6) c.f.store_root().compute_at(c.e, c.yo);
            if (place == 7) c.f.compute_at(c.e, c.xo).vectorize(c.x, 8);
            for (int size : {1, 6, 9}) c.check({size, 5});
            c.run({8, 4});
            if (place <= 2) CHECK(points_of_input == 4 * 4 * 3);
            if (place == 3) CHECK(points_of_input == 4 * 8 * 3);
        }
    }
    TEST_CASE("inputs computed in the call of a whole stage") {
        for (int place = 0; place < 6; place++) {
            CAPTURE(place);
            Chain c;
            if (place == 0) c.f.compute_at(c.e, c.x);
            if (place == 1) c.f.compute_at(c.e, c.y);
            if (place == 2) c.f.compute_at(c.e, Var::outermost());
            if (place == 3) c.f.compute_at(c.e, c.x).store_root();
            if (place == 4) c.f.compute_at(c.e, c.x).store_at(c.e, c.y);
            if (place == 5) c.e.compute_at(c.out, c.y), c.f.compute_at(c.e, c.x);
            for (int size : {1, 6}) c.check({size, 5});
        }
    }
    TEST_CASE("one in the loops of another, at every depth") {
        for (int place = 0; place < 4; place++) {
            CAPTURE(place);
            Var x("x"), y("y"), yo("yo"), yi("yi");
            Func f("f"), e("e"), second("second"), out("out");
            f(x, y) = x + 10 * y;
            e.define_extern("add_below", {f}, Int(32), {x, y});
            second.define_extern("add_below", {e}, Int(32), {x, y});
            out(x, y) = second(x, y);
            second.compute_root().split(y, yo, yi, 3, TailStrategy::GuardWithIf);
            e.compute_at(second, place == 3 ? yi : yo);
            f.compute_root();
            if (place > 0) e.serial(y);
            if (place > 1) f.compute_at(e, y);
            if (place == 2) second.parallel(yo);
            for (int size : {1, 3, 7}) {
                Lowered(out).check<int>({4, size},
                                        [](int i, int j) { return 9 * i + 90 * j + 120; });
            }
        }
    }
    TEST_CASE("an output, and one that reads nothing") {
        Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
        Func f("f"), e("e"), g("g"), out("out");
        f(x, y) = x + 10 * y;
        e.define_extern("add_below", {f}, Int(32), {x, y});
        e.tile(x, y, xo, yo, xi, yi, 4, 2, TailStrategy::GuardWithIf).parallel(yo);
        f.compute_at(e, xo);
        for (int size : {1, 6}) {
            Lowered(e).check<int>({size, 5}, [](int i, int j) { return 3 * i + 30 * j + 20; });
        }
        g.define_extern("grid", {}, Int(32), {x, y});
        out(x, y) = g(x, y) + g(x + 1, y);
        g.compute_root().split(x, xo, xi, 3).serial(y);
        Lowered(out).check<int>({7, 3}, [](int i, int j) { return 2 * i + 1 + 20 * j; });
    }
    TEST_CASE("specialized: other pieces, and where nothing else is to run") {
        Chain c;
        Param<int> n("n");
        c.e.specialize(n > 3).split(c.y, c.yo, c.yi, 2, TailStrategy::GuardWithIf);
        c.e.specialize(n > 1).serial(c.y);
        c.e.specialize_fail("n is too small");
        n.set(4);
        CHECK(c.run({3, 5}).size() == 3);
        n.set(2);
        CHECK(c.run({3, 5}).size() == 5);
        c.check({3, 5});
        n.set(1);
        FAILS(c.out.realize({3, 5}), "n is too small");
    }
    TEST_CASE("asynchronous inputs of pieces") {
        for (bool folded : {false, true}) {
            Chain c;
            c.e.split(c.y, c.yo, c.yi, 2, TailStrategy::GuardWithIf);
            c.f.compute_at(c.e, c.yo).async();
            if (folded) c.f.store_root().fold_storage(c.y, 8);
            for (int size : {1, 4}) c.check({5, size});
        }
    }
    TEST_CASE("a schedule with loops around calls can be written down and read") {
        Chain c;
        c.e.tile(c.x, c.y, c.xo, c.yo, c.xi, c.yi, 4, 2).parallel(c.yo);
        c.f.compute_at(c.e, c.xo);
        Chain again;
        again.out.apply_schedule(c.out.schedule_as_json());
        CHECK(again.run({8, 4}).size() == 4);
    }
    TEST_CASE("loops that calls cannot be in") {
        Chain c;
        REFUSED(c.e.vectorize(c.x), "vectorize: e is computed by the extern function add_below, "
                                    "which is called once for each iteration");
        REFUSED(c.e.vectorize(c.x, 4), "vectorize: e is computed by the extern function");
        REFUSED(c.e.tile(c.x, c.y, c.xi, c.yi, 4, 4, TailStrategy::RoundUpAndBlend),
                "RoundUpAndBlend keeps values where x ends, but the extern function add_below "
                "writes all that it is called for");
        REFUSED(c.e.prefetch(c.f, c.x, c.x, 1), "prefetch: e is computed by the extern function");
        REFUSED(c.e.stream_stores(), "stream_stores: e is computed by the extern function");
        c.e.serial(c.x);
        REFUSED_ABOVE(c.out.realize({4, 4}),
                      "the extern function add_below is called in each iteration of x, which is "
                      "within y, a loop that one call runs; make y serial()");
        c.e.reorder(c.y, c.x);
        c.check({4, 4});
    }
}

TEST_SUITE("folded storage around extern stages") {
    TEST_CASE("of what one writes") {
        for (int factor : {1, 2, 4}) {
            CAPTURE(factor);
            Chain c;
            c.e.store_root().compute_at(c.out, c.y).fold_storage(c.y, factor);
            const Lowered l(c.out);
            if (factor > 1) CHECK(Lowered::count(l.flat(), str("% ", factor)) > 0);
            c.check({5, 7});
        }
    }
    TEST_CASE("of what one reads") {
        // Beside it; in its pieces; and in its pieces, stored outside of the loops around it.
        for (int way : {0, 1, 2}) {
            for (int factor : {2, 8, 9}) {
                CAPTURE(way);
                CAPTURE(factor);
                Chain c;
                if (way != 1) c.e.compute_at(c.out, c.y);
                if (way > 0) c.e.split(c.y, c.yo, c.yi, 1, TailStrategy::GuardWithIf);
                c.f.store_root().fold_storage(c.y, factor);
                if (way > 0) {
                    c.f.compute_at(c.e, c.yo);
                } else {
                    c.f.compute_at(c.out, c.y);
                }
                Buffer<int> one = c.out.realize({5, 1});
                CHECK(one(4, 0) == 33);
                // Rows j and j + 1 are in one piece unless the fold begins anew in between.
                FAILS(c.out.realize({5, 20}),
                      str("The storage of f is folded by ", factor,
                          " along dimension 1, starting "
                          "at ",
                          0, ", but the extern stage add_below needs [", factor - 1, ", ", factor,
                          "], which wraps around"));
            }
        }
    }
    TEST_CASE("of what one reads, stored within its own loops") {
        Chain c;
        c.e.split(c.y, c.yo, c.yi, 2, TailStrategy::RoundUp);
        c.e.serial(c.x).reorder(c.yi, c.yo, c.x);
        c.f.store_at(c.e, c.x).compute_at(c.e, c.yo).fold_storage(c.y, 8);
        Buffer<int> few = c.out.realize({3, 4});
        CHECK(few(2, 3) == 117);
        FAILS(c.out.realize({3, 20}),
              "the extern stage add_below needs [6, 8], which wraps around");
    }
    TEST_CASE("of what one reads, in steps that divide the fold") {
        for (int way = 0; way < 3; way++) {
            CAPTURE(way);
            Var x("x"), y("y"), yo("yo"), yi("yi");
            Func f("f"), e("e"), out("out");
            f(x, y) = Tuple(x + 10 * y, -x - 10 * y);
            e.define_extern("swapped_signs", {f}, std::vector<Type>{Int(32), Int(32)}, {x, y});
            out(x, y) = e(x, y)[0] - e(x, y)[1];
            out.split(y, yo, yi, 2, TailStrategy::GuardWithIf);
            if (way != 1) f.store_root().compute_at(out, yo).fold_storage(y, 4);
            if (way == 1) f.compute_root();
            e.compute_at(out, yo);
            if (way > 0) e.store_root().fold_storage(y, 2);
            for (int size : {1, 7}) {
                Lowered(out).check<int>({5, size}, [](int i, int j) { return 2 * (i + 10 * j); });
            }
        }
    }
    TEST_CASE("of what is computed further out than the stage that reads it") {
        for (bool enough : {false, true}) {
            Chain c;
            c.out.split(c.y, c.yo, c.yi, 3, TailStrategy::GuardWithIf);
            c.e.compute_at(c.out, c.yi);
            c.f.store_root().compute_at(c.out, c.yo).fold_storage(c.y, enough ? 64 : 4);
            if (enough) {
                c.check({5, 8});
            } else {
                FAILS(c.out.realize({5, 8}), "but the extern stage add_below needs [3, 4]");
            }
        }
    }
    TEST_CASE("a fold that one iteration does not fit into") {
        Chain c;
        c.e.compute_at(c.out, c.y);
        c.f.store_root().compute_at(c.out, c.y).fold_storage(c.y, 1);
        FAILS(c.out.realize({5, 4}),
              "The storage of f is folded along y by 1, but one iteration of "
              "the loop over ");
    }
    TEST_CASE("a fold where nothing walks") {
        Chain c;
        c.f.fold_storage(c.y, 4);
        REFUSED_ABOVE(c.out.realize({5, 4}),
                      "fold_storage(y) of f: it is stored where it is computed");
        Chain d;
        d.e.store_root().compute_at(d.out, d.y).fold_storage(d.x, 4);
        REFUSED_ABOVE(d.out.realize({5, 4}),
                      "fold_storage(x) of e: no loop between where e is stored");
    }
    TEST_CASE("traced, at the coordinates that are meant") {
        Chain c;
        c.e.store_root().compute_at(c.out, c.y).fold_storage(c.y, 2).trace_loads();
        static int last;
        last = -1;
        c.out.jit_handlers().custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
            if (e->event == tessera_trace_load) last = std::max(last, int(e->coordinates[1]));
            return 1;
        };
        c.run({3, 5});
        CHECK(last == 4);
    }
}
