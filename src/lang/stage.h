#pragma once
#include "ir/enums.h"
#include "lang/buffer.h"
#include "lang/gpu_directives.h"
#include "lang/not_yet.h"
#include "lang/operators.h"
#include "lang/rdom.h"
#include "program/apply.h"

namespace tessera {

class Func;
class ImageParam;
class Stage;

// A loop, and the line of the directive that names it, for directives with a list of loops.
struct LoopName : VarOrRVar {
    template<std::convertible_to<VarOrRVar> V>
    LoopName(const V &v, Location at = Here::current()) : VarOrRVar(v), at(at) {}
    Location at;
};

// The operand of a prefetch, stream_loads or copy_input: a Func, an ImageParam or a Buffer.
struct Fetched {
    Fetched(const Func &f);
    Fetched(const ImageParam &image, Location at = Here::current());
    template<typename T, int Dims>
    Fetched(const Buffer<T, Dims> &buffer, Location at = Here::current())
        : Fetched(buffer.shared_contents(), at) {}
    Fetched(const BufferContentsRef &buffer, Location at = Here::current());
    Symbol name;
};

namespace detail {

// The directives on loops; they check what needs the language's types, and hand on to
// program::apply.
using program::StageRef;
StageDirective split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                     const Expr &factor, TailStrategy tail, Location at);
void fuse(const StageRef &s, const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused,
          Location at);
void rename(const StageRef &s, const VarOrRVar &old, const VarOrRVar &name, Location at);
void reorder(const StageRef &s, const std::vector<VarOrRVar> &vars, Location at);
void set_kind(const StageRef &s, const VarOrRVar &v, LoopKind kind, Location at);
// Splits by `factor` first; the outer loop keeps the name. Vectorized and unrolled: the inner one.
void split_and_set_kind(const StageRef &s, const VarOrRVar &v, const Expr &factor,
                        TailStrategy tail, LoopKind kind, Location at);
void partition(const StageRef &s, const std::vector<VarOrRVar> &vars, Partition p, Location at);
void partition_all(const StageRef &s, Partition p, Location at);
void prefetch(const StageRef &s, const Fetched &what, const VarOrRVar &at_loop,
              const VarOrRVar &from, const Expr &offset, PrefetchBoundStrategy strategy,
              Location at);
void stream_loads(const StageRef &s, const std::vector<Fetched> &what, Location at);

}  // namespace detail

// The directives that a Func (for its pure definition) and a Stage (for any) have in common.
// `Self` says which stage they are for: program::StageRef scheduled(Location at).
template<typename Self>
class LoopDirectives : public LaterDirectives<Self>, public GPUDirectives<Self> {
public:
    // old becomes outer * factor + inner.
    Self &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                const Expr &factor, TailStrategy tail = TailStrategy::Auto,
                Location at = Here::current()) {
        program::apply(self().scheduled(at), detail::split(old, outer, inner, factor, tail, at),
                       at);
        return self();
    }
    // Two loops become one, in the place of `inner`.
    Self &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused,
               Location at = Here::current()) {
        detail::fuse(self().scheduled(at), inner, outer, fused, at);
        return self();
    }
    Self &rename(const VarOrRVar &old, const VarOrRVar &name, Location at = Here::current()) {
        detail::rename(self().scheduled(at), old, name, at);
        return self();
    }
    // Innermost first, in the places that these loops have now.
    Self &reorder(const std::vector<VarOrRVar> &vars, Location at = Here::current()) {
        detail::reorder(self().scheduled(at), vars, at);
        return self();
    }
    template<std::convertible_to<VarOrRVar>... Vars>
    Self &reorder(const LoopName &first, const VarOrRVar &second, const Vars &...rest) {
        return reorder(std::vector<VarOrRVar>{first, second, VarOrRVar(rest)...}, first.at);
    }

    Self &serial(const VarOrRVar &v, Location at = Here::current()) {
        detail::set_kind(self().scheduled(at), v, LoopKind::Serial, at);
        return self();
    }
    Self &parallel(const VarOrRVar &v, Location at = Here::current()) {
        detail::set_kind(self().scheduled(at), v, LoopKind::Parallel, at);
        return self();
    }
    Self &vectorize(const VarOrRVar &v, Location at = Here::current()) {
        detail::set_kind(self().scheduled(at), v, LoopKind::Vectorized, at);
        return self();
    }
    Self &unroll(const VarOrRVar &v, Location at = Here::current()) {
        detail::set_kind(self().scheduled(at), v, LoopKind::Unrolled, at);
        return self();
    }
    // Tasks of `task_size` iterations each.
    Self &parallel(const VarOrRVar &v, const Expr &task_size,
                   TailStrategy tail = TailStrategy::Auto, Location at = Here::current()) {
        detail::split_and_set_kind(self().scheduled(at), v, task_size, tail, LoopKind::Parallel,
                                   at);
        return self();
    }
    // Splits v by `factor` first: the inner loop is vectorized (unrolled), the outer one is v.
    Self &vectorize(const VarOrRVar &v, const Expr &factor, TailStrategy tail = TailStrategy::Auto,
                    Location at = Here::current()) {
        detail::split_and_set_kind(self().scheduled(at), v, factor, tail, LoopKind::Vectorized, at);
        return self();
    }
    Self &unroll(const VarOrRVar &v, const Expr &factor, TailStrategy tail = TailStrategy::Auto,
                 Location at = Here::current()) {
        detail::split_and_set_kind(self().scheduled(at), v, factor, tail, LoopKind::Unrolled, at);
        return self();
    }

    // Splits each of `previous` by its factor, and orders the loops: all inner ones, then all outer
    // ones, innermost first. Without `outers`, the outer loops keep their names.
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
               const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
               const std::vector<TailStrategy> &tails, Location at = Here::current()) {
        const program::StageRef &s = self().scheduled(at);
        program::apply(s, detail::tile(s, previous, outers, inners, factors, tails, at), at);
        return self();
    }
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
               const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
               TailStrategy tail = TailStrategy::Auto, Location at = Here::current()) {
        return tile(previous, outers, inners, factors,
                    std::vector<TailStrategy>(previous.size(), tail), at);
    }
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &inners,
               const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto,
               Location at = Here::current()) {
        return tile(previous, previous, inners, factors, tail, at);
    }
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
               const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
               TailStrategy tail = TailStrategy::Auto, Location at = Here::current()) {
        return tile({x, y}, {xo, yo}, {xi, yi}, {xfactor, yfactor}, tail, at);
    }
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
               const Expr &xfactor, const Expr &yfactor, TailStrategy tail = TailStrategy::Auto,
               Location at = Here::current()) {
        return tile({x, y}, {x, y}, {xi, yi}, {xfactor, yfactor}, tail, at);
    }

    // Says if a loop may be split into prologue, steady state and epilogue.
    Self &partition(const VarOrRVar &v, Partition p, Location at = Here::current()) {
        detail::partition(self().scheduled(at), {v}, p, at);
        return self();
    }
    Self &never_partition(const std::vector<VarOrRVar> &vars, Location at = Here::current()) {
        detail::partition(self().scheduled(at), vars, Partition::Never, at);
        return self();
    }
    template<std::convertible_to<VarOrRVar>... Vars>
    Self &never_partition(const LoopName &first, const Vars &...rest) {
        return never_partition(std::vector<VarOrRVar>{first, VarOrRVar(rest)...}, first.at);
    }
    Self &always_partition(const std::vector<VarOrRVar> &vars, Location at = Here::current()) {
        detail::partition(self().scheduled(at), vars, Partition::Always, at);
        return self();
    }
    template<std::convertible_to<VarOrRVar>... Vars>
    Self &always_partition(const LoopName &first, const Vars &...rest) {
        return always_partition(std::vector<VarOrRVar>{first, VarOrRVar(rest)...}, first.at);
    }
    Self &never_partition_all(Location at = Here::current()) {
        detail::partition_all(self().scheduled(at), Partition::Never, at);
        return self();
    }
    Self &always_partition_all(Location at = Here::current()) {
        detail::partition_all(self().scheduled(at), Partition::Always, at);
        return self();
    }

    // Stores of the update are atomic, so that its loops over reduction variables may be parallel
    // or vectorized. CompileError if it is not proved associative, unless the test is overridden.
    Self &atomic(bool override_associativity_test = false, Location at = Here::current()) {
        program::apply(self().scheduled(at), program::AtomicDirective{override_associativity_test},
                       at);
        return self();
    }
    // The user knows that iterations may run at once.
    Self &allow_race_conditions(Location at = Here::current()) {
        program::apply(self().scheduled(at), program::AllowRaceConditions{}, at);
        return self();
    }
    // A copy of the stage, with a schedule of its own from here on, for when the condition holds.
    Stage specialize(const Expr &condition, Location at = Here::current());
    // Fails if none of the specializations before applies.
    void specialize_fail(const std::string &message, Location at = Here::current()) {
        program::apply(self().scheduled(at), program::SpecializeFail{message}, at);
    }
    // At the loop `at_loop`, fetch what the iteration of `from` that is `offset` later reads of
    // `what`, or writes if that is this Func itself.
    Self &prefetch(const Fetched &what, const VarOrRVar &at_loop, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf,
                   Location at = Here::current()) {
        detail::prefetch(self().scheduled(at), what, at_loop, from, offset, strategy, at);
        return self();
    }
    // Loads (of everything, or of these), or stores, that do not fill the caches.
    Self &stream_loads(const std::vector<Fetched> &what = {}, Location at = Here::current()) {
        detail::stream_loads(self().scheduled(at), what, at);
        return self();
    }
    Self &stream_stores(Location at = Here::current()) {
        program::apply(self().scheduled(at), program::StreamStores{}, at);
        return self();
    }

private:
    Self &self() { return static_cast<Self &>(*this); }
};

// One definition of a Func, to be scheduled: what an update returns, and Func::update(i).
class Stage : public LoopDirectives<Stage> {
public:
    explicit Stage(program::StageRef ref) : ref(std::move(ref)) {}

    const std::string &name() const { return ref.name; }
    // The loops as they are now, innermost first.
    std::vector<VarOrRVar> split_vars() const;
    const program::StageSchedule &schedule() const { return ref.definition().schedule; }
    // The names of the loops as a line of text: "Vars: x, y".
    std::string dump_argument_list() const;

    // For an associative update: a new Func computes it separately for each value of the given
    // reduction variables, which become its dimensions; this stage joins its values. Returns the
    // new Func.
    Func rfactor(const std::vector<std::pair<RVar, Var>> &preserved, Location at = Here::current());
    Func rfactor(const RVar &r, const Var &v, Location at = Here::current());

    // Computes the sum in `parts` parts, to which the iterations of a reduction loop are dealt out:
    // split(r, of, r, n / parts).rfactor(of, part) if their number n is known to be a multiple of
    // `parts`, as that of the inner loop of a split; else in turns, split(r, r, of, parts). Returns
    // the Func of the parts, of which `part` is the last dimension, and the outermost loop. They
    // are added up in the order of their numbers, so that results are the same each time. Where the
    // parts are stored says who does that: another kernel (compute_root), or the blocks of a
    // cluster (compute_at a loop over clusters): docs/tensor_cores.md. CompileError if `parts` is
    // no positive constant, or the update cannot be computed in parts.
    Func split_k(const RVar &r, const Var &part, const Expr &parts, Location at = Here::current());

    // This stage reads the Buffer that the program holds through a new Func, which has its values:
    // stored in another order, for example, or a part of it for each tile. Returns the new Func.
    Func copy_input(const Fetched &buffer, Location at = Here::current());

    // States that the stage is meant to have no schedule: no warning is given where others have
    // one.
    void unscheduled(Location at = Here::current());

    const program::StageRef &scheduled(Location) const { return ref; }

private:
    program::StageRef ref;
};

template<typename Self>
Stage LoopDirectives<Self>::specialize(const Expr &condition, Location at) {
    return Stage(program::specialize(self().scheduled(at), condition, at));
}

}  // namespace tessera
