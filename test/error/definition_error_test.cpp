#include "error/refusal.h"
#include <limits>

using namespace tessera;

extern "C" inline int doubled(int x) { return 2 * x; }
TesseraExtern_1(int, doubled, int)

    namespace {

    Var x("x"), y("y"), z("z");

}  // namespace

TEST_SUITE("refused definitions") {
    TEST_CASE("the message begins with the line") {
        Func f("f"), g("g");
        int line = __LINE__ + 1;
        std::string message = refusal([&] { f(x) = g(x); });
        CHECK(message.find(line_of(__FILE__, line) + ": ") == 0);
    }
    TEST_CASE("a text is no value of a Func") {
        Func f("f"), g("g");
        REFUSED(f(x) = "text",
                "definition of f: a value is the text \"text\"; a Func's values are");
        REFUSED(f(x) = Tuple(x, "text"), "a value is the text \"text\"");
        REFUSED(f(x) = select(x > 0, Expr("a"), Expr("b")), "definition of f: a value is the text");
        g(x) = 0;
        REFUSED(g(x) = "text", "definition of g: a value is the text \"text\"");
        f(x) = print(x, "text");
        CHECK(f.defined());
    }
    TEST_CASE("a Func that is not defined yet is used") {
        Func f("f"), g("g");
        REFUSED(f(x) = g(x) + 1, "g is used, but has no definition yet");
        REFUSED(f.compute_root(), "compute_root: f is not defined yet");
        REFUSED(f.vectorize(x), "which has no definition yet");
        REFUSED(f.update(0), "update(0) of f, which has 0 update definitions");
        REFUSED(f.update_args(0), "f has no update 0; it has 0 update definitions");
        REFUSED(f.value(), "no definition yet");
        REFUSED(f.output_buffer(), "no definition yet");
        REFUSED(Pipeline(f), "has no definition");
    }
    TEST_CASE("a variable is bound by nothing") {
        Func f("f"), g("g");
        REFUSED(f(x) = x + y, "the variable y is bound by nothing; the arguments of f are x");
        f(x, y) = 0;
        REFUSED(f(x, 0) = z, "the variable z is bound by nothing");
        REFUSED(f(y, x) = 0, "in the same place");
    }
    TEST_CASE("the first definition has other arguments than variables") {
        Func f("f");
        RDom r(0, 5);
        REFUSED(f(x + 1) = 0, "the first definition has variables (Var) as its arguments");
        REFUSED(f(3) = 0, "the first definition has variables");
        REFUSED(f(r) = 0, "the first definition has variables");
        REFUSED(f(x, x) = 0, "the argument x is there twice");
    }
    TEST_CASE("reduction variables in a pure definition") {
        Func f("f");
        RDom r(0, 5, "r");
        REFUSED(f(x) = x + r, "it uses the reduction variable r$x");
    }
    TEST_CASE("variables of two domains in one update") {
        Func f("f");
        RDom r(0, 5, "r"), s(0, 5, "s");
        f(x) = 0;
        REFUSED(f(x) += r + s, "variables of two reduction domains");
        REFUSED(f(r) = s + 0, "make one RDom of both");
    }
    TEST_CASE("a Func uses itself where it has no values") {
        Func f("f");
        f(x) = 0;
        Func g("g");
        REFUSED(g(x) = g(x - 1), "g is used, but has no definition yet");
        REFUSED(f(x) = f(x - 1) + 1, "f may be read only at x in that place, not at x");
    }
    TEST_CASE("types that do not fit") {
        Func f("f");
        f(x) = cast<uint8_t>(x);
        REFUSED(f(x) = x, "value 0 has the type int32, but f was defined with uint8");
        REFUSED(f(x) += 1.5f, "use cast(UInt(8), ...)");
        REFUSED(f(x) = Tuple(x, x), "it has 2 values, but f has 1");
        REFUSED(f(1.5f) = cast<uint8_t>(0), "coordinates are int32");
        Func g("g");
        REFUSED(g(x) = f(x * 1.5f), "argument 0 of f is a float32, not an integer");
    }
    TEST_CASE("constants whose sum, difference or product does not fit") {
        const int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
        REFUSED(Expr(most) + 1,
                "operator +: 2147483647 + 1 is no int32; cast an operand to a wider "
                "type, or to an unsigned one if it is meant to wrap");
        REFUSED(Expr(least) - 1, "operator -: -2147483648 - 1 is no int32");
        REFUSED(-Expr(least), "operator -: 0 - -2147483648 is no int32");
        REFUSED(Expr(65536) * 65536, "operator *: 65536 * 65536 is no int32");
        REFUSED(Expr(least) / -1, "operator /: -2147483648 / -1 is no int32");
        REFUSED(Expr(std::numeric_limits<int64_t>::max()) + 1,
                "operator +: 9223372036854775807 + 1 is no int64");
        Expr e = most;
        REFUSED(e += 1, "is no int32");
        CHECK(evaluate<uint32_t>(cast<uint32_t>(cast<uint32_t>(most) * 2)) == uint32_t(most) * 2);
        CHECK(evaluate<int64_t>(cast<int64_t>(most) + 1) == int64_t(most) + 1);
        CHECK(evaluate<int8_t>(cast<int8_t>(127) + cast<int8_t>(1)) == -128);
    }
    TEST_CASE("the number of arguments is wrong") {
        Func f("f"), g("g");
        f(x, y) = 0;
        REFUSED(g(x) = f(x), "f has 2 dimensions (x, y), but is used with 1 argument");
        REFUSED(g(x) = f(x, x, x), "but is used with 3 arguments");
        REFUSED(f(x) = 0, "it has 1 argument, but f has 2");
    }
    TEST_CASE("a Func changes after it was used or realized") {
        Func f("f"), g("g"), h("h");
        f(x) = x;
        g(x) = f(x);
        REFUSED(f(x) += 1, "f has been used by another Func or realized");
        h(x) = x;
        h.realize({4});
        REFUSED(h(x) += 1, "h has been used by another Func or realized");
    }
    TEST_CASE("a Func with several values where one is wanted") {
        Func f("f"), g("g");
        f(x) = Tuple(x, x + 1);
        REFUSED(g(x) = f(x) + 1, "f has 2 values");
        REFUSED(g(x) = f(x)[2], "value 2 of f, which has 2");
        REFUSED(f(x)[2] = 3, "value 2 of f, which has 2");
        REFUSED(f.value(), "ask for values()");
        REFUSED(f.type(), "ask for types()");
        REFUSED(f.output_buffer(), "ask for output_buffers()");
        Func h("h");
        REFUSED(h(x)[0] = 1, "define all of its values first");
    }
    TEST_CASE("a typed Func is defined otherwise") {
        Func f(Float(32), 2, "f");
        REFUSED(f(x, y) = x, "f was declared with the type float32, but is defined with int32");
        REFUSED(f(x) = 1.0f, "f was declared with 2 dimensions, but is defined with 1");
        f(x, y) = 1.0f;
        CHECK(f.defined());
    }
    TEST_CASE("undefined expressions") {
        Func f("f");
        Expr nothing;
        REFUSED(f(x) = nothing, "a value is an undefined Expr");
        REFUSED(f(nothing) = 0, "an argument of f is an undefined Expr");
        REFUSED(nothing + 1, "operator + of an undefined Expr");
        REFUSED(sqrt(nothing), "sqrt: an operand is an undefined Expr");
        REFUSED(Tuple(nothing, 1), "a value is an undefined Expr");
    }
    TEST_CASE("operators and functions say in which line their operands do not fit") {
        Expr nothing, flag = cast<bool>(x);
        Func f("f");
        f(x, y) = 1.5f;
        Buffer<int> image(4, 4);
        auto in_line = [](int line, auto mistake) {
            std::string message = refusal(mistake);
            CAPTURE(line);
            CAPTURE(message);
            CHECK(message.find(line_of(__FILE__, line) + ": ") == 0);
        };
        in_line(__LINE__, [&] { nothing + 1; });
        in_line(__LINE__, [&] { x *nothing; });
        in_line(__LINE__, [&] { flag - flag; });
        in_line(__LINE__, [&] { x == nothing; });
        in_line(__LINE__, [&] { !x; });
        in_line(__LINE__, [&] { flag &&x; });
        in_line(__LINE__, [&] { nothing += 1; });
        in_line(__LINE__, [&] { 1.5f << x; });
        in_line(__LINE__, [&] { min(x, nothing); });
        in_line(__LINE__, [&] { max(x, y, nothing); });
        in_line(__LINE__, [&] { clamp(nothing, 0, 1); });
        in_line(__LINE__, [&] { select(x, y, 0); });
        in_line(__LINE__, [&] { select(flag, y, x, y, 0); });
        in_line(__LINE__, [&] { cast<float>(nothing); });
        in_line(__LINE__, [&] { cast(Handle(), x); });
        in_line(__LINE__, [&] { reinterpret<int8_t>(Expr(1.5f)); });
        in_line(__LINE__, [&] { absd(x, nothing); });
        in_line(__LINE__, [&] { widening_mul(x, nothing); });
        in_line(__LINE__, [&] { lerp(x, y, x); });
        in_line(__LINE__, [&] { concat_bits({}); });
        in_line(__LINE__, [&] { sqrt(nothing); });
        in_line(__LINE__, [&] { pow(x, nothing); });
        in_line(__LINE__, [&] { hypot(nothing, x); });
        in_line(__LINE__, [&] { fma(x, y, x); });
        in_line(__LINE__, [&] { fast_exp(nothing); });
        in_line(__LINE__, [&] { mux(x, std::vector<Expr>{}); });
        in_line(__LINE__, [&] { mux(f(x, y), {x, y}); });
        in_line(__LINE__, [&] { print(nothing); });
        in_line(__LINE__, [&] { print_when(x, y); });
        in_line(__LINE__, [&] { require(x, y); });
        in_line(__LINE__, [&] { undef(Type()); });
        in_line(__LINE__, [&] { image(x, y, x); });
        in_line(__LINE__, [&] { image(nothing, y); });
        in_line(__LINE__, [&] { image(1.5f, y); });
        in_line(__LINE__, [&] { f.update_value(3); });
        in_line(__LINE__, [&] { Func("g").value(); });
        in_line(__LINE__, [&] { Int(12); });
        in_line(__LINE__, [&] { f(x, y) += nothing; });
        in_line(__LINE__, [&] { f(x, y) += cast(Float(64), x); });
    }
    TEST_CASE("types that do not exist") {
        REFUSED(cast(Float(24), x), "there is no type Float(24)");
        REFUSED(cast(UInt(128), x), "there is no type UInt(128)");
        REFUSED(Int(1), "there is no type Int(1)");
        REFUSED(BFloat(32), "there is no type BFloat(32)");
        REFUSED(Int(32, 0), "a vector has 1 to 65535 lanes");
        REFUSED(Handle(0), "Handle of 0 lanes: a vector has 1 to 65535 lanes");
        REFUSED(Bool(70000), "UInt of 70000 lanes: a vector has 1 to 65535 lanes");
        REFUSED(Type(TypeCode::Int, 12), "there is no type Int(12)");
        REFUSED(Type(TypeCode::Handle, 32), "there is no type Handle(32)");
        REFUSED(Type(TypeCode::UInt, 8, 65536), "a vector has 1 to 65535 lanes");
        REFUSED(Type(TypeCode(7), 8), "there is no type Type(8)");
        Func f("f");
        REFUSED(f(x) = cast(Int(32, 4), x), "a value is a vector");
        REFUSED(cast(Int(32, 4), cast(Int(16, 8), x)), "it has 8 lanes, not 4");
    }
    TEST_CASE("placeholders that cannot be filled") {
        Func f("f"), g("g");
        REFUSED(f(_, _) = 0, "the placeholder _ is there twice");
        f(x, y) = x + y;
        REFUSED(g(x) = f(x, _), "the placeholder _ stands in its values, but not in its "
                                "arguments; write g(..., _) = ...");
        g(x, _) = f(x, _);
        CHECK(g.dimensions() == 2);
        Func column("column");
        column(_1) = f(3, _1);
        CHECK(column.dimensions() == 1);
    }
    TEST_CASE("a message without a value") {
        REFUSED(require(x > 0, "x is not positive"), "after the condition comes the value");
    }
    TEST_CASE("an image is used with too few coordinates") {
        ImageParam p(Int(32), 2, "p");
        Func f("f");
        REFUSED(f(x) = p(x), "ImageParam p has 2 dimensions, but is used with 1 argument");
    }
    TEST_CASE("domains that make no sense") {
        Func f("f");
        f(x) = x;
        REFUSED(RDom(0, x), "depends on the variable x");
        REFUSED(RDom(0, 5, 3), "for every dimension there is a minimum and an extent");
        REFUSED(RDom(0, 1.5f), "an integer, not a float32");
        REFUSED(RDom(0, -5), "the extent -5 is negative");
        REFUSED(RDom(2147483645, 4), "the last point, 2147483648, lies beyond the largest");
        RDom r(0, 5);
        REFUSED(r.where(r.x), "not a bool");
        REFUSED(r[1], "there is no dimension 1; the domain has 1");
        f(x) += r;
        REFUSED(r.where(r.x > 2), "the domain has been used in a definition");
        RDom two(0, 3, 0, 3), undefined;
        REFUSED_ABOVE(Expr(two), "stands for no single variable");
        REFUSED(undefined.where(x > 2), "undefined");
        REFUSED(undefined[0], "RDom: it is undefined");
        REFUSED(Tuple(x, x)[2], "Tuple: there is no element 2; it has 2");
        for (int i : {-1, 1}) {
            int line = __LINE__ + 1;
            std::string message = refusal([&] { (void)r[i]; });
            CHECK(message == str(line_of(__FILE__, line), ": RDom: there is no dimension ", i,
                                 "; the domain has 1"));
        }
        REFUSED(Expr(RVar("free")) + 1, "belongs to no RDom");
    }
    TEST_CASE("operands of the wrong type") {
        Expr i = x, f = cast<float>(x), b = x > 0;
        REFUSED(f & i, "not an integer");
        REFUSED(~f, "not an integer");
        REFUSED(f << 1, "not an integer");
        REFUSED(i && b, "needs a boolean");
        REFUSED(select(i, 1, 2), "needs a boolean");
        REFUSED(popcount(f), "not an integer");
        Expr byte = cast<uint8_t>(x);
        REFUSED(clamp(byte, 0, 300), "clamp: 300 is no value of type uint8");
        REFUSED(clamp(byte, -5, 100), "clamp: -5 is no value of type uint8");
        REFUSED(clamp(i, 0, 3.7f), "clamp: 3.7 is no value of type int32");
        REFUSED(clamp(byte, 0, i), "clamp: a bound of type int32 may be no value of type uint8");
        REFUSED(clamp(i, f, 3), "clamp: a bound of type float32 may be no value of type int32");
        CHECK(clamp(byte, 0, 255).type() == UInt(8));
        CHECK(clamp(i, byte, cast<int16_t>(x)).type() == Int(32));
        CHECK(clamp(f, 0, i).type() == Float(32));
        REFUSED(lerp(f, f, i), "not an unsigned integer or a float");
        REFUSED(lerp(i, i, 1.5f), "not between 0 and 1");
        REFUSED(fma(f, f, i), "not of one floating-point type");
        REFUSED(fast_inverse(i), "not a float32");
        REFUSED(widening_add(cast<int64_t>(i), cast<int64_t>(i)), "no type twice as wide");
        REFUSED(widen_right_mul(cast<int16_t>(i), i), "half of the first");
        REFUSED(concat_bits({i, f}), "not an integer");
        REFUSED(concat_bits({i, i, i}), "no type has 96 bits");
        REFUSED(extract_bits(Int(64), i, 0), "has more bits");
        REFUSED(reinterpret<int64_t>(i), "of 32 bits");
        REFUSED(mul_shift_right(i, i, 64), "not between 0 and 63");
        REFUSED(random_float(f), "the seed of a random number is an int32");
        REFUSED(require(i, 1), "not a bool");
        REFUSED(mux(i, std::vector<Expr>()), "no values");
        REFUSED(scatter(i, f), "values of different types");
        REFUSED(select(Tuple(b, b), Tuple(i, i), Tuple(i, i, i)), "Tuples of different sizes");
    }
    TEST_CASE("parameters that are used wrongly") {
        Param<int> p("p");
        ImageParam im(UInt(8), 2, "im");
        REFUSED(Param<>(Int(32), "q").set(1.5f),
                "Param q is a int32, which cannot hold the given float32");
        REFUSED(Param<float>(Param<>(Int(32), "q")),
                "Param q is a int32, which a Param of float32 cannot stand for");
        REFUSED(im.dim(2), "dim(2) of im, which has 2 dimensions");
        REFUSED(im.dim(0).set_min(x), "depends on the variable x");
        REFUSED(im.dim(0).set_extent(1.5f), "an integer is wanted");
        REFUSED(im.set_host_alignment(24), "a power of two");
        REFUSED(im.set(Buffer<float>(3, 3)), "it is of type uint8 with 2 dimensions");
        REFUSED(im.set(Buffer<uint8_t>(3)), "but the Buffer is of type uint8 with 1");
        REFUSED(im(x), "has 2 dimensions");
        REFUSED(p.set_range(x, 3), "depends on the variable x");
        REFUSED(ImageParam()(x), "undefined");
    }
    TEST_CASE("parameters are set to what they cannot hold") {
        Param<uint8_t> u8("u8");
        Param<int> i("i");
        Param<uint64_t> u64("u64");
        Param<bool> b("b");
        REFUSED(u8.set(300), "Param u8 is a uint8, which cannot hold 300");
        REFUSED(u8.set(-1), "cannot hold -1");
        REFUSED(i.set(2.7f), "Param i is a int32, which cannot hold 2.7");
        REFUSED(i.set(1e20), "cannot hold");
        REFUSED(i.set(std::numeric_limits<double>::quiet_NaN()), "cannot hold");
        REFUSED(i.set(uint32_t(1) << 31), "cannot hold 2147483648");
        REFUSED(u64.set(-1), "cannot hold -1");
        REFUSED(Param<uint8_t>(256), "cannot hold 256");
        REFUSED(Param<uint8_t>("u8", 300), "Param u8 is a uint8, which cannot hold 300");
        REFUSED(Param<uint8_t>(300, 0, 255), "cannot hold 300");
        b.set(2);
        u8.set(255);
        i.set(-3.0);
        u64.set(UINT64_MAX);
        CHECK(b.get());
        CHECK(u8.get() == 255);
        CHECK(i.get() == -3);
        CHECK(u64.get() == UINT64_MAX);
        Param<float> f("f");
        f.set(0.1);
        CHECK(f.get() == 0.1f);
    }
    TEST_CASE("inline reductions that make no sense") {
        Func f("f");
        RDom r(0, 3);
        REFUSED(f(x) = sum(x + 1), "uses no variable of an RDom");
        Func mine("mine");
        mine(x) = 1;
        REFUSED(f(x) = sum(x + r, mine), "mine is defined already");
    }
    TEST_CASE("boundary conditions that cannot know the bounds") {
        Func f("f"), undefined("undefined");
        f(x, y) = x;
        REFUSED(BoundaryConditions::repeat_edge(f), "the bounds of f are not known");
        REFUSED(BoundaryConditions::repeat_edge(f, 0, 5, 0, 5, 0, 5), "but f has 2");
        REFUSED(BoundaryConditions::mirror_image(undefined, 0, 5), "has no definition yet");
        REFUSED(BoundaryConditions::repeat_edge(f, Expr(), 5), "only one of min and extent");
        REFUSED(BoundaryConditions::repeat_edge(Buffer<int>()),
                ": repeat_edge: the Buffer is undefined");
        REFUSED(BoundaryConditions::constant_exterior(ImageParam(), 0),
                ": constant_exterior: the ImageParam is undefined");
    }
    TEST_CASE("extern stages that make no sense") {
        Func f("f"), g("g");
        REFUSED(f.define_extern("work", {f}, Int(32), 1), "f is an argument of itself");
        REFUSED(f.define_extern("work", {g}, Int(32), 1), "g is not defined");
        f.define_extern("work", {}, Int(32), {x});
        REFUSED(f(x) += 1, "computed by an extern function and has no updates");
        REFUSED(f.stream_stores(), "whose loads and stores the compiler does not know");
        REFUSED(f.define_extern("work", {}, Int(32), {x}), "defined already");
        REFUSED(f.value(), "computed by an extern function");
        Func h("h");
        h.define_extern("nowhere_at_all", {}, Int(32), {x});
        REFUSED_ABOVE(h.realize({3}), "calls nowhere_at_all, which is no function");
    }
    TEST_CASE("C functions and arguments that do not fit") {
        REFUSED(doubled(x, x), "doubled: 2 arguments, but the C function has 1");
        REFUSED(doubled(3, x), "doubled: 2 arguments, but the C function has 1");
        REFUSED(doubled(Expr()), "doubled: argument 0 is an undefined Expr");
        REFUSED(doubled(Expr("text")), "doubled: argument 0 is a handle, not a int32");
        REFUSED(JITExtern(Func("nothing")), "JITExtern: nothing has no definition");
    }
    TEST_CASE("scatter and gather where one value is wanted") {
        Func f("f");
        Param<int> p("p");
        p.set(1);
        f(x) = x;
        int line = __LINE__ + 1;
        std::string message = refusal([&] { f(scatter(0, 3, 1)) = f(gather(3, 0)); });
        CHECK(message.find(line_of(__FILE__, line)) == 0);
        CHECK(message.find("scatter and gather of 3 and of 2 values") != message.npos);
        Func first("first"), domain("domain");
        REFUSED(first(x) = gather(x, 1), "arguments and values of an update, not in a first");
        RDom r(0, 3);
        r.where(gather(r, 1) < 2);
        domain(x) = 0;
        REFUSED(domain(r) = 1, "not in the condition of a domain");
        REFUSED(f.specialize(gather(p, p + 1) < 2), "of an update, and nowhere else");
    }
    TEST_CASE("pipelines that make no sense") {
        Func f("f");
        f(x) = x;
        REFUSED(Pipeline(std::vector<Func>{}), "there are no outputs");
        REFUSED(Pipeline({f, f}), "is an output twice");
        REFUSED(Pipeline().outputs(), "this Pipeline is undefined");
        REFUSED(Pipeline(f).get_func(1), "the pipeline has 1 Funcs");
        Param<int> p("p");
        Func g("g");
        g(x) = x + p;
        Pipeline pipeline(g);
        REFUSED(pipeline.compile_to_lowered_stmt("t", {Param<int>("q")}), "also reads p");
        REFUSED(pipeline.compile_to_llvm_assembly("t", {}), "also reads p, which is not in");
        REFUSED(pipeline.compile_to_assembly("t", {}), "also reads p, which is not in");
        REFUSED(pipeline.compile_to_object("t", {}), "also reads p, which is not in");
        REFUSED(pipeline.compile_to_bitcode("t", {}), "also reads p, which is not in");
        REFUSED(pipeline.compile_to_callable({}), "also reads p");
    }
}
