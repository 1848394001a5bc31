#include "interpret/definition.h"
#include "base/large_stack.h"
#include "interpret/extern_stage.h"
#include "interpret/function_state.h"
#include "program/environment.h"
#include <algorithm>
#include <deque>
#include <optional>

namespace tessera::interpret {
namespace {

using namespace ir;
using program::FunctionContents;
using program::FunctionRef;
using program::Parameter;
using Point = std::vector<int32_t>;
using Cell = PointTable::Cell;

class DefinitionRun final : public OperandSource {
public:
    DefinitionRun(const program::Program &program, std::span<tessera_buffer_t *const> outputs,
                  const DefinitionOptions &options)
        : program(program), options(options) {
        size_t next = 0;
        for (const program::FunctionRef &f : program.outputs) add_output(f, outputs, next);
        if (next != outputs.size()) throw RuntimeError("more buffers than the program has outputs");
    }

    void run() {
        check_requirements();
        do {
            incomplete = false;
            for (auto &[name, state] : states) state->forget_values();
            results.clear();
            for (const program::FunctionRef &f : program.outputs) compute(*states.at(f->name));
        } while (incomplete);
        write_outputs();
    }

private:
    struct Result {
        tessera_buffer_t *buffer;
        Point point;
        Cell cell;
    };

    void add_output(const FunctionRef &f, std::span<tessera_buffer_t *const> buffers, size_t &next);
    void check_requirements();
    void compute(FunctionState &f);
    void write_outputs();

    const Value *variable(const Variable &v) override;
    void evaluate(const ExprNode &node, Operands operands, Value &result) override;
    void evaluate_call(const Call &call, Operands operands, Value &result);
    void evaluate_somewhere(const Call &call, Operands operands, Value &result);
    void evaluate_property(const BufferProperty &property, Value &result);
    void evaluate_intrinsic(const IntrinsicCall &call, Operands operands, Value &result);
    void require(const IntrinsicCall &call, Operands operands);
    void read_image(const Call &call, const Point &point, Value &result);
    const tessera_buffer_t &image(Symbol name, const Referent *referent);

    FunctionState &state_of(const FunctionRef &f);
    FunctionState &callee(const Call &call);
    void run_tape(FunctionState &f, Tape &tape);
    StageState &stage_of(FunctionState &f, size_t index);
    const Cell *value_at(FunctionState &f, const int32_t *point);
    Cell *initial_value(FunctionState &f, const int32_t *point);
    void keep_what_is_undefined(FunctionState &f, const int32_t *point, Cell *cells);
    void run_updates(FunctionState &f, const int32_t *point);
    void run_stage(FunctionState &f, size_t index, const int32_t *point);
    void run_domain(FunctionState &f, StageState &stage);
    void run_once(FunctionState &f, StageState &stage);
    void write(FunctionState &f, const StageState &stage, size_t first_root);
    Cell lost(const std::string &reason);
    bool poisoned(const Value &v, const char *what);

    void run_extern(FunctionState &f);
    void add_extern_argument(ExternStage &stage, const program::ExternFuncArgument &arg);
    void pass_image(OwnedBuffer &b, const program::Parameter &parameter);
    void fill(OwnedBuffer &b, FunctionState &f, size_t value_index);

    const program::Program &program;
    const DefinitionOptions &options;
    std::unordered_map<Symbol, std::unique_ptr<FunctionState>> states;
    std::deque<std::vector<tessera_buffer_t *>> output_buffers;
    std::unordered_map<Symbol, Value> parameters;
    StageState *binding = nullptr;
    const FunctionRef *caller = nullptr;  // whose definition is being evaluated
    std::unordered_map<const Call *, FunctionState *> callees;
    std::deque<std::string> texts;
    std::vector<Result> results;
    bool incomplete = false;  // a function was called at a point beyond what it runs over
    std::string reason;       // why the last value was lost
};

void DefinitionRun::add_output(const FunctionRef &function,
                               std::span<tessera_buffer_t *const> buffers, size_t &next) {
    const FunctionContents &f = *function;
    auto &mine = output_buffers.emplace_back();
    for (Type type : f.types) {
        if (next == buffers.size()) throw RuntimeError(str("no buffer for output ", f.name));
        tessera_buffer_t *b = buffers[next++];
        if (b->dimensions != f.dimensions() || b->type.bits != type.bits() ||
            b->type.code != uint8_t(type.code())) {
            throw RuntimeError(str("the buffer for output ", f.name, " is not of type ", type,
                                   " and ", f.dimensions(), " dimensions"));
        }
        mine.push_back(b);
    }
    FunctionState &state = state_of(function);
    state.output = &mine;
    for (tessera_buffer_t *b : mine) {
        Point low, high;
        bool empty = false;
        for (int d = 0; d < b->dimensions; d++) {
            low.push_back(b->dim[d].min);
            high.push_back(b->dim[d].min + b->dim[d].extent - 1);
            empty |= b->dim[d].extent <= 0;
        }
        if (empty) continue;
        state.grow_region(low.data());
        state.grow_region(high.data());
    }
}

void DefinitionRun::check_requirements() {
    for (const program::Requirement &r : program.requirements) {
        Tape condition({r.condition});
        condition.run(*this);
        if (condition.result().as_bool()) continue;
        Tape message({IntrinsicCall::make(Handle(), Intrinsic::stringify, r.message)});
        message.run(*this);
        throw RuntimeError(
            str("requirement failed: ", reinterpret_cast<const char *>(message.result().word())));
    }
}

void DefinitionRun::compute(FunctionState &f) {
    for (size_t k = 0; k < f.output->size(); k++) {
        tessera_buffer_t *b = (*f.output)[k];
        Point low, high;
        for (int d = 0; d < b->dimensions; d++) {
            low.push_back(b->dim[d].min);
            high.push_back(b->dim[d].min + b->dim[d].extent - 1);
        }
        for_each_point(low, high, [&](const Point &point) {
            const Cell *cells = value_at(f, point.data());
            if (!cells && incomplete) return;
            if (!cells || (cells[k].poison == Unwritten && !incomplete)) {
                throw RuntimeError(str("output ", f.contents->name, " at (", join(point),
                                       ") depends on a value that is not there: ", reason));
            }
            results.push_back({b, point, cells[k]});
        });
    }
}

void DefinitionRun::write_outputs() {
    for (const Result &r : results) {
        if (r.cell.poison) continue;
        Type t(TypeCode(r.buffer->type.code), r.buffer->type.bits);
        store_word(t, element_at(*r.buffer, r.point.data()), r.cell.word);
    }
}

const Value *DefinitionRun::variable(const Variable &v) {
    if (binding) {
        auto found = binding->variables.find(v.name);
        if (found != binding->variables.end()) return &found->second;
    }
    auto [place, is_new] = parameters.try_emplace(v.name);
    if (!is_new) return &place->second;
    const auto *p = dynamic_cast<const Parameter *>(v.referent.get());
    if (!p) throw InternalError(str("variable ", v.name, " stands for nothing"));
    if (!p->scalar_is_set) throw RuntimeError(str("parameter ", v.name, " has no value"));
    place->second.reset(v.type);
    place->second.assign(load_word(v.type, &p->scalar_bits));
    return &place->second;
}

void DefinitionRun::evaluate(const ExprNode &node, Operands operands, Value &result) {
    switch (node.kind) {
    case NodeKind::Call: return evaluate_call(static_cast<const Call &>(node), operands, result);
    case NodeKind::BufferProperty:
        return evaluate_property(static_cast<const BufferProperty &>(node), result);
    case NodeKind::ExternCall:
        return call_extern(static_cast<const ExternCall &>(node), operands, options.externs,
                           result);
    case NodeKind::IntrinsicCall:
        return evaluate_intrinsic(static_cast<const IntrinsicCall &>(node), operands, result);
    default: throw InternalError("a definition holds a node of lowered code");
    }
}

Cell DefinitionRun::lost(const std::string &why) {
    if (!why.empty()) reason = why;
    return {0, Unwritten};
}

void DefinitionRun::evaluate_call(const Call &call, Operands operands, Value &result) {
    Point point;
    bool known = true;
    for (const Value *operand : operands) {
        known &= !operand->poison[0];
        point.push_back(operand->poison[0] ? 0 : int32_t(operand->as_int()));
    }
    if (!known) return evaluate_somewhere(call, operands, result);
    if (call.call_kind == CallKind::Image) return read_image(call, point, result);
    FunctionState &f = callee(call);
    const Cell *cells = value_at(f, point.data());
    Cell cell = cells ? cells[call.value_index] : lost("");
    // A value that is computed inline is undef where it is read; one that would be stored is not
    // there.
    bool is_inline = f.is_inline && !f.has_updates();
    if (cell.poison == Undefined && !is_inline) cell = lost(str(call.callee, " is undef there"));
    result.assign(cell.word);
    result.poison[0] = cell.poison;
}

// The value at coordinates some of which are lost: there is one if it does not depend on these.
void DefinitionRun::evaluate_somewhere(const Call &call, Operands operands, Value &result) {
    result.assign(0);
    result.poison[0] = Unwritten;
    if (call.call_kind == CallKind::Image) return;
    FunctionState &f = callee(call);
    if (f.contents->has_extern_definition() || f.has_updates()) return;
    StageState &stage = stage_of(f, 0);
    for (size_t d = 0; d < operands.size(); d++) *stage.arguments[d] = *operands[d];
    run_tape(f, *stage.tape);
    result = stage.tape->result(stage.arguments.size() + size_t(call.value_index));
    if (result.poison[0]) result.poison[0] = Unwritten;
}

FunctionState &DefinitionRun::callee(const Call &call) {
    FunctionState *&known = callees[&call];
    if (!known) {
        if (!caller) throw InternalError(str("a call of ", call.callee, " outside of a function"));
        const program::FunctionRef callee = program::callee_of(call, *caller);
        known = &state_of(callee ? callee : *caller);
    }
    return *known;
}

void DefinitionRun::run_tape(FunctionState &f, Tape &tape) {
    const FunctionRef *outer = std::exchange(caller, &f.contents);
    tape.run_bound(*this);
    caller = outer;
}

const tessera_buffer_t &DefinitionRun::image(Symbol name, const Referent *referent) {
    const auto *p = dynamic_cast<const Parameter *>(referent);
    if (!p) throw InternalError(str("image ", name, " stands for nothing"));
    if (!p->buffer) throw RuntimeError(str("input ", name, " has no buffer"));
    return *p->buffer;
}

void DefinitionRun::read_image(const Call &call, const Point &point, Value &result) {
    const tessera_buffer_t &b = image(call.callee, call.referent.get());
    if (b.dimensions != int(point.size()) || b.type.bits != call.type.bits() ||
        b.type.code != uint8_t(call.type.code())) {
        throw RuntimeError(str("input ", call.callee, " is not of type ", call.type, " and ",
                               point.size(), " dimensions"));
    }
    const uint8_t *element = element_at(b, point.data());
    if (!element) {
        Cell cell = lost(str("input ", call.callee, " is read at (", join(point), "), outside"));
        result.assign(cell.word);
        result.poison[0] = cell.poison;
        return;
    }
    result.assign(load_word(call.type, element));
}

void DefinitionRun::evaluate_property(const BufferProperty &property, Value &result) {
    const tessera_buffer_t &b = image(property.buffer, property.referent.get());
    result.assign(Word(property_of(b, property.buffer, property.field, property.dim)));
}

void DefinitionRun::evaluate_intrinsic(const IntrinsicCall &call, Operands operands,
                                       Value &result) {
    switch (call.op) {
    case Intrinsic::undef:
        result.assign(0);
        result.poison[0] = Undefined;
        return;
    case Intrinsic::require:
        require(call, operands);
        result = *operands[1];
        return;
    case Intrinsic::user_context: return result.assign(Word(uintptr_t(options.user_context)));
    case Intrinsic::stringify:
        texts.push_back(interpret::stringify(call, operands));
        return result.assign(Word(uintptr_t(texts.back().c_str())));
    default: throw InternalError(str(info_of(call.op).name, " has no meaning in a definition"));
    }
}

void DefinitionRun::require(const IntrinsicCall &call, Operands operands) {
    if (operands[0]->poison[0] || operands[0]->as_bool()) return;
    std::vector<Expr> parts(call.args.begin() + 3, call.args.end());
    Expr text = IntrinsicCall::make(Handle(), Intrinsic::stringify, std::move(parts));
    std::string message = interpret::stringify(*text.as<IntrinsicCall>(), operands.subspan(3));
    throw RuntimeError(str("requirement failed: ", message));
}

FunctionState &DefinitionRun::state_of(const FunctionRef &function) {
    const FunctionContents &f = *function;
    auto &state = states[f.name];
    if (!state) {
        if (!f.defined()) throw CompileError(f.written, str("Func ", f.name, " is not defined"));
        state = std::make_unique<FunctionState>(function);
        state->stages.resize(f.stages.size());
        state->is_inline = program::with_levels_of_now(f.schedule).compute_level.means_inlined();
    }
    return *state;
}

StageState &DefinitionRun::stage_of(FunctionState &f, size_t index) {
    auto &stage = f.stages[index];
    if (stage) return *stage;
    stage = std::make_unique<StageState>(*f.contents, *f.contents->stages[index]);
    StageState *outer = std::exchange(binding, stage.get());
    stage->tape->bind(*this);
    stage->bounds->bind(*this);
    if (stage->predicate) stage->predicate->bind(*this);
    binding = outer;
    return *stage;
}

// Null if the point is one that nobody had required: then all is done again, for more points.
const Cell *DefinitionRun::value_at(FunctionState &f, const int32_t *point) {
    if (!f.in_region(point)) {
        f.grow_region(point);
        incomplete = true;
        return nullptr;
    }
    if (f.contents->has_extern_definition()) {
        if (!f.extern_done) run_extern(f);
        // The point may have been required after the stage ran.
        if (f.extern_values.empty() || !element_at(f.extern_values[0]->buffer, point)) {
            return nullptr;
        }
    } else if (f.has_updates()) {
        run_updates(f, point);
    }
    Cell *cells = f.values.find(point);
    return cells ? cells : initial_value(f, point);
}

Cell *DefinitionRun::initial_value(FunctionState &f, const int32_t *point) {
    std::vector<Cell> found(f.contents->types.size());
    if (f.contents->has_extern_definition()) {
        for (size_t k = 0; k < found.size(); k++) {
            const uint8_t *element = element_at(f.extern_values[k]->buffer, point);
            found[k].word = load_word(f.contents->types[k], element);
        }
    } else {
        StageState &stage = stage_of(f, 0);
        size_t dims = stage.arguments.size();
        for (size_t d = 0; d < dims; d++)
            stage.arguments[d]->assign(word_of_int(Int(32), point[d]));
        run_tape(f, *stage.tape);
        for (size_t k = 0; k < found.size(); k++) {
            const Value &v = stage.tape->result(dims + k);
            found[k] = {v.word(), v.poison[0]};
        }
        keep_what_is_undefined(f, point, found.data());
    }
    return std::copy(found.begin(), found.end(), f.values.insert(point)) - found.size();
}

// An output that is undef holds what the caller's buffer holds.
void DefinitionRun::keep_what_is_undefined(FunctionState &f, const int32_t *point, Cell *cells) {
    for (size_t k = 0; f.output && k < f.output->size(); k++) {
        if (cells[k].poison != Undefined) continue;
        const uint8_t *element = element_at(*(*f.output)[k], point);
        if (element) cells[k] = {load_word(f.contents->types[k], element), Defined};
    }
}

void DefinitionRun::run_updates(FunctionState &f, const int32_t *point) {
    Point slice(point, point + f.sliced.size());
    for (size_t d = 0; d < slice.size(); d++) {
        if (!f.sliced[d]) slice[d] = 0;
    }
    if (f.slices_done.find(slice.data())) return;
    f.slices_done.insert(slice.data());
    for (size_t s = 1; s < f.contents->stages.size(); s++) run_stage(f, s, slice.data());
}

void DefinitionRun::run_stage(FunctionState &f, size_t index, const int32_t *slice) {
    StageState &stage = stage_of(f, index);
    Point low(slice, slice + f.sliced.size()), high = low;
    for (size_t d = 0; d < low.size(); d++) {
        if (f.sliced[d] || !stage.free[d]) continue;
        low[d] = f.low[d];
        high[d] = f.high[d];
    }
    for_each_point(low, high, [&](const Point &point) {
        for (size_t d = 0; d < point.size(); d++) {
            stage.arguments[d]->assign(word_of_int(Int(32), point[d]));
        }
        run_domain(f, stage);
    });
}

void DefinitionRun::run_domain(FunctionState &f, StageState &stage) {
    Point low, high;
    stage.bounds->run_bound(*this);
    for (size_t r = 0; r < stage.reduction.size(); r++) {
        low.push_back(int32_t(stage.bounds->result(2 * r).as_int()));
        high.push_back(int32_t(low.back() + stage.bounds->result(2 * r + 1).as_int() - 1));
    }
    for_each_point(low, high, [&](const Point &point) {
        for (size_t r = 0; r < point.size(); r++) {
            stage.reduction[r]->assign(word_of_int(Int(32), point[r]));
        }
        run_once(f, stage);
    });
}

// Returns true if the value is lost. That is an error, unless it may be lost because not all points
// are known yet.
bool DefinitionRun::poisoned(const Value &v, const char *what) {
    if (!v.poison[0]) return false;
    if (!incomplete)
        throw RuntimeError(str(what, " depends on a value that is not there: ", reason));
    return true;
}

void DefinitionRun::run_once(FunctionState &f, StageState &stage) {
    if (stage.predicate) {
        run_tape(f, *stage.predicate);
        if (poisoned(stage.predicate->result(), "a predicate of a reduction domain")) return;
        if (!stage.predicate->result().as_bool()) return;
    }
    run_tape(f, *stage.tape);
    size_t per_write = f.contents->args.size() + f.contents->types.size();
    for (size_t w = 0; w < stage.writes; w++) write(f, stage, w * per_write);
}

void DefinitionRun::write(FunctionState &f, const StageState &stage, size_t first_root) {
    Point point;
    size_t dims = f.contents->args.size();
    for (size_t d = 0; d < dims; d++) {
        const Value &at = stage.tape->result(first_root + d);
        if (poisoned(at, "where an update writes")) return;
        point.push_back(int32_t(at.as_int()));
    }
    Cell *cells = f.values.find(point.data());
    if (!cells) cells = initial_value(f, point.data());
    for (size_t k = 0; k < f.contents->types.size(); k++) {
        const Value &v = stage.tape->result(first_root + dims + k);
        if (v.poison[0] != Undefined) cells[k] = {v.word(), v.poison[0]};
    }
}

// Enlarges the box so that the other is in it.
static void include_box(Point &low, Point &high, const std::vector<tessera_dimension_t> &box) {
    for (size_t d = 0; d < box.size(); d++) {
        low[d] = std::min(low[d], box[d].min);
        high[d] = std::max(high[d], box[d].min + box[d].extent - 1);
    }
}

void DefinitionRun::run_extern(FunctionState &f) {
    f.extern_done = true;
    const program::ExternDefinition &e = *f.contents->extern_definition;
    std::optional<ExternStage> query;
    std::vector<std::unique_ptr<OwnedBuffer>> values;
    auto run_query = [&](const Point &low, const Point &high) {
        query.emplace(e, options.externs);
        values.clear();
        if (e.uses_user_context) query->pass(Handle(), Word(uintptr_t(options.user_context)));
        for (const program::ExternFuncArgument &arg : e.args) add_extern_argument(*query, arg);
        for (Type t : f.contents->types) {
            values.push_back(std::make_unique<OwnedBuffer>(t, box_dimensions(low, high)));
            query->pass(*values.back());
        }
        query->call();
    };
    run_query(f.low, f.high);
    // It may want to compute more, and reads more for it then.
    Point low = f.low, high = f.high;
    for (const auto &v : values) include_box(low, high, v->dims);
    if (low != f.low || high != f.high) run_query(low, high);
    for (auto &v : values) std::ranges::copy(box_dimensions(low, high), v->dims.begin());
    if (!query) throw InternalError("an extern stage was not queried");
    ExternStage &stage = *query;
    size_t next = 0;
    for (const program::ExternFuncArgument &arg : e.args) {
        if (arg.buffer) pass_image(stage.buffers[next++], *arg.buffer);
        if (!arg.func) continue;
        FunctionState &input = state_of(program::argument_of(f.contents, arg));
        for (size_t k = 0; k < arg.func->types.size(); k++) fill(stage.buffers[next++], input, k);
    }
    if (incomplete) return;
    for (auto &v : values) v->allocate();
    stage.call();
    f.extern_values = std::move(values);
}

// The image as it is, in place of what the query has set. If that is no part of it, because a point
// was wanted of which only another value is needed, a copy with zeros beyond.
void DefinitionRun::pass_image(OwnedBuffer &b, const program::Parameter &parameter) {
    const tessera_buffer_t &whole = image(parameter.name, &parameter);
    bool inside = true;
    Point low, high;
    for (int d = 0; d < whole.dimensions; d++) {
        const tessera_dimension_t &wanted = b.dims[size_t(d)], &there = whole.dim[d];
        int64_t last = int64_t(wanted.min) + wanted.extent - 1;
        low.push_back(wanted.min);
        high.push_back(int32_t(last));
        inside &= wanted.extent <= 0 ||
                  (wanted.min >= there.min && last < int64_t(there.min) + there.extent);
    }
    if (inside) {
        std::copy(whole.dim, whole.dim + whole.dimensions, b.dims.begin());
        b.buffer.host = whole.host;
        return;
    }
    b.allocate();
    for_each_point(low, high, [&](const Point &point) {
        const uint8_t *element = element_at(whole, point.data());
        if (!element) return;
        store_word(parameter.type, element_at(b.buffer, point.data()),
                   load_word(parameter.type, element));
    });
}

void DefinitionRun::add_extern_argument(ExternStage &stage,
                                        const program::ExternFuncArgument &arg) {
    if (arg.func) {
        for (Type t : arg.func->types)
            stage.pass_query(t, std::vector<tessera_dimension_t>(size_t(arg.func->dimensions())));
    } else if (arg.buffer) {
        const tessera_buffer_t &b = image(arg.buffer->name, arg.buffer.get());
        stage.pass_query(arg.buffer->type, {b.dim, b.dim + b.dimensions});
    } else {
        Tape scalar({arg.scalar});
        scalar.run(*this);
        stage.pass(arg.scalar.type(), scalar.result().word());
    }
}

void DefinitionRun::fill(OwnedBuffer &b, FunctionState &f, size_t value_index) {
    b.allocate();
    Point low, high;
    for (const tessera_dimension_t &dim : b.dims) {
        low.push_back(dim.min);
        high.push_back(dim.min + dim.extent - 1);
    }
    for_each_point(low, high, [&](const Point &point) {
        const Cell *cells = value_at(f, point.data());
        if (!cells) return;
        store_word(f.contents->types[value_index], element_at(b.buffer, point.data()),
                   cells[value_index].word);
    });
}

}  // namespace

void evaluate_definition(const program::Program &program,
                         std::span<tessera_buffer_t *const> outputs,
                         const DefinitionOptions &options) {
    run_on_large_stack([&] { DefinitionRun(program, outputs, options).run(); });
}

}  // namespace tessera::interpret
