#pragma once
#include "function.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::run {

// These functions read what a user may write behind `name=`. All throw RuntimeError with the reason
// alone.

// "[640,480,3]"
std::vector<int> parse_extents(const std::string &text);

// A value of a scalar's type, as its bytes: "3", "-2.5", "true".
struct Scalar {
    alignas(8) uint8_t bytes[8] = {};
};
Scalar parse_scalar(tessera_type_t type, const std::string &text);

// The value of a scalar argument: a number, or "default" or "estimate" of the metadata, or both
// with a comma between them, of which the first that is there counts. Nothing if none is.
std::optional<Scalar> scalar_from(const ArgumentInfo &about, const std::string &text);

// Says what fills an input buffer.
struct InputText {
    enum class Fill { File, Zero, Constant, Identity, Random };
    enum class Size { OfFile, Given, Estimate, EstimateOrAuto, Auto };

    Fill fill = Fill::File;
    std::string path;
    std::string value;             // of Constant
    std::optional<uint64_t> seed;  // of Random; none: any
    Size size = Size::OfFile;
    std::vector<int> extents;  // where they are given
};
// "photo.png", "zero:[100,200]", "constant:7:auto", "random:SEED:estimate_then_auto", ...
InputText parse_input(const std::string &text);

}  // namespace tessera::run
