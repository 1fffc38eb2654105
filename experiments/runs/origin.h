// What the result of a run depends on beside its configuration and its data: the kind of device and the program.
#pragma once

#include <string>

#include "base/json.h"

namespace xlm {

/// {"device": "cpu" | "cuda", "xlm": …, "commit": …, "core_sha256": …} of what environment.json says of one part of a
/// run, as far as it says it; of a program's run {"device": …, "program": what it runs with}.
Json origin_of(const Json& environment);

/// How the part that begins now differs from the first one, in words; "" where it does not. Programs are the same where
/// their core library is; where that is not known, where version and commit are. Programs of users are the same where
/// their packages are.
std::string changed_origin(const Json& first, const Json& now);

}  // namespace xlm
