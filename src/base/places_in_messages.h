#pragma once
#include "base/error.h"
#include <string>

namespace tessera {

// Returns true if a message says where: "file.cpp:12: ...".
bool begins_with_place(const std::string &message);

// Returns place_of_user(at), and remembers it: for messages that come back as texts alone.
std::string remembered_place(const Location &at);
// Returns the place that a message begins with, if it was remembered by this process; else an
// unknown one, as where two files of the same name have such a line.
Location place_in(const std::string &message);

}  // namespace tessera
