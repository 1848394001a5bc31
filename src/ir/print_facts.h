#pragma once
#include "ir/module.h"
#include "ir/print_expr.h"
#include <vector>

namespace tessera::ir::text {

// The printer of what statements carry besides what they do (`ir/facts.h`). For ir/printer.cpp
// only.
class FactPrinter : public ExprPrinter {
protected:
    using ExprPrinter::ExprPrinter;

    void print_origin(const LoopOrigin &origin);
    void print_streams(const Streams &streams);
    void print_traced(const Traced &traced);
    // Prints what a buffer argument holds.
    void print_held(const Argument &a);
    void print_produced(const Produced &produced);
    // Without its folds, which stand in the region.
    void print_storage(const StorageFacts &facts);
    void print_region(const Region &region, const std::vector<StorageFold> &folds = {});
    void print_copies(const Expr &copies);

private:
    void print_fold(const StorageFold &fold);
    void print_order(const std::vector<StoredDimension> &order);
    void print_names(const std::vector<Symbol> &names);
};

}  // namespace tessera::ir::text
