#pragma once
#include "base/target.h"
#include "ir/enums.h"
#include "ir/type.h"
#include "runtime/tessera_runtime.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::codegen {

class Emitter;
class Patterns;

// A feature of Targets, what LLVM calls the instructions that come with it ("+avx,+popcnt"), and
// what the runtime finds out about them; nothing if it does not.
struct MachineFeature {
    Target::Feature feature;
    const char *llvm_features;
    std::initializer_list<tessera_cpu_feature_t> runtime_features;
};

// The properties of one instruction set for code generation. Targets that are passed have all
// implied features.
class Architecture {
public:
    virtual ~Architecture() = default;

    virtual llvm::Triple triple() const = 0;
    virtual void initialize_llvm() const = 0;

    // LLVM's names of the machine, of the instructions that may be used, and of the CPU whose
    // latencies count.
    virtual const char *cpu() const = 0;
    std::string features(const Target &target) const;
    virtual std::string tuning(const Target &target) const = 0;
    // Returns LLVM's names of the instructions that the target may use and the host does not have.
    std::vector<std::string> features_beyond(const Target &target, const Target &host) const;
    // The bits of tessera_cpu_feature_t that say whether a machine has the target's instructions.
    // CompileError if the runtime has none for one of them.
    uint64_t runtime_features(const Target &target) const;

    // Returns the number of bits in which the index of an element is added up. If registers are as
    // wide as addresses, that many save an extension for each access; if two registers make an
    // address, 32 take half as many of them.
    virtual int index_bits() const { return 64; }
    // LLVM's number of an address space; a machine that has one reaches all memory by 0.
    virtual unsigned address_space(AddressSpace) const { return 0; }

    // Returns true if it adds, multiplies and compares float16 itself.
    virtual bool computes_half(const Target &target) const = 0;
    // Returns true if gathers are faster than loads one by one.
    virtual bool prefers_gather(const Target &target, Type type) const = 0;
    // Streamed stores before it are seen by whoever sees ordinary ones behind it.
    virtual void fence_streamed_stores(llvm::IRBuilder<> &b) const = 0;
    // Rewrites optimised code so that it avoids faults of LLVM.
    virtual void work_around_llvm(llvm::Module &module,
                                  const llvm::TargetMachine &machine) const = 0;
    virtual std::unique_ptr<Patterns> patterns(Emitter &emitter) const = 0;

private:
    virtual const char *plain_features() const = 0;  // that every machine has
    // In the order of growing machines.
    virtual std::span<const MachineFeature> machine_features() const = 0;
};

// Throws CompileError if no code can be made for the target.
const Architecture &architecture_of(const Target &target);
// InternalError if there is none.
const Architecture &architecture_of(const llvm::Triple &triple);

}  // namespace tessera::codegen
