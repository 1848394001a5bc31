#include "autoscheduler/bundle/log_file.h"
#include "base/error.h"
#include <fcntl.h>
#include <unistd.h>

namespace tessera::autoscheduler {

void append_record(const std::string &path, const std::string &record) {
    // After a record that was cut off, this one is still a line of its own.
    const std::string line = "\n" + record + "\n";
    const int out = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    const bool is_written =
        out >= 0 && write(out, line.data(), line.size()) == ssize_t(line.size());
    if (out >= 0) close(out);
    if (!is_written)
        throw RuntimeError(str("the log of measurements ", path, " cannot be written"));
}

}  // namespace tessera::autoscheduler
