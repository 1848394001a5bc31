#pragma once

namespace llvm {
class Function;
}

namespace tessera::codegen {

// Computes numbers of 8 and 16 bits in registers of 32, which is what a GPU's multiprocessor has:
// where only the low bits of a result are used, those above may be anything, so that a chain of
// sums and products is cut to its bits once, at the end. LLVM makes narrow instructions of it
// (`mad.lo.s16`), after each of which ptxas cuts: a stencil of 25 products took 220 `PRMT` for 254
// `IMAD`. For optimized code, just before instructions are selected: what optimizes narrows it
// again.
void widen_small_integers(llvm::Function &f);

}  // namespace tessera::codegen
