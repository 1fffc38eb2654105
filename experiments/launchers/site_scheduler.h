// A queue other than Slurm's, asked by the commands that `scheduler` of a site file names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/yaml.h"

namespace xlm {

/// The words of a command. A list of words within it is left out if one of its placeholders has no value.
struct SiteCommand {
  struct Part {
    std::vector<std::string> words;
    bool may_be_left_out = false;
  };
  std::vector<Part> parts;
};

/// Values of placeholders, and of what a queue's answer says of a job.
using SiteValues = std::map<std::string, std::string>;

struct SiteScheduler {
  SiteCommand submit;                // gets the script on its standard input
  std::string job;                   // pattern of what it prints; its first group is the job's number
  SiteCommand status;                // lists jobs, at least this user's
  std::string line;                  // pattern of a line about a job, with the groups job and state, and others
  std::string none;                  // pattern of what it says, as an error, if there are no jobs; "": nothing
  SiteCommand cancel;                // gets the groups of the line; may be empty
  std::vector<std::string> queued;   // states
  std::vector<std::string> running;  // any other state is taken for this one
  std::vector<std::string> gone;
  std::vector<std::string> hosts;  // submitted to in turn, if there are any
  std::int64_t array = 1;          // workers of one submission at most
  int again = 0;                   // exit code for which the queue starts a job again; 0: none
};

/// Reads the command `key` of a map, whose placeholders are among `known`; without words if there is none. Throws
/// UsageError with file:line.
SiteCommand read_site_command(const Yaml& map, const char* key, const std::vector<std::string>& known);

/// The whole number `key` of the map `of`, 1 or more. Throws UsageError with file:line.
std::int64_t read_count(const Yaml& map, const char* of, const char* key, std::int64_t otherwise);

/// Reads `scheduler`. Throws UsageError with file:line.
SiteScheduler read_scheduler(const Yaml& map);

/// {user}, and {host} if one is named.
SiteValues values_of_host(const std::string& host);

/// The words of a command. Throws UsageError for a placeholder without value that cannot be left out.
std::vector<std::string> site_words(const SiteCommand& command, const SiteValues& values);

/// Submits a script. Returns the job's number. Throws Error.
std::string submit_to(const SiteScheduler& scheduler, const SiteValues& values, const std::string& script);

/// What a queue says of its jobs. Throws Error if it does not answer.
std::vector<SiteValues> jobs_listed_by(const SiteScheduler& scheduler, const std::string& host);

}  // namespace xlm
