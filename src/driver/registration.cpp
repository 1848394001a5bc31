#include "driver/registration.h"
#include "base/error.h"
#include "base/str.h"

namespace tessera::driver {

std::string to_registration(const ir::Module &module, const Target &target) {
    if (target.has_feature(Target::CPlusPlusMangling)) {
        throw CompileError(str("registration: ", module.name,
                               " is a function of C++, which has no name for other files: leave "
                               "Target::CPlusPlusMangling out"));
    }
    const std::string &name = module.name;
    return str("// Hands ", name, " to tessera_register_function(), which the program defines.\n",
               R"(extern "C" {
struct tessera_filter_metadata_t;
void tessera_register_function(int (*argv)(void *const *args),
                               const tessera_filter_metadata_t *(*metadata)(void));
int )",
               name, "_argv(void *const *args);\nconst tessera_filter_metadata_t *", name,
               R"(_metadata(void);
}
namespace {
const struct Registration {
    Registration() { tessera_register_function()",
               name, "_argv, ", name, "_metadata); }\n} registration;\n}\n");
}

}  // namespace tessera::driver
