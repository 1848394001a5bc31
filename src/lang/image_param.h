#pragma once
#include "lang/buffer.h"
#include "lang/func.h"
#include "program/parameter.h"

namespace tessera {

// One dimension of an input or output buffer, as expressions; and what a pipeline may rely on.
class Dimension {
public:
    Expr min() const;
    Expr max() const;
    Expr extent() const;
    Expr stride() const;
    Expr min_estimate() const;
    Expr extent_estimate() const;

    // The caller has to pass buffers for which these hold, else RuntimeError; strides in elements.
    // In terms of parameters and of dimensions of buffers.
    Dimension set_min(const Expr &min, Location at = Here::current());
    Dimension set_extent(const Expr &extent, Location at = Here::current());
    Dimension set_stride(const Expr &stride, Location at = Here::current());
    Dimension set_bounds(const Expr &min, const Expr &extent, Location at = Here::current());
    Dimension set_estimate(const Expr &min, const Expr &extent, Location at = Here::current());
    // Dimension i of the same buffer.
    Dimension dim(int i, Location at = Here::current()) const;

private:
    friend class OutputImageParam;
    Dimension(program::ParameterRef p, int d, Location at);
    Expr property(BufferField field) const;
    Expr constraint(const Expr &e, const char *directive, Location at) const;
    program::ParameterRef parameter;
    int d;
};

// The buffer that the caller passes for an output.
class OutputImageParam {
public:
    // Errors of conversions, which can take no Location, name the line of this constructor.
    OutputImageParam(Here at = Here::current()) : written(at) {}
    explicit OutputImageParam(program::ParameterRef p) : parameter_ref(std::move(p)) {}

    bool defined() const { return bool(parameter_ref); }
    const std::string &name(Location at = Here::current()) const {
        return parameter(at)->name.text();
    }
    Type type(Location at = Here::current()) const { return parameter(at)->type; }
    int dimensions(Location at = Here::current()) const { return parameter(at)->dimensions; }
    Dimension dim(int i, Location at = Here::current()) const;
    Expr left(Location at = Here::current()) const { return dim(0, at).min(); }
    Expr right(Location at = Here::current()) const { return dim(0, at).max(); }
    Expr top(Location at = Here::current()) const { return dim(1, at).min(); }
    Expr bottom(Location at = Here::current()) const { return dim(1, at).max(); }
    Expr width(Location at = Here::current()) const { return dim(0, at).extent(); }
    Expr height(Location at = Here::current()) const { return dim(1, at).extent(); }
    Expr channels(Location at = Here::current()) const { return dim(2, at).extent(); }

    // In bytes: the memory begins at a multiple of it.
    OutputImageParam &set_host_alignment(int bytes, Location at = Here::current());
    int host_alignment(Location at = Here::current()) const {
        return parameter(at)->host_alignment;
    }
    // Estimates of all dimensions: min, extent of each.
    OutputImageParam &set_estimates(const Region &estimates, Location at = Here::current());
    // The caller of a pipeline brings this buffer: MemoryType::Heap, or Auto.
    OutputImageParam &store_in(MemoryType memory, Location at = Here::current());

    // CompileError if there is none: with the line `at`, or without one that of the constructor.
    const program::ParameterRef &parameter(const Location &at = {}) const;

protected:
    program::ParameterRef parameter_ref;
    Location written;
};

// A buffer that the caller passes as input.
class ImageParam : public OutputImageParam {
public:
    ImageParam(Here at = Here::current()) : OutputImageParam(at) {}
    ImageParam(Type type, int dimensions, const std::string &name = "",
               Location at = Here::current());
    explicit ImageParam(program::ParameterRef p);

    // The buffer that realize() passes: shared, not copied. CompileError if the type or the number
    // of dimensions is another.
    template<typename T, int D>
    void set(const Buffer<T, D> &buffer, Location at = Here::current()) {
        set_buffer(Buffer<>(buffer), at);
    }
    // A single result.
    void set(const Realization &result, Location at = Here::current()) {
        set_buffer(Buffer<>(result), at);
    }
    Buffer<> get(Location at = Here::current()) const;
    // Forgets the Buffer: infer_input_bounds() gives a new one.
    void reset(Location at = Here::current());

    // An element, for the definition of a Func.
    template<typename... Args>
    Expr operator()(const CallArgument &first, const Args &...rest) const {
        return element({Expr(first), Expr(rest)...}, first.at);
    }
    Expr operator()(Location at = Here::current()) const { return element({}, at); }
    Expr operator()(const std::vector<Expr> &args, Location at = Here::current()) const {
        return element(args, at);
    }
    Expr operator()(const std::vector<Var> &args, Location at = Here::current()) const {
        return element(std::vector<Expr>(args.begin(), args.end()), at);
    }
    // The elements as a Func, to be scheduled, copied with in(), ...
    operator Func() const { return func_of_image(); }
    Func in(const Func &consumer, Location at = Here::current());
    Func in(const std::vector<Func> &consumers, Location at = Here::current());
    Func in(Location at = Here::current());
    void trace_loads(Location at = Here::current());
    ImageParam &add_trace_tag(const std::string &tag, Location at = Here::current());

private:
    void set_buffer(const Buffer<> &buffer, Location at);
    Expr element(const std::vector<Expr> &args, Location at) const;
    const Func &func_of_image(const Location &at = {}) const;
    std::shared_ptr<Func> image_func;
};

}  // namespace tessera
