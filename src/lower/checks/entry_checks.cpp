#include "lower/checks/entry_checks.h"
#include "algebra/simplify.h"
#include "base/places_in_messages.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor_inl.h"
#include "lower/checks/constraints.h"
#include "lower/checks/coordinate_checks.h"
#include "lower/checks/errors.h"
#include "lower/checks/overlap_checks.h"
#include "lower/checks/query_answers.h"
#include "lower/checks/touched_ranges.h"
#include "lower/nest/stage.h"
#include "program/apply.h"
#include "program/apply_checks.h"
#include "program/define.h"
#include "program/environment.h"
#include "program/loop_transforms.h"
#include "program/parameter.h"
#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::simplify;
using program::Parameter;
using program::parameter_of;

namespace {

Expr field(const ir::Argument &b, BufferField f, int dim = 0) {
    return BufferProperty::make(b.name, f, dim);
}

bool is_buffer(const ir::Argument &a) { return a.kind != ArgumentKind::Scalar; }

// The split of a function's dimension that may compute more of it than is required.
const program::Split *widening_split(const program::FunctionContents &f, int d) {
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::Definition *version : versions_of(*stage)) {
            for (const auto &t : version->schedule.transforms) {
                const auto *split = std::get_if<program::Split>(&t.directive);
                if (!split) continue;
                const TailTraits tail = traits_of(split->tail);
                const bool widens = !tail.leaves_out && !tail.blends;
                auto roots = program::roots_of_loop(version->schedule, split->old);
                if (widens && std::ranges::count(roots, f.args[size_t(d)])) return split;
            }
        }
    }
    return nullptr;
}

std::string whole_pieces(const std::string &loop, const program::Split &split) {
    const bool overlaps = traits_of(split.tail).overlaps;
    return str(loop, " is split by ", split.factor, " with TailStrategy::", name_of(split.tail),
               ", which computes ", overlaps ? "at least " : "a multiple of ", split.factor);
}

// Returns true if an expression of the stage reads an image or function of these names.
bool reads(const program::Definition &d, const std::unordered_set<Symbol> &names) {
    bool found = false;
    program::for_each_expr(d, [&](const Expr &e) {
        for_each_node(e, [&](const Call &c) { found |= names.contains(c.callee); });
    });
    return found;
}

// Says what may make more of an input needed than the outputs ask for: a stage that rounds up, or a
// condition of a domain that says nothing of the coordinate.
std::string why_read_beyond(Symbol image, const ProgramContext &context) {
    std::unordered_set<Symbol> readers{image};
    std::string of_condition, of_split;
    for (const program::FunctionRef &f : context.order) {
        bool is_reader = false;
        for (size_t i = 0; i < f->stages.size(); i++) {
            const program::Definition &stage = *f->stages[i];
            is_reader |= reads(stage, readers);
            const bool is_limited = stage.predicate.defined() && !is_true(stage.predicate);
            if (!is_limited || !of_condition.empty() || !reads(stage, {image})) continue;
            of_condition = str("the condition of where() in ", program::stage_name(*f, int(i)),
                               " is not seen to limit what is read; clamp() the coordinate");
        }
        if (!is_reader) continue;
        readers.insert(f->name);
        for (int d = 0; d < f->dimensions() && of_split.empty(); d++) {
            const program::Split *split = widening_split(*f, d);
            if (split) of_split = whole_pieces(str(split->old, " of ", f->name), *split);
        }
    }
    return of_condition.empty() ? of_split : of_condition;
}

class EntryChecks {
public:
    EntryChecks(const LoopNests &nests, const program::Program &program,
                const ProgramContext &context)
        : nests(nests), program(program), context(context) {}

    Stmt wrap();

private:
    void check(Expr condition, const char *error, std::vector<Expr> args);
    // The same for what was written at a line of the program.
    void check_at(const Location &at, const Expr &condition, const char *error,
                  std::vector<Expr> args);
    void check_buffer(const ir::Argument &b);
    void check_dimension(const ir::Argument &b, int d);
    void check_constraint(const ir::Argument &b, int d, BufferField f);
    void check_size(const ir::Argument &b);
    void check_parameter(const ir::Argument &a);
    void check_splits(const program::FunctionContents &f);
    void check_positive(const program::FunctionContents &f, const char *what, const Expr &number,
                        const Location &at);
    void check_storage(const program::FunctionContents &f);
    void check_fits(const std::string &what, const Expr &number, const Location &at);
    void check_wide_numbers(const program::FunctionContents &f);
    void check_requirements();
    std::vector<Stmt> coordinate_checks() const;
    Stmt answer_query(const ir::Argument &b, QueryAnswers &answers) const;
    Stmt check_room(const ir::Argument &b, QueryAnswers &answers) const;
    Stmt null_checks() const;
    const Box *box_of(const ir::Argument &b) const { return lower::box_of(b, nests); }
    std::string why_beyond(const ir::Argument &b, int d);
    Expr any_query() const;

    const LoopNests &nests;
    const program::Program &program;
    const ProgramContext &context;
    std::vector<Stmt> checks;
    std::unordered_map<Symbol, std::string> why_inputs;  // why_read_beyond, by image
};

void EntryChecks::check(Expr condition, const char *error, std::vector<Expr> args) {
    condition = simplify(condition);
    if (is_true(condition)) return;
    checks.push_back(AssertStmt::make(condition, error_call(error, std::move(args))));
}

void EntryChecks::check_at(const Location &at, const Expr &condition, const char *error,
                           std::vector<Expr> args) {
    args.insert(args.begin(), Expr(remembered_place(at)));
    check(condition, error, std::move(args));
}

// Says what may make the region of an argument larger than the caller requires.
std::string EntryChecks::why_beyond(const ir::Argument &b, int d) {
    const program::FunctionContents *f = context.function(b.func);
    if (!f) {
        auto [why, is_new] = why_inputs.try_emplace(b.name);
        if (is_new) why->second = why_read_beyond(b.name, context);
        return why->second;
    }
    const program::Split *split = widening_split(*f, d);
    return split ? whole_pieces(split->old.text(), *split) : "";
}

void EntryChecks::check_constraint(const ir::Argument &b, int d, BufferField f) {
    Expr fixed = constraint_of(constraint_of(b, d), f);
    if (!fixed.defined()) return;
    check_fits(str(name_of(f), " of dimension ", d, " of ", b.name), fixed, {});
    Expr actual = field(b, f, d);
    std::string constraint = str(fixed);
    if (f == BufferField::Stride && d == 0 && is_one(fixed)) {  // required of all buffers
        constraint = str(b.func.defined() ? str(b.func, ".output_buffer()") : b.name.text(),
                         ".dim(0).set_stride(Expr()) allows any");
    }
    check(actual == cast(Int(32), fixed), "constraint_violated",
          {Expr(str(b.name, ".", name_of(f), ".", d)), actual, Expr(constraint),
           cast(Int(32), fixed)});
}

void EntryChecks::check_dimension(const ir::Argument &b, int d) {
    Expr first = field(b, BufferField::Min, d), extent = field(b, BufferField::Extent, d);
    Expr name = Expr(b.name.text());
    check(extent >= 0, "buffer_extents_negative", {name, d, extent});
    if (const Box *box = box_of(b)) {
        const Interval &i = (*box)[size_t(d)];
        check(i.min >= first && i.max <= first + extent - 1, "access_out_of_bounds",
              {name, d, i.min, i.max, first, first + extent - 1, Expr(why_beyond(b, d))});
    }
    check_constraint(b, d, BufferField::Min);
    check_constraint(b, d, BufferField::Extent);
    check_constraint(b, d, BufferField::Stride);
    // The values of an output are computed together, where the first one says.
    Symbol output = b.func;
    Symbol first_value = output.defined() ? context.buffers.at(output)[0] : b.name;
    if (first_value == b.name) return;
    for (BufferField f : {BufferField::Min, BufferField::Extent}) {
        Expr actual = field(b, f, d), wanted = BufferProperty::make(first_value, f, d);
        check(actual == wanted, "constraint_violated",
              {Expr(str(b.name, ".", name_of(f), ".", d)), actual,
               Expr(str(first_value, ".", name_of(f), ".", d)), wanted});
    }
}

// The number of elements, and every distance between two of them, has to fit an index.
void EntryChecks::check_size(const ir::Argument &b) {
    if (context.target.has_feature(Target::LargeBuffers)) return;
    Expr limit = IntImm::make(Int(64), INT32_MAX), total = IntImm::make(Int(64), 1);
    for (int d = 0; d < b.dimensions; d++) {
        Expr extent = cast(Int(64), field(b, BufferField::Extent, d));
        Expr distance = extent * cast(Int(64), field(b, BufferField::Stride, d));
        check(max(distance, -distance) <= limit, "buffer_extents_too_large",
              {Expr(b.name.text()), max(distance, -distance), limit});
        total = total * extent;
        check(total <= limit, "buffer_extents_too_large", {Expr(b.name.text()), total, limit});
    }
}

void EntryChecks::check_buffer(const ir::Argument &b) {
    Expr name = Expr(b.name.text());
    Expr code = field(b, BufferField::TypeCode), bits = field(b, BufferField::TypeBits);
    int wanted_code = int(b.type.code()), wanted_bits = b.type.bits();
    // A tessera_type_t of one lane, as the runtime's functions take it.
    auto packed = [](const Expr &c, const Expr &n) {
        return cast(UInt(32), c + n * (1 << 8) + (1 << 16));
    };
    check(code == wanted_code && bits == wanted_bits, "bad_type",
          {name, packed(code, bits), packed(wanted_code, wanted_bits)});
    check(field(b, BufferField::Dimensions) == b.dimensions, "bad_dimensions",
          {name, field(b, BufferField::Dimensions), b.dimensions});
    // With a GPU it may be there alone: lower/gpu/device_copies.h.
    const bool has_gpu = context.target.has_gpu_feature();
    if (!has_gpu) check(!is_null(field(b, BufferField::Host)), "host_is_null", {name});
    for (int d = 0; d < b.dimensions; d++) check_dimension(b, d);
    check_size(b);
    if (!has_gpu) {
        check(!call(Bool(), Intrinsic::is_device_dirty, {handle_of(b.name)}),
              "device_dirty_with_no_device_support", {name});
    }
    const Parameter *p = parameter_of(b);
    if (p && p->host_alignment > 1) {
        Expr address = Reinterpret::make(UInt(64), field(b, BufferField::Host));
        check(address % make_const(UInt(64), p->host_alignment) == make_zero(UInt(64)),
              "unaligned_host_ptr", {name, p->host_alignment});
    }
}

void EntryChecks::check_parameter(const ir::Argument &a) {
    const Parameter *p = parameter_of(a);
    if (!p) return;
    Type wide = a.type.is_float() ? Float(64) : a.type.is_int() ? Int(64) : UInt(64);
    const char *too_small = wide.is_float() ? "param_too_small_f64"
                            : wide.is_int() ? "param_too_small_i64"
                                            : "param_too_small_u64";
    const char *too_large = wide.is_float() ? "param_too_large_f64"
                            : wide.is_int() ? "param_too_large_i64"
                                            : "param_too_large_u64";
    Expr value = Variable::make(a.type, a.name);
    auto wrong = [&](const Expr &limit) {
        return std::vector<Expr>{Expr(a.name.text()), cast(wide, value), cast(wide, limit)};
    };
    if (p->min_value.defined()) check(value >= p->min_value, too_small, wrong(p->min_value));
    if (p->max_value.defined()) check(value <= p->max_value, too_large, wrong(p->max_value));
}

void EntryChecks::check_splits(const program::FunctionContents &f) {
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::Definition *version : versions_of(*stage)) {
            for (const auto &t : version->schedule.transforms) {
                const auto *split = std::get_if<program::Split>(&t.directive);
                if (!split || is_const(split->factor)) continue;
                Expr factor = cast(Int(32), split->factor);
                check_at(t.at, factor > 0, "split_factor_not_positive",
                         {Expr(f.name.text()), Expr(split->old.text()), Expr(str(split->factor)),
                          factor});
            }
        }
    }
}

// A number of more than 32 bits that stands where an int32 is wanted.
void EntryChecks::check_fits(const std::string &what, const Expr &number, const Location &at) {
    Expr wide = number.defined() ? program::number_before_int32(number) : Expr();
    if (!wide.defined()) return;
    Expr fits = wide <= make_const(wide.type(), INT32_MAX);
    if (wide.type().is_int()) fits = make_const(wide.type(), INT32_MIN) <= wide && fits;
    Expr message =
        call(Handle(), Intrinsic::stringify,
             {Expr(str("the ", what, ", ", wide, ", does not fit int32: it is ")), wide});
    check_at(at, fits, "requirement_failed", {Expr(str(wide, " <= ", INT32_MAX)), message});
}

// All those that a function's definitions and directives hold.
void EntryChecks::check_wide_numbers(const program::FunctionContents &f) {
    auto name = [&](const char *what) { return str(what, " of ", f.name); };
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::ReductionVariable &r : stage->reduction) {
            const std::string of = str(r.var, " in the definition of ", f.name);
            check_fits(str("min of ", of), r.min, stage->written);
            check_fits(str("extent of ", of), r.extent, stage->written);
        }
        for (const program::Definition *version : versions_of(*stage)) {
            for (const auto &t : version->schedule.transforms) {
                const auto *split = std::get_if<program::Split>(&t.directive);
                if (split) check_fits(name("factor of split"), split->factor, t.at);
            }
        }
    }
    check_fits(name("number of copies of ring_buffer"), f.schedule.ring_buffer,
               f.schedule.ring_buffer_written);
    for (const program::StorageDimension &d : f.schedule.storage) {
        check_fits(name("alignment of align_storage"), d.alignment, d.alignment_written);
        check_fits(name("extent of bound_storage"), d.bound, d.bound_written);
        check_fits(name("factor of fold_storage"), d.fold_factor, d.fold_written);
    }
    for (const auto &b : f.schedule.bounds) {
        const std::string of = str(program::directive_name(b.directive), " of ", f.name);
        check_fits(str("min of ", of), b.directive.min, b.at);
        check_fits(str("extent of ", of), b.directive.extent, b.at);
        check_fits(str("modulus of ", of), b.directive.modulus, b.at);
        check_fits(str("remainder of ", of), b.directive.remainder, b.at);
    }
}

// A number that a directive was given; a constant has been checked where it was written.
void EntryChecks::check_positive(const program::FunctionContents &f, const char *what,
                                 const Expr &number, const Location &at) {
    if (!number.defined() || is_const(number)) return;
    Expr value = cast(Int(32), number);
    Expr message =
        call(Handle(), Intrinsic::stringify,
             {Expr(str("the ", what, " of ", f.name, " must be positive, not ")), value});
    check_at(at, value > 0, "requirement_failed", {Expr(str(number, " > 0")), message});
}

void EntryChecks::check_storage(const program::FunctionContents &f) {
    check_positive(f, "number of copies of ring_buffer", f.schedule.ring_buffer,
                   f.schedule.ring_buffer_written);
    for (const program::StorageDimension &d : f.schedule.storage) {
        check_positive(f, "alignment of align_storage", d.alignment, d.alignment_written);
    }
    for (const auto &b : f.schedule.bounds) {
        check_positive(f, str("modulus of ", program::directive_name(b.directive)).c_str(),
                       b.directive.modulus, b.at);
    }
}

void EntryChecks::check_requirements() {
    for (const program::Requirement &r : program.requirements) {
        Expr message = call(Handle(), Intrinsic::stringify, r.message);
        check_at(r.at, r.condition, "requirement_failed", {Expr(str(r.condition)), message});
    }
}

// Before bounds queries, too: an answer that has overflowed is wrong.
std::vector<Stmt> EntryChecks::coordinate_checks() const {
    CoordinateChecks checks;
    for (const ir::Argument &a : context.arguments) {
        const Parameter *p = is_buffer(a) ? nullptr : parameter_of(a);
        if (p) checks.bind_scalar(a, p->min_value, p->max_value);
    }
    for (const Binding &let : nests.lets) checks.bind(let.symbol, let.value);
    for (const ir::Argument &b : context.arguments) {
        const Box *box = is_buffer(b) ? box_of(b) : nullptr;
        for (size_t d = 0; box && d < box->size(); d++) {
            checks.add(str(b.name, ".min.", d), (*box)[d].min);
            checks.add(str(b.name, ".max.", d), (*box)[d].max);
        }
    }
    for (const ir::Argument &b : context.arguments) {
        for (int d = 0; is_buffer(b) && d < b.dimensions; d++) checks.check_argument(b, d);
    }
    return checks.asserts;
}

// The query's answer: what the pipeline needs of the buffer, dense, but for what the user fixed.
Stmt EntryChecks::answer_query(const ir::Argument &b, QueryAnswers &answers) const {
    std::vector<Stmt> fields;
    auto set = [&](BufferField f, int d, const Expr &value) {
        fields.push_back(Evaluate::make(
            call(Int(32), Intrinsic::set_buffer_field, {handle_of(b.name), int(f), d, value})));
    };
    set(BufferField::TypeCode, 0, int(b.type.code()));
    set(BufferField::TypeBits, 0, b.type.bits());
    for (int d = 0; d < b.dimensions; d++) {
        for (BufferField f : {BufferField::Min, BufferField::Extent, BufferField::Stride}) {
            set(f, d, answers.of(b, f, d));
        }
    }
    return IfThenElse::make(is_query(b.name), Block::make(std::move(fields)));
}

// The regions that the user fixed for an input must have room for what the pipeline needs. If
// constraints go in circles that is not settled yet: infer_input_bounds asks until nothing changes,
// and its last answer is checked when the pipeline runs.
Stmt EntryChecks::check_room(const ir::Argument &b, QueryAnswers &answers) const {
    const Box *box = b.kind == ArgumentKind::InputBuffer ? box_of(b) : nullptr;
    std::vector<Stmt> asserts;
    for (int d = 0; box && d < b.dimensions && !answers.in_circles(); d++) {
        program::DimensionConstraint c = constraint_of(b, d);
        if (!c.min.defined() && !c.extent.defined()) continue;
        const Interval &i = (*box)[size_t(d)];
        Expr first = answers.of(b, BufferField::Min, d);
        Expr extent = answers.of(b, BufferField::Extent, d);
        Expr needed = simplify(max(i.max - i.min + 1, 0));
        Expr enough = needed == 0 || (first <= i.min && i.max <= first + extent - 1);
        asserts.push_back(AssertStmt::make(
            simplify(enough), error_call("constraints_make_required_region_smaller",
                                         {Expr(b.name.text()), d, first, extent, i.min, needed})));
    }
    return IfThenElse::make(is_query(b.name), Block::make(std::move(asserts)));
}

Stmt EntryChecks::null_checks() const {
    std::vector<Stmt> all;
    for (const ir::Argument &b : context.arguments) {
        if (!is_buffer(b)) continue;
        all.push_back(
            AssertStmt::make(!is_null(handle_of(b.name)),
                             error_call("buffer_argument_is_null", {Expr(b.name.text())})));
    }
    return Block::make(std::move(all));
}

Expr EntryChecks::any_query() const {
    Expr any = const_false();
    for (const ir::Argument &b : context.arguments) {
        if (is_buffer(b)) any = any || is_query(b.name);
    }
    return any;
}

Stmt EntryChecks::wrap() {
    const bool asserts = !context.target.has_feature(Target::NoAsserts);
    std::vector<Stmt> answers;
    // Answers to queries are wrong for parameters that are out of range.
    for (const ir::Argument &a : context.arguments) {
        if (!is_buffer(a)) check_parameter(a);
    }
    for (const program::FunctionRef &f : context.order) check_wide_numbers(*f);
    std::vector<Stmt> first = std::exchange(checks, {});
    for (const program::FunctionRef &f : context.order) {
        check_splits(*f);
        check_storage(*f);
    }
    QueryAnswers query_answers(context, [&](const ir::Argument &a, int d) {
        const Box *box = box_of(a);
        return box ? (*box)[size_t(d)] : Interval{0, -1};  // no computed value reads it
    });
    for (const ir::Argument &a : context.arguments) {
        if (!is_buffer(a)) continue;
        check_buffer(a);
        answers.push_back(answer_query(a, query_answers));
    }
    for (const ir::Argument &a : context.arguments) {
        if (asserts && is_buffer(a)) answers.push_back(check_room(a, query_answers));
    }
    check_requirements();
    checks.insert(checks.end(), nests.asserts.begin(), nests.asserts.end());
    if (asserts) {
        for (Stmt &check : overlap_checks(nests, context)) checks.push_back(std::move(check));
    }
    UseConstraints use_constraints(context);
    Stmt body = use_constraints(nests.body);
    if (asserts) body = Block::make(Block::make(std::move(checks)), body);
    if (!context.target.has_feature(Target::NoBoundsQuery)) {
        body =
            IfThenElse::make(any_query(), use_constraints(Block::make(std::move(answers))), body);
    }
    for (const Stmt &check : coordinate_checks()) first.push_back(check);
    if (asserts) body = Block::make(use_constraints(Block::make(std::move(first))), body);
    for (auto let = nests.lets.rbegin(); let != nests.lets.rend(); ++let) {
        body = LetStmt::make(let->symbol, use_constraints(let->value), body);
    }
    return asserts ? Block::make(null_checks(), body) : body;
}

}  // namespace

Stmt add_entry_checks(const LoopNests &nests, const program::Program &program,
                      const ProgramContext &context) {
    return EntryChecks(nests, program, context).wrap();
}

}  // namespace tessera::lower
