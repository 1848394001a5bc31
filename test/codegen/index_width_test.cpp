#include "codegen/harness.h"
#include "codegen/host/host_emitter.h"
#include "codegen/llvm/patterns.h"
#include "codegen/machine.h"
#include "lower/finish/outline_bodies.h"
#include "lower/finish/select_accesses.h"
#include <doctest/doctest.h>

namespace tessera::codegen {
namespace {

// The host, but for the width of its indices.
class WithIndexBits final : public Architecture {
public:
    explicit WithIndexBits(int bits) : bits(bits) {}
    llvm::Triple triple() const override { return host.triple(); }
    void initialize_llvm() const override { host.initialize_llvm(); }
    const char *cpu() const override { return host.cpu(); }
    std::string tuning(const Target &target) const override { return host.tuning(target); }
    int index_bits() const override { return bits; }
    bool computes_half(const Target &target) const override { return host.computes_half(target); }
    bool prefers_gather(const Target &target, Type type) const override {
        return host.prefers_gather(target, type);
    }
    void fence_streamed_stores(llvm::IRBuilder<> &b) const override {
        host.fence_streamed_stores(b);
    }
    void work_around_llvm(llvm::Module &module, const llvm::TargetMachine &machine) const override {
        host.work_around_llvm(module, machine);
    }
    std::unique_ptr<Patterns> patterns(Emitter &emitter) const override {
        return host.patterns(emitter);
    }

private:
    const char *plain_features() const override { return ""; }
    std::span<const MachineFeature> machine_features() const override { return {}; }

    const int bits;
    const Architecture &host = architecture_of(get_host_target());
};

// The numbers of 64 bits that the pipeline `f` computes for indices.
int wide_operations(const char *text, int index_bits) {
    const Target target = get_host_target();
    llvm::LLVMContext context;
    auto machine = make_target_machine(target, true);
    llvm::Module result("m", context);
    result.setTargetTriple(machine->getTargetTriple());
    result.setDataLayout(machine->createDataLayout());
    const WithIndexBits architecture(index_bits);
    const ir::Module outlined = lower::outline_bodies(test::parse_module(text));
    HostEmitter(result, target, architecture)
        .emit_module(lower::select_accesses(outlined, target), {});
    verify(result);
    int count = 0;
    for (llvm::Function &f : result) {
        if (f.getName() != "f") continue;
        for (llvm::BasicBlock &block : f) {
            for (llvm::Instruction &i : block) {
                const bool arithmetic = llvm::isa<llvm::BinaryOperator, llvm::SExtInst>(i);
                count += arithmetic && i.getType()->getScalarType()->isIntegerTy(64);
            }
        }
    }
    return count;
}

constexpr const char *stencil = R"(module "m"
func "f"(source: input float32[1], out: output float32[1], n: int32):
    for y in [0, +n):
        for x in [0, +n):
            out[x + y*n] = source[x + y*n + 1]
)";

TEST_CASE("indices are added up in as many bits as the architecture says") {
    CHECK(wide_operations(stencil, 64) > 0);
    CHECK(wide_operations(stencil, 32) == 0);
}

constexpr const char *gather = R"(module "m"
func "f"(source: input float32[1], table: input int32[1], out: output float32[1]):
    out[ramp(0, 1, 3)] = source[table[ramp(0, 1, 3)]]
)";

TEST_CASE("the lanes of an index that are loaded one by one are of that width") {
    CHECK(wide_operations(gather, 32) == 0);
}

TEST_CASE("memory says which threads see it") {
    CHECK(traits_of(MemoryType::Heap).space == AddressSpace::Global);
    CHECK(traits_of(MemoryType::GPUShared).space == AddressSpace::Shared);
    CHECK(traits_of(MemoryType::GPUSharedAsync).space == AddressSpace::Shared);
    CHECK(traits_of(MemoryType::Stack).space == AddressSpace::Private);
    CHECK(architecture_of(get_host_target()).address_space(AddressSpace::Shared) == 0);
}

}  // namespace
}  // namespace tessera::codegen
