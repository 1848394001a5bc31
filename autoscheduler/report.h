#pragma once
#include "autoscheduler/search.h"
#include <ostream>

namespace tessera::autoscheduler {

// One line that a search writes over again and again: the best time, how many trials, time left.
class ProgressLine {
public:
    ProgressLine(std::ostream &out, int trials, double seconds);
    void operator()(const SearchResult &so_far, double seconds);
    // Ends the line.
    void finish();

private:
    std::ostream &out;
    const int trials;
    const double limit;
    bool is_begun = false;
};

// Why a schedule takes the time that it takes, as estimated: a line per stage, those that take most
// first.
std::string explanation(const program::Algorithm &algorithm, const program::Schedule &schedule,
                        const Machine &machine);

// A search as a page of HTML that needs no other file: its curve, what became of the candidates,
// the schedule as C++, and why it is fast.
std::string to_html(const Workload &workload, const Machine &machine, const SearchResult &result);

}  // namespace tessera::autoscheduler
