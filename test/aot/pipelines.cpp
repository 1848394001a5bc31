#include "aot/pipelines.h"
#include <algorithm>
#include <doctest/doctest.h>

namespace tessera::test {
namespace {

Var x("x"), y("y"), c("c"), xi("xi"), yi("yi");

// Every element of a one-dimensional buffer.
template<typename T> void compare(const Buffer<T> &got, const std::function<T(int)> &wanted) {
    for (int i = 0; i < got.dim(0).extent(); i++) {
        T expected = wanted(i);
        if (double(got(i)) == double(expected)) continue;
        FAIL_CHECK("element ", i, " is ", double(got(i)), ", not ", double(expected));
        return;
    }
}

}  // namespace

void Pipelines::call(Pipeline p, const std::vector<Argument> &parameters,
                     const std::vector<Passed> &arguments, Check check) {
    std::string name = "pipeline_" + std::to_string(cases.size());
    const char *extension = form == OutputFileType::object     ? ".o"
                            : form == OutputFileType::c_source ? ".c"
                                                               : ".s";
    try {
        p.compile_to({{form, program.path(name + extension)}}, parameters, name, target);
    } catch (const Error &e) {  // one that cannot be compiled does not hide the others
        FAIL_CHECK(e.what());
        return;
    }
    cases.push_back({name, program.call(name, arguments), std::move(check)});
}

void Pipelines::add(Pipeline p, const std::vector<Argument> &parameters,
                    const std::vector<Passed> &arguments, std::function<void()> check) {
    call(std::move(p), parameters, arguments, [=](const CallResult &result) {
        INFO(result.message);
        CHECK(result.code == 0);
        CHECK(result.message.empty());
        check();
    });
}

void Pipelines::check() {
    add_runtime();
    program.run();
    for (const Case &c : cases) {
        INFO(c.name, " for ", target.to_string());
        c.check(program.result(c.call));
    }
}

// A static library of any pipeline brings the runtime along.
void Pipelines::add_runtime() {
    Func runtime("runtime");
    runtime(x) = x;
    runtime.compile_to_static_library(program.path("runtime"), {}, "runtime", target);
}

void Pipelines::add_few() {
    add_tails<uint8_t>();
    add_tails<float>();
    add_dot<int8_t, int8_t, int32_t>();
    add_stencil();
    add_gathers();
    add_reductions();
    add_threads();
    add_atomics();
    add_errors();
}

void Pipelines::add_numbers() {
    add_dot<uint8_t, uint8_t, uint32_t>();
    add_dot<uint8_t, int8_t, int32_t>();
    add_dot<uint8_t, uint8_t, int64_t>();
    add_dot<int16_t, int16_t, int32_t>();
    add_dot<uint16_t, uint8_t, uint64_t>();
    add_dot<float, float, float>();
    add_floats();
}

void Pipelines::add_all() {
    add_few();
    add_numbers();
    add_tails<int16_t>();
    add_tails<uint32_t>();
    add_tails<int64_t>();
    add_tails<float16_t>();
    add_tails<bfloat16_t>();
    add_tails<double>();
    add_strides();
    add_streams();
}

// Vectors of odd, ordinary and wide numbers of lanes that do not divide the extent.
template<typename T> void Pipelines::add_tails() {
    for (TailStrategy tail :
         {TailStrategy::GuardWithIf, TailStrategy::PredicateLoads, TailStrategy::PredicateStores,
          TailStrategy::ShiftInwards, TailStrategy::RoundUpAndBlend}) {
        int lanes = random.pick(std::vector<int>{3, 5, 8, 16, 24, 64});
        int size = int(random.between(lanes, 3 * lanes + 7));
        if (tail == TailStrategy::RoundUpAndBlend) size = (size + lanes - 1) / lanes * lanes;
        Buffer<T> in = data<T>({size + 1}), out({size});
        out.fill(T(0.0f));
        ImageParam a(type_of<T>(), 1, "a");
        Func f("f");
        Expr value = cast<T>(max(a(x), a(x + 1)) - cast<T>(3));
        if (tail == TailStrategy::RoundUpAndBlend) {
            f(x) = cast<T>(0);
            f(x) += value;
            f.vectorize(x, 4, TailStrategy::GuardWithIf);
            f.update().vectorize(x, lanes, tail);
        } else {
            f(x) = value;
            f.vectorize(x, lanes, tail);
        }
        add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
            compare<T>(out, [&](int i) { return T(double(std::max(in(i), in(i + 1))) - 3); });
        });
    }
}

// Sums of products: of all lanes into one, and of groups of lanes.
template<typename A, typename B, typename Sum> void Pipelines::add_dot() {
    Buffer<A> a = data<A>({64, 12});
    Buffer<B> b = data<B>({64});
    auto wanted = [=](int i) {
        Sum sum = 0;
        for (int k = 0; k < 64; k++) sum = Sum(sum + Sum(a(k, i)) * Sum(b(k)));
        return sum;
    };
    ImageParam pa(type_of<A>(), 2, "a"), pb(type_of<B>(), 1, "b");
    for (int group : {2, 4, 8, 64}) {
        Buffer<Sum> out({12});
        RDom r(0, 64);
        RVar outer("outer"), inner("inner");
        Func f("f");
        f(x) += cast<Sum>(pa(r, x)) * cast<Sum>(pb(r));
        f.vectorize(x, 4);
        if (group == 64) {
            f.update().atomic().vectorize(r, 32);
        } else {
            f.update().split(r, outer, inner, group).reorder(inner, x, outer);
            f.update().vectorize(x, 4).atomic().vectorize(inner);
        }
        // The floats are few eighths: their sums are exact.
        add(f, {pa, pb}, {a.raw_buffer(), b.raw_buffer(), out.raw_buffer()},
            [=] { compare<Sum>(out, wanted); });
    }
}

// Planes to pixels, by a stencil.
void Pipelines::add_stencil() {
    int w = int(random.between(30, 50)), h = 9;
    Buffer<uint8_t> in = data<uint8_t>({w + 2, h, 3});
    auto out = Buffer<uint8_t>::make_interleaved(w, h, 3);
    ImageParam a(UInt(8), 3, "a");
    Func f("f"), g("g");
    g(x, y, c) = cast<uint8_t>((cast<uint16_t>(a(x, y, c)) + 2 * cast<uint16_t>(a(x + 1, y, c)) +
                                cast<uint16_t>(a(x + 2, y, c)) + 2) /
                               4);
    f(x, y, c) = cast<uint8_t>(saturating_add(g(x, y, c), cast<uint8_t>(20)) ^ cast<uint8_t>(y));
    f.output_buffer().dim(0).set_stride(3);
    f.output_buffer().dim(2).set_stride(1);
    f.bound(c, 0, 3);
    f.reorder(c, x, y).unroll(c).vectorize(x, 16, TailStrategy::GuardWithIf).parallel(y);
    g.compute_at(f, x).vectorize(x, 16, TailStrategy::GuardWithIf);
    add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < h; j++) {
                for (int i = 0; i < w; i++) {
                    int sum = (in(i, j, k) + 2 * in(i + 1, j, k) + in(i + 2, j, k) + 2) / 4;
                    CHECK(int(out(i, j, k)) == (std::min(sum + 20, 255) ^ j));
                }
            }
        }
    });
}

void Pipelines::add_gathers() {
    Buffer<uint8_t> in = data<uint8_t>({203});
    Buffer<int16_t> table = data<int16_t>({256});
    ImageParam a(UInt(8), 1, "a"), t(Int(16), 1, "t");
    for (int lanes : {8, 16, 13}) {
        Buffer<int16_t> out({203});
        Func f("f");
        f(x) = t(cast<int>(a(x)));
        f.vectorize(x, lanes, TailStrategy::GuardWithIf);
        add(f, {a, t}, {in.raw_buffer(), table.raw_buffer(), out.raw_buffer()},
            [=] { compare<int16_t>(out, [&](int i) { return table(in(i)); }); });
    }
    Buffer<float> scattered({203});
    Func s("s");
    s(x) = -1.0f;
    RDom r(0, 203);
    s(clamp(202 - cast<int>(r), 0, 202)) = cast<float>(a(r));
    s.vectorize(x, 8, TailStrategy::GuardWithIf);
    s.update().allow_race_conditions().vectorize(r, 8, TailStrategy::GuardWithIf);
    add(s, {a}, {in.raw_buffer(), scattered.raw_buffer()},
        [=] { compare<float>(scattered, [&](int i) { return float(in(202 - i)); }); });
}

void Pipelines::add_strides() {
    Buffer<uint16_t> in = data<uint16_t>({300});
    ImageParam a(UInt(16), 1, "a");
    struct Row {
        Expr index;
        std::function<int(int)> wanted;
    };
    for (const Row &row :
         {Row{2 * x, [](int i) { return 2 * i; }}, Row{2 * x + 1, [](int i) { return 2 * i + 1; }},
          Row{3 * x + 2, [](int i) { return 3 * i + 2; }}, Row{4 * x, [](int i) { return 4 * i; }},
          Row{299 - x, [](int i) { return 299 - i; }}, Row{x / 2, [](int i) { return i / 2; }},
          Row{x % 7, [](int i) { return i % 7; }}}) {
        Buffer<uint16_t> out({75});
        Func f("f");
        f(x) = a(row.index);
        f.vectorize(x, 16, TailStrategy::GuardWithIf);
        auto wanted = row.wanted;
        add(f, {a}, {in.raw_buffer(), out.raw_buffer()},
            [=] { compare<uint16_t>(out, [&](int i) { return in(wanted(i)); }); });
    }
    Buffer<uint16_t> out({150});
    Func f("f");
    f(x) = select(x % 2 == 0, a(x / 2), a(x / 2 + 100));
    f.vectorize(x, 32, TailStrategy::GuardWithIf);
    add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
        compare<uint16_t>(out, [&](int i) { return in(i % 2 == 0 ? i / 2 : i / 2 + 100); });
    });
}

void Pipelines::add_reductions() {
    Buffer<int16_t> in = data<int16_t>({96, 20});
    ImageParam a(Int(16), 2, "a");
    RDom r(0, 96);
    Buffer<int16_t> highest({20});
    Buffer<int32_t> place({20});
    Func best("best");
    best(x) = Tuple(cast<int16_t>(-32768), 0);
    best(x) = Tuple(max(best(x)[0], a(r, x)), select(a(r, x) > best(x)[0], r, best(x)[1]));
    best.vectorize(x, 4, TailStrategy::GuardWithIf);
    best.update().vectorize(x, 8, TailStrategy::GuardWithIf);
    add(best, {a}, {in.raw_buffer(), highest.raw_buffer(), place.raw_buffer()}, [=] {
        for (int i = 0; i < 20; i++) {
            int at = 0;
            for (int k = 1; k < 96; k++) at = in(k, i) > in(at, i) ? k : at;
            CHECK(highest(i) == in(at, i));
            CHECK(place(i) == at);
        }
    });
    for (bool least : {false, true}) {
        Buffer<int16_t> out({20});
        Func f("f");
        f(x) = a(0, x);
        f(x) = least ? min(f(x), a(r, x)) : max(f(x), a(r, x));
        f.update().atomic().vectorize(r, 32);
        add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
            compare<int16_t>(out, [&](int i) {
                int16_t m = in(0, i);
                for (int k = 0; k < 96; k++)
                    m = least ? std::min(m, in(k, i)) : std::max(m, in(k, i));
                return m;
            });
        });
    }
    // A triangle, by a predicate.
    Buffer<int32_t> out({20});
    RDom s(0, 96);
    s.where(s <= 4 * x);
    Func f("f");
    f(x) += cast<int32_t>(a(s, x));
    f.update().vectorize(x, 8, TailStrategy::GuardWithIf);
    add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
        compare<int32_t>(out, [&](int i) {
            int32_t sum = 0;
            for (int k = 0; k <= 4 * i; k++) sum += in(k, i);
            return sum;
        });
    });
}

// The thread pool, tasks that wait for each other, storage on the heap and in a ring.
void Pipelines::add_threads() {
    Buffer<int32_t> in = data<int32_t>({70, 42});
    ImageParam a(Int(32), 2, "a");
    auto wanted = [=](int i, int j) {
        auto blurred = [&](int row) { return in(i, row) + in(i + 1, row) + in(i + 2, row); };
        return blurred(j) + blurred(j + 1) + blurred(j + 2);
    };
    for (int how = 0; how < 4; how++) {
        Buffer<int32_t> out({68, 40});
        Func f("f"), g("g");
        g(x, y) = a(x, y) + a(x + 1, y) + a(x + 2, y);
        f(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
        f.vectorize(x, 8, TailStrategy::GuardWithIf);
        g.vectorize(x, 8, TailStrategy::GuardWithIf);
        if (how == 0) {
            f.parallel(y);
            g.compute_root().parallel(y);
        } else if (how == 1) {
            f.split(y, y, yi, 8).parallel(y);
            g.store_at(f, y).compute_at(f, yi).fold_storage(y, 4);
        } else if (how == 2) {
            g.store_root().compute_at(f, y).fold_storage(y, 8).async();
        } else {
            f.split(y, y, yi, 10);
            g.compute_at(f, y).hoist_storage_root().ring_buffer(2).async();
        }
        add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
            for (int j = 0; j < 40; j++) {
                for (int i = 0; i < 68; i++) CHECK(out(i, j) == wanted(i, j));
            }
        });
    }
}

void Pipelines::add_atomics() {
    Buffer<uint8_t> in = data<uint8_t>({4000});
    ImageParam a(UInt(8), 1, "a");
    RDom r(0, 4000);
    auto count = [=](int v) { return int(std::count(in.begin(), in.end(), uint8_t(v))); };
    Buffer<uint8_t> small({256});
    Buffer<float> real({256});
    for (bool of_floats : {false, true}) {
        Func f("f");
        f(x) = cast(of_floats ? Float(32) : UInt(8), 0);
        f(cast<int>(a(r))) += cast(of_floats ? Float(32) : UInt(8), 1);
        f.update().atomic().parallel(r, 500);
        auto *out = of_floats ? real.raw_buffer() : small.raw_buffer();
        add(f, {a}, {in.raw_buffer(), out}, [=] {
            for (int v = 0; v < 256; v++) {
                CHECK((of_floats ? int(real(v)) : int(small(v))) == count(v) % 256);
            }
        });
    }
    // Two values that change together, under a mutex.
    Buffer<int32_t> first({16}), second({16});
    Func t("t");
    t(x) = Tuple(0, 0);
    Expr at = cast<int>(a(r)) % 16;
    t(at) = Tuple(t(at)[0] + 1, t(at)[1] + t(at)[0]);
    t.update().atomic(true).parallel(r, 500);
    add(t, {a}, {in.raw_buffer(), first.raw_buffer(), second.raw_buffer()}, [=] {
        for (int v = 0; v < 16; v++) {
            int sum = 0;
            for (int k = v; k < 256; k += 16) sum += count(k);
            CHECK(first(v) == sum);
            CHECK(second(v) == sum * (sum - 1) / 2);
        }
    });
}

void Pipelines::add_errors() {
    Buffer<float> in = data<float>({10}), out({10});
    ImageParam a(Float(32), 1, "a");
    Param<double> limit("limit");
    Func f("f");
    f(x) = a(x + 1) * cast<float>(limit);
    call(f, {a, limit}, {in.raw_buffer(), Passed::scalar(2.0), out.raw_buffer()},
         [in, out](const CallResult &result) {
             CHECK(result.code == tessera_error_code_access_out_of_bounds);
             CHECK(result.message.find("a") != std::string::npos);
         });
    Func g("g");
    g(x) = cast<float>(require(limit > Expr(3.0), limit, "the limit is", limit));
    call(g, {limit}, {Passed::scalar(2.5), out.raw_buffer()}, [out](const CallResult &result) {
        CHECK(result.code == tessera_error_code_requirement_failed);
        CHECK(result.message.find("2.5") != std::string::npos);
    });
    // A query: how much of the input is needed.
    Buffer<float> query(nullptr, {1}), result({8});
    add(f, {a, limit}, {query.raw_buffer(), Passed::scalar(1.0), result.raw_buffer()}, [=] {
        CHECK(query.dim(0).min() == 1);
        CHECK(query.dim(0).extent() == result.dim(0).extent());
    });
}

void Pipelines::add_streams() {
    Buffer<float> in = data<float>({64, 7}), out({64, 7});
    ImageParam a(Float(32), 2, "a");
    Func f("f");
    f(x, y) = a(x, y) + 1;
    f.vectorize(x, 8).parallel(y).stream_stores().stream_loads().prefetch(a, y, y, 2);
    add(f, {a}, {in.raw_buffer(), out.raw_buffer()}, [=] {
        for (int j = 0; j < 7; j++) {
            for (int i = 0; i < 64; i++) CHECK(out(i, j) == in(i, j) + 1);
        }
    });
}

}  // namespace tessera::test
