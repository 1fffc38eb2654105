// What a program may call its numbers.
#pragma once

#include <string>
#include <string_view>

namespace xlm {

/// Whether a quantity may have this name: letters of ASCII, digits, '_', '-' and single dots between them, with a
/// letter or '_' first; up to 100 bytes. Lists, filters and formulas of the store take such a name as it is.
bool is_quantity_name(std::string_view name);

/// What to say of another name.
std::string wrong_quantity_name(std::string_view name);

/// A name for what another program calls `theirs`: "loss (mean)" becomes "loss_mean", and a slash a dot. What stands
/// before the first slash often says where a number comes from: "train/loss" is "loss", which training has, "eval/loss"
/// and "val/loss" are "valid.loss". Empty if no character can stay.
std::string quantity_name_from(std::string_view theirs);

/// What a number belongs to, by its name as a program gives it.
struct QuantityPlace {
  enum class Kind { kTraining, kEvaluation, kRun };
  Kind kind = Kind::kTraining;
  std::string split;  // kEvaluation
  std::string name;
};

/// "valid.bpc" belongs to an evaluation, "costs.hours" and "params" to the run, "bpc" and anything else to training.
QuantityPlace quantity_place(std::string_view name);

/// Whether evaluations may be of this split: train, valid or test.
bool is_split(std::string_view name);

}  // namespace xlm
