// Reads the settings of the stand-in.
#include "tests/null_cuda/stand_in/settings.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace null_cuda {
namespace {

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

double number_of(const std::string& text) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (text.empty() || used != text.size()) throw std::invalid_argument("'" + text + "' is not a number");
  return value;
}

long whole_number_of(const std::string& text) {
  const double value = number_of(text);
  const auto whole = static_cast<long>(value);
  if (static_cast<double>(whole) != value || whole < 1) {
    throw std::invalid_argument("'" + text + "' is not a whole number of at least 1");
  }
  return whole;
}

Answer answer_of(const std::string& text) {
  const std::vector<std::string> parts = parts_of(text, ':');
  if (parts.size() != 3) throw std::invalid_argument("'" + text + "' is not BYTES:TYPE:NUMBERS");
  Answer answer{.bytes = static_cast<std::size_t>(whole_number_of(parts[0])), .type = AnswerType::kReal, .numbers = {}};
  if (parts[1] == "integer") {
    answer.type = AnswerType::kInteger;
  } else if (parts[1] != "real") {
    throw std::invalid_argument("'" + parts[1] + "' is not integer or real");
  }
  for (const std::string& number : parts_of(parts[2], ',')) answer.numbers.push_back(number_of(number));
  return answer;
}

FaultPlan fault_of(const std::string& text) {
  const std::vector<std::string> parts = parts_of(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || (parts.size() == 3 && parts[2] != "once")) {
    throw std::invalid_argument("'" + text + "' is not CALL:N or CALL:N:once");
  }
  for (const std::string& call : fault_calls()) {
    if (call == parts[0]) return {.call = call, .at = whole_number_of(parts[1]), .once = parts.size() == 3};
  }
  throw std::invalid_argument("no fault is named '" + parts[0] + "'");
}

std::string planted(const std::string& text) {
  for (const char* known : {"wait", "host-read", "launch"}) {
    if (text == known) return text;
  }
  throw std::invalid_argument("'" + text + "' cannot be planted: wait, host-read or launch");
}

void set(Settings& settings, const std::string& key, const std::string& value) {
  if (key == "capability") {
    settings.capability = static_cast<int>(whole_number_of(value));
  } else if (key == "memory") {
    settings.memory = number_of(value);
  } else if (key == "devices") {
    settings.devices = static_cast<int>(whole_number_of(value));
  } else if (key == "report") {
    settings.report = value;
  } else if (key == "values") {
    settings.values = value;
  } else if (key == "names") {
    settings.names = value == "1";
  } else if (key == "plant") {
    settings.plant = planted(value);
  } else if (key == "answer") {
    settings.answers.push_back(answer_of(value));
  } else if (key == "fail") {
    settings.faults.push_back(fault_of(value));
  } else {
    throw std::invalid_argument("no setting is named '" + key + "'");
  }
}

Settings settings_of_process() {
  const char* text = std::getenv("XLM_NULL_CUDA");
  try {
    return read_settings(text != nullptr ? text : "");
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "null CUDA: XLM_NULL_CUDA: %s\n", error.what());
    std::_Exit(2);
  }
}

}  // namespace

const std::vector<std::string>& fault_calls() {
  static const std::vector<std::string> calls{
      "malloc",       // the GPU's memory is full
      "blas",         // a product finds no memory for its workspace: CUBLAS_STATUS_ALLOC_FAILED
      "instantiate",  // a recording is too large for the GPU's memory
      "record",       // CUDA gives a recording up
      "kernel",       // a kernel reads where it may not: every later call fails
      "device",       // the GPU is gone: every later call fails
      "die-in-sum",   // a process but the first dies in a sum of NCCL
      "wait-in-sum",  // the first process waits forever in a sum, as for one that has died
  };
  return calls;
}

Settings read_settings(std::string_view text) {
  Settings settings;
  for (const std::string& part : parts_of(text, ';')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("'" + part + "' is not KEY=VALUE");
    set(settings, part.substr(0, equals), part.substr(equals + 1));
  }
  return settings;
}

Settings& settings() {
  static Settings& read = *new Settings(settings_of_process());  // outlives every library
  return read;
}

}  // namespace null_cuda
