#pragma once
#include <base/target.h>
#include <map>
#include <program/program.h>
#include <string>
#include <vector>

// Native code and interpreted lowered code, for what only knows programs.
namespace tessera::fuzz {

using RawBuffers = std::vector<tessera_buffer_t *>;
using Externs = std::map<std::string, void *>;

void run_native(const program::Program &program, const Target &target, const RawBuffers &outputs,
                const Externs &externs);
void run_lowered(const program::Program &program, const Target &target, const RawBuffers &outputs,
                 const Externs &externs);
// The regions that the pipeline reads of these parameters.
using Regions = std::map<const program::Parameter *, std::vector<tessera_dimension_t>>;
Regions infer_regions(const program::Program &program, const Target &target,
                      const RawBuffers &outputs,
                      const std::vector<const program::Parameter *> &inputs,
                      const Externs &externs);

}  // namespace tessera::fuzz
