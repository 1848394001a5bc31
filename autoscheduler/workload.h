#pragma once
#include "autoscheduler/arrays.h"
#include "autoscheduler/graph.h"
#include "base/target.h"
#include "driver/compile.h"
#include "program/program.h"
#include <deque>

namespace tessera::autoscheduler {

// A pipeline with everything that it takes to compile it and to run it, as it is estimated.
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
    // Returns what the program takes before its outputs.
    const std::vector<program::ParameterRef> &parameters() const { return all_parameters; }
    // Returns the bits of a scalar that is one of them.
    uint64_t scalar_bits(const program::Parameter &p) const;
    // Returns what is read of an image that is one of them, or its size, as it is estimated.
    Box box_of(const program::Parameter &p) const;
    // Returns how an image of this size lies in memory: with the strides that the program asks for,
    // else dense. Throws RuntimeError if no buffer can be so large.
    ArrayLayout layout_of(const program::Parameter &p, const Box &box) const;
    ArrayLayout layout_of(const program::Parameter &p) const { return layout_of(p, box_of(p)); }
    std::vector<ArrayLayout> layouts_of_outputs() const;
    // The program with this schedule; the value has to live as long as it is used.
    program::Program with(const program::ScheduledProgram &scheduled) const;
    // Returns why the compiler refuses the program with this schedule, or an empty text if it does
    // not. The program is lowered for that; no code is made.
    std::string why_refused(const program::Schedule &schedule) const;

private:
    program::Program whole;
    program::Algorithm of_program;
    const Graph &of_algorithm;
    Target machine;
    driver::Externs functions;
    std::vector<program::ParameterRef> all_parameters;
};

// Arguments of a workload to run it with: images of random numbers, and scalars.
class Inputs {
public:
    // `sizes`: of images, where these are other ones than Workload::box_of(). RuntimeError if there
    // is no memory for them.
    explicit Inputs(const Workload &workload, const std::map<Symbol, Box> &sizes = {});
    Inputs(const Inputs &) = delete;

    // Returns pointers to what the program with a schedule takes before its outputs, in its order.
    std::vector<void *> of(const program::Program &scheduled) const;
    void place(int placement);
    size_t count() const { return arrays.size(); }

private:
    std::deque<Array> arrays;
    std::deque<uint64_t> scalars;
    std::map<Symbol, void *> by_name;
};

}  // namespace tessera::autoscheduler
