#include "ir/text.h"
#include <algorithm>
#include <array>
#include <charconv>

namespace tessera::ir::text {
namespace {

constexpr std::string_view keywords[] = {
    "acquire",   "allocate",  "assert",     "atomic", "consume", "else",        "extern",
    "false",     "for",       "fork",       "func",   "hoist",   "if",          "image",
    "in",        "inf",       "let",        "module", "nan",     "no_op",       "over",
    "parallel",  "prefetch",  "produce",    "pure",   "realize", "reinterpret", "streaming",
    "true",      "unrolled",  "vectorized", "with",   "aligned", "padding",     "mutexes",
    "partition", "machine_op"};

constexpr std::string_view builtins[] = {
    "min", "max", "select", "ramp", "shuffle", "concat", "interleave", "slice", "vector_reduce"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool read_int(std::string_view text, int &value) {
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end && value > 0;
}

bool read_element_type(std::string_view word, Type &type) {
    if (word == "bool") return type = Bool(), true;
    if (word == "handle") return type = Handle(), true;
    for (Type t : {Float8E4M3(), Float8E5M2()}) {
        if (word == to_string(t)) return type = t, true;
    }
    constexpr std::pair<std::string_view, TypeCode> prefixes[] = {{"int", TypeCode::Int},
                                                                  {"uint", TypeCode::UInt},
                                                                  {"float", TypeCode::Float},
                                                                  {"bfloat", TypeCode::BFloat}};
    for (auto [prefix, code] : prefixes) {
        int bits = 0;
        if (!word.starts_with(prefix) || !read_int(word.substr(prefix.size()), bits)) continue;
        if (bits == 1 || !Type::exists(code, bits)) return false;  // one bit is a bool
        type = Type(code, bits);
        return true;
    }
    return false;
}

Type argument_type(const std::vector<Expr> &args, size_t i) {
    return i < args.size() ? args[i].type() : Int(32);
}

}  // namespace

bool is_word_start(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

bool is_keyword(std::string_view word) { return contains(keywords, word); }

bool is_builtin(std::string_view word) {
    Type type;
    int lanes;
    Intrinsic intrinsic;
    return contains(builtins, word) || read_type(word, type) || read_lanes(word, lanes) ||
           find_intrinsic(word, intrinsic);
}

bool is_identifier(std::string_view word) {
    if (word.empty() || !is_word_start(word[0])) return false;
    size_t i = 1;
    while (i < word.size() && (is_word_start(word[i]) || is_digit(word[i]))) i++;
    while (i + 1 < word.size() && word[i] == '.' && is_digit(word[i + 1])) {
        for (i++; i < word.size() && is_digit(word[i]);) i++;
    }
    return i == word.size() && !is_keyword(word);
}

bool read_type(std::string_view word, Type &type) {
    size_t x = word.rfind('x');
    if (x == std::string_view::npos) return read_element_type(word, type);
    int lanes = 0;
    if (!read_element_type(word.substr(0, x), type) || !read_int(word.substr(x + 1), lanes)) {
        return false;
    }
    type = type.with_lanes(lanes);
    return lanes <= 65535;
}

bool read_lanes(std::string_view word, int &lanes) {
    return word.size() > 1 && word[0] == 'x' && read_int(word.substr(1), lanes);
}

Type usual_type(Intrinsic op, const std::vector<Expr> &args) {
    Type first = argument_type(args, 0);
    switch (op) {
    case Intrinsic::abs:
    case Intrinsic::absd: return first.is_int() ? first.with_code(TypeCode::UInt) : first;
    case Intrinsic::widening_add:
    case Intrinsic::widening_mul:
    case Intrinsic::widening_shift_left:
    case Intrinsic::widening_shift_right: return first.widen();
    case Intrinsic::widening_sub:
        return first.is_float() ? first.widen() : first.widen().with_code(TypeCode::Int);
    case Intrinsic::is_nan:
    case Intrinsic::is_inf:
    case Intrinsic::is_finite: return Bool(first.lanes());
    case Intrinsic::is_device_dirty: return Bool();
    case Intrinsic::random: return Float(32);
    case Intrinsic::if_then_else:
    case Intrinsic::require:
    case Intrinsic::return_second: return argument_type(args, 1);
    case Intrinsic::cluster_load: {
        const auto *place = args.empty() ? nullptr : args[0].as<IntrinsicCall>();
        return place ? argument_type(place->args, 0) : first;
    }
    case Intrinsic::gpu_is_producer:
    case Intrinsic::target_query: return Bool();
    case Intrinsic::user_context:
    case Intrinsic::stringify:
    case Intrinsic::make_struct:
    case Intrinsic::make_buffer:
    case Intrinsic::device_buffer:
    case Intrinsic::device_address:
    case Intrinsic::tensor_map:
    case Intrinsic::address_of:
    case Intrinsic::alloca:
    case Intrinsic::mutex_array_create: return Handle();
    case Intrinsic::gpu_processors:
    case Intrinsic::gpu_barrier:
    case Intrinsic::gpu_warp_barrier:
    case Intrinsic::gpu_cluster_barrier:
    case Intrinsic::gpu_role_barrier:
    case Intrinsic::gpu_set_registers:
    case Intrinsic::barrier_arrive:
    case Intrinsic::async_commit:
    case Intrinsic::async_wait:
    case Intrinsic::barrier_init:
    case Intrinsic::barrier_expect:
    case Intrinsic::barrier_wait:
    case Intrinsic::barrier_end:
    case Intrinsic::tensor_wait:
    case Intrinsic::prefetch:
    case Intrinsic::free:
    case Intrinsic::mark_host_dirty:
    case Intrinsic::mark_device_dirty:
    case Intrinsic::on_device:
    case Intrinsic::set_buffer_field: return Int(32);
    default: return is_runtime_intrinsic(op) ? Int(32) : first;
    }
}

Type KnownTypes::expected(Use use, Symbol name, int value_index) const {
    const Map &map = maps[size_t(use)];
    auto found = map.find(name);
    if (found == map.end() || found->second.size() <= size_t(value_index)) return Int(32);
    Type type = found->second[size_t(value_index)];
    return type.defined() ? type : Int(32);
}

bool KnownTypes::known(Use use, Symbol name, int value_index) const {
    const Map &map = maps[size_t(use)];
    auto found = map.find(name);
    return found != map.end() && found->second.size() > size_t(value_index) &&
           found->second[size_t(value_index)].defined();
}

Type KnownTypes::set(Use use, Symbol name, Type type, int value_index) {
    std::vector<Type> &types = maps[size_t(use)][name];
    if (types.size() <= size_t(value_index)) types.resize(size_t(value_index) + 1);
    return std::exchange(types[size_t(value_index)], type);
}

void KnownTypes::learn(Use use, Symbol name, Type type, int value_index) {
    set(use, name, type, value_index);
}

}  // namespace tessera::ir::text
