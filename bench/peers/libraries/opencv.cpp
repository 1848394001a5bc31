// OpenCV. Its blur of 16-bit values rounds elsewhere than ours; that of floats computes the same.
#include "cpu/libraries.h"

#include <opencv2/imgproc.hpp>

namespace tessera::bench {

std::vector<Implementation> opencv_implementations(const std::shared_ptr<Data> &data) {
    if (data->problem.generator != "blur_f32") return {};
    Buffer<> input = data->input("input"), output = data->new_output();
    const int width = output.dim(0).extent(), height = output.dim(1).extent();
    const cv::Mat whole(height + 2, width + 2, CV_32F, input.data());
    // Around a part of a picture there is the rest of it: no border is made up.
    const cv::Mat from = whole(cv::Rect(1, 1, width, height));
    const cv::Mat to(height, width, CV_32F, output.data());
    auto run = [=] { cv::blur(from, cv::Mat(to), {3, 3}); };
    return {{"OpenCV", run, [](int threads) { cv::setNumThreads(threads); },
             [output, data] { return output; }}};
}

}  // namespace tessera::bench
