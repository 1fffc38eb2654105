// A program of the user's as a run: what a configuration says under `program` and `options`.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/options.h"
#include "base/yaml.h"

namespace xlm {

/// `program`, and `options` next to it.
struct ProgramOptions {
  enum class Flags { kNone, kDashes, kNegated, kHydra };
  static constexpr std::array<std::string_view, 4> kFlagsNames{"false", "true", "negated", "hydra"};
  enum class Resume { kCheckpoint, kRestart };
  static constexpr std::array<std::string_view, 2> kResumeNames{"checkpoint", "restart"};

  enum class Stop { kFirst, kAll };
  static constexpr std::array<std::string_view, 2> kStopNames{"first", "all"};

  std::string name;                                // "" until a configuration is read
  std::vector<std::string> command;                // with placeholders
  std::string folder = ".";                        // whose code is run
  std::vector<std::string> code;                   // patterns of its files; empty: what git tracks
  std::map<std::string, std::string> environment;  // with placeholders
  Json metrics = Json::array();                    // how its output is read: a list of maps
  std::map<std::string, std::string> better;       // by name of a quantity, lower or higher
  Resume resume = Resume::kCheckpoint;
  double grace = 60;  // seconds
  Stop stop = Stop::kFirst;
  Flags flags = Flags::kNone;
  std::vector<std::pair<std::string, Json>> options;  // by key, "lr" or "model.width"

  /// The value of an option; null if there is none of this name.
  const Json* option(std::string_view key) const;

  /// Sets or adds an option.
  void set_option(const std::string& key, Json value);

  void visit(OptionVisitor& v);
};

/// The value of `model.type` of every run of a program.
inline constexpr const char* kProgramType = "program";

/// Takes `program` and `options` out of a configuration and reads them. Throws UsageError with file:line.
ProgramOptions take_program_options(Yaml& tree);

/// Takes them away where the run is that of a model, in a file of both kinds.
void drop_program(Yaml& tree);

/// `program.better` of a configuration: lower or higher by the name of a quantity; empty if it declares none. Throws
/// UsageError with file:line.
std::map<std::string, std::string> declared_directions(const Yaml& tree);

/// What both say as entries, in order, without those that `visit` shows.
std::vector<OptionEntry> further_entries(const ProgramOptions& program);

/// The words of a list `what`. Throws UsageError with file:line.
std::vector<std::string> words_at(const Yaml& node, const std::string& what);

/// Throws UsageError with file:line for a name in braces, at `node` or below it, that is no option, none of kPlaces and
/// not `further`: it would reach the program as it is.
void check_placeholders(const Yaml& node, const ProgramOptions& program, std::string_view further = "");

/// Throws UsageError with file:line for a name that no option can have. `name` has no "options." before it.
void check_option_name(const Yaml& node, const std::string& name);

/// Replaces each dotted key of a map `options` by nested maps, so that `options.model.width` finds it.
void nest_options(Yaml& tree);

/// The names that may stand in braces, besides those of options.
inline constexpr std::array<std::string_view, 6> kPlaces{"seed",        "data.path", "run",
                                                         "checkpoints", "config",    "free_port"};

/// The options behind the command, as `flags` asks for.
std::vector<std::string> flag_words(const ProgramOptions& program);

/// The words of a command. A word that is one placeholder of a list becomes a word for each item.
std::vector<std::string> command_words(const std::vector<std::string>& command, const ProgramOptions& program,
                                       const std::map<std::string, std::string>& places);

/// `text` with the values of options and places.
std::string filled(std::string_view text, const ProgramOptions& program,
                   const std::map<std::string, std::string>& places);

}  // namespace xlm
