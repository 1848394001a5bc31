#include "HalideRuntime.h"
#include "base/target.h"
#include <string>
#include <utility>

namespace {

const tessera::Target::Feature feature_of[] = {
#define FEATURE(name, ours) tessera::Target::ours,
    HALIDE_TARGET_FEATURES(FEATURE)
#undef FEATURE
};

// Asks the machine's GPU, which is looked for only then.
bool gpu_has(tessera::Target::Feature feature) {
    const std::string name = tessera::Target::feature_to_name(feature);
    const std::string prefix = "cuda_capability_";
    if (name != "cuda" && !name.starts_with(prefix)) return false;
    const int wanted = name == "cuda" ? 1 : std::stoi(name.substr(prefix.size()));
    return tessera::host_cuda_capability() >= wanted;
}

halide_can_use_target_features_t custom_can_use = halide_default_can_use_target_features;

}  // namespace

extern "C" {

int halide_default_can_use_target_features(int count, const uint64_t *features) {
    const tessera::Target host = tessera::get_host_target();
    for (int i = 0; i < count * 64; i++) {
        if (!(features[i / 64] >> (i % 64) & 1)) continue;
        if (i >= int(halide_target_feature_end)) return 0;
        if (!host.has_feature(feature_of[i]) && !gpu_has(feature_of[i])) return 0;
    }
    return 1;
}
int halide_can_use_target_features(int count, const uint64_t *features) {
    return custom_can_use(count, features);
}
halide_can_use_target_features_t
halide_set_custom_can_use_target_features(halide_can_use_target_features_t f) {
    return std::exchange(custom_can_use, f ? f : halide_default_can_use_target_features);
}
}
