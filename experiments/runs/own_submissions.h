// What this user has submitted to a run, told from what others put into its folder. A run folder may come from an
// archive, or lie where a group writes. So a command, an environment and code in it are executed only if this user's
// key vouches for them, or if the user trusts the whole folder of runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// The file of a run folder with the notes. Those of others mean nothing here.
inline constexpr const char* kSubmittedName = ".submitted";

/// Where this user's own settings are: ~/.config/xlm, or where XDG_CONFIG_HOME says. Empty if there is no home.
fs::path user_folder();

/// What this user's key makes of a text. The key is in user_folder(). Without such a folder it lives as long as this
/// process and those that it starts.
std::string own_mark(std::string_view text);

/// Notes that this user submitted these texts to a run. The note is in the run folder, is true of this run alone, and
/// is never merged or packed. `id`: of the run, if its folder is still under construction and has another name.
void note_submitted(const fs::path& run_folder, const std::vector<std::string>& texts, const std::string& id = "");
/// Whether this user did so, or trusts the folder of runs.
bool is_submitted(const fs::path& run_folder, const std::string& text);
/// What is submitted: the text of config.yaml, the hash of the code, an evaluation by a command.
std::string submitted_config(std::string_view text);
std::string submitted_code(std::string_view hash);
std::string submitted_evaluation(const Json& evaluation);

/// Throws DataError if a program's configuration or code is not what this user submitted. `config` is the text of
/// config.yaml.
void check_submitted_config(const fs::path& run_folder, const std::string& config);
void check_submitted(const fs::path& run_folder, const std::string& config, const std::string& code);

/// From now on commands of others in this folder of runs are executed, too. Kept in user_folder().
void trust_runs(const fs::path& runs);
bool are_trusted(const fs::path& runs);

/// Makes the folder `name` of a run, in which its program runs, this user's alone. One that this function did not make,
/// in which others may have put something, is moved to NAME.theirs; a link is removed.
void make_own_folder(const fs::path& run_folder, const std::string& name);

/// Throws DataError for a link that another user laid into a run folder: this process would write where it leads.
void check_links(const fs::path& run_folder);

}  // namespace xlm
