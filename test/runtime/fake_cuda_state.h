#pragma once
#include "fake_cuda.h"
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// What the driver of tests (fake_cuda.cpp) consists of, and what steers it (fake_cuda_control.cpp).

struct CUstream_st {
    std::deque<std::function<void()>> queue;
};
struct CUctx_st {
    int device = 0;
    CUstream_st legacy;
};
struct CUmod_st {
    std::string image;
};
struct CUfunc_st {
    FakeKernel kernel;
    CUmod_st *module;
    int max_dynamic = 0;
};
struct CUevent_st {
    CUstream_st *stream = nullptr;
    bool done = true;
    bool has_time = true;
    int at = 0;  // the clock then
};
struct CUmemPoolHandle_st {
    int device = 0;
    uint64_t kept = 0;
};

namespace fake_driver {

using Address = uint64_t;
using Pool = CUmemPoolHandle_st *;

// Addresses of devices are those of the host with this bit, which no host address has.
constexpr Address device_bit = Address(1) << 60;

struct Block {
    std::unique_ptr<uint8_t[]> bytes;
    size_t size;
    int device;
    Pool pool;
};

struct Fake {
    std::map<std::string, int> calls;
    std::map<std::string, std::pair<int, int>> failures;  // how many calls to go, the result
    int all_calls = 0;
    int broken = 0;
    bool contexts_are_broken = false;
    std::map<std::string, FakeKernel> kernels;
    std::map<Address, Block> blocks;
    // Freed in the order of a stream that has not come to it yet: only kernels see it, which were
    // launched before.
    std::map<Address, Block> leaving;
    std::map<Address, size_t> pinned;
    uint64_t memory = uint64_t(1) << 30;
    int capability = 90;
    bool has_pools = true;
    std::map<CUmod_st *, std::unique_ptr<CUmod_st>> modules;
    std::vector<std::unique_ptr<CUfunc_st>> functions;
    std::string last_image, last_map;
    int last_dynamic = 0;
    int clock = 0;  // in ms: each kernel and each copy takes one
    std::unique_ptr<CUctx_st> primary[2];
    int retained[2] = {};
    std::vector<CUctx_st *> contexts;
    std::vector<std::unique_ptr<CUstream_st>> streams;
    std::map<CUevent_st *, std::shared_ptr<CUevent_st>> events;
    std::map<Pool, std::unique_ptr<CUmemPoolHandle_st>> pools;
};

extern std::recursive_mutex mutex;
extern thread_local std::vector<CUctx_st *> stack;  // the contexts of the thread
Fake &fake();
// The host's address of device memory in one of these blocks that has at least so many bytes.
uint8_t *find(const std::map<Address, Block> &blocks, Address address, size_t bytes);

}  // namespace fake_driver
