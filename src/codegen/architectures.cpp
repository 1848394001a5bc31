#include "base/error.h"
#include "codegen/backend.h"
#include "codegen/llvm/architecture.h"
#include <sstream>

namespace tessera::codegen {

const Architecture &architecture_of(const Target &target) {
    const Architecture &found = backend_for(CodeKind::Object, target).architecture();
    for (Target::Feature f : Target::unsupported_features()) {
        if (!target.has_feature(f)) continue;
        throw CompileError(str("no code can be made for the target ", target.to_string(),
                               "; leave ", Target::feature_to_name(f), " out"));
    }
    return found;
}

const Architecture &architecture_of(const llvm::Triple &triple) {
    for (const Backend &b : backends()) {
        if (b.architecture && b.architecture().triple().getArch() == triple.getArch()) {
            return b.architecture();
        }
    }
    throw InternalError(str("no architecture has the triple ", triple.str()));
}

std::string Architecture::features(const Target &target) const {
    std::string all = plain_features();
    for (const MachineFeature &f : machine_features()) {
        if (target.has_feature(f.feature)) all += std::string(",") + f.llvm_features;
    }
    return all;
}

std::vector<std::string> Architecture::features_beyond(const Target &target,
                                                       const Target &host) const {
    std::vector<std::string> beyond;
    for (const MachineFeature &f : machine_features()) {
        if (!target.has_feature(f.feature) || host.has_feature(f.feature)) continue;
        std::istringstream names(f.llvm_features);
        for (std::string name; std::getline(names, name, ',');) beyond.push_back(name.substr(1));
    }
    return beyond;
}

uint64_t Architecture::runtime_features(const Target &target) const {
    uint64_t bits = 0;
    for (const MachineFeature &f : machine_features()) {
        if (!target.has_feature(f.feature)) continue;
        if (f.runtime_features.size() == 0) {
            throw CompileError(str("whether a machine has ", Target::feature_to_name(f.feature),
                                   " is not found out at run time; leave it out of ", target));
        }
        for (tessera_cpu_feature_t bit : f.runtime_features) bits |= uint64_t(1) << bit;
    }
    return bits;
}

}  // namespace tessera::codegen
