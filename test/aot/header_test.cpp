#include "aot/build.h"
#include "driver/dispatch.h"
#include <tessera.h>

using namespace tessera;

// What the comment of a header says of arguments.
extern "C" inline int lookup_offset(int n) { return 2 * n; }

namespace {

TesseraPureExtern_1(int, lookup_offset, int);

Var x("x"), y("y");

std::string header_of(Pipeline p, const std::vector<Argument> &args,
                      const Target &target = get_host_target()) {
    p.compile_to_header("f.h", args, "f", target);
    return contents_of("f.h");
}

std::string between(const std::string &text, const std::string &before, const std::string &after) {
    size_t begin = text.find(before);
    REQUIRE_MESSAGE(begin != text.npos, text);
    begin += before.size();
    return text.substr(begin, text.find(after, begin) - begin);
}

// Compiles f with the header's own words for what it needs of `in` and computes of f, two
// dimensions each, and compares these with what a bounds query answers for outputs of several
// sizes.
void check_header_is_right(Pipeline p, const std::vector<Argument> &args) {
    p.compile_to_static_library("f", args, "f");
    std::string header = contents_of("f.h"), of_in = between(header, " in: ", " f: "), checks;
    CAPTURE(header);
    for (int d = 0; d < 2; d++) {
        std::string from = between(of_in, "needs dim[" + std::to_string(d) + "] from ", " to "),
                    to = between(of_in, from + " to ", "\n");
        std::string dim = "q.dim[" + std::to_string(d) + "]";
        checks += "if (" + dim + ".min != (" + from + ")) return 2;\n" + "if (" + dim + ".min + " +
                  dim + ".extent - 1 != (" + to + ")) return 3;\n";
    }
    CHECK(build_and_run(R"(
#include "f.h"
#include "tessera_runtime.h"
#include <stdio.h>
static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
static int query(tessera_buffer_t *in, int n, tessera_buffer_t *out) { return f(in, n, out); }
static int check(int at, int width, int height, int n) {
    struct { struct { int min, max; } dim[2]; } f;
    tessera_dimension_t dims[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}}, in_dims[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    tessera_buffer_t q = {0}, out = {0};
    (void)min, (void)max;
    dims[0].min = dims[1].min = at;
    dims[0].extent = width;
    dims[1].extent = height;
    dims[0].stride = 1;
    dims[1].stride = width;
    out.host = (uint8_t *)&f; /* nothing is computed */
    out.type.code = tessera_type_int;
    out.type.bits = 32;
    out.type.lanes = 1;
    out.dimensions = q.dimensions = 2;
    out.dim = dims;
    q.dim = in_dims;
    f.dim[0].min = f.dim[1].min = at;
    f.dim[0].max = at + width - 1;
    f.dim[1].max = at + height - 1;
    if (query(&q, n, &out) != 0) return 1;
)"
                        "    " +
                            checks + R"(
    return 0;
}
int main(void) {
    printf("%d%d%d%d", check(0, 1, 1, 3), check(5, 40, 8, 3), check(7, 33, 9, 0), check(-3, 100, 16, 7));
    return 0;
})",
                        "f.a") == "0000");
}

}  // namespace

TEST_SUITE("headers") {
    TEST_CASE("say which region of an input is needed, in terms of the outputs") {
        Folder folder;
        ImageParam in(UInt(8), 2, "in");
        Func f("f");
        f(x, y) = in(x - 1, y) + in(x + 1, y + 2);
        std::string header = header_of(f, {in});
        CHECK(has(header, "in: input, 2 dimensions of uint8\n"
                          " *       dim[0].stride == 1\n"
                          " *       needs dim[0] from f.dim[0].min - 1 to f.dim[0].max + 1\n"
                          " *       needs dim[1] from f.dim[1].min to f.dim[1].max + 2\n"
                          " *   f: output, 2 dimensions of uint8\n"
                          " *       dim[0].stride == 1\n *\n"));
        CHECK(has(header, "`b.dim[d].max` is b.dim[d].min + b.dim[d].extent - 1."));
        CHECK_FALSE(has(header, "Quotients"));
    }
    TEST_CASE("say it as bounds queries do, through stages, whatever the schedule computes") {
        Folder folder;
        ImageParam in(Int(32), 2, "in");
        Param<int> n("n", 1, 0, 9);
        Func f("f"), g("g"), h("h");
        g(x, y) = in(x - n, y) + in(x + 3, y - 1);
        h(x, y) = g(x, y - 1) + g(x + 1, y + 1);
        f(x, y) = h(x, y) + h(x + n, y);
        g.compute_root();
        h.compute_at(f, y);
        SUBCASE("serial") {}
        SUBCASE("in vectors that shift inwards") { f.vectorize(x, 16); }
        SUBCASE("in whole tiles") {
            Var xi("xi"), yi("yi");
            f.tile(x, y, xi, yi, 8, 4, TailStrategy::RoundUp);
            h.compute_at(f, x);
        }
        check_header_is_right(f, {in, n});
    }
    TEST_CASE("say what an output computes beyond its own region") {
        Folder folder;
        Func f("f"), g("f");
        f(x) = x;
        f.vectorize(x, 16);
        CHECK(has(header_of(f, {}), "computes dim[0] from f.dim[0].min to f.dim[0].min + "
                                    "max(f.dim[0].max - f.dim[0].min + 1, 16) - 1\n"));
        g(x) = x;
        g.vectorize(x, 8, TailStrategy::RoundUp);
        std::string rounded = header_of(g, {});
        CHECK(
            has(rounded, "computes dim[0] from f.dim[0].min to (f.dim[0].max - f.dim[0].min) / 8"));
        CHECK(has(rounded, " / 8 * 8 + f.dim[0].min + 7\n"));
        CHECK(has(rounded, "Quotients are rounded down."));
    }
    TEST_CASE("say it in terms of scalars and of the input's own bounds") {
        Folder folder;
        ImageParam in(Float(32), 1, "in"), at(Int(32), 1, "int"), table(UInt(8), 1, "table");
        Param<int> offset("offset");
        Func f("f");
        f(x) = in(x + offset) + at(3) + BoundaryConditions::repeat_edge(table)(x);
        std::string header = header_of(f, {in, at, table, offset});
        CHECK(has(header, "needs dim[0] from f.dim[0].min + offset to f.dim[0].max + offset\n"));
        CHECK(has(header, "int_1: input, 1 dimension of int32"));
        CHECK(has(header, "needs dim[0] at 3\n"));
        CHECK(has(header, "needs dim[0] from max(min(f.dim[0].min, table.dim[0].max), "
                          "table.dim[0].min) to "));
    }
    TEST_CASE("say what no expression tells") {
        Folder folder;
        ImageParam in(Int(32), 1, "in"), other(Int(32), 1, "other"), idle(Int(32), 1, "idle");
        Param<int> n("n");
        SUBCASE("what an extern stage needs") {
            Func f("f"), e("e");
            e.define_extern("nowhere_to_be_linked", {in}, Int(32), {x});
            f(x) = e(x) + other(x);
            e.compute_root();
            std::string header = header_of(f, {in, other, idle});
            CHECK(has(between(header, " in: ", " other: "),
                      "which part of dim[0] is needed is not known here: an extern stage says so "
                      "in a bounds query\n"));
            CHECK(has(between(header, " other: ", " idle: "),
                      "needs dim[0] from f.dim[0].min to f.dim[0].max\n"));
            CHECK(has(between(header, " idle: ", " f: "), "nothing of it is read\n"));
        }
        SUBCASE("what a C function returns") {
            Func f("f");
            f(x) = in(x + lookup_offset(n));
            CHECK(
                has(header_of(f, {in, n}),
                    "is not known here: it depends on what the function lookup_offset returns\n"));
        }
        SUBCASE("what nobody would read") {
            std::vector<Param<int>> many(40);
            std::vector<Argument> args{in};
            Expr where = x;
            for (Param<int> &p : many) {
                where += p;
                args.emplace_back(p);
            }
            Func f("f");
            f(x) = in(where);
            CHECK(has(header_of(f, args),
                      "is not known here: it takes too many terms to write down\n"));
        }
    }
    TEST_CASE("have constraints, estimates, ranges and defaults") {
        Folder folder;
        ImageParam in(UInt(16), 2, "in");
        in.dim(0).set_stride(3).set_min(0);
        in.dim(1).set_extent(in.dim(0).extent() * 2).set_estimate(0, 480);
        in.set_host_alignment(64);
        Param<float> gain("gain", 1.5f, 0.5f, 8.0f);
        Param<int8_t> shift("shift", -3);
        Param<uint64_t> big("big", UINT64_MAX);
        Param<bool> flag("flag", true);
        gain.set_estimate(2.0f);
        Func f("f");
        f(x, y) = cast<float>(in(x, y)) * gain + shift + cast<float>(big) + select(flag, 1, 0);
        f.set_estimate(x, 0, 640);
        f.output_buffer().dim(0).set_bounds(0, 640);
        f.output_buffer().dim(1).set_extent(f.output_buffer().dim(0).extent());
        std::string header = header_of(f, {in, gain, shift, big, flag});
        CAPTURE(header);
        for (const char *line :
             {"dim[0].min == 0\n", "dim[0].stride == 3\n",
              "dim[1].extent == in.dim[0].extent * 2\n", "dim[1].min is estimated to be 0\n",
              "dim[1].extent is estimated to be 480\n", "host is aligned to 64 bytes\n",
              "needs dim[0] from 0 to 639\n",
              "gain: float32, by default 1.5, at least 0.5, at most 8, estimated 2\n",
              "shift: int8, by default -3\n", "big: uint64, by default 18446744073709551615\n",
              "flag: bool, by default true\n", "dim[0].extent == 640\n",
              "dim[0].extent is estimated to be 640\n", "dim[1].extent == f.dim[0].extent\n"}) {
            CHECK_MESSAGE(has(header, line), std::string(line));
        }
    }
    TEST_CASE("of several targets say what differs between these") {
        Folder folder;
        auto make = [](const Target &target) {
            ImageParam in(UInt(8), 2, "in");
            Func f("f");
            f(x, y) = in(x, y + 1);
            f.vectorize(x, target.has_feature(Target::AVX2) ? 32 : 16);
            Pipeline p(f);
            driver::TargetProgram made{p.program(), {}};
            made.signature.any_args = false;
            made.signature.args = {Argument(in).parameter};
            return made;
        };
        driver::write_multitarget_files(make, "f",
                                        {Target("x86-64-linux"), Target("x86-64-linux-avx2")},
                                        {{OutputFileType::c_header, "f.h"}});
        std::string header = contents_of("f.h");
        CHECK(has(header,
                  "which part of dim[0] is needed is not known here: it differs between the "
                  "targets\n"));
        CHECK(has(header, "needs dim[1] from f.dim[1].min + 1 to f.dim[1].max + 1\n"));
    }
}
