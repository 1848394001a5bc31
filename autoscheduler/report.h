#pragma once
#include "autoscheduler/search.h"
#include <ostream>

namespace tessera::autoscheduler {

// One line that a search writes over again and again: what it does, how many trials, the best time,
// the fraction of the machine's limit that it comes to, time left.
class ProgressLine {
public:
    // `least`: the milliseconds below which no schedule gets, as estimated.
    ProgressLine(std::ostream &out, double seconds, double least);
    void operator()(const SearchProgress &so_far);
    // Ends the line.
    void finish();

private:
    std::ostream &out;
    const double limit, least;
    size_t width = 0;  // of what was written last
};

// Holds what one stage takes, as estimated.
struct PartOfTime {
    std::string stage;
    double part = 0;  // of the pipeline's time
    std::string_view bound_by;
    double operations = 0;
    std::array<double, 3> bytes = {};  // that come into each cache
};
// Returns the stages that take most of the time of a schedule, as estimated, the slowest first.
std::vector<PartOfTime> explanation(const program::Algorithm &algorithm,
                                    const program::Schedule &schedule, const Machine &machine);

// A search as a page of HTML that needs no other file: its curve, what became of the candidates,
// the schedule as C++, and why it is fast. `title`: the names of the outputs without it.
std::string to_html(const Workload &workload, const Machine &machine, const SearchResult &result,
                    const std::string &title = "");
// Writes such a page of `result`. Returns false, with nothing done, if `result` has no measurements
// and the file is a page that has some. RuntimeError if it cannot be written.
bool write_report(const std::string &path, const std::string &page, const SearchResult &result);

}  // namespace tessera::autoscheduler
