#pragma once
#include "ir/module.h"
#include "ir/parse_expr.h"
#include <string>
#include <vector>

namespace tessera::ir::text {

// The parser of what statements carry besides what they do (`ir/facts.h`). For ir/parser.cpp only.
class FactParser : public ExprParser {
protected:
    using ExprParser::ExprParser;

    std::string string();
    LoopOrigin origin();
    Streams streams();
    Produced produced();
    // Without its folds, which stand in the region.
    StorageFacts storage_facts();
    Region region(std::vector<StorageFold> *folds = nullptr);
    HoistFacts hoist_facts();
    // Parses what a buffer argument holds.
    void held(Argument &a);
    std::vector<Type> type_list();
    MemoryType memory();

private:
    Traced traced();
    StorageFold fold(int dim);
    StoredDimension stored_dimension();
    std::vector<Symbol> names();
    ProducedRange produced_range();
};

}  // namespace tessera::ir::text
