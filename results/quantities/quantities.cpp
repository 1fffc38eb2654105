// The table of quantities.
#include "results/quantities/quantities.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace xlm {
namespace {

constexpr std::array<std::string_view, 3> kSplits{"train", "valid", "test"};
/// Recorded of every run of a program, besides the rows of the table.
constexpr std::array<std::string_view, 2> kTimesOfPrograms{"wall_seconds", "processor_seconds"};
constexpr double kReadAtOnce = 1e3;  // above this a list shows no decimals
constexpr double kReadInFull = 1e9;

/// Dots and underscores become blanks.
std::string words_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '.' || c == '_'; }, ' ');
  return text;
}

/// A new quantity is one line here, and one in docs/numbers.md. A test compares them.
std::vector<Quantity> known_quantities() {
  using Text = TextUnits;
  constexpr auto kRun = ReportedBy::kRun;
  constexpr auto kTraining = ReportedBy::kTraining;
  constexpr auto kHigher = Better::kHigher;
  constexpr auto kCount = NumberFormat::kCount;
  // clang-format off
  return {
      {.name = "tokens", .meaning = "scored predictions", .digits = 0, .leads = true},
      {.name = "loss", .meaning = "nats per scored token", .per_token = true, .headline = 5, .leads = true},
      {.name = "bpc", .unit = "bpc", .meaning = "bits per character", .texts = Text::kCharacters | Text::kBytes, .per_token = true, .headline = 1, .leads = true},
      {.name = "token_perplexity", .head = "token ppl", .meaning = "perplexity per token", .texts = Text::kBytePairs, .per_token = true, .headline = 3},
      {.name = "word_perplexity", .head = "word ppl", .meaning = "perplexity per word of the text", .texts = Text::kBytePairs, .headline = 2},
      {.name = "bits_per_byte", .head = "bits/byte", .meaning = "bits per byte of UTF-8", .headline = 4},
      {.name = "words", .meaning = "words of the split", .texts = Text::kBytePairs, .digits = 0},
      {.name = "bytes", .meaning = "bytes of the split", .texts = Text::kBytePairs, .digits = 0},
      {.name = "seconds", .meaning = "of the evaluation"},
      {.name = "flops", .label = "FLOPs", .meaning = "FLOPs of the evaluation", .format = kCount, .digits = -1},
      {.name = "average_span", .meaning = "mean attention span, in tokens; each layer's mean is rounded up", .digits = 0, .live = "span", .live_head = "avg. span", .live_most = "max_span"},
      {.name = "max_span", .meaning = "longest attention span, in tokens", .digits = 0},
      {.name = "shortening_factor", .head = "SF", .meaning = "tokens per group", .better = kHigher, .digits = 2},
      {.name = "boundary_accuracy", .meaning = "share of places where a boundary is predicted rightly", .better = kHigher},
      {.name = "boundary_precision", .meaning = "share of predicted boundaries that are right", .better = kHigher},
      {.name = "boundary_recall", .meaning = "share of boundaries that are predicted", .better = kHigher},
      {.name = "left_out_share", .meaning = "share of predictions whose patch has no place: not scored, or made again with less context"},
      {.name = "worse_than_guessing", .meaning = "1 if the loss is above that of guessing all symbols alike", .digits = 0},
      {.name = "flops_per_token", .label = "FLOPs per token", .head = "FLOPs/token", .meaning = "two per multiply-add of a forward pass", .by = kRun, .format = kCount, .digits = -1, .exact = true, .learnable = true},
      {.name = "paper_flops", .label = "FLOPs per token, as the paper counts", .meaning = "FLOPs per token, counted as the model's paper does", .by = kRun, .format = kCount, .digits = -1, .exact = true, .learnable = true},
      {.name = "params", .label = "parameters", .meaning = "trained numbers of the model", .by = kRun, .format = kCount, .digits = -1, .exact = true},
      {.name = "layers", .meaning = "layers of the model, all stages together", .by = kRun, .digits = 0, .exact = true},
      {.name = "peak_memory", .unit = "bytes", .meaning = "most memory held while training", .by = kRun, .format = NumberFormat::kBytes, .digits = -1},
      {.name = "reserved_memory", .unit = "bytes", .meaning = "most memory of a GPU that a process took for tensors, with what it kept for later ones", .by = kRun, .format = NumberFormat::kBytes, .digits = -1},
      {.name = "step_seconds", .label = "seconds per step", .meaning = "time of a step of training", .by = kRun},
      {.name = "last_step_seconds", .label = "seconds per step at the end", .meaning = "time of a step of training, median of the last ones", .by = kRun},
      {.name = "training_flops", .label = "FLOPs of training", .meaning = "FLOPs of all steps so far, three forward passes each", .by = kRun, .format = kCount, .digits = -1},
      {.name = "inherited_flops", .label = "FLOPs of training, inherited", .meaning = "of them, those behind the checkpoint of another run that the run goes on from", .by = kRun, .format = kCount, .digits = -1},
      {.name = "training_tokens", .label = "tokens of training", .meaning = "scored predictions of all steps so far", .by = kRun, .format = kCount, .digits = -1},
      {.name = "training_seconds", .label = "seconds of training", .meaning = "time of all steps so far, without evaluations and checkpoints", .by = kRun, .format = kCount, .digits = -1},
      {.name = "evaluation_flops", .label = "FLOPs of evaluations", .meaning = "FLOPs of all evaluations of the run", .by = kRun, .format = kCount, .digits = -1},
      {.name = "processor_hours", .meaning = "hours of all threads while a worker had the run", .by = kRun, .digits = 2},
      {.name = "gpu_hours", .label = "GPU hours", .meaning = "hours of all GPUs while a worker had the run", .by = kRun, .digits = 2},
      {.name = "energy", .head = "energy (J)", .unit = "J", .meaning = "energy of the machine's processors while a worker had the run", .by = kRun, .format = kCount, .digits = -1},
      {.name = "energy_gpu", .label = "energy of GPUs", .head = "energy of GPUs (J)", .unit = "J on GPUs", .meaning = "energy of the run's GPUs while a worker had the run", .by = kRun, .format = kCount, .digits = -1},
      {.name = "lr", .meaning = "learning rate of a step", .by = kTraining, .digits = 6},
      {.name = "gradient_norm", .meaning = "norm of the gradient of a step, before clipping", .by = kTraining},
      {.name = "weight_norm", .meaning = "norm of the weights after a step", .by = kTraining},
      {.name = "update_norm", .meaning = "norm of what a step adds to the weights", .by = kTraining, .digits = 5},
      {.name = "tokens_per_second", .meaning = "speed of training", .by = kTraining, .better = kHigher, .format = kCount, .digits = -1},
  };
  // clang-format on
}

/// Fills what a row leaves out from the rest of it.
Quantity completed(Quantity row) {
  if (row.label.empty()) row.label = words_of(row.name);
  if (row.head.empty()) row.head = row.label;
  return row;
}

/// A label for an axis. It includes the unit, because an axis has no numbers with units.
std::string axis_label(const Quantity& row) {
  return row.unit.empty() || row.unit == row.label ? row.label : row.label + ", " + row.unit;
}

}  // namespace

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> rows = [] {
    std::vector<Quantity> all = known_quantities();
    std::transform(all.begin(), all.end(), all.begin(), completed);
    return all;
  }();
  return rows;
}

const Quantity* find_quantity(std::string_view name) {
  const auto& rows = quantities();
  const auto found = std::ranges::find_if(rows, [&](const Quantity& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

Quantity quantity(std::string_view name) {
  const Quantity* known = find_quantity(name);
  return known != nullptr ? *known : completed({.name = std::string(name)});
}

std::optional<EvaluationColumn> evaluation_column(std::string_view column) {
  const std::size_t dot = column.find('.');
  if (dot == std::string_view::npos || dot + 1 == column.size()) return std::nullopt;
  const std::string_view split = column.substr(0, dot);
  if (std::ranges::find(kSplits, split) == kSplits.end()) return std::nullopt;
  return EvaluationColumn{std::string(split), std::string(column.substr(dot + 1))};
}

const Quantity* quantity_of_column(std::string_view column) {
  const auto evaluation = evaluation_column(column);
  return find_quantity(evaluation ? std::string_view(evaluation->name) : column);
}

std::string quantity_in(std::string_view column) {
  const std::string_view without = column.substr(0, column.find('@'));
  const auto evaluation = evaluation_column(without);
  return evaluation ? evaluation->name : std::string(without);
}

std::optional<Better> known_direction(std::string_view name) {
  if (const Quantity* known = find_quantity(name)) return known->better;
  const bool is_time = std::ranges::find(kTimesOfPrograms, name) != kTimesOfPrograms.end();
  return is_time ? std::optional<Better>(Better::kLower) : std::nullopt;
}

std::string unknown_direction(std::string_view name) {
  return fmt::format(
      "'{0}' is not among the known quantities, and nothing says whether less or more of it is better\n"
      "declare it next to the program's command, and run its sweep again, which trains nothing twice: "
      "program: {{better: {{{0}: higher}}}} (or lower)",
      name);
}

std::string column_label(std::string_view column) {
  if (column.starts_with('=')) return std::string(column.substr(1));  // a formula
  if (column == "data.name") return "data";
  if (column == "model.span") return "span limit";  // heads learn spans, too
  if (column.starts_with("at.")) return column_label(column.substr(3));
  if (const std::size_t at = column.find('@'); at != std::string_view::npos) {
    const std::string label = column_label(column.substr(0, at));
    const std::string_view how = column.substr(at + 1);
    if (how.starts_with("last=")) return label + ", mean of the last " + std::string(how.substr(5));
    return label + " at " + std::string(how);
  }
  const Quantity* known = quantity_of_column(column);
  const auto evaluation = evaluation_column(column);
  if (known != nullptr) return (evaluation ? evaluation->split + " " : "") + axis_label(*known);
  return words_of(std::string(column.starts_with("model.") ? column.substr(6) : column));
}

const std::vector<const Quantity*>& headlines() {
  static const std::vector<const Quantity*> ranked = [] {
    std::vector<const Quantity*> rows;
    for (const Quantity& row : quantities()) {
      if (row.headline > 0) rows.push_back(&row);
    }
    std::ranges::sort(rows, [](const Quantity* a, const Quantity* b) { return a->headline < b->headline; });
    return rows;
  }();
  return ranked;
}

const Quantity* headline_of(const std::function<bool(const std::string& name)>& has) {
  const auto& ranked = headlines();
  const auto found = std::ranges::find_if(ranked, [&](const Quantity* row) { return has(row->name); });
  return found == ranked.end() ? nullptr : *found;
}

std::vector<std::string> listing_order(const std::set<std::string>& names) {
  std::vector<std::string> order;
  for (const Quantity& row : quantities()) {
    if (row.leads && names.contains(row.name)) order.push_back(row.name);
  }
  const auto leading = static_cast<std::ptrdiff_t>(order.size());
  for (const std::string& name : names) {
    if (std::find(order.begin(), order.begin() + leading, name) == order.begin() + leading) order.push_back(name);
  }
  return order;
}

std::string list_number(const Quantity& quantity, double value) {
  const bool plain = quantity.format == NumberFormat::kNumber;
  if (plain && (quantity.digits == 0 || std::abs(value) >= kReadInFull)) return shown_number(value);
  if (plain && std::abs(value) >= kReadAtOnce) return in_thousands(std::llround(value));
  std::int64_t digits = quantity.digits < 0 ? -1 : quantity.digits + 1;
  const double size = std::abs(value);
  const bool is_lost = plain && size > 0 && size < std::pow(10.0, 1 - digits);
  if (is_lost) digits = std::min<std::int64_t>(12, std::lround(std::ceil(-std::log10(size))) + 1);  // two that count
  return format_number(value, quantity.format, digits);
}

std::string column_number(std::string_view column, double value) {
  const Quantity* known = quantity_of_column(column.substr(0, column.find('@')));
  return known == nullptr ? shown_number(value) : list_number(*known, value);
}

std::string named_number(const Quantity& quantity, double value) {
  const bool plain = quantity.format == NumberFormat::kNumber;
  const std::string number = plain && std::abs(value) >= kReadAtOnce
                                 ? list_number(quantity, value)
                                 : format_number(value, quantity.format, quantity.digits);
  return quantity.unit.empty() ? quantity.label + " " + number : number + " " + quantity.unit;
}

}  // namespace xlm
