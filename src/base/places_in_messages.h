#pragma once
#include <string>

namespace tessera {

// Returns true if a message says where: "file.cpp:12: ...".
bool begins_with_place(const std::string &message);

}  // namespace tessera
