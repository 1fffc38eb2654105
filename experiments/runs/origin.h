// What a run's result depends on besides configuration and data: the kind of device, and the program.
#pragma once

#include <string>

#include "base/json.h"

namespace xlm {

/// The origin {"device": "cpu" | "cuda", "xlm": …, "commit": …, "core_sha256": …} of one part of a run. Takes from
/// environment.json what is there. Of a program's run it is {"device": …, "program": what it runs with}.
Json origin_of(const Json& environment);

/// How the part that begins now differs from the first one, in words; "" if it does not. Programs are the same if their
/// core libraries are. If a library is unknown, version and commit decide. Programs of users are the same if their
/// packages are.
std::string changed_origin(const Json& first, const Json& now);

}  // namespace xlm
