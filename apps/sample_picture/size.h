#pragma once

namespace tessera::apps {

// The size of the sample picture, in pixels.
constexpr int sample_width = 768, sample_height = 512;

}  // namespace tessera::apps
