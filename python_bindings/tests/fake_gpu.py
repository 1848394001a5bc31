"""A driver for GPUs that needs none, for tests: that of test/runtime, seen through ctypes.

Its devices are pieces of the host's memory at addresses that the host cannot use, and what is put on a stream happens when
somebody waits for it. Its one kernel doubles its first array of int32 into its second.
"""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "test/runtime"

KERNEL = r"""
#include "fake_cuda.h"
#include <cstdlib>
static void run(const FakeLaunch &launch) {
    int *arrays[2] = {}, n = 0;
    const int arguments = std::atoi(std::getenv("FAKE_CUDA_ARGUMENTS"));
    for (int i = 0; i < arguments && n < 2; i++) {
        void *p = fake_cuda()->memory(*static_cast<uint64_t *>(launch.args[i]));
        if (p) arrays[n++] = static_cast<int *>(p);
    }
    for (unsigned i = 0; i < launch.blocks[0] * launch.threads[0]; i++) arrays[1][i] = 2 * arrays[0][i];
}
[[gnu::constructor]] static void begin() {
    fake_cuda()->add_kernel({"*", std::atoi(std::getenv("FAKE_CUDA_ARGUMENTS")), run});
}
"""


def can_build():
    return SOURCES.is_dir() and shutil.which("g++")


def build(folder):
    """Compiles the driver, and returns its path."""
    kernel, library = folder / "kernel.cpp", folder / "libcuda.so.1"
    kernel.write_text(KERNEL)
    subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{SOURCES}", str(SOURCES / "fake_cuda.cpp"),
                    str(SOURCES / "fake_cuda_control.cpp"), str(kernel), "-o", str(library)], check=True)
    return library


def run_tests(file, folder, arguments):
    """Runs the tests of a file in a process that has the driver; `arguments`: how many the kernel takes."""
    environment = dict(os.environ, TESSERA_CUDA_DRIVER=str(build(folder)), FAKE_CUDA_ARGUMENTS=str(arguments))
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)], env=environment,
                          capture_output=True, text=True)


class FakeCuda(ctypes.Structure):
    """The struct of that name of fake_cuda.h."""
    _fields_ = [(name, ctypes.CFUNCTYPE(result, *arguments)) for name, result, *arguments in [
        ("reset", None), ("calls", ctypes.c_int, ctypes.c_char_p), ("all_calls", ctypes.c_int),
        ("fail", None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int), ("fail_all", None, ctypes.c_int, ctypes.c_bool),
        ("add_kernel", None, ctypes.c_void_p), ("memory", ctypes.c_void_p, ctypes.c_uint64), ("live_bytes", ctypes.c_uint64),
        ("kept_bytes", ctypes.c_uint64), ("set_memory", None, ctypes.c_uint64), ("set_capability", None, ctypes.c_int),
        ("set_pools", None, ctypes.c_bool), ("modules", ctypes.c_int), ("last_image", ctypes.c_char_p),
        ("last_map", ctypes.c_char_p), ("dynamic_shared", ctypes.c_int), ("retained", ctypes.c_int, ctypes.c_int), ("current", ctypes.c_void_p),
        ("new_context", ctypes.c_void_p, ctypes.c_int), ("make_current", None, ctypes.c_void_p),
        ("new_stream", ctypes.c_void_p), ("pending", ctypes.c_int, ctypes.c_void_p)]]


class Gpu:
    def __init__(self):
        self.library = ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"])
        self.library.fake_cuda.restype = ctypes.POINTER(FakeCuda)
        self.control = self.library.fake_cuda().contents
        functions = re.findall(r"\(\*(\w+)\)\(", (SOURCES / "fake_cuda.h").read_text().split("struct FakeCuda {")[1])
        names = [name for name, *_ in FakeCuda._fields_]
        assert names == functions[:len(names)], "FakeCuda is another struct than that of fake_cuda.h"
        context = ctypes.c_void_p()
        self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        self.control.make_current(context)

    def calls(self, function):
        return self.control.calls(function.encode())

    def allocate(self, values):
        """Returns the address of new memory with these int32."""
        address = ctypes.c_uint64()
        assert self.library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 * max(len(values), 1))) == 0
        self.elements(address.value, len(values))[:] = values
        return address.value

    def elements(self, address, n):
        """The memory as an array of ctypes."""
        return (ctypes.c_int32 * n).from_address(self.control.memory(address))

    def free(self, address):
        assert self.library.cuMemFree_v2(ctypes.c_uint64(address)) == 0


class CudaArray:
    """An array of int32 on the GPU that has the CUDA array interface."""

    def __init__(self, gpu, values, shape=None, stream=None, readonly=False):
        self.gpu, self.n = gpu, len(values)
        self.address = gpu.allocate(values)
        self.__cuda_array_interface__ = {
            "shape": shape or (self.n,), "typestr": "<i4", "data": (self.address, readonly), "version": 3, "strides": None,
            "stream": stream}

    def tolist(self):
        return list(self.gpu.elements(self.address, self.n))

    def __del__(self):
        self.gpu.free(self.address)
