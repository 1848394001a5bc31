#pragma once
#include "autoscheduler/search.h"
#include <ostream>

namespace tessera::autoscheduler {

// One line that a search writes over again and again: the best time, the
// fraction of the machine's limit that it comes to, how many trials, time left.
class ProgressLine {
public:
    // `least`: the milliseconds below which no schedule gets, as estimated.
    ProgressLine(std::ostream &out, int trials, double seconds, double least);
    void operator()(const SearchResult &so_far, double seconds);
    // Ends the line.
    void finish();

private:
    std::ostream &out;
    const int trials;
    const double limit, least;
    bool is_begun = false;
};

// Why a schedule takes the time that it takes, as estimated: a line per stage, those that take most
// first.
std::string explanation(const program::Algorithm &algorithm, const program::Schedule &schedule,
                        const Machine &machine);

// A search as a page of HTML that needs no other file: its curve, what became of the candidates,
// the schedule as C++, and why it is fast. `title`: the names of the outputs without it.
std::string to_html(const Workload &workload, const Machine &machine, const SearchResult &result,
                    const std::string &title = "");
// Writes such a page of `result`. Returns false, with nothing done, if `result` has no measurements
// and the file is a page that has some. RuntimeError if it cannot be written.
bool write_report(const std::string &path, const std::string &page, const SearchResult &result);

}  // namespace tessera::autoscheduler
