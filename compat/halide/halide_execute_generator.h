#pragma once
#include "aot/command_line.h"
#include "aot/write_outputs.h"
#include "halide_generator.h"
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

// The command line of generators as functions, for programs that have a main function of their own.
namespace Halide::Internal {

// Makes generators by their names, for the command line below: a program's own.
class GeneratorFactoryProvider {
public:
    virtual ~GeneratorFactoryProvider() = default;
    virtual std::vector<std::string> enumerate() const = 0;
    // Null if there is none of this name.
    virtual AbstractGeneratorPtr create(const std::string &name,
                                        const GeneratorContext &context) const = 0;
};

// A file of each type, of one generator.
struct ExecuteGeneratorArgs {
    using CreateGeneratorFn = std::function<AbstractGeneratorPtr(const std::string &name,
                                                                 const GeneratorContext &context)>;
    enum BuildMode { Default, Gradient };

    std::string output_dir;
    std::set<OutputFileType> output_types;
    std::vector<Target> targets;
    std::vector<std::string> suffixes;  // of the files of each of several targets
    std::string generator_name;
    std::string function_name;   // empty: as the generator
    std::string file_base_name;  // empty: as the function
    std::string runtime_name;    // not empty: a library of this name with the runtime alone
    BuildMode build_mode = Default;
    CreateGeneratorFn create_generator;  // empty: by name among those that are registered
    std::map<std::string, std::string> generator_params;
    bool log_outputs = false;
};
// Throws CompileError, or RuntimeError if a file cannot be written.
void execute_generator(const ExecuteGeneratorArgs &args,
                       tessera::Location at = tessera::Here::current());

// The main function of an executable of generators.
inline int generate_filter_main(int argc, char **argv) {
    return tessera::generator_main(argc, argv);
}
int generate_filter_main(int argc, char **argv, const GeneratorFactoryProvider &provider);

}  // namespace Halide::Internal

namespace Halide {

using Internal::execute_generator;
using Internal::ExecuteGeneratorArgs;
using Internal::GeneratorFactoryProvider;

}  // namespace Halide
