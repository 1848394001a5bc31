# This is the version of Halide whose public interface there is.
set(PACKAGE_VERSION 21.0.0)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
