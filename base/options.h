// Typed option structs, described once. A struct lists its options in `visit`; reading them from YAML, printing them,
// the reference in docs/, the store's columns and the run id all come from that one list.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/yaml.h"

namespace xlm {

/// What an option's value stands for. The run id contains the content behind a name, not the name.
/// A model that another has inside is a run or a model folder, too: kInnerModel.
enum class OptionContent { kValue, kModelFolder, kTokenizer, kRun, kInnerModel };

/// The description of one option.
struct OptionInfo {
  std::string_view name;
  std::string_view help;  // meaning and unit, one sentence
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false;       // min itself is not allowed
  bool open_max = false;       // max itself is not allowed
  bool affects_result = true;  // false: it only says where or how the run is done; not in the run id
  bool later = false;          // added when runs had ids already: in the id only if not 0, false or the first choice
  bool of_weights = true;      // false: may differ from the value with which the weights were trained
  bool of_learning = false;  // of a model: it says how weights are learnt, not what they are, and may change meanwhile
  OptionContent content = OptionContent::kValue;
};

/// Visits the options of a struct to read, write or describe each.
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;

  virtual void field(const OptionInfo& info, bool& value) = 0;
  virtual void field(const OptionInfo& info, std::int64_t& value) = 0;
  virtual void field(const OptionInfo& info, double& value) = 0;
  virtual void field(const OptionInfo& info, std::string& value) = 0;
  virtual void field(const OptionInfo& info, std::vector<std::int64_t>& value) = 0;

  /// One of `names`; `index` is the position of the current one.
  virtual void choice(const OptionInfo& info, std::size_t& index, const std::vector<std::string>& names) = 0;

  /// An enum whose values 0, 1, … are called `names`.
  template <class Enum, std::size_t N>
  void field(const OptionInfo& info, Enum& value, const std::array<std::string_view, N>& names) {
    auto index = static_cast<std::size_t>(value);
    choice(info, index, std::vector<std::string>(names.begin(), names.end()));
    value = static_cast<Enum>(index);
  }

  /// A nested map: `options.visit(*this)` inside `name`.
  template <class Options>
  void group(std::string_view name, std::string_view help, Options& options) {
    begin_group(name, help);
    options.visit(*this);
    end_group();
  }

 protected:
  virtual void begin_group(std::string_view name, std::string_view help) = 0;
  virtual void end_group() = 0;
};

/// Reads options from a YAML map, strictly: throws UsageError with file:line for an unknown key (with the nearest right
/// one), a wrong type or a value out of range. Call `finish` when everything has been visited.
class OptionReader : public OptionVisitor {
 public:
  /// `others` are further keys of the same file, such as program.command, read elsewhere: suggestions for an unknown
  /// key include them.
  explicit OptionReader(const Yaml& map, std::vector<std::string> others = {});

  void field(const OptionInfo& info, bool& value) override;
  void field(const OptionInfo& info, std::int64_t& value) override;
  void field(const OptionInfo& info, double& value) override;
  void field(const OptionInfo& info, std::string& value) override;
  void field(const OptionInfo& info, std::vector<std::int64_t>& value) override;
  void choice(const OptionInfo& info, std::size_t& index, const std::vector<std::string>& names) override;
  using OptionVisitor::field;

  void finish();

 protected:
  void begin_group(std::string_view name, std::string_view help) override;
  void end_group() override;

 private:
  struct Level {
    std::string name;
    const Yaml* map;  // null if the group is not given
    std::vector<std::string> known;
  };
  const Yaml* look_up(const OptionInfo& info);
  std::string path(std::string_view name) const;
  void check_range(const OptionInfo& info, const Yaml& node, double value) const;
  void check_unknown(const Level& level) const;

  std::vector<Level> levels_;
  std::vector<std::string> others_;
};

/// The options of a map that holds nothing else.
template <class Options>
Options options_in(const Yaml& map) {
  Options options;
  OptionReader reader(map);
  options.visit(reader);
  reader.finish();
  return options;
}

/// One option with its key, value and description.
struct OptionEntry {
  std::string key;  // dotted
  std::string help;
  std::string range;  // "≥ 1", "one of a, b", or ""
  Json value;
  bool in_range = true;  // false: it follows from other options, and no configuration may set it
  bool affects_result = true;
  bool later = false;
  bool as_before = false;  // a later one with the value that all earlier runs had
  bool of_weights = true;
  bool of_learning = false;
  OptionContent content = OptionContent::kValue;
};

/// Every option of `options` in order, groups flattened into dotted keys.
class OptionLister : public OptionVisitor {
 public:
  void field(const OptionInfo& info, bool& value) override;
  void field(const OptionInfo& info, std::int64_t& value) override;
  void field(const OptionInfo& info, double& value) override;
  void field(const OptionInfo& info, std::string& value) override;
  void field(const OptionInfo& info, std::vector<std::int64_t>& value) override;
  void choice(const OptionInfo& info, std::size_t& index, const std::vector<std::string>& names) override;
  using OptionVisitor::field;

  const std::vector<OptionEntry>& entries() const { return entries_; }

 protected:
  void begin_group(std::string_view name, std::string_view help) override;
  void end_group() override;

 private:
  void add(const OptionInfo& info, Json value, std::string range, bool in_range = true, bool is_first_choice = false);

  std::vector<std::string> groups_;
  std::vector<OptionEntry> entries_;
};

}  // namespace xlm
