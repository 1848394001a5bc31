#pragma once
#include "ir/nodes.h"

// The roles of a kernel's warps: the producer copies ahead, the consumers do
// the rest.
namespace tessera::lower {

// The arrivals that a barrier waits for which waits for all consumers
// (barrier_init), until these are counted; those of so many blocks of a cluster
// as a third operand says.
constexpr int32_t all_consumer_warps = 0;
// Likewise of a barrier that waits for all warps of the producer.
constexpr int32_t all_producer_warps = -1;

// Marks a statement as the producer's, where the statements around are all
// threads'.
ir::Stmt of_producer(const ir::Stmt &s);
// Returns true for such a mark, and for the choice between the roles that
// split_roles makes.
bool is_choice_of_role(const ir::IfThenElse &branch);

// Makes a body of its own for each role from one in which statements are
// marked:
//
//     for k in [0, +m):                              if gpu_is_producer():
//         if gpu_is_producer(): copy k                   for k in [0, +m):
//         use k                              ->              copy k
//                                                    else:
//                                                        for k in [0, +m):
//                                                            use k
//
// The producer's has the loops, lets and conditions around its statements, and
// no storage. One thread runs it, or, where it has loops over threads, all of its
// threads do, which these are about.
ir::Stmt split_roles(const ir::Stmt &body);
// Returns what the consumers run.
ir::Stmt without_producer(const ir::Stmt &body);

}  // namespace tessera::lower
