# Tessera in Halide's place: cmake -DHalide_DIR=<this folder>. Its targets Halide::Halide, ... and
# functions add_halide_... come with the package Tessera, found in the same prefix.
include(CMakeFindDependencyMacro)
find_dependency(Tessera HINTS ${CMAKE_CURRENT_LIST_DIR}/../../..)
