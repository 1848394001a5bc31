#pragma once
#include "lang/buffer.h"
#include "lang/location.h"
#include <string>

namespace tessera {

// Reads a PNG, PGM or PPM file, recognized by its contents. Elements are UInt(8), or UInt(16) where
// the file has more than 8 bits. Dimensions are x, y and, unless the image is plain grey, c: grey
// and alpha, RGB, or RGBA; each channel is a plane. Palettes are expanded. Throws RuntimeError with
// the path and the reason if the file cannot be read or is damaged.
Buffer<> load_image(const std::string &path, Location at = Here::current());

// Writes a PNG, PGM or PPM file, by the ending of the path. Buffers of 8- and 16-bit unsigned
// integers are written as they are (16-bit PGM and PPM, too); floating-point ones are taken to
// range from 0 to 1 and written with 16 bits. A grey image has two dimensions, or one channel; PNG
// takes 1 to 4 channels, PGM 1, PPM 3. The mins of the buffer do not matter.
// Throws RuntimeError with the path and the reason.
void save_image(const Buffer<> &image, const std::string &path, Location at = Here::current());

// Returns the bytes of a PNG file, as save_image writes it. Throws RuntimeError with the reason.
std::string to_png(const Buffer<> &image, Location at = Here::current());

// The same image in another element type: integers stand for the range from 0 to 1 (the largest
// value is 1), results are rounded and clamped. Types: UInt 8, 16 and 32, Float 16, 32 and 64,
// BFloat 16; RuntimeError for others.
Buffer<> convert_image(const Buffer<> &image, Type type, Location at = Here::current());

// load_image with the elements converted: load_and_convert_image<float>("photo.png").
template<typename T>
Buffer<T> load_and_convert_image(const std::string &path, Location at = Here::current()) {
    return convert_image(load_image(path, at), type_of<T>(), at);
}

// save_image of what the format can hold: any type that convert_image takes.
void convert_and_save_image(const Buffer<> &image, const std::string &path,
                            Location at = Here::current());

}  // namespace tessera
