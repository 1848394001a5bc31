#include "run.h"
#include <driver/compile.h>
#include <interpret/buffers.h>
#include <interpret/statement.h>
#include <lower/lower.h>
#include <program/environment.h>

namespace tessera::fuzz {

namespace {

// A call of the compiled program: its parameters, of which `queries` replaces some buffers, then the
// outputs. Throws RuntimeError with what the pipeline reports.
void call_native(const program::Program &program, const Target &target, const RawBuffers &outputs,
                 const std::map<const program::Parameter *, tessera_buffer_t *> &queries,
                 const Externs &externs) {
    program::ProgramCopy copy = program::copy_reachable(program);
    std::vector<void *> args;
    for (const program::ParameterRef &p :
         program::find_parameters(copy.program, copy.environment)) {
        auto query = queries.find(p.get());
        if (query != queries.end()) {
            args.push_back(query->second);
        } else if (p->is_buffer) {
            args.push_back(p->buffer);
        } else {
            args.push_back(&p->scalar_bits);
        }
    }
    args.insert(args.end(), outputs.begin(), outputs.end());
    driver::CallContext context(nullptr, {});
    int code = driver::compile(program, target, externs)->call(context.user_context(), args);
    if (code) throw RuntimeError(context.message());
}

// All extents and mins of the buffers.
std::vector<int32_t> shapes_of(const std::vector<std::unique_ptr<interpret::OwnedBuffer>> &all) {
    std::vector<int32_t> shapes;
    for (const auto &b : all) {
        for (const tessera_dimension_t &d : b->dims) {
            shapes.insert(shapes.end(), {d.min, d.extent, d.stride});
        }
    }
    return shapes;
}

}  // namespace

void run_native(const program::Program &program, const Target &target, const RawBuffers &outputs,
                const Externs &externs) {
    call_native(program, target, outputs, {}, externs);
}

void run_lowered(const program::Program &program, const Target &target, const RawBuffers &outputs,
                 const Externs &externs) {
    lower::LowerOptions lowering;
    lowering.verify = true;
    ir::Module module = lower::lower(program, target, lowering);
    std::vector<void *> args;
    size_t next = 0;
    for (const ir::Argument &arg : module.functions[0].args) {
        const auto *p = dynamic_cast<const program::Parameter *>(arg.referent.get());
        if (arg.kind == ir::ArgumentKind::OutputBuffer) {
            args.push_back(outputs.at(next++));
        } else if (!p) {
            throw InternalError("an argument without its parameter");
        } else if (arg.kind == ir::ArgumentKind::Scalar) {
            args.push_back(const_cast<uint64_t *>(&p->scalar_bits));
        } else {
            args.push_back(p->buffer);
        }
    }
    interpret::StatementOptions options;
    options.externs.insert(externs.begin(), externs.end());
    int code = interpret::run_statement(module.functions[0], args, options);
    if (code) throw RuntimeError(str("error code ", code));
}

Regions infer_regions(const program::Program &program, const Target &target,
                      const RawBuffers &outputs,
                      const std::vector<const program::Parameter *> &inputs,
                      const Externs &externs) {
    std::vector<std::unique_ptr<interpret::OwnedBuffer>> queries;
    std::map<const program::Parameter *, tessera_buffer_t *> asked;
    for (const program::Parameter *p : inputs) {
        queries.push_back(std::make_unique<interpret::OwnedBuffer>(
            p->type, std::vector<tessera_dimension_t>(size_t(p->dimensions))));
        asked[p] = &queries.back()->buffer;
    }
    std::vector<int32_t> before;
    for (int round = 0; round < 16 && shapes_of(queries) != before; round++) {
        before = shapes_of(queries);
        call_native(program, target, outputs, asked, externs);
    }
    Regions regions;
    for (size_t i = 0; i < inputs.size(); i++) regions[inputs[i]] = queries[i]->dims;
    return regions;
}

}  // namespace tessera::fuzz
