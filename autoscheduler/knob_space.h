#pragma once
#include "autoscheduler/tune_template.h"
#include <random>

namespace tessera::autoscheduler {

// Records what a template was given in one call: its knobs in the order in which it asked for them.
struct Chosen {
    struct Knob {
        std::string name, choice;
        size_t place = 0, count = 0;  // the choice, and how many there are
    };
    std::vector<Knob> knobs;

    const Knob *find(const std::string &name) const;
    std::map<std::string, std::string> texts() const;
};
// "tile=8 inline=true"
std::ostream &operator<<(std::ostream &out, const Chosen &c);

// Returns the place of the choice that a knob gets.
using Decide = std::function<size_t(const std::string &name, const std::vector<std::string> &)>;

// Decides for the choices of `texts`; the first one for other knobs, and where there is no such
// choice.
Decide as_given(const std::map<std::string, std::string> &texts);
// Decides for the choices of `chosen`; the first one for other knobs.
Decide as_in(const Chosen &chosen);
Decide at_random(std::mt19937_64 &random);
// Chooses as in `chosen`, but for one or two knobs that may differ; knobs that were not asked for
// then are chosen at random.
Decide changed(const Chosen &chosen, std::mt19937_64 &random);

// The knobs of a template, as it asks for them.
class KnobSpace {
public:
    // Calls the template. CompileError if it uses knobs wrongly, even where it keeps that to
    // itself; what it throws itself for these choices is returned in `refusal`.
    Chosen call(const ScheduleTemplate &schedule, const Decide &decide, std::string &refusal);

private:
    void check(const std::string &name, const std::vector<std::string> &choices,
               const Location &at);
    std::map<std::string, std::vector<std::string>> known;
};

// The next combination after this one, where the knobs that are asked for last change first: what
// is to be chosen for the knobs that come first. False if this one is the last.
bool advance(Chosen &chosen);

}  // namespace tessera::autoscheduler
