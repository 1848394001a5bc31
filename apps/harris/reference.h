#pragma once

#include "common/image.h"

namespace tessera::apps {

// Harris' measure of corners on the grey picture. The result leaves out a border of three.
Image<float> harris_reference(const Image<float> &input);

}  // namespace tessera::apps
