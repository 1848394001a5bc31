#pragma once
#include "base/target.h"
#include "lang/autoscheduler.h"
#include <charconv>

namespace tessera::autoscheduler {

// The options of an autoscheduler: `autoscheduler.trials=200`. Lives as long as the parameters.
class Options {
public:
    // CompileError for an option that is not known; a warning for those without a meaning.
    Options(const AutoschedulerParams &params, const std::vector<std::string> &known,
            const std::vector<std::string> &without_meaning = {});

    // CompileError if it is no number, or less than `least`.
    template<typename T> T number(const std::string &name, T otherwise, T least) const {
        const std::string text = this->text(name);
        if (!params.extra.contains(name)) return otherwise;
        T value = {};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= least)
            return value;
        refuse_number(name, str(least));
    }
    std::string text(const std::string &name) const;

private:
    [[noreturn]] void refuse_number(const std::string &name, const std::string &least) const;
    const AutoschedulerParams &params;
};

// Returns true if this machine can run what is compiled for the target.
bool runs_here(const Target &target);

// A warning about what is asked for, if there is any text.
void warn_of(const std::string &text);

// Warns if `cores` are more than this machine has. `option`: the text of the option that asks for
// them.
void warn_of_cores(const std::string &option, int cores);

// A log that programs consult without being told so: of the environment variable
// TESSERA_TUNING_LOG. Empty: none.
std::string usual_log();

}  // namespace tessera::autoscheduler
