#include "codegen/c/printer.h"
#include "codegen/c/types.h"

namespace tessera::codegen::c {

Value Printer::element(const std::string &vector, int lane) {
    return {str(vector, ".v[", lane, "]"), Form::Name};
}

// Integers by multiplication; floats by adding on, as each sum is rounded.
Value Printer::emit(const Ramp &node) {
    Type t = node.type.element_of();
    int group = node.base.type().lanes();
    const auto *uniform = node.stride.as<Broadcast>();
    bool one_stride = uniform && uniform->value.type().is_scalar();
    Value base = value(node.base), stride = value(one_stride ? uniform->value : node.stride);
    if (group > 1) {
        base = {str(whole(base, node.base.type()), ".v[i % ", group, "]"), Form::Name};
        if (!one_stride) {
            stride = {str(whole(stride, node.base.type()), ".v[i % ", group, "]"), Form::Name};
        }
    }
    if (!t.is_float()) {
        Value step = {group == 1 ? "i" : str("i / ", group), group == 1 ? Form::Name : Form::Open};
        Value offset = stride.text == "1" ? step : mul(c_cast_index(step, t), stride, t);
        return add(base, offset, t);
    }
    std::string sums = variable(prelude.type(node.type), "t");
    Value former = {str(sums, ".v[i - ", group, "]"), Form::Name};
    block(for_lanes(node.type.lanes()), [&] {
        line(str(sums, ".v[i] = i < ", group, " ? ", base.operand(), " : ",
                 add(former, stride, t).operand(), ";"));
    });
    return named(sums, node.type);
}

// The number of a lane as a factor.
Value Printer::c_cast_index(const Value &lane, Type t) {
    return t == Int(32) ? lane : c_cast(scalar_type(t), lane);
}

Value Printer::repeated(const Value &v, Type t, int times) {
    if (times == 1 || t.is_scalar()) return {v.text, v.form};
    return {str(whole(v, t), ".v[i % ", t.lanes(), "]"), Form::Name};
}

Value Printer::emit(const Broadcast &node) {
    return repeated(value(node.value), node.value.type(), node.lanes);
}

Value Printer::emit(const Shuffle &node) {
    std::vector<Value> elements;
    std::string only;  // the one vector that they come from
    for (const Expr &e : node.vectors) {
        if (e.type().is_scalar()) {
            elements.push_back(kept(value(e), e.type()));
            continue;
        }
        std::string vector = whole(value(e), e.type());
        if (node.vectors.size() == 1) only = vector;
        for (int i = 0; i < e.type().lanes(); i++) elements.push_back(element(vector, i));
    }
    const std::vector<int> &indices = node.indices;
    if (indices.size() == 1) return elements[size_t(indices[0])];
    int step = indices[1] - indices[0];
    bool is_regular = !only.empty();
    for (size_t i = 1; i < indices.size(); i++) is_regular &= indices[i] - indices[i - 1] == step;
    if (is_regular) {
        std::string scaled = step == 1 ? "i" : str("(", step, ") * i");
        return {str(only, ".v[", indices[0], " + ", scaled, "]"), Form::Name};
    }
    std::vector<std::string> texts;
    for (int i : indices) texts.push_back(elements[size_t(i)].text);
    std::string name = f->names.numbered("t"), type = prelude.type(node.type);
    f->types[name] = type;
    line(str("const ", type, " ", name, " = {{", join(texts), "}};"));
    return named(name, node.type);
}

// ---- Reductions ----

Value Printer::reduce_pair(ReduceOp op, const Value &a, const Value &b, Type t) {
    switch (op) {
    case ReduceOp::Add: return add(a, b, t);
    case ReduceOp::Mul: return mul(a, b, t);
    case ReduceOp::Min: return minimum(a, b, t);
    case ReduceOp::Max: return maximum(a, b, t);
    case ReduceOp::And: return infix(a, "&&", b);
    case ReduceOp::Or: return infix(a, "||", b);
    case ReduceOp::SaturatingAdd:
        if (t.is_float()) return add(a, b, t);
        if (t.is_bool()) return infix(a, "||", b);
        return call(prelude.function("saturating_add", t), {a, b});
    }
    throw InternalError("C source met an unknown reduction");
}

// From the first lane on. Floats of 16 bits and 8 are summed in float and rounded once.
Value Printer::emit(const VectorReduce &node) {
    Type t = node.value.type().element_of();
    // The least or largest of floats of 8 bits is one of them, which a cast might not give.
    bool chooses = t.is_float8() && (node.op == ReduceOp::Min || node.op == ReduceOp::Max);
    bool is_narrow = t.is_float() && t.bits() <= 16;
    Type sum_type = is_narrow && !chooses ? Float(32) : t;
    int group = node.value.type().lanes() / node.lanes;
    std::string all = whole(value(node.value), node.value.type());
    std::string result = variable(prelude.type(node.type), "t");
    std::string at = node.lanes == 1 ? "" : str("i * ", group, " + ");
    auto part = [&](const std::string &k) {
        return cast({str(all, ".v[", at, k, "]"), Form::Name}, t, sum_type);
    };
    block(node.lanes == 1 ? "" : for_lanes(node.lanes), [&] {
        std::string sum = f->names.numbered("sum");
        line(str(declaration(scalar_type(sum_type), sum, false), " = ", part("0").text, ";"));
        Value next = reduce_pair(node.op, {sum, Form::Name}, part("k"), sum_type);
        line(str("for (int k = 1; k < ", group, "; k++) ", sum, " = ", next.text, ";"));
        Value rounded = cast({sum, Form::Name}, sum_type, t);
        line(str(result, node.lanes == 1 ? "" : ".v[i]", " = ", rounded.text, ";"));
    });
    return named(result, node.type);
}

}  // namespace tessera::codegen::c
