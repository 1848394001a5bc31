#include "program/dependencies.h"
#include "program/environment.h"
#include "program/reach.h"

namespace tessera::program {

Dependencies::Dependencies(const Program &program) {
    Environment environment;
    environment.order = reach(program.outputs).all;
    for (const FunctionRef &f : environment.order) {
        add(*f, f->version);
        for (const FuncSchedule::Late &late : f->schedule.late_levels) {
            add(*late.level, late.level->version);
        }
        for (const ParameterRef &p : f->output_buffers) add(*p, p->version);
    }
    for (const ParameterRef &p : find_parameters(program, environment)) add(*p, p->version);
}

void Dependencies::add(const Version &version) {
    versions.push_back(&version);
    changes_then += version.count();
}

void Dependencies::add(RefCounted &part, const Version &version) {
    parts.emplace_back(&part);
    add(version);
}

uint64_t Dependencies::changes() const {
    uint64_t sum = 0;
    for (const Version *v : versions) sum += v->count();
    return sum;
}

}  // namespace tessera::program
