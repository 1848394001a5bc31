#include "base/str.h"
#include "plan.h"
#include <iomanip>
#include <map>
#include <set>
#include <utility>

namespace tessera::fuzz {
namespace {

const char *const variables[] = {"x", "y", "z", "w"};

std::string cpp_type(Type t) {
    if (t.is_bool()) return "bool";
    if (t.is_bfloat()) return "bfloat16_t";
    if (t.is_float()) return t.bits() == 16 ? "float16_t" : t.bits() == 32 ? "float" : "double";
    return str(t.is_uint() ? "u" : "", "int", t.bits(), "_t");
}

// Returns the value as an argument of cast<>.
std::string literal(double value) {
    if (value == double(int32_t(value))) return str(int32_t(value));
    if (value == double(int64_t(value))) return str("Expr(int64_t(", int64_t(value), "))");
    std::ostringstream out;
    out << "Expr(" << std::setprecision(17) << value << ")";
    return out.str();
}

const char *const shared_differences = "Expr shared_differences(Expr a, Expr b) {\n"
                                       "    for (int i = 0; i < 24; i++) {\n"
                                       "        const Expr less = select(a > b, b, b - a);\n"
                                       "        a = select(a > b, a - b, a);\n"
                                       "        b = i % 2 ? less : min(less + 1, b);\n"
                                       "    }\n"
                                       "    return a;\n"
                                       "}\n";

class Printer {
public:
    explicit Printer(const Plan &plan) : plan(plan) {}

    std::string print() {
        for (size_t i = 0; i < plan.inputs.size(); i++) print_input(i);
        for (size_t f = 0; f < plan.funcs.size(); f++) print_func(f);
        std::string schedule;
        for (const Directive &d : plan.directives) schedule += print(d);
        std::string sizes = join(plan.size), mins = join(minima(plan)), outputs;
        for (int f : plan.outputs) outputs += str(outputs.empty() ? "" : ", ", "f", f);
        const bool shares = algorithm.find("shared_differences(") != algorithm.npos;
        return str("// seed ", plan.seed, "\n#include <tessera.h>\nusing namespace tessera;\n",
                   shares ? shared_differences : "",
                   "Var x(\"x\"), y(\"y\"), z(\"z\"), w(\"w\");\nParam<int> p(\"p\");\n", algorithm,
                   loops, schedule, "// outputs ", outputs, ", sizes {", sizes, "}, minima {", mins,
                   "}\n");
    }

private:
    void print_input(size_t i) {
        const InputPlan &in = plan.inputs[i];
        if (in.is_param) {
            algorithm += str("ImageParam in", i, "(type_of<", cpp_type(in.type), ">(), ",
                             in.size.size(), ", \"in", i, "\");\n");
        } else {
            algorithm += str("Buffer<", cpp_type(in.type), "> in", i, "({", join(in.size), "});\n");
        }
        if (in.layout != InputLayout::Dense) algorithm += layout_of(i, in);
    }

    static std::string layout_of(size_t i, const InputPlan &in) {
        const size_t last = in.size.size() - 1;
        switch (in.layout) {
        case InputLayout::LastInnermost:
            if (!in.is_param || last == 0) return "// its last dimension is innermost\n";
            return str("in", i, ".dim(0).set_stride(Expr()); in", i, ".dim(", last,
                       ").set_stride(1);\n");
        case InputLayout::EveryOther:
            return in.is_param ? str("in", i, ".dim(0).set_stride(2);\n")
                               : "// with a gap behind each of its elements\n";
        case InputLayout::PaddedRows: return "// its rows are padded\n";
        case InputLayout::Dense: break;
        }
        return "";
    }

    std::string args(const std::vector<Term> &terms) {
        std::string all;
        for (const Term &t : terms) all += str(all.empty() ? "" : ", ", text(t));
        return all;
    }

    // Returns the places of the function that is being printed.
    std::string places(const std::vector<Term> &terms) {
        std::vector<int> before = std::exchange(base, {});
        std::string all = args(terms);
        base = before;
        return all;
    }

    std::string relative(int d) const {
        int by = size_t(d) < base.size() ? base[size_t(d)] : 0;
        return by == 0 ? variables[d] : str("(", variables[d], " - ", by, ")");
    }

    void need_domain(int id) {
        if (!printed_domains.insert(id).second) return;
        const Domain &d = plan.domains[size_t(id)];
        std::string box;
        for (auto [min, extent] : d.box) box += str(box.empty() ? "" : ", ", min, ", ", extent);
        std::string where;
        for (const Term &w : d.where) where += str("r", id, ".where(", text(w), ");\n");
        algorithm += str("RDom r", id, "(", box, ", \"r", id, "\");\n", where);
    }

    std::string text(const Term &t) {
        switch (t.op) {
        case Op::Number:
            if (t.type == Int(32) && t.number == INT32_MIN) return "Expr(INT32_MIN)";
            return t.type == Int(32) ? str(int64_t(t.number))
                                     : str("cast<", cpp_type(t.type), ">(", literal(t.number), ")");
        case Op::Coordinate: return relative(t.index);
        case Op::Reduction: need_domain(t.index); return str("r", t.index, ".", "xyzw"[t.part]);
        case Op::Call: {
            bool several = plan.funcs[size_t(t.index)].values.size() > 1;
            std::string at = t.index == current ? places(t.args) : args(t.args);
            return str("f", t.index, "(", at, ")", several ? str("[", t.part, "]") : "");
        }
        case Op::Input: return str("in", t.index, "(", args(t.args), ")");
        case Op::Parameter: return "p";
        case Op::Cast: return str("cast<", cpp_type(t.type), ">(", text(t.args[0]), ")");
        case Op::SaturatingCast:
            return str("saturating_cast<", cpp_type(t.type), ">(", text(t.args[0]), ")");
        case Op::Random: return str("random_uint(", t.index, ")");
        case Op::Undef: return str("undef<", cpp_type(t.type), ">()");
#define CASE(name, symbol)                                                                         \
    case Op::name: return str("(", text(t.args[0]), " ", symbol, " ", text(t.args[1]), ")");
            TESSERA_FUZZ_BINARY(CASE)
#undef CASE
#define CASE(name, function)                                                                       \
    case Op::name: return str(#function, "(", args(t.args), ")");
            TESSERA_FUZZ_FUNCTION1(CASE)
            TESSERA_FUZZ_FUNCTION2(CASE)
            TESSERA_FUZZ_FUNCTION3(CASE)
#undef CASE
#define CASE(name, function)                                                                       \
    case Op::name:                                                                                 \
        need_domain(t.index);                                                                      \
        return str(#function, "(r", t.index, ", ", args(t.args), ")");
            TESSERA_FUZZ_REDUCTION(CASE)
#undef CASE
        }
        return "";
    }

    std::string values(const std::vector<Term> &terms) {
        return terms.size() == 1 ? text(terms[0]) : str("Tuple(", args(terms), ")");
    }

    void print_func(size_t f) {
        const FuncPlan &func = plan.funcs[f];
        std::string left =
            str("f", f, "(", join(std::vector<std::string>(variables, variables + func.dims)), ")");
        std::string name = str("Func f", f, "(\"f", f, "\");  ");
        if (func.boundary != Boundary::None) {
            static const char *names[] = {"",
                                          "constant_exterior",
                                          "repeat_edge",
                                          "repeat_image",
                                          "mirror_image",
                                          "mirror_interior"};
            std::string bounds = func.source_is_input ? "" : "bounds 0, 12 of ";
            algorithm += str(name, left, " = BoundaryConditions::", names[int(func.boundary)], "(",
                             bounds, func.source_is_input ? "in" : "f", func.source, ")",
                             left.substr(left.find('(')), ";\n");
            return;
        }
        if (func.is_extern) {
            algorithm += str(name, extern_definition(f));
            return;
        }
        bool is_output = std::count(plan.outputs.begin(), plan.outputs.end(), int(f)) > 0;
        base = is_output ? plan.base : std::vector<int>();
        current = int(f);
        std::string right = values(func.values);
        algorithm += str(name, left, " = ", right, ";\n");
        for (const UpdatePlan &u : func.updates) {
            std::string at = places(u.args), to = values(u.values);
            algorithm += str("f", f, "(", at, ") = ", to, ";\n");
        }
    }

    std::string extern_definition(size_t f) {
        const FuncPlan &func = plan.funcs[f];
        std::string what = str(func.read_limit), types;
        for (const ExternSource &s : func.reads) what += str(s.is_input ? ", in" : ", f", s.index);
        for (const Term &v : func.values) {
            types += str(types.empty() ? "" : ", ", "type_of<", cpp_type(v.type), ">()");
        }
        return str("f", f, ".define_extern(\"", extern_name(plan, func), "\", {", what,
                   "}, std::vector<Type>{", types, "}, {",
                   join(std::vector<std::string>(variables, variables + func.dims)), "});\n");
    }

    // Reduction loops are known by where they come from.
    void declare(const std::string &name, const std::string &like) {
        bool reduction = like.find('.') != std::string::npos || reductions.count(like);
        if (reduction) reductions.insert(name);
        loops += str(reduction ? "RVar " : "Var ", name, "(\"", name, "\");\n");
    }

    std::string print(const Directive &d) {
        std::string of = d.func < int(plan.funcs.size()) ? str("f", d.func) : str("g", d.func);
        std::string stage = d.update < 0 ? of : str(of, ".update(", d.update, ")");
        std::string special = str("s", d.func, d.update < 0 ? "" : str("_", d.update));
        if (d.special >= 0) stage = str(special, "_", d.special);
        std::string other =
            d.other < int(plan.funcs.size()) ? str("f", d.other) : str("g", d.other);
        std::string first = d.names.empty() ? "" : d.names[0], all = join(d.names);
        switch (d.verb) {
        case Verb::Split:
            declare(d.names[1], first);
            declare(d.names[2], first);
            return str(stage, ".split(", all, ", ", d.factor, ", TailStrategy::", name_of(d.tail),
                       ");\n");
        case Verb::Fuse: declare(d.names[2], first); return str(stage, ".fuse(", all, ");\n");
        case Verb::Rename: declare(d.names[1], first); return str(stage, ".rename(", all, ");\n");
        case Verb::Reorder: return str(stage, ".reorder(", all, ");\n");
        case Verb::Tile: return tile(d, stage);
        case Verb::Serial: return str(stage, ".serial(", all, ");\n");
        case Verb::Parallel: return str(stage, ".parallel(", all, ");\n");
        case Verb::GPUBlocks: return str(stage, ".gpu_blocks(", all, ");\n");
        case Verb::GPUThreads: return str(stage, ".gpu_threads(", all, ");\n");
        case Verb::GPULanes: return str(stage, ".gpu_lanes(", all, ");\n");
        case Verb::GPUSingleThread: return str(stage, ".gpu_single_thread();\n");
        case Verb::Vectorize: return str(stage, ".vectorize(", all, ");\n");
        case Verb::Unroll: return str(stage, ".unroll(", all, ");\n");
        case Verb::Partition:
            return str(stage, ".partition(", all, ", Partition::", name_of(d.partition), ");\n");
        case Verb::Atomic: return str(stage, ".atomic();\n");
        case Verb::AllowRaceConditions: return str(stage, ".allow_race_conditions();\n");
        case Verb::Specialize:
            return str("Stage ", special, "_", specializations[special]++, " = ", stage,
                       ".specialize(p > ", d.factor, ");\n");
        case Verb::SpecializeFail: return str(stage, ".specialize_fail(\"no specialization\");\n");
        case Verb::Prefetch:
            return str(stage, ".prefetch(", other, ", ", all, ", ", d.offset,
                       ", PrefetchBoundStrategy::", name_of(d.strategy), ");\n");
        case Verb::StreamStores: return str(stage, ".stream_stores();\n");
        case Verb::StreamLoads:
            return str(stage, ".stream_loads(", d.other < 0 ? "" : str("{", other, "}"), ");\n");
        case Verb::ComputeRoot: return str(of, ".compute_root();\n");
        case Verb::ComputeAt: return str(of, ".compute_at(", other, ", ", all, ");\n");
        case Verb::StoreRoot: return str(of, ".store_root();\n");
        case Verb::StoreAt: return str(of, ".store_at(", other, ", ", all, ");\n");
        case Verb::HoistStorage: return str(of, ".hoist_storage(", other, ", ", all, ");\n");
        case Verb::HoistStorageRoot: return str(of, ".hoist_storage_root();\n");
        case Verb::FoldStorage: return str(of, ".fold_storage(", all, ", ", d.factor, ");\n");
        case Verb::RingBuffer: return str(of, ".ring_buffer(", d.factor, ");\n");
        case Verb::Async: return str(of, ".async();\n");
        case Verb::ReorderStorage: return str(of, ".reorder_storage(", all, ");\n");
        case Verb::AlignStorage: return str(of, ".align_storage(", all, ", ", d.factor, ");\n");
        case Verb::BoundStorage: return str(of, ".bound_storage(", all, ", ", d.factor, ");\n");
        case Verb::StoreIn: return str(of, ".store_in(MemoryType::", name_of(d.memory), ");\n");
        case Verb::AlignBounds:
            return str(of, ".align_bounds(", all, ", ", d.factor, ", ", d.offset, ");\n");
        case Verb::AlignExtent: return str(of, ".align_extent(", all, ", ", d.factor, ");\n");
        case Verb::Bound: return str(of, ".bound(", all, ", ", d.offset, ", ", d.factor, ");\n");
        case Verb::BoundExtent: return str(of, ".bound_extent(", all, ", ", d.factor, ");\n");
        case Verb::In:
            return str("Func g", d.creates, " = ", of, ".in(", d.other < 0 ? "" : other, ");\n");
        case Verb::CloneIn: return str("Func g", d.creates, " = ", of, ".clone_in(", other, ");\n");
        case Verb::Rfactor:
            loops += str("Var ", d.names[1], "(\"", d.names[1], "\");\n");
            return str("Func g", d.creates, " = ", stage, ".rfactor(", all, ");\n");
        case Verb::TraceLoads: return str(of, ".trace_loads();\n");
        case Verb::TraceStores: return str(of, ".trace_stores();\n");
        case Verb::TraceRealizations: return str(of, ".trace_realizations();\n");
        case Verb::NoProfiling: return str(of, ".no_profiling();\n");
        }
        return "";
    }

    std::string tile(const Directive &d, const std::string &stage) {
        auto n = long(d.factors.size());
        auto part = [&](long i) {
            auto first = d.names.begin() + i * n;
            return str("{", join(std::vector<std::string>(first, first + n)), "}");
        };
        for (size_t i = 0; i < size_t(2 * n); i++)
            declare(d.names[size_t(n) + i], d.names[i % size_t(n)]);
        return str(stage, ".tile(", part(0), ", ", part(1), ", ", part(2), ", {", join(d.factors),
                   "}, TailStrategy::", name_of(d.tail), ");\n");
    }

    const Plan &plan;
    std::string algorithm, loops;
    std::vector<int> base;  // of coordinates in the function that is being printed
    int current = -1;
    std::set<int> printed_domains;
    std::set<std::string> reductions;
    std::map<std::string, int> specializations;  // of each stage
};

}  // namespace

std::string to_cpp(const Plan &plan) {
    return plan.tensor.is_drawn ? to_text(plan.tensor) : Printer(plan).print();
}

}  // namespace tessera::fuzz
