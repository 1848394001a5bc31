#pragma once
#include "base/fields.h"
#include "program/schedule.h"
#include <array>
#include <string_view>

// The names of directives and their members in JSON (schedule_json.h): all that a new one needs
// there.
namespace tessera::program {

// The kind of thing that a symbol, or each of a list, names.
enum class Referred : uint8_t { Loop, Fetched, Made };

struct MemberWord {
    std::string_view word;
    Referred of = Referred::Loop;  // of a Symbol
};

template<size_t members>
struct DirectiveWords {
    std::string_view name;                   // which directive it is; one of its members, if any
    std::array<MemberWord, members> member;  // in the order of the struct
};

template<typename D>
struct WordsOf;

#define TESSERA_DIRECTIVE_WORDS(Directive, name, ...)                                              \
    template<>                                                                                     \
    struct WordsOf<Directive> {                                                                    \
        static constexpr DirectiveWords<field_count<Directive>> words{name, {{__VA_ARGS__}}};      \
    };
#define TESSERA_DIRECTIVE_WORD(Directive, name)                                                    \
    template<>                                                                                     \
    struct WordsOf<Directive> {                                                                    \
        static constexpr DirectiveWords<0> words{name, {}};                                        \
    };

TESSERA_DIRECTIVE_WORDS(Split, "split", {"split"}, {"outer"}, {"inner"}, {"factor"}, {"tail"})
TESSERA_DIRECTIVE_WORDS(Fuse, "fuse", {"fuse"}, {"outer"}, {"fused"})
TESSERA_DIRECTIVE_WORDS(Rename, "rename", {"rename"}, {"new_name"})
TESSERA_DIRECTIVE_WORDS(Reorder, "reorder", {"reorder"})
TESSERA_DIRECTIVE_WORDS(SetLoopKind, "loop", {"loop"}, {"kind"})
TESSERA_DIRECTIVE_WORDS(Tensorize, "tensorize", {"tensorize"}, {"instruction"})
TESSERA_DIRECTIVE_WORDS(SetPartition, "partition", {"partition"}, {"how"})
TESSERA_DIRECTIVE_WORDS(PrefetchDirective, "prefetch", {"prefetch", Referred::Fetched}, {"at"},
                        {"from"}, {"offset"}, {"strategy"})
TESSERA_DIRECTIVE_WORDS(AtomicDirective, "atomic", {"atomic"})
TESSERA_DIRECTIVE_WORD(AllowRaceConditions, "allow_race_conditions")
TESSERA_DIRECTIVE_WORDS(SpecializeDirective, "specialize", {"specialize"})
TESSERA_DIRECTIVE_WORDS(SpecializeFail, "specialize_fail", {"specialize_fail"})
TESSERA_DIRECTIVE_WORDS(StreamLoads, "stream_loads", {"stream_loads", Referred::Fetched})
TESSERA_DIRECTIVE_WORD(StreamStores, "stream_stores")
TESSERA_DIRECTIVE_WORDS(GroupBlocks, "gpu_order", {"gpu_order"})
TESSERA_DIRECTIVE_WORDS(PersistentBlocks, "persistent", {"persistent"})
TESSERA_DIRECTIVE_WORDS(ResidentBlocks, "gpu_resident_blocks", {"gpu_resident_blocks"})
TESSERA_DIRECTIVE_WORDS(WarpSpecialize, "warp_specialize", {"warp_specialize"},
                        {"consumer_registers"})
TESSERA_DIRECTIVE_WORD(PingPong, "ping_pong")
TESSERA_DIRECTIVE_WORD(Unscheduled, "unscheduled")
TESSERA_DIRECTIVE_WORDS(Rfactor, "rfactor", {"rfactor"}, {"makes", Referred::Made})
TESSERA_DIRECTIVE_WORDS(CopyInput, "copy_input", {"copy_input", Referred::Fetched},
                        {"makes", Referred::Made})

TESSERA_DIRECTIVE_WORDS(ComputeLevel, "compute", {"compute"})
TESSERA_DIRECTIVE_WORDS(StoreLevel, "store", {"store"})
TESSERA_DIRECTIVE_WORDS(HoistStorageLevel, "hoist", {"hoist"})
TESSERA_DIRECTIVE_WORDS(BoundDirective, "bound", {"bound"}, {"min"}, {"extent"}, {"modulus"},
                        {"remainder"})
TESSERA_DIRECTIVE_WORDS(EstimateDirective, "estimate", {"estimate"}, {"min"}, {"extent"})
TESSERA_DIRECTIVE_WORDS(FoldStorage, "fold_storage", {"fold_storage"}, {"extent"}, {"forward"})
TESSERA_DIRECTIVE_WORDS(RingBuffer, "ring_buffer", {"ring_buffer"})
TESSERA_DIRECTIVE_WORD(AsyncDirective, "async")
TESSERA_DIRECTIVE_WORDS(ReorderStorage, "reorder_storage", {"reorder_storage"})
TESSERA_DIRECTIVE_WORDS(AlignStorage, "align_storage", {"align_storage"}, {"alignment"})
TESSERA_DIRECTIVE_WORDS(BoundStorage, "bound_storage", {"bound_storage"}, {"extent"})
TESSERA_DIRECTIVE_WORDS(StoreIn, "store_in", {"store_in"})
TESSERA_DIRECTIVE_WORDS(Trace, "trace", {"loads"}, {"stores"}, {"realizations"}, {"trace"})
TESSERA_DIRECTIVE_WORD(NoProfiling, "no_profiling")
TESSERA_DIRECTIVE_WORD(CopyToDevice, "copy_to_device")
TESSERA_DIRECTIVE_WORD(CopyToHost, "copy_to_host")

#undef TESSERA_DIRECTIVE_WORDS
#undef TESSERA_DIRECTIVE_WORD

// Calls visit(member, its words) for each member of a directive.
template<typename D, typename F>
void for_each_member(D &directive, F visit) {
    constexpr const auto &words = WordsOf<std::remove_const_t<D>>::words;
    size_t i = 0;
    for_each_field(directive, [&](auto &member) { visit(member, words.member[i++]); });
}

// The names of all directives of such a variant.
template<typename... Ds>
std::vector<std::string> names_of_all(const std::variant<Ds...> &) {
    return {std::string(WordsOf<Ds>::words.name)...};
}

}  // namespace tessera::program
