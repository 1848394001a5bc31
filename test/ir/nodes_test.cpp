#include "base/error.h"
#include "ir/allocation.h"
#include "ir/equal.h"
#include "ir/nodes.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/stable_hash.h"
#include <cmath>
#include <doctest/doctest.h>
#include <set>

using namespace tessera;
using namespace tessera::ir;

namespace {

const Symbol x_name = Symbol::fresh("x"), f_name = Symbol::fresh("f");
const Expr x = Variable::make(Int(32), x_name);
const Expr b = Variable::make(Bool(), x_name);
const Expr v4 = Variable::make(Int(32, 4), x_name);
const Expr f32 = Variable::make(Float(32), x_name);
const Stmt nothing = Evaluate::make(0);

}  // namespace

#define REFUSED(...) CHECK_THROWS_AS(__VA_ARGS__, InternalError)

TEST_SUITE("make") {
    TEST_CASE("constants are wrapped or rounded into their type") {
        CHECK(IntImm::make(Int(8), 300).as<IntImm>()->value == 44);
        CHECK(IntImm::make(Int(8), 200).as<IntImm>()->value == -56);
        CHECK(UIntImm::make(UInt(8), 300).as<UIntImm>()->value == 44);
        CHECK(UIntImm::make(Bool(), 3).as<UIntImm>()->value == 1);
        CHECK(FloatImm::make(Float(32), 0.1).as<FloatImm>()->value == double(0.1f));
        CHECK(FloatImm::make(Float(16), 1.0 + 1e-5).as<FloatImm>()->value == 1.0);
        CHECK(FloatImm::make(BFloat(16), 1.0 + 1e-3).as<FloatImm>()->value == 1.0);
        CHECK(FloatImm::make(Float8E4M3(), 17).as<FloatImm>()->value == 16);
        CHECK(FloatImm::make(Float8E4M3(), INFINITY).as<FloatImm>()->value == 448);
        CHECK(FloatImm::make(Float8E5M2(), 1e9).as<FloatImm>()->value == 57344);
        CHECK(FloatImm::make(Float8E5M2(), -INFINITY).as<FloatImm>()->value == -INFINITY);
    }
    TEST_CASE("constants of a wrong type are refused") {
        REFUSED(IntImm::make(UInt(8), 1));
        REFUSED(IntImm::make(Int(8, 4), 1));
        REFUSED(UIntImm::make(Int(8), 1));
        REFUSED(FloatImm::make(Int(32), 1));
        REFUSED(Variable::make(Type(), x_name));
        REFUSED(Variable::make(Int(32), Symbol()));
        REFUSED(BufferProperty::make(Symbol(), BufferField::Min, 0));
        REFUSED(BufferProperty::make(f_name, BufferField::Min, -1));
    }
    TEST_CASE("operands that are undefined or of different types are refused") {
        REFUSED(Add::make(x, Expr()));
        REFUSED(Add::make(Expr(), x));
        REFUSED(Add::make(x, f32));
        REFUSED(LT::make(x, v4));
        REFUSED(And::make(x, x));
        REFUSED(Or::make(x, x));
        REFUSED(Not::make(x));
        REFUSED(Not::make(Expr()));
        REFUSED(Select::make(x, x, x));
        REFUSED(Select::make(b, x, f32));
        REFUSED(Select::make(Broadcast::make(b, 2), v4, v4));
        CHECK_NOTHROW(Select::make(b, v4, v4));
    }
    TEST_CASE("types follow from the operands") {
        CHECK(Add::make(f32, f32).type() == Float(32));
        CHECK(LT::make(v4, v4).type() == Bool(4));
        CHECK(And::make(b, b).type() == Bool());
        CHECK(Ramp::make(v4, v4, 2).type() == Int(32, 8));
        CHECK(Broadcast::make(v4, 2).type() == Int(32, 8));
        CHECK(Let::make(f_name, x, f32).type() == Float(32));
        CHECK(BufferProperty::make(f_name, BufferField::Host, 0).type() == Handle());
        CHECK(BufferProperty::make(f_name, BufferField::Stride, 1).type() == Int(32));
        CHECK(VectorReduce::make(ReduceOp::Add, v4, 2).type() == Int(32, 2));
        CHECK(Shuffle::make({v4}, {3, 3, 0}).type() == Int(32, 3));
        CHECK(StringImm::make("").type() == Handle());
    }
    TEST_CASE("numbers of lanes that do not fit are refused") {
        REFUSED(Cast::make(Int(8), v4));
        REFUSED(Cast::make(Type(), x));
        REFUSED(Load::make(Type(), f_name, x));
        REFUSED(Shuffle::make_slice(v4, 0, 1, 0));
        REFUSED(Reinterpret::make(Int(64), x));
        CHECK_NOTHROW(Reinterpret::make(Int(64, 2), v4));
        REFUSED(Load::make(Int(32), f_name, v4));
        REFUSED(Load::make(Int(32, 4), f_name, v4, b));
        REFUSED(Load::make(Int(32), f_name, Expr()));
        REFUSED(Store::make(f_name, x, v4));
        REFUSED(Store::make(f_name, v4, v4, b));
        REFUSED(Ramp::make(x, x, 1));
        REFUSED(Ramp::make(x, f32, 4));
        REFUSED(Broadcast::make(x, 1));
        REFUSED(VectorReduce::make(ReduceOp::Add, v4, 3));
        REFUSED(VectorReduce::make(ReduceOp::Add, v4, 0));
    }
    TEST_CASE("calls without a type, a name or an operand are refused") {
        REFUSED(Call::make(Type(), f_name, CallKind::Func, 0, {}));
        REFUSED(Call::make(Int(32), f_name, CallKind::Func, 0, {Expr()}));
        REFUSED(IntrinsicCall::make(Int(32), Intrinsic::abs, {}));
        REFUSED(IntrinsicCall::make(Int(32), Intrinsic::abs, {x, x}));
        REFUSED(ExternCall::make(Int(32), "", {}, false));
        REFUSED(Let::make(Symbol(), x, x));
        REFUSED(Let::make(f_name, Expr(), x));
    }
    TEST_CASE("a shuffle knows its special forms") {
        Expr pair = Variable::make(Int(32, 2), f_name);
        auto is = [](const Expr &e, bool interleave, bool concat, bool slice) {
            const auto *s = e.as<Shuffle>();
            return s && s->is_interleave() == interleave && s->is_concat() == concat &&
                   s->is_slice() == slice;
        };
        CHECK(is(Shuffle::make_interleave({pair, pair}), true, false, false));
        CHECK(is(Shuffle::make_concat({pair, pair}), false, true, false));
        CHECK(is(Shuffle::make_concat({x, x}), true, true, false));
        CHECK(is(Shuffle::make_slice(v4, 3, -1, 4), false, false, true));
        CHECK(is(Shuffle::make({v4}, {0, 0, 1}), false, false, false));
        CHECK(Shuffle::make_concat({pair}).same_as(pair));
        CHECK(Shuffle::make_interleave({pair}).same_as(pair));
        CHECK(Shuffle::make_slice(v4, 0, 1, 4).same_as(v4));
        CHECK(Shuffle::make_interleave({pair, pair}).as<Shuffle>()->indices ==
              std::vector<int>{0, 2, 1, 3});
        REFUSED(Shuffle::make({}, {0}));
        REFUSED(Shuffle::make({x}, {}));
        REFUSED(Shuffle::make({x}, {1}));
        REFUSED(Shuffle::make({x, f32}, {1}));
        REFUSED(Shuffle::make_interleave({x, pair}));
    }
    TEST_CASE("statements without a body, a name or a bool condition are refused") {
        REFUSED(LetStmt::make(x_name, x, Stmt()));
        REFUSED(AssertStmt::make(x, x));
        REFUSED(AssertStmt::make(b, Expr()));
        REFUSED(For::make(x_name, 0, f32, LoopKind::Serial, Partition::Auto, nothing));
        REFUSED(For::make(x_name, 0, v4, LoopKind::Serial, Partition::Auto, nothing));
        REFUSED(For::make(Symbol(), 0, 1, LoopKind::Serial, Partition::Auto, nothing));
        REFUSED(For::make(x_name, 0, 1, LoopKind::Serial, Partition::Auto, Stmt()));
        REFUSED(Provide::make(f_name, {}, {x}));
        REFUSED(Provide::make(f_name, {x}, {Expr()}));
        REFUSED(Allocate::make(f_name, Int(32, 4), MemoryType::Heap, {}, Expr(), 0, nothing));
        REFUSED(Allocate::make(f_name, Int(32), MemoryType::Heap, {f32}, Expr(), 0, nothing));
        REFUSED(Allocate::make(f_name, Type(), MemoryType::Heap, {}, Expr(), 0, nothing));
        REFUSED(Realize::make(f_name, {Type()}, MemoryType::Heap, {}, Expr(), nothing));
        REFUSED(Realize::make(f_name, {}, MemoryType::Heap, {}, Expr(), nothing));
        REFUSED(Realize::make(f_name, {Int(8)}, MemoryType::Heap, {{x, f32}}, Expr(), nothing));
        REFUSED(Acquire::make(x, f32, nothing));
        REFUSED(IfThenElse::make(x, nothing));
        REFUSED(IfThenElse::make(b, Stmt()));
        REFUSED(Evaluate::make(Expr()));
        REFUSED(Prefetch::make(f_name, {}, {}, Expr(), nothing));
        REFUSED(Fork::make({nothing, Stmt()}));
    }
    TEST_CASE("a block is flat, and no block where one statement will do") {
        Stmt s = Evaluate::make(x), t = Evaluate::make(b);
        Stmt nested = Block::make({Block::make(s, t), Stmt(), Block::make(t, s)});
        CHECK(nested.as<Block>()->stmts.size() == 4);
        CHECK(Block::make({Stmt(), s}).same_as(s));
        CHECK(is_no_op(Block::make(std::vector<Stmt>())));
        CHECK(Fork::make({s}).same_as(s));
    }
}

TEST_SUITE("hash") {
    TEST_CASE("equal trees have one hash, others another") {
        std::vector<Expr> different = {
            x,
            Variable::make(Int(32), f_name),
            Variable::make(UInt(32), x_name),
            Expr(1),
            Expr(2),
            Expr(int64_t(1)),
            Expr(1.0f),
            Expr(1.0),
            Expr(0.0),
            Expr(-0.0),
            Expr("1"),
            x + 1,
            x - 1,
            1 + x,
            Cast::make(UInt(32), x),
            Reinterpret::make(UInt(32), x),
            BufferProperty::make(f_name, BufferField::Min, 0),
            BufferProperty::make(f_name, BufferField::Extent, 0),
            BufferProperty::make(f_name, BufferField::Min, 1),
            Load::make(Int(32), f_name, x),
            Load::make(UInt(32), f_name, x),
            Load::make(Int(32), f_name, x, const_true()),
            Load::make(Int(32), f_name, x, {}, {4, 0}),
            Load::make(Int(32), f_name, x, {}, {4, 1}),
            Load::make(Int(32), f_name, x, {}, {}, true),
            Call::make(Int(32), f_name, CallKind::Func, 0, {x}),
            Call::make(Int(32), f_name, CallKind::Func, 1, {x}),
            Call::make(Int(32), f_name, CallKind::Image, 0, {x}),
            Call::make(Int(32), f_name, CallKind::Func, 0, {x, x}),
            ExternCall::make(Int(32), "f", {x}, true),
            ExternCall::make(Int(32), "f", {x}, false),
            Ramp::make(x, x, 4),
            Ramp::make(x, x, 8),
        };
        for (size_t i = 0; i < different.size(); i++) {
            for (size_t j = 0; j < different.size(); j++) {
                CAPTURE(different[i]);
                CAPTURE(different[j]);
                CHECK((different[i].hash() == different[j].hash()) == (i == j));
                CHECK(equal(different[i], different[j]) == (i == j));
            }
        }
        CHECK((x + 1).hash() == (x + 1).hash());
    }
    TEST_CASE("a referent is no part of a node's identity") {
        struct Something : Referent {};
        Expr with = Variable::make(Int(32), x_name, make_ref<Something>());
        CHECK(with.hash() == x.hash());
        CHECK(equal(with, x));
    }
}

TEST_SUITE("with") {
    const Stmt loop = For::make(x_name, 0, 9, LoopKind::Parallel, Partition::Never, nothing);

    TEST_CASE("other values in the fields that are named, the rest as they are") {
        const Stmt changed =
            loop.as<For>()->with<&For::extent, &For::loop_kind>(x, LoopKind::Serial);
        CHECK(equal(changed, For::make(x_name, 0, x, LoopKind::Serial, Partition::Never, nothing)));
        const Expr load = Load::make(Int(32, 4), f_name, v4, {}, {4, 0}, true);
        CHECK(equal(load.as<Load>()->with<&Load::type, &Load::index>(Float(32), x),
                    Load::make(Float(32), f_name, x, {}, {4, 0}, true)));
        const Stmt realize = Realize::make(f_name, {Int(32)}, MemoryType::Stack, {{0, x}}, b, loop);
        CHECK(
            equal(realize.as<Realize>()->with<&Realize::bounds>({{1, x}, {2, x}}),
                  Realize::make(f_name, {Int(32)}, MemoryType::Stack, {{1, x}, {2, x}}, b, loop)));
    }
    TEST_CASE("the node itself, where nothing changes") {
        const auto &node = *loop.as<For>();
        CHECK(node.with<&For::body>(nothing).same_as(loop));
        CHECK(node.with<&For::min, &For::body>(node.min, nothing).same_as(loop));
        CHECK_FALSE(node.with<&For::body>(Evaluate::make(0)).same_as(loop));
        const Stmt realize = Realize::make(f_name, {Int(32)}, MemoryType::Stack, {{x, x}}, b, loop);
        CHECK(realize.as<Realize>()->with<&Realize::bounds>({{x, x}}).same_as(realize));
    }
    TEST_CASE("what make() refuses") {
        REFUSED(loop.as<For>()->with<&For::extent>(f32));
        REFUSED(loop.as<For>()->with<&For::body>(Stmt()));
    }
}

TEST_SUITE("kinds of loops and memory") {
    TEST_CASE("have words of their own, by which they are read") {
        std::set<std::string_view> words, directives, memories;
        for (LoopKind kind : all_loop_kinds) {
            words.insert(name_of(kind));
            directives.insert(traits_of(kind).directive);
            CHECK(traits_of(kind).is_in_order !=
                  (traits_of(kind).is_on_threads || traits_of(kind).is_in_lanes));
        }
        CHECK(words.size() == std::size(all_loop_kinds));
        CHECK(directives.size() == std::size(all_loop_kinds));
        for (MemoryType memory : all_memory_types) memories.insert(name_of(memory));
        CHECK(memories.size() == std::size(all_memory_types));
    }
    TEST_CASE("a stable hash is the same when other intrinsics come to be: logs are found by it") {
        const Expr power = call(Float(32), Intrinsic::exp, {f32}),
                   logarithm = call(Float(32), Intrinsic::log, {f32});
        CHECK(stable_hash(power) == 3147961560331123263);
        CHECK(stable_hash(power) != stable_hash(logarithm));
    }
    TEST_CASE("a stable key is that of equal expressions alone, whatever symbols are called") {
        const Symbol a = Symbol::interned("a"), b = Symbol::interned("b");
        const auto sum = [](Symbol s, Symbol t, int n) {
            const Expr i = Variable::make(Int(32), s), j = Variable::make(Int(32), t);
            return Add::make(Mul::make(i, j), IntImm::make(Int(32), n));
        };
        CHECK(stable_key(sum(a, b, 300)) == stable_key(sum(b, a, 300)));
        CHECK(stable_key(sum(a, b, 300)) != stable_key(sum(a, a, 300)));
        CHECK(stable_key(sum(a, b, 300)) != stable_key(sum(a, b, 44)));
        CHECK(stable_key(StringImm::make("ab")) != stable_key(StringImm::make("a")));
        const Expr shared = sum(a, b, 1);
        CHECK(stable_key(Add::make(shared, shared)) ==
              stable_key(Add::make(sum(a, b, 1), sum(a, b, 1))));
        // Types are told apart, and the order of operands.
        CHECK(stable_key(IntImm::make(Int(32), 1)) != stable_key(IntImm::make(Int(64), 1)));
        const Expr one = IntImm::make(Int(32), 1), two = IntImm::make(Int(32), 2);
        CHECK(stable_key(Sub::make(one, two)) != stable_key(Sub::make(two, one)));
    }
    TEST_CASE("what a CPU cannot allocate has no place there") {
        auto place = [](MemoryType memory, const Expr &extent) {
            const Stmt s = Allocate::make(f_name, Int(32), memory, {extent}, {}, 0, nothing);
            return place_of(*s.as<Allocate>());
        };
        CHECK(place(MemoryType::Auto, 16) == Place::Stack);
        CHECK(place(MemoryType::Auto, x) == Place::Heap);
        CHECK(place(MemoryType::Heap, 16) == Place::Heap);
        CHECK(place(MemoryType::Stack, x) == Place::Growing);
        CHECK(place(MemoryType::Register, 16) == Place::Stack);
        for (MemoryType memory : all_memory_types) {
            if (!traits_of(memory).is_on_cpu) REFUSED(place(memory, 16));
        }
    }
}
