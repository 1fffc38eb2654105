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

/// A name for what another program calls `theirs`: "loss (mean)" becomes "loss_mean", and a slash a dot. A word before
/// or behind it often says of what a number is, in any case: "train/loss" and "Loss/train" are "loss", which training
/// has; "val/loss", "eval_loss" and "Loss/Validation" are "valid.loss", "test_acc" is "test.acc". Such a name is in
/// lower case. Empty if no character can stay. python/xlm/adapters has the same rule, and the same test
/// (tests/names_of_others.json).
std::string quantity_name_from(std::string_view theirs);

/// The split that a word stands for, in any case: train, valid or test; empty: none.
std::string_view split_called(std::string_view word);

/// What a number belongs to, by its name as a program gives it.
struct QuantityPlace {
  enum class Kind { kTraining, kEvaluation, kRun };
  Kind kind = Kind::kTraining;
  std::string split;  // kEvaluation
  std::string name;
};

/// "valid.bpc" belongs to an evaluation, "costs.hours" and "params" to the run, "bpc" and anything else to training.
QuantityPlace quantity_place(std::string_view name);

/// What a group of a pattern names: "val_loss" is "valid.loss", as in files.
std::string quantity_of_group(const std::string& group);

/// Whether evaluations may be of this split: train, valid or test.
bool is_split(std::string_view name);

}  // namespace xlm
