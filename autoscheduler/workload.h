#pragma once
#include "autoscheduler/graph.h"
#include "base/target.h"
#include "driver/compile.h"
#include "interpret/buffers.h"
#include "program/program.h"
#include <deque>

namespace tessera::autoscheduler {

// A pipeline with everything that it takes to run it: inputs of random numbers, and scalars, as
// they are estimated.
class Workload {
public:
    // `program`: the user's; its outputs are the algorithm's. `externs`: C functions that it calls.
    Workload(const program::Program &program, const program::Algorithm &algorithm,
             const Graph &graph, const Target &target, driver::Externs externs = {});

    const program::Program &program() const { return whole; }
    const program::Algorithm &algorithm() const { return of_program; }
    const Graph &graph() const { return of_algorithm; }
    const Target &target() const { return machine; }
    const driver::Externs &externs() const { return functions; }
    // Pointers to what the program takes before its outputs.
    const std::vector<void *> &inputs() const { return pointers; }
    // The same for the program with a schedule, which may take its inputs in another order.
    std::vector<void *> inputs_of(const program::Program &scheduled) const;
    // New memory for the outputs.
    std::deque<interpret::OwnedBuffer> new_outputs() const;
    // The program with this schedule; the value has to live as long as it is used.
    program::Program with(const program::ScheduledProgram &scheduled) const;

private:
    void add_input(const program::Parameter &p);

    program::Program whole;
    program::Algorithm of_program;
    const Graph &of_algorithm;
    Target machine;
    driver::Externs functions;
    std::deque<interpret::OwnedBuffer> buffers;
    std::deque<uint64_t> scalars;
    std::vector<void *> pointers;
    std::map<Symbol, void *> by_name;
};

}  // namespace tessera::autoscheduler
