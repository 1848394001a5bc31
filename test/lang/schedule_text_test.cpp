#include <doctest/doctest.h>
#include <fstream>
#include <program/canonical.h>
#include <tessera.h>

using namespace tessera;

namespace {

// The same algorithm, built anew each time.
struct Algorithm {
    Var x{"x"}, y{"y"};
    RDom r{0, 100, 0, 20, "r"};
    ImageParam in{Float(32), 2, "in"};
    Param<int> p{"p"};
    Func wide{"wide"}, tall{"tall"}, total{"total"}, out{"out"};
    Algorithm() {
        wide(x, y) = in(x - 1, y) + in(x + 1, y);
        tall(x, y) = wide(x, y - 1) + wide(x, y + 1) + cast<float>(p);
        total(x) += tall(r.x, r.y) * x;
        out(x, y) = tall(x, y) + total(x);
    }
    Pipeline pipeline() { return Pipeline(out); }
};

void schedule(Algorithm &a) {
    Var xi("xi"), yi("yi"), u("u");
    RVar ro("ro"), ri("ri");
    a.out.tile(a.x, a.y, xi, yi, 32, 8).vectorize(xi, 8).parallel(a.y);
    a.wide.compute_at(a.out, a.x).store_at(a.out, a.y).fold_storage(a.y, 4);
    a.tall.in(a.out).compute_at(a.out, a.x).vectorize(a.x, 4);
    a.total.compute_root().update().split(a.r.x, ro, ri, 10);
    Func partial = a.total.update().rfactor(ro, u);
    partial.compute_root().update().parallel(u).unroll(ri, 2);
    a.total.update().unroll(ro);
    a.out.specialize(a.p > 3).unroll(yi);
    a.out.bound(a.x, 0, a.in.dim(0).extent() - 2);
    a.out.set_estimates({{0, 640}, {0, 480}});
}

std::vector<program::FunctionRef> functions(const Pipeline &p) {
    return program::copy_reachable(p.program()).environment.order;
}

}  // namespace

TEST_SUITE("schedules as text") {
    TEST_CASE("a schedule written as JSON gives the same schedule on the same algorithm") {
        Algorithm first, second;
        schedule(first);
        std::string json = first.pipeline().schedule_as_json();
        second.pipeline().apply_schedule(json);
        CHECK(second.pipeline().schedule_as_json() == json);
        auto a = functions(first.pipeline()), b = functions(second.pipeline());
        REQUIRE(a.size() == b.size());
        for (size_t i = 0; i < a.size(); i++) {
            CHECK(a[i]->stages.size() == b[i]->stages.size());
            for (size_t s = 0; s < a[i]->stages.size(); s++) {
                CHECK(a[i]->stages[s]->schedule.loops.size() ==
                      b[i]->stages[s]->schedule.loops.size());
            }
        }
        CHECK(program::canonical_form(program::copy_reachable(first.pipeline().program())).hash() ==
              program::canonical_form(program::copy_reachable(second.pipeline().program())).hash());
    }
    TEST_CASE("what is to be streamed or fetched and is not part of the pipeline is left out") {
        auto schedule_of = [](bool scheduled, const std::string &json = "") {
            Var x("x");
            Func unused("unused"), g("g"), f("f");
            unused(x) = x;
            g(x) = x;
            f(x) = g(x);
            if (scheduled) {
                g.compute_root();
                f.stream_loads({unused}).stream_loads({unused, g});
                f.prefetch(unused, x, x, 2).prefetch(g, x, x, 3);
            }
            if (!json.empty()) f.apply_schedule(json);
            CHECK(f.schedule_as_cpp().find("unused") == std::string::npos);
            return f.schedule_as_json();
        };
        std::string json = schedule_of(true);
        CHECK(json.find("unused") == std::string::npos);
        CHECK(schedule_of(false, json) == json);
    }
    TEST_CASE("an image that is called like a Func is fetched, and not the Func") {
        auto schedule_of = [](bool scheduled, const std::string &json = "") {
            Var x("x");
            Func d("data"), f("f");
            ImageParam im(Int(32), 1, "data");
            d(x) = im(x) * 2;
            f(x) = d(x) + im(x + 1);
            if (scheduled) {
                d.compute_root();
                f.prefetch(im, x, x, 8).stream_loads({im, d});
            } else {
                f.apply_schedule(json);
            }
            return std::pair(f.schedule_as_json(), f.schedule_as_cpp());
        };
        auto written = schedule_of(true);
        CHECK(schedule_of(false, written.first) == written);
    }
    TEST_CASE("names that are no names of C++ are printed as others") {
        Var x("x"), c("char8_t"), b("bitor");
        Param<int> p("x"), odd("my-param");
        Func f("f");
        f(x, c, b) = x + c + b;
        f.specialize(p > 2).vectorize(x, 4);
        f.specialize(odd > 2).parallel(c).serial(b);
        std::string text = f.schedule_as_cpp();
        CAPTURE(text);
        for (const char *line : {"// x_1: the parameter \"x\", which only the schedule has\n",
                                 "f.specialize((x_1 > 2))", "f.specialize((my_param > 2))",
                                 "(\"char8_t\");\n", "(\"bitor\");\n"}) {
            CAPTURE(line);
            CHECK(text.find(line) != std::string::npos);
        }
        CHECK(text.find("Var char8_t(") == std::string::npos);
        CHECK(text.find("Var bitor(") == std::string::npos);
    }
    TEST_CASE("a copy for what is not part of the pipeline is left out") {
        Var x("x");
        Func e("e"), f("f"), g("g"), h("h");
        e(x) = x;
        f(x) = e(x);
        g(x) = f(x) + e(x);
        h(x) = f(x) - e(x);
        e.compute_root().in(g).compute_root();
        f.compute_root().clone_in(h).compute_root();
        std::string json = g.schedule_as_json();
        CHECK(json.find("\"h\"") == std::string::npos);
        Func e2("e"), f2("f"), g2("g");
        e2(x) = x;
        f2(x) = e2(x);
        g2(x) = f2(x) + e2(x);
        g2.apply_schedule(json);
        CHECK(g2.schedule_as_json() == json);
    }
    TEST_CASE("a schedule is printed as C++") {
        Var x("x"), y("y"), xi("xi");
        Func g("g"), f("f");
        g(x, y) = x * y;
        f(x, y) = g(x, y) + g(x + 1, y);
        g.compute_at(f, x).vectorize(x, 8);
        f.split(x, x, xi, 16).parallel(y).unroll(xi);
        CHECK(Pipeline(f).schedule_as_cpp() == "Func g = pipeline.get_func(0);\n"
                                               "Func f = pipeline.get_func(1);\n"
                                               "Var x(\"x\");\n"
                                               "Var x_i(\"x_i\");\n"
                                               "Var xi(\"xi\");\n"
                                               "Var y(\"y\");\n"
                                               "g.compute_at(f, x)\n"
                                               "    .split(x, x, x_i, 8, TailStrategy::Auto)\n"
                                               "    .vectorize(x_i);\n"
                                               "f.split(x, x, xi, 16, TailStrategy::Auto)\n"
                                               "    .parallel(y)\n"
                                               "    .unroll(xi);\n");
    }
    TEST_CASE("a schedule is printed as Python") {
        Var x("x"), y("y"), xi("xi"), lambda("lambda"), u("u");
        RDom r(0, 64, "r");
        RVar ro("ro"), ri("ri");
        Param<int> p("p");
        ImageParam im(Int(32), 2, "im");
        Func g("g"), h("h"), f("f"), sum("sum");
        g(x, y) = im(x, y) * p;
        h(x, y) = g(x, y) + 1;
        sum(x) = 0;
        sum(x) += h(x, r);
        f(x, lambda) = h(x, lambda) + h(x + 1, lambda) + sum(x);
        g.compute_at(h, x).vectorize(x, 8).store_in(MemoryType::Stack);
        h.compute_root().async();
        h.in(f).compute_root();
        sum.compute_root().update().split(r, ro, ri, 8).rfactor(ro, u).compute_root();
        f.split(x, x, xi, 16).parallel(lambda).unroll(xi).stream_loads({sum});
        f.bound(x, 0, im.dim(0).extent() - 2);
        f.specialize(p > 3 && p < 7).vectorize(xi);
        const std::string text = f.schedule_as_python();
        CAPTURE(text);
        CHECK(text.starts_with("import tessera as ts\n"));
        for (const char *line :
             {"\nh = pipeline.get_func(2)\n", "im = pipeline.get_image_param(\"im\")\n",
              "p = pipeline.get_param(\"p\")\n", "xi = ts.Var(\"xi\")\n", " = ts.Var(\"lambda\")\n",
              "ro = ts.RVar(\"ro\")\n", "f.split(x, x, xi, 16, ts.TailStrategy.Auto)\n",
              "f.unroll(xi)\n", "f.stream_loads(sum)\n", "h.async_()\n", "h_in_f = h.in_([f])\n",
              "sum_intm = sum.update(0).rfactor([(ro, u)])\n", "g.store_in(ts.MemoryType.Stack)\n",
              "f.bound(x, 0, (im.dim(0).extent() - 2))\n",
              "f_special0 = f.specialize(((p > 3) & (p < 7)))\n", "f_special0.vectorize(xi)\n"}) {
            CAPTURE(line);
            CHECK(text.find(line) != std::string::npos);
        }
        CHECK(text.find(';') == std::string::npos);
        CHECK(text.find("\nlambda =") == std::string::npos);
    }
    TEST_CASE("the printed C++ names what the schedule makes") {
        Algorithm a;
        schedule(a);
        std::string text = a.pipeline().schedule_as_cpp();
        for (const char *line :
             {"Func tall_in_out = tall.in({out});\n", "RVar r_x = total.rvars(0)[0];\n",
              "RVar ro(\"ro\");\n", "Func total_intm = total.update(0).rfactor({{ro, u}});\n",
              "Stage out_special0 = out.specialize((p > 3));\n", "out_special0.unroll(yi)",
              ".fold_storage(y, 4)", ".bound(x, 0, (in.dim(0).extent() - 2))"}) {
            CAPTURE(text);
            CHECK(text.find(line) != std::string::npos);
        }
    }
    TEST_CASE("schedules are compared by what they amount to") {
        Var x("x"), xi("xi");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = x;
        CHECK(program::same_schedule(*f.function(), *g.function()));
        f.split(x, x, xi, 8);
        CHECK_FALSE(program::same_schedule(*f.function(), *g.function()));
        g.split(x, x, xi, 8);
        CHECK(program::same_schedule(*f.function(), *g.function()));
        f.compute_root();
        CHECK_FALSE(program::same_schedule(*f.function(), *g.function()));
    }
}
