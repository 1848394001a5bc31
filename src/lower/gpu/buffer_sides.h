#pragma once
#include "ir/module.h"
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

// Says how a statement uses a buffer: what the host reads and writes of it, and what kernels do.
struct Sides {
    bool host_reads = false, host_writes = false, device_reads = false, device_writes = false;
    bool told = false;   // the flags tell where it is newest, which must be so already
    bool frees = false;  // nothing uses it after

    bool on_host() const { return host_reads || host_writes; }
    bool on_device() const { return device_reads || device_writes; }
    bool writes() const { return host_writes || device_writes; }
    bool any() const { return on_host() || on_device(); }
    // Returns true if where it is newest has to be known between the uses.
    bool changes_sides() const {
        return writes() && ((on_host() && on_device()) || (told && any()));
    }
    void add(const Sides &o);
};

// Finds the uses of a pipeline's buffers, statement by statement. A C function reads what it is
// given the address of, and writes it unless it is an input; on the device, if it is said to be
// there.
class BufferSides {
public:
    explicit BufferSides(const ir::LoweredFunction &pipeline);

    using PerBuffer = std::map<Symbol, Sides>;
    const PerBuffer &of(const ir::Stmt &s);
    // Returns the uses by the statement's own expressions: not by the statements within it.
    PerBuffer own(const ir::Stmt &s) const;
    Sides of(const ir::Stmt &s, Symbol buffer);
    // Buffers in memory of the host that kernels use, too.
    const std::unordered_set<Symbol> &used_on_device() const { return on_device; }

private:
    void find_addresses(const ir::Stmt &body);
    PerBuffer of_kernel(const ir::For &kernel) const;
    PerBuffer of_expression(const ir::Expr &e) const;
    template<typename Use>
    void hand_over(const ir::Expr &argument, PerBuffer &uses, Use use) const;

    std::unordered_set<Symbol> inputs;
    // Variables that hold an address in buffers, and the buffers. Buffer arguments among them.
    std::unordered_map<Symbol, std::unordered_set<Symbol>> addresses;
    std::unordered_set<Symbol> on_device;
    std::unordered_map<const ir::StmtNode *, PerBuffer> known;
};

// Returns the statements directly within one.
std::vector<ir::Stmt> statements_within(const ir::Stmt &s);

// Returns true for the outermost loop of a kernel, where the statements around are the host's.
bool is_kernel(const ir::Stmt &s);

// Returns true for a copy, or a call of a function in C that uses the device: a let of its result,
// with what checks that.
bool is_told(const ir::Stmt &s);

}  // namespace tessera::lower
