#pragma once

namespace tessera {

// While one lives, handlers of warnings and observers of errors are not called for what this thread
// does, nor for what the compiler does on others for it, nor are warnings printed: a candidate of a
// search is compiled for its time alone.
class Silence {
public:
    Silence();
    ~Silence();
    Silence(const Silence &) = delete;
};

// Returns true while a Silence lives on this thread; sets that for one which works for another.
bool thread_is_silent();
void set_thread_silent(bool silent);

// The same for all that this process does from now on. Takes no lock: it is for a copy of a process
// (fork), in which another thread may have held one.
void silence_process();

// Returns true if nothing is to be told.
bool is_silent();

}  // namespace tessera
