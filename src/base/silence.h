#pragma once

namespace tessera {

// While one lives, handlers of warnings and observers of errors are not called for what this thread
// does, nor are warnings printed: a candidate of a search is compiled for its time alone.
class Silence {
public:
    Silence();
    ~Silence();
    Silence(const Silence &) = delete;
};

// The same for all that this process does from now on. Takes no lock: it is for a copy of a process
// (fork), in which another thread may have held one.
void silence_process();

// Returns true if nothing is to be told.
bool is_silent();

}  // namespace tessera
