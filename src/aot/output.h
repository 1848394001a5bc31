#pragma once
#include "aot/generator_argument.h"
#include "lang/image_param.h"

namespace tessera {

// An output of a pipeline that a generator makes. generate() defines its Funcs, or assigns others
// to it.
class GeneratorOutput : public GeneratorArgument {
public:
    // Makes what generate() defines. An array whose size is open is empty until resize().
    virtual void prepare() = 0;
    // After generate(). CompileError if a Func is undefined, or not what was declared.
    void check();
    virtual std::vector<Func> funcs() const = 0;
    // The names of the buffers, one per Func.
    std::vector<std::string> names() const;

protected:
    explicit GeneratorOutput(const ArgumentShape &shape);
    Func make_func(size_t i) const;
};

// A Func whose buffer the caller passes, and may have to pass with a certain shape.
class OutputBuffer : public Func {
public:
    using Func::Func;
    OutputBuffer() = default;
    OutputBuffer(const Func &f) : Func(f) {}

    Dimension dim(int i, Location at = Here::current()) const {
        return output_buffer(at).dim(i, at);
    }
    Expr left(Location at = Here::current()) const { return dim(0, at).min(); }
    Expr right(Location at = Here::current()) const { return dim(0, at).max(); }
    Expr top(Location at = Here::current()) const { return dim(1, at).min(); }
    Expr bottom(Location at = Here::current()) const { return dim(1, at).max(); }
    Expr width(Location at = Here::current()) const { return dim(0, at).extent(); }
    Expr height(Location at = Here::current()) const { return dim(1, at).extent(); }
    Expr channels(Location at = Here::current()) const { return dim(2, at).extent(); }
    OutputBuffer &set_host_alignment(int bytes, Location at = Here::current()) {
        output_buffer(at).set_host_alignment(bytes, at);
        return *this;
    }
    operator OutputImageParam() const { return output_buffer(); }
};

namespace detail {

template<typename Element>
class SingleOutput : public Element, public GeneratorOutput {
public:
    const std::string &name() const { return shape().name; }
    const std::vector<Type> &types(Location at = Here::current()) const {
        return shape().types.empty() ? Func::types(at) : shape().types;
    }
    Type type(Location at = Here::current()) const { return types(at)[0]; }
    int dimensions() const {
        int known = shape().dimensions;
        return known == ArgumentShape::open ? Func::dimensions() : known;
    }
    void prepare() override { Element::operator=(Element(make_func(0))); }
    std::vector<Func> funcs() const override { return {*this}; }

protected:
    explicit SingleOutput(const ArgumentShape &shape) : GeneratorOutput(shape) {}
    void assign(const Func &f) { Element::operator=(Element(f)); }
};

template<typename Element>
class ArrayOutput : public GeneratorOutput {
public:
    const std::string &name() const { return shape().name; }
    size_t size() const { return size_or_refuse(); }
    Element &operator[](size_t i) {
        if (i >= elements.size()) refuse(str("has no element ", i));
        return elements[i];
    }
    auto begin() { return elements.begin(); }
    auto end() { return elements.end(); }
    // Estimates of the caller's buffers, for each element: min and extent of each dimension.
    void set_estimates(const Region &estimates, Location at = Here::current()) {
        for (Element &e : elements) e.set_estimates(estimates, at);
    }
    // Sets the number of elements of an array that was declared without a size.
    void resize(size_t size) {
        set_array_size(int(size));
        prepare();
    }
    void prepare() override {
        for (size_t i = 0; int(i) < shape().size; i++) elements.push_back(Element(make_func(i)));
    }
    std::vector<Func> funcs() const override { return {elements.begin(), elements.end()}; }

protected:
    explicit ArrayOutput(const ArgumentShape &shape) : GeneratorOutput(shape) {}
    // CompileError if there have to be more or fewer.
    void assign(const std::vector<Func> &funcs) {
        set_array_size(int(funcs.size()));
        elements.assign(funcs.begin(), funcs.end());
    }

private:
    std::vector<Element> elements;
};

template<typename T>
struct OutputElement {
    using type = Func;
};
template<typename T, int D>
struct OutputElement<Buffer<T, D>> {
    using type = OutputBuffer;
};

}  // namespace detail

// An output that is a Func, a Buffer (which has dim(), width(), ...), or a number: a Func without
// dimensions.
template<typename T>
class Output : public detail::SingleOutput<typename detail::OutputElement<T>::type> {
    using Base = detail::SingleOutput<typename detail::OutputElement<T>::type>;

public:
    explicit Output(const std::string &name, const ArgumentTypes &types = {},
                    int dimensions = ArgumentShape::open)
        : Base(detail::shape_of<T>(name, types, dimensions)) {}
    Output(const std::string &name, int dimensions) : Output(name, {}, dimensions) {}

    // This Func is the output.
    Output &operator=(const Func &f) {
        this->assign(f);
        return *this;
    }
    Output &operator=(const Output &f) { return *this = static_cast<const Func &>(f); }
};

// Holds as many outputs as name.size=, set_array_size() or resize() says.
template<typename T>
class Output<T[]> : public detail::ArrayOutput<typename detail::OutputElement<T>::type> {
    using Base = detail::ArrayOutput<typename detail::OutputElement<T>::type>;

public:
    explicit Output(const std::string &name, const ArgumentTypes &types = {},
                    int dimensions = ArgumentShape::open)
        : Output(ArgumentShape::open, name, types, dimensions) {}
    Output(const std::string &name, int dimensions) : Output(name, {}, dimensions) {}
    Output(int size, const std::string &name, const ArgumentTypes &types = {},
           int dimensions = ArgumentShape::open)
        : Base(detail::array_shape_of<T>(size, name, types, dimensions)) {}
    // These Funcs are the output.
    Output &operator=(const std::vector<Func> &funcs) {
        this->assign(funcs);
        return *this;
    }
};

template<typename T, size_t N>
class Output<T[N]> : public Output<T[]> {
public:
    explicit Output(const std::string &name, const ArgumentTypes &types = {},
                    int dimensions = ArgumentShape::open)
        : Output<T[]>(int(N), name, types, dimensions) {}
    Output(const std::string &name, int dimensions) : Output(name, {}, dimensions) {}
    using Output<T[]>::operator=;
};

}  // namespace tessera
