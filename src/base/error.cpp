#include "base/error.h"
#include "base/dialect.h"
#include "base/handlers.h"
#include "base/large_stack.h"
#include "base/places_in_messages.h"
#include "base/silence.h"
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace tessera {
namespace {

// A line of Tessera's own says nothing to whoever wrote a pipeline, nor does one of the standard
// library, which calls constructors for its containers.
bool is_of_user(const Location &at) {
    const std::string_view here = __FILE__, own_sources = here.substr(0, here.rfind("base/"));
    const std::string_view file = at.file;
    return at.known() && !file.starts_with(own_sources) &&
           file.find("/include/c++/") == std::string_view::npos &&
           file.find("/include/tessera/") == std::string_view::npos;  // headers that are installed
}

// The places that messages may begin with, by their text. Names of files are copied: those of a
// plugin end with it.
class Places {
public:
    void remember(const std::string &text, const Location &at) {
        std::lock_guard lock(mutex);
        const auto [known, is_new] = places.emplace(text, at);
        if (is_new)
            known->second.file = files.insert(at.file).first->c_str();
        else if (known->second.known() && std::string_view(known->second.file) != at.file)
            known->second = Location();
    }
    Location find(const std::string &text) {
        std::lock_guard lock(mutex);
        const auto known = places.find(text);
        return known == places.end() ? Location() : known->second;
    }

private:
    std::mutex mutex;
    std::unordered_map<std::string, Location> places;
    std::unordered_set<std::string> files;
};

Places &places() {
    static auto *all = new Places;
    return *all;
}

}  // namespace

std::string to_string(const Location &at) {
    if (!at.known()) return {};
    std::string_view file = at.file;
    return str(file.substr(file.find_last_of('/') + 1), ":", at.line);
}

std::string place_of_user(const Location &at) {
    return is_of_user(at) ? to_string(at) : std::string();
}

bool begins_with_place(const std::string &what) {
    size_t end = what.find(": ");
    if (end == std::string::npos) return false;
    size_t colon = what.rfind(':', end - 1);
    if (colon == std::string::npos || colon == 0 || colon + 1 == end) return false;
    std::string_view line = std::string_view(what).substr(colon + 1, end - colon - 1);
    return line.find_first_not_of("0123456789") == line.npos &&
           std::string_view(what).substr(0, colon).find(' ') == std::string_view::npos;
}

std::string remembered_place(const Location &at) {
    const std::string text = place_of_user(at);
    if (!text.empty()) places().remember(text, at);
    return text;
}

Location place_in(const std::string &message) {
    if (!begins_with_place(message)) return {};
    return places().find(message.substr(0, message.find(": ")));
}

bool follows_halide(const Location &at) { return dialect() == Dialect::Halide && is_of_user(at); }

CompileError::CompileError(const Location &at, const std::string &what)
    : Error(is_of_user(at) ? str(to_string(at), ": ", what) : what,
            is_of_user(at) ? at : Location()) {
    if (is_silent()) return;
    if (const ErrorObserver observer = error_observer())
        call_on_waiting_thread([&] { observer(this->what()); });
}

RuntimeError::RuntimeError(const Location &at, const std::string &what)
    : Error(is_of_user(at) && !begins_with_place(what) ? str(to_string(at), ": ", what) : what,
            begins_with_place(what) ? place_in(what)
            : is_of_user(at)        ? at
                                    : Location()) {}

InternalError::InternalError(const std::string &what, std::source_location at)
    : Error(str("internal error at ", to_string(Location(at)), ": ", what,
                " (please report this)")) {}

}  // namespace tessera
