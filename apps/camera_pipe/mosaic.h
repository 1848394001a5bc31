#pragma once

#include "camera_pipe/camera.h"
#include "common/image.h"

#include <cstdint>

namespace tessera::apps {

// Returns what the sensor of `camera` would have seen of a picture: 10 bits, each pixel behind one
// filter of green red / blue green. Undoes the curve and the colours of the camera, so that the
// pipeline returns about the picture it was made from.
Image<uint16_t> mosaic(const Image<float> &picture, const Camera &camera);

}  // namespace tessera::apps
