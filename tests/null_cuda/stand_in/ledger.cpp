// Counts, broken rules and faults, and their report.
#include "tests/null_cuda/stand_in/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "tests/null_cuda/stand_in/device_memory.h"
#include "tests/null_cuda/stand_in/settings.h"

namespace null_cuda {
namespace {

void add(Counts& to, const Counts& more) {
  to.launches += more.launches;
  to.products += more.products;
  to.sums += more.sums;
  to.graph_launches += more.graph_launches;
  to.copies += more.copies;
  to.pageable_copies += more.pageable_copies;
  to.waits += more.waits;
  to.device_waits += more.device_waits;
  to.allocations += more.allocations;
}

void write_report();

struct Ledger {
  Ledger() { std::atexit(write_report); }

  Counts before;   // of finished pieces of work
  Counts last;     // of the last piece
  Counts present;  // of the present one
  std::vector<std::string> violations;
  std::map<std::string, long> names;
  std::set<std::string> own;
  std::map<std::string, long> calls;  // of those that may fail
  std::vector<std::string> fired;
  int error = 0;
};

/// Never destroyed: libraries use CUDA while the process ends.
Ledger& ledger() {
  static Ledger& made = *new Ledger;
  return made;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

template <class Texts>
std::string list_of(const Texts& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : ", ") + quoted(text);
  return "[" + result + "]";
}

/// The folder's processes make one fault together: the first that makes its mark.
bool is_first_to_fail(const std::string& call) {
  if (settings().report.empty()) return true;
  const std::string mark = settings().report + "/fault." + call;
  const int file = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (file < 0) return false;
  ::close(file);
  return true;
}

void write_report() {
  const Lock lock(mutex());
  const std::string& folder = settings().report;
  if (folder.empty()) return;
  const Ledger& seen = ledger();
  const Counts all = all_counts();
  std::string peaks;
  for (int device = 0; device < settings().devices; ++device) {
    peaks += (peaks.empty() ? "" : ", ") + std::to_string(device_memory().peak(device));
  }
  std::string names;
  for (const auto& [name, count] : seen.names) {
    names += (names.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(count);
  }
  const std::string file = folder + "/" + std::to_string(::getpid()) + ".json";
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return;
  std::fprintf(out,
               "{\"launches\": %ld, \"products\": %ld, \"sums\": %ld, \"graph_launches\": %ld, \"copies\": %ld, "
               "\"pageable_copies\": %ld, \"waits\": %ld, \"device_waits\": %ld, \"allocations\": %ld,\n",
               all.launches, all.products, all.sums, all.graph_launches, all.copies, all.pageable_copies, all.waits,
               all.device_waits, all.allocations);
  std::fprintf(out, "\"peaks\": [%s],\n\"violations\": %s,\n\"fired\": %s,\n\"own\": %s,\n\"names\": {%s}}\n",
               peaks.c_str(), list_of(seen.violations).c_str(), list_of(seen.fired).c_str(), list_of(seen.own).c_str(),
               names.c_str());
  std::fclose(out);
}

}  // namespace

std::recursive_mutex& mutex() {
  static std::recursive_mutex& made = *new std::recursive_mutex;
  return made;
}

Counts& counts() { return ledger().present; }

void end_piece_of_work() {
  Ledger& seen = ledger();
  const Counts& present = seen.present;
  if (present.launches + present.products + present.graph_launches > 0) seen.last = present;
  add(seen.before, present);
  seen.present = {};
}

Counts all_counts() {
  Counts all = ledger().before;
  add(all, ledger().present);
  return all;
}

void violation(const std::string& text) {
  ledger().violations.push_back(text);
  std::fprintf(stderr, "null CUDA: a rule is broken: %s\n", text.c_str());
}

void started(const std::string& name) {
  if (settings().names) ++ledger().names[name];
}

void started_own(const std::string& text) { ledger().own.insert(text); }

bool fails(const char* call) {
  const std::vector<FaultPlan>& plans = settings().faults;
  if (plans.empty()) return false;
  const long number = ++ledger().calls[call];
  return std::any_of(plans.begin(), plans.end(), [&](const FaultPlan& plan) {
    if (plan.call != call) return false;
    if (plan.once ? number != plan.at || !is_first_to_fail(call) : number < plan.at) return false;
    ledger().fired.emplace_back(call);
    return true;
  });
}

int lasting_error() { return ledger().error; }
void set_lasting_error(int error) { ledger().error = error; }

extern "C" {

/// Called by the functions that stubs.py makes: names that libraries want and that no program is known to use.
void null_cuda_unknown_call(const char* name) {
  const Lock lock(mutex());
  violation(std::string("the stand-in does not know the call ") + name);
}

void null_cuda_last_step(Counts* to) {
  const Lock lock(mutex());
  *to = ledger().last;
}

std::size_t null_cuda_take_peak(int device) {
  const Lock lock(mutex());
  return device_memory().take_peak(device);
}

long null_cuda_device_waits() {
  const Lock lock(mutex());
  return all_counts().device_waits;
}

void null_cuda_set_answer(std::size_t bytes, AnswerType type, const double* numbers, std::size_t count) {
  const Lock lock(mutex());
  settings().answers.push_back({bytes, type, {numbers, numbers + count}});
}

void null_cuda_clear_answers() {
  const Lock lock(mutex());
  settings().answers.clear();
}

}  // extern "C"

}  // namespace null_cuda
