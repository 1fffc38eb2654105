// What a program will report.
#include "experiments/configuration/reported_names.h"

#include "base/error.h"
#include "experiments/configuration/program_options.h"
#include "experiments/programs/line_pattern.h"
#include "experiments/programs/metric_description.h"
#include "experiments/programs/quantity_name.h"

namespace xlm {
namespace {

/// Adds the names of a list of metrics. A file without `names`, and the file of metrics alone, may have any.
void add_names_of(const Yaml* metrics, ReportedNames& names) {
  if (metrics == nullptr || metrics->is_null()) return;
  for (const MetricDescription& metric : metric_descriptions(to_json(*metrics))) {
    if (metric.kind == MetricKind::kLines) {
      const LinePattern pattern(metric.target);
      for (const std::string& name : pattern.names()) names.add(quantity_of_group(name));
      continue;
    }
    for (const auto& [theirs, ours] : metric.names) names.add(ours);
    names.may_be_others = names.may_be_others || metric.names.empty();
  }
}

bool has_metrics(const Yaml& program) {
  const Yaml* metrics = program.find("metrics");
  return metrics != nullptr && metrics->is_sequence() && !metrics->items.empty();
}

void add_names_in(const Yaml& tree, const Yaml& program, ReportedNames& names) {
  add_names_of(program.find("metrics"), names);
  for (const auto& [name, better] : declared_directions(tree)) {
    names.evaluations.insert(name);
    names.costs.insert(name);
    names.series.insert(name);
    for (const char* split : {"valid.", "test."}) names.own.insert(split + name);
  }
  const Yaml* evaluate = tree.find("evaluate");
  if (evaluate == nullptr) return;
  const ReportedNames of_program = names;
  const auto add = [&](const Yaml& part) { add_names_of(part.is_map() ? part.find("metrics") : nullptr, names); };
  if (evaluate->is_map()) add(*evaluate);
  for (const Yaml& part : evaluate->items) add(part);
  names.validated = of_program.validated;
  names.own = of_program.own;
}

}  // namespace

void ReportedNames::add(const std::string& name) {
  if (name == "step") return;  // no quantity: it says where the others belong
  const QuantityPlace place = quantity_place(name);
  if (place.kind == QuantityPlace::Kind::kRun) {
    costs.insert(place.name);
    return;
  }
  if (place.split == "valid") validated.insert(place.name);
  evaluations.insert(place.name);  // a second command reports it of its split
  if (!place.split.empty()) own.insert(place.split + "." + place.name);
  if (place.kind == QuantityPlace::Kind::kTraining) series.insert(place.name);
}

ReportedNames reported_names(const Yaml& tree) {
  ReportedNames names;
  const Yaml* program = tree.find("program");
  if (program == nullptr || !program->is_map()) return names;
  names.may_be_others = !has_metrics(*program);
  try {
    add_names_in(tree, *program, names);
  } catch (const UsageError&) {
    return names;
  }
  return names;
}

}  // namespace xlm
