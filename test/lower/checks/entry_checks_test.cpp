#include "lower/program_test.h"

using namespace tessera;
using namespace tessera::lower;
using namespace tessera::program;

namespace {

const ir::Expr x = var("x");

// out(x) = im(x - 1) + im(x + 2)
struct Stencil {
    ParameterRef im = make_buffer_parameter(Symbol::fresh("im"), Int(32), 1);
    Small out{"out", at(x - 1) + at(x + 2), {"x"}};
    ir::Expr at(const ir::Expr &i) const {
        return ir::Call::make(Int(32), im->name, CallKind::Image, 0, {i}, im);
    }
    std::string text() const { return Passes(out).after("loop nests"); }
};

}  // namespace

TEST_SUITE("add_entry_checks") {
    TEST_CASE("a buffer without memory is told which region is needed, and nothing is computed") {
        std::string text = Stencil().text();
        CHECK(Passes::has(text, {"if reinterpret uint64(im.host) == 0:uint64",
                                 "set_buffer_field(im, 0, 0, ", "- 1", "else:", "produce out:"}));
    }
    TEST_CASE("a buffer with memory is checked: not null, type, dimensions, region, and more") {
        std::string text = Stencil().text();
        CHECK(Passes::has(text, {"error_buffer_argument_is_null(user_context(), \"im\")"}));
        CHECK(Passes::has(text, {"error_bad_type(user_context(), \"im\"",
                                 "error_bad_dimensions(user_context(), \"im\"",
                                 "error_access_out_of_bounds(user_context(), \"im\"",
                                 "error_constraint_violated(user_context(), \"im.stride.0\"",
                                 "assert !is_device_dirty(im), ",
                                 "error_device_dirty_with_no_device_support(user_context(), \"im\"",
                                 "produce out:"}));
    }
    TEST_CASE("what the user fixes is checked, and used in place of the field") {
        Stencil s;
        s.im->constraints.resize(1);
        s.im->constraints[0].stride = 2;
        Passes p(s.out);
        CHECK(Passes::has(p.after("loop nests"), {"assert im.stride[0] == 2"}));
        CHECK(p.after("flatten storage").rfind("im.stride[0]") <
              p.after("flatten storage").find("produce out:"));
    }
    TEST_CASE("what is fixed is known without asserts, too") {
        std::string text =
            Passes(Stencil().out, Target("x86-64-linux-no_asserts")).after("simplify");
        CHECK(text.find("im_stride_0 *") == std::string::npos);
        CHECK(text.find("out_stride_0 *") == std::string::npos);
    }
    TEST_CASE("only coordinates that grow much are checked for overflow") {
        Stencil s;
        auto checks = [&](const ir::Expr &at) {
            std::string text = Passes(Small{"out", s.at(at), {"x"}}).after("loop nests");
            size_t n = 0, from = 0;
            while ((from = text.find("error_coordinates_too_large", from)) != std::string::npos) {
                n++, from++;
            }
            return n;
        };
        const size_t own = 4;  // both ends of the two buffers themselves
        CHECK(checks(x * 16 + 5) == own);
        CHECK(checks((x / 16) * 32) == own);
        CHECK(checks(x * 17) == own + 2);  // both ends
        CHECK(checks((x * 2 + 1) * 9 - 7) == own + 2);
        CHECK(checks(x + (1 << 30)) == own);
        CHECK(checks(x + ((1 << 30) + 1)) == own + 2);
        ParameterRef p = make_scalar_parameter(Symbol::fresh("p"), Int(32));
        CHECK(checks(x + parameter_value(p)) == own + 2);
        ParameterRef narrow = make_scalar_parameter(Symbol::fresh("q"), UInt(16));
        CHECK(checks(x + ir::cast(Int(32), parameter_value(narrow))) == own);
        p->min_value = -100;
        p->max_value = 100;
        CHECK(checks(x + parameter_value(p)) == own);
    }
    TEST_CASE("ranges of parameters are checked first") {
        Stencil s;
        ParameterRef p = make_scalar_parameter(Symbol::fresh("p"), Int(32));
        p->min_value = 1;
        p->max_value = 9;
        Small out{"out", s.at(x) * parameter_value(p), {"x"}};
        std::string text = Passes(out).after("loop nests");
        CHECK(Passes::has(text, {"error_param_too_small", "produce out:"}));
        CHECK(Passes::has(text, {"error_param_too_large", "produce out:"}));
    }
    TEST_CASE("without asserts there are none, but queries are answered") {
        Stencil s;
        std::string text = Passes(s.out, Target("x86-64-linux-no_asserts")).after("simplify");
        CHECK(text.find("assert") == std::string::npos);
        CHECK(text.find("set_buffer_field(im") != std::string::npos);
    }
}
