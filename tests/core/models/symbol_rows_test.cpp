// Weights of another vocabulary, against rows that are copied symbol by symbol here.
#include "core/models/symbol_rows.h"

#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/api/model_list.h"
#include "core/models/model_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Unit = Vocabulary::Unit;

/// The tensors of every model that have a row for each symbol.
const std::set<std::string>& tensors_of_symbols() {
  static const std::set<std::string> names{
      "in_emb.weight", "out_emb.weight", "out_emb.bias", "word_emb.weight", "final_cast.weight", "final_cast.bias",
      "wte.weight", "lm_head.weight", "model.embed_tokens.weight",
      // of the small model whose entropies cut
      "model.boundaries.model.lm_head.weight", "model.boundaries.model.model.embed_tokens.weight"};
  return names;
}

struct VocabularyPair {
  Vocabulary other;
  Vocabulary own;
  std::int64_t kept;
};

std::vector<VocabularyPair> vocabulary_pairs() {
  const auto byte = [](int value) { return std::string(1, static_cast<char>(value)); };
  return {
      // Dropped, new and moved ones, and as many symbols in both.
      {{Unit::kCharacter, {" ", "a", "b", "c", "ä"}}, {Unit::kCharacter, {"ä", " ", "x", "b", "y"}}, 3},
      {{Unit::kCharacter, {" ", "a", "b"}}, {Unit::kCharacter, {" ", "a", "b", "c", "d", "e", "f"}}, 3},
      {{Unit::kByte, {byte(10), byte(32), byte(97), byte(200)}}, {Unit::kByte, {byte(32), byte(200), byte(201)}}, 2},
      {{Unit::kBpe, {"Ġ", "a", "Ġthe", "in", "<|endoftext|>"}}, {Unit::kBpe, {"a", "Ġ", "on", "in"}}, 3}};
}

/// The model that `options` make for a vocabulary; null if it needs a symbol that the vocabulary lacks.
std::shared_ptr<LanguageModel> model_for(const ModelOptions& options, const Vocabulary& vocabulary) {
  try {
    return make_model(options, vocabulary);
  } catch (const UsageError&) {
    return nullptr;
  }
}

TEST(SymbolRows, OfCommonSymbolsAreKeptAndOthersBeginAsConfigured) {
  std::set<std::string> checked;
  for (std::size_t index = 0; index < model_types().size(); ++index) {
    for (const ModelOptions& options : default_model_options(index).smallest()) {
      for (const auto& [other, own, kept] : vocabulary_pairs()) {
        torch::manual_seed(1);
        const auto source = model_for(options, other);
        const auto model = model_for(options, own);
        if (source == nullptr || model == nullptr) continue;
        checked.insert(fmt::format("{} {}", options.type(), unit_name(own.unit)));
        std::map<std::string, torch::Tensor> configured;
        for (const auto& [name, tensor] : model->weights()) configured[name] = tensor.detach().clone();
        NamedTensors tensors;
        for (const auto& [name, tensor] : source->weights()) tensors.emplace_back(name, tensor.detach().clone());
        const std::map<std::string, torch::Tensor> given(tensors.begin(), tensors.end());

        const std::string note = initialize_from(*model, {tensors, other, "that model"}, options, own);

        EXPECT_THAT(note, HasSubstr(fmt::format("{} keep their rows, {} are new, {} are dropped", kept,
                                                own.size() - kept, other.size() - kept)));
        for (const auto& [name, tensor] : model->weights()) {
          if (!tensors_of_symbols().contains(name)) {
            EXPECT_TRUE(torch::equal(tensor, given.at(name))) << name;
            continue;
          }
          for (std::int64_t id = 0; id < own.size(); ++id) {
            torch::Tensor expected = configured.at(name)[id];
            for (std::int64_t old = 0; old < other.size(); ++old) {
              if (other.symbols[static_cast<std::size_t>(old)] == own.symbols[static_cast<std::size_t>(id)]) {
                expected = given.at(name)[old];
              }
            }
            EXPECT_TRUE(torch::equal(tensor[id], expected)) << options.type() << " " << name << " " << id;
          }
        }
      }
    }
  }
  EXPECT_GE(checked.size(), 10U) << "most models learn any unit";
}

TEST(SymbolRows, WithoutACommonSymbolOrUnitAreRefused) {
  const ModelOptions options = default_model_options(0).smallest().front();
  const auto complaint = [&](const Vocabulary& other, const Vocabulary& own) {
    return thrown_message<DataError>([&] { common_rows(other, own, options, "that model"); });
  };
  EXPECT_THAT(
      complaint({Unit::kByte, {"a"}}, {Unit::kCharacter, {"a"}}),
      AllOf(HasSubstr("that model is for bytes, and the data consist of characters"), HasSubstr("--unit byte")));
  EXPECT_THAT(complaint({Unit::kCharacter, {"a"}}, {Unit::kCharacter, {"b"}}), HasSubstr("no symbol in common"));
}

TEST(SymbolRows, OfTheSameVocabularyNeedNoNote) {
  const Vocabulary vocabulary{Unit::kCharacter, {" ", "a", "b"}};
  const ModelOptions options = default_model_options(0).smallest().front();
  const auto source = make_model(options, vocabulary);
  const auto model = make_model(options, vocabulary);
  const NamedTensors& tensors = source->weights();
  EXPECT_EQ(initialize_from(*model, {tensors, vocabulary, "that model"}, options, vocabulary), "");
  EXPECT_TRUE(torch::equal(model->weights().front().second, tensors.front().second));
}

}  // namespace
}  // namespace xlm
