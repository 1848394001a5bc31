#pragma once

#include "camera_pipe/camera.h"
#include "common/image.h"

#include <array>
#include <cstdint>

namespace tessera::apps {

// From raw values of a sensor (green red / blue green) to a picture, smaller by the border.
Image<uint8_t> camera_pipe_reference(const Image<uint16_t> &raw, const Camera &camera);

// The matrix for the light of `camera`.
std::array<std::array<float, 4>, 3> colour_matrix(const Camera &camera);

// The display value for each raw value from 0 to 1023.
std::array<uint8_t, 1024> tone_curve(const Camera &camera);

}  // namespace tessera::apps
