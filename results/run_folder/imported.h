// Runs that another tracker recorded, as their folders name it.
#pragma once

#include <string_view>

namespace xlm {

/// The beginning of the keys that say where an imported run is from: imported.source, imported.id, imported.time, …
inline constexpr std::string_view kImportedPrefix = "imported.";

/// The tracker: wandb, mlflow, csv, …; runs of this program do not have it.
inline constexpr const char* kImportedSource = "imported.source";

/// When they began, and the commit of their code, where the tracker knows it.
inline constexpr const char* kImportedTime = "imported.time";
inline constexpr const char* kImportedCode = "imported.code";

/// Their model.type.
inline constexpr const char* kImportedType = "imported";

}  // namespace xlm
