#include "autoscheduler/knob_space.h"
#include <algorithm>

namespace tessera {

Knobs::Knobs(std::map<std::string, std::string> choices) {
    chooser = [given = std::move(choices)](const std::string &name,
                                           const std::vector<std::string> &texts, Location at) {
        const auto g = given.find(name);
        if (g == given.end()) return size_t(0);
        const auto found = std::ranges::find(texts, g->second);
        if (found != texts.end()) return size_t(found - texts.begin());
        throw CompileError(
            at, str("the knob ", name, " has no choice ", g->second, "; it has ", join(texts)));
    };
}

size_t Knobs::choose_place(const std::string &name, const std::vector<std::string> &choices,
                           const Location &at) {
    const size_t place = chooser(name, choices, at);
    if (place < choices.size()) return place;
    throw CompileError(at, str("the knob ", name, " has no choices; give it at least one"));
}

}  // namespace tessera

namespace tessera::autoscheduler {

const Chosen::Knob *Chosen::find(const std::string &name) const {
    const auto found = std::ranges::find(knobs, name, &Knob::name);
    return found == knobs.end() ? nullptr : &*found;
}

std::map<std::string, std::string> Chosen::texts() const {
    std::map<std::string, std::string> all;
    for (const Knob &k : knobs) all[k.name] = k.choice;
    return all;
}

std::ostream &operator<<(std::ostream &out, const Chosen &c) {
    for (const Chosen::Knob &k : c.knobs) {
        out << (&k == c.knobs.data() ? "" : " ") << k.name << "=" << k.choice;
    }
    return out;
}

Decide as_given(const std::map<std::string, std::string> &texts) {
    return [texts](const std::string &name, const std::vector<std::string> &choices) {
        const auto given = texts.find(name);
        if (given == texts.end()) return size_t(0);
        const auto found = std::ranges::find(choices, given->second);
        return found == choices.end() ? 0 : size_t(found - choices.begin());
    };
}

Decide as_in(const Chosen &chosen) {
    return [chosen](const std::string &name, const std::vector<std::string> &) {
        const Chosen::Knob *k = chosen.find(name);
        return k ? k->place : 0;
    };
}

Decide at_random(std::mt19937_64 &random) {
    return [&random](const std::string &, const std::vector<std::string> &choices) {
        return size_t(random() % choices.size());
    };
}

Decide changed(const Chosen &chosen, std::mt19937_64 &random) {
    Chosen next = chosen;
    for (uint64_t changes = 1 + random() % 2; changes > 0 && !next.knobs.empty(); changes--) {
        Chosen::Knob &k = next.knobs[random() % next.knobs.size()];
        k.place = random() % k.count;
    }
    return [next, otherwise = at_random(random)](const std::string &name,
                                                 const std::vector<std::string> &choices) {
        const Chosen::Knob *k = next.find(name);
        return k ? k->place : otherwise(name, choices);
    };
}

void KnobSpace::check(const std::string &name, const std::vector<std::string> &choices,
                      const Location &at) {
    if (choices.empty())
        throw CompileError(at, str("the knob ", name, " has no choices; give it at least one"));
    const auto [before, is_new] = known.try_emplace(name, choices);
    if (is_new || before->second == choices) return;
    throw CompileError(at, str("the knob ", name, " is asked for with the choices ", join(choices),
                               ", and before it had ", join(before->second),
                               "; a knob has the same choices wherever it is asked for: give this "
                               "one another name"));
}

Chosen KnobSpace::call(const ScheduleTemplate &schedule, const Decide &decide,
                       std::string &refusal) {
    Chosen chosen;
    std::optional<CompileError> misuse;
    Knobs knobs([&](const std::string &name, const std::vector<std::string> &choices, Location at) {
        try {
            check(name, choices, at);
        } catch (const CompileError &e) {
            misuse = e;
            throw;
        }
        if (const Chosen::Knob *k = chosen.find(name)) return k->place;
        const size_t place = decide(name, choices);
        chosen.knobs.push_back({name, choices[place], place, choices.size()});
        return place;
    });
    try {
        schedule(knobs);
    } catch (const CompileError &e) {
        refusal = e.what();
    }
    if (misuse) throw *misuse;
    return chosen;
}

bool advance(Chosen &chosen) {
    auto &knobs = chosen.knobs;
    while (!knobs.empty() && knobs.back().place + 1 == knobs.back().count) knobs.pop_back();
    if (knobs.empty()) return false;
    knobs.back().place++;
    return true;
}

}  // namespace tessera::autoscheduler
