#include "codegen/x86/amx.h"
#include <array>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace tessera::codegen {
namespace {

namespace I = llvm::Intrinsic;

struct TileProduct {
    const char *name;
    I::ID id;
};
constexpr TileProduct tile_products[] = {
    {"tdpbssd", I::x86_tdpbssd}, {"tdpbusd", I::x86_tdpbusd},     {"tdpbsud", I::x86_tdpbsud},
    {"tdpbuud", I::x86_tdpbuud}, {"tdpbf16ps", I::x86_tdpbf16ps},
};

class AMXRegisters final : public TileRegisters {
public:
    AMXRegisters(llvm::Module &module, llvm::IRBuilder<> &b) : module(module), b(b) {}

    void configure() override { call(I::x86_ldtilecfg, {configuration()}); }
    void release() override { call(I::x86_tilerelease, {}); }
    void zero(int tile) override { call(I::x86_tilezero, {number(tile)}); }
    void load(int tile, Value *place, Value *stride) override {
        call(I::x86_tileloadd64, {number(tile), place, stride});
    }
    void store(int tile, Value *place, Value *stride) override {
        call(I::x86_tilestored64, {number(tile), place, stride});
    }
    void multiply(const ir::Instruction &row, int sums, int a, int b_tile) override {
        for (const TileProduct &p : tile_products) {
            if (row.mnemonic == p.name) call(p.id, {number(sums), number(a), number(b_tile)});
        }
    }

private:
    // Palette 1: of each tile, 16 bits for the bytes of a row, from byte 16 on, and 8 for the
    // rows, from byte 48 on.
    llvm::GlobalVariable *configuration() {
        constexpr const char *name = "tessera.amx_configuration";
        if (auto *known = module.getNamedGlobal(name)) return known;
        std::array<uint8_t, 64> bytes{};
        bytes[0] = 1;
        for (size_t tile = 0; tile < count; tile++) {
            bytes[16 + 2 * tile] = 64;
            bytes[48 + tile] = 16;
        }
        auto *value = llvm::ConstantDataArray::get(module.getContext(), bytes);
        auto *made = new llvm::GlobalVariable(module, value->getType(), true,
                                              llvm::GlobalValue::PrivateLinkage, value, name);
        made->setAlignment(llvm::Align(64));
        return made;
    }
    Value *number(int tile) { return b.getInt8(uint8_t(tile)); }
    void call(I::ID id, const std::vector<Value *> &args) {
        b.CreateCall(I::getOrInsertDeclaration(&module, id), args);
    }
    llvm::Module &module;
    llvm::IRBuilder<> &b;
};

}  // namespace

std::unique_ptr<TileRegisters> amx_registers(llvm::Module &module, llvm::IRBuilder<> &b) {
    return std::make_unique<AMXRegisters>(module, b);
}

}  // namespace tessera::codegen
