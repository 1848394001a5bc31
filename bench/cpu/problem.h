// A problem says what is computed, whoever does it: names, types and sizes of arguments, and how
// much work it is.
#pragma once

#include <tessera.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench {

// The shape of a buffer; dense, the first dimension innermost.
struct Shape {
    std::string name;
    Type type;
    std::vector<int> extents;
    std::vector<int> mins = {};  // empty: zeros
};

enum class Arithmetic { Float32, BFloat16, Int8 };

struct Problem {
    std::string name, size;
    std::string generator;        // of ours, and of peers that compile the same source
    std::string params = "";      // "name=value name=value"
    std::string own_params = "";  // added to these for ours alone
    std::vector<Shape> inputs;
    std::map<std::string, double> scalars = {};
    Shape output;
    double operations = 0;  // multiplications and additions; 0: bytes alone limit it
    Arithmetic arithmetic = Arithmetic::Float32;
    double tolerance = 1e-4;  // of a result, relative to the largest; integers: of their values
    bool quick = true;        // part of a quick run
    double bar = 1;           // what the ratio peer / ours should be at least
};

// Returns true if its params say `name=true`.
bool is_set(const Problem &problem, const std::string &name);

// Memory for a problem's arguments, the inputs filled with random numbers: floats in [0, 1),
// integers over the range of their type.
class Data {
public:
    explicit Data(const Problem &problem);

    // Throws std::out_of_range where the problem has no such input.
    Buffer<> &input(const std::string &name) { return inputs.at(name); }
    double scalar(const std::string &name) const { return problem.scalars.at(name); }
    bool has_scalar(const std::string &name) const { return problem.scalars.count(name) > 0; }
    Buffer<> new_output() const { return allocate(problem.output); }
    // Bytes that are read and written at least once.
    double bytes() const;

    const Problem &problem;

private:
    static Buffer<> allocate(const Shape &shape);
    std::map<std::string, Buffer<>> inputs;
};

// Returns the largest difference of all elements, over the largest magnitude in `expected` if
// floats.
double difference(const Buffer<> &result, const Buffer<> &expected);

}  // namespace tessera::bench
