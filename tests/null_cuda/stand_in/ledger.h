// What the stand-in has seen in this process: counts, broken rules, faults that it made. Written at the end as JSON.
#pragma once

#include <mutex>
#include <string>

#include "tests/null_cuda/stand_in/control.h"

namespace null_cuda {

/// Held by every call that reads or changes what the stand-in knows.
std::recursive_mutex& mutex();
using Lock = std::lock_guard<std::recursive_mutex>;

/// Of the present piece of work, up to the next wait for the whole GPU.
Counts& counts();
/// Ends the present piece of work. It becomes the last one if anything was started in it.
void end_piece_of_work();
/// Everything so far.
Counts all_counts();

/// A rule of CUDA that the program has broken. Printed at once, and part of the report.
void violation(const std::string& text);

/// A kernel or a library's call was started; by name in the report, if settings ask for names.
void started(const std::string& name);

/// A start of one of the program's own kernels: each different text is in the report once.
void started_own(const std::string& text);

/// Whether this call is one that the settings let fail. Counts the calls of that name.
bool fails(const char* call);

/// The error that every call returns since a kernel failed or the GPU was lost; 0: none.
int lasting_error();
void set_lasting_error(int error);

}  // namespace null_cuda
