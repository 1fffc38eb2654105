// Boundaries between patches by hand, and vectors on their way up and down.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/nn/patches.h"

namespace xlm {
namespace {

using PatchType = PatchBoundaryOptions::Type;

/// All 256 bytes.
std::vector<std::string> byte_symbols() {
  std::vector<std::string> symbols;
  for (int byte = 0; byte < 256; ++byte) symbols.emplace_back(1, static_cast<char>(byte));
  return symbols;
}

std::unique_ptr<PatchBoundaries> kind_of(PatchType type, std::int64_t factor = 3) {
  const PatchBoundaryOptions options{.type = type, .factor = factor};
  const DeclareParameter declare = [](const std::string& /*name*/, torch::Tensor initial) { return initial; };
  auto kind = make_patch_boundaries({.options = &options, .declare = &declare, .local_width = 2, .width = 3});
  EXPECT_EQ(kind->set_symbols(byte_symbols()), std::nullopt);
  return kind;
}

/// A row with a beginning in front of `text`, or without.
PatchText row_of(const std::string& text, bool begins) {
  std::vector<std::int64_t> bytes;
  if (begins) bytes.push_back(0);
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  const torch::Tensor tokens = torch::tensor(bytes, torch::kLong).unsqueeze(0);
  torch::Tensor beginnings = torch::zeros_like(tokens).to(torch::kBool);
  if (begins) beginnings.narrow(1, 0, 1).fill_(true);
  return {.tokens = tokens, .beginnings = beginnings, .positions = {}, .hidden = {}};
}

/// A mark for the beginning and each byte: '^' if a patch begins there.
std::string marks_of(const PatchBoundaries& kind, const PatchText& text) {
  const torch::Tensor begins = kind.find(text).begins;
  std::string result;
  for (std::int64_t t = 0; t < begins.size(1); ++t) result.push_back(begins[0][t].item<bool>() ? '^' : '-');
  return result;
}

std::string marks(PatchType type, const std::string& text, bool begins = true) {
  return marks_of(*kind_of(type), row_of(text, begins));
}

TEST(PatchBoundaries, SpacelikeAreTheFirstOfNeighboursThatAreNoLettersAndDigits) {
  EXPECT_EQ(marks(PatchType::kSpacelike, "the cat, 3.5"), "^---^---^--^-");
  EXPECT_EQ(marks(PatchType::kSpacelike, "a\n\n b"), "^-^---") << "of neighbours only the first";
  EXPECT_EQ(marks(PatchType::kSpacelike, " a b"), "^--^-") << "a beginning is spacelike";
  EXPECT_EQ(marks(PatchType::kSpacelike, " a b", false), "^-^-") << "without one the first byte has none before it";
}

TEST(PatchBoundaries, SpacelikeClassesEndWhereLettersAndDigitsDo) {
  for (const auto& [inside, outside] : std::vector<std::pair<char, char>>{{'0', '/'},
                                                                          {'9', ':'},
                                                                          {'A', '@'},
                                                                          {'Z', '['},
                                                                          {'a', '`'},
                                                                          {'z', '{'},
                                                                          {'\x80', '\x7F'},
                                                                          {'\xBF', '\xC0'}}) {
    EXPECT_EQ(marks(PatchType::kSpacelike, std::string("x") + inside), "^--") << static_cast<int>(inside);
    EXPECT_EQ(marks(PatchType::kSpacelike, std::string("x") + outside), "^-^") << static_cast<int>(outside);
  }
}

/// A first byte of a character is spacelike; the bytes that continue it are not. So each of neighbouring characters
/// begins a patch.
TEST(PatchBoundaries, SpacelikeCharactersOfSeveralBytesBeginPatchesAtTheirFirst) {
  EXPECT_EQ(marks(PatchType::kSpacelike, "caf\xC3\xA9s"), "^---^--");
  EXPECT_EQ(marks(PatchType::kSpacelike, "\xE6\x97\xA5\xE6\x9C\xAC"), "^---^--") << "the first one behind a beginning";
  EXPECT_EQ(marks(PatchType::kSpacelike, "a\xF0\x9F\x99\x82 b"), "^-^---^-");
  EXPECT_EQ(marks(PatchType::kSpacelike, "a \xC3\xA9"), "^-^--") << "behind a space it is a neighbour";
}

TEST(PatchBoundaries, SpacelikeCharactersCountAsTheirFirstByte) {
  const PatchBoundaryOptions options;
  const DeclareParameter none;
  const auto kind = make_patch_boundaries({.options = &options, .declare = &none, .local_width = 2, .width = 3});
  kind->set_symbols({"a", "\xC3\xA9", " "});
  PatchText text = row_of("xxxxx", false);
  text.tokens = torch::tensor({{0, 1, 0, 2, 2}}, torch::kLong);
  EXPECT_EQ(marks_of(*kind, text), "-^-^-");
}

TEST(PatchBoundaries, FixedAreEveryFactorthPosition) {
  EXPECT_EQ(marks(PatchType::kFixed, "abcdefg"), "^--^--^-") << "the beginning is the first of three";
  PatchText text = row_of("abcdefg", false);
  text.positions = torch::arange(5, 12, torch::kLong).unsqueeze(0);
  EXPECT_EQ(marks_of(*kind_of(PatchType::kFixed), text), "-^--^--");
}

TEST(PatchBoundaries, WhitespaceAreAllSpaces) {
  EXPECT_EQ(marks(PatchType::kWhitespace, "a  b\nc,d "), "^-^^-----^");
  const PatchBoundaryOptions options{.type = PatchType::kWhitespace};
  const DeclareParameter none;
  const auto kind = make_patch_boundaries({.options = &options, .declare = &none, .local_width = 2, .width = 3});
  EXPECT_NE(kind->set_symbols({"a", "b"}), std::nullopt);
}

/// Vectors of a row [1, T, d], one byte each.
PatchText row_of_vectors(const torch::Tensor& hidden) {
  PatchText text = row_of(std::string(static_cast<std::size_t>(hidden.size(1)), 'a'), false);
  text.hidden = hidden;
  return text;
}

/// Query and key begin as they are: the probability is (1 − cosine of neighbours) / 2.
TEST(PatchBoundaries, RoutersBeginWhereNeighboursDiffer) {
  const auto kind = kind_of(PatchType::kRouter);
  const torch::Tensor hidden =
      torch::tensor({{{1.0, 0.0}, {5.0, 0.0}, {0.0, 2.0}, {0.0, -2.0}, {-1.0, -1.0}, {-3.0, 4.0}}}, torch::kFloat);
  const PatchStarts starts = kind->find(row_of_vectors(hidden));
  const double half = std::sqrt(0.5);
  const torch::Tensor expected =
      torch::tensor({{1.0, 0.0, 0.5, 1.0, (1 - half) / 2, (1 + half / 5) / 2}}, torch::kFloat);
  EXPECT_TRUE(torch::allclose(starts.probabilities, expected, 0, 1e-6));
  EXPECT_TRUE(torch::equal(starts.begins, expected > 0.5)) << "half is not enough";
  PatchText text = row_of_vectors(hidden);
  text.beginnings.select(1, 1).fill_(true);
  EXPECT_TRUE(kind->find(text).begins[0][1].item<bool>()) << "a beginning";
}

/// The gradient of a weight of 1 goes to the probability itself, with its sign: of a byte that begins no patch the
/// router is surer if it is less likely.
TEST(PatchBoundaries, RoutersBringDownSmoothedPatchesToAllTheirBytes) {
  const auto kind = kind_of(PatchType::kRouter);
  const torch::Tensor hidden = torch::ones({1, 4, 2});
  const torch::Tensor probabilities = torch::tensor({{1.0, 0.25, 0.75, 0.5}}, torch::kFloat).set_requires_grad(true);
  const PatchStarts starts{.begins = probabilities.detach() > 0.5, .probabilities = probabilities};
  const PatchPlaces places = find_places(starts.begins, 3);
  const torch::Tensor patches =
      torch::tensor({{{8.0, 4.0, 9.0}, {2.0, 2.0, 9.0}, {0.0, 0.0, 0.0}}}, torch::kFloat).set_requires_grad(true);
  const torch::Tensor down = kind->down(hidden, patches, places, starts);
  const double least = 1e-4;
  const torch::Tensor first = (1 - least) * torch::tensor({8.0, 4.0}, torch::kFloat);
  const torch::Tensor second = 0.75 * torch::tensor({2.0, 2.0}, torch::kFloat) + 0.25 * first;
  EXPECT_TRUE(torch::allclose(down, torch::stack({first, first, second, second}).unsqueeze(0), 1e-6, 1e-6));
  down.sum().backward();
  EXPECT_TRUE(torch::equal(patches.grad().select(2, 2), torch::zeros({1, 3}))) << "only d numbers";
  const double of_first = first.sum().item<double>();
  const double of_second = second.sum().item<double>();
  const double through_share = 2 * (4 - of_first);  // two bytes have the second patch
  const torch::Tensor expected =
      torch::tensor({{of_first, -of_first, of_second + through_share, -of_second}}, torch::kFloat);
  EXPECT_TRUE(torch::allclose(probabilities.grad(), expected, 1e-5, 1e-5)) << probabilities.grad();
}

/// Half of the bytes begin a patch, and a third is wanted.
TEST(PatchBoundaries, TheRatioLossIsLeastAtTheWantedLength) {
  const auto kind = kind_of(PatchType::kRouter);
  const auto loss_of = [&](const torch::Tensor& probabilities) {
    return kind->loss({}, {.begins = probabilities > 0.5, .probabilities = probabilities}).item<double>();
  };
  const double share = 0.5;
  const double mean = (1 + 0.7 + 0.1 + 0.2) / 4;
  EXPECT_NEAR(loss_of(torch::tensor({{1.0, 0.7, 0.1, 0.2}}, torch::kDouble)),
              0.03 * 3 / 2 * (2 * share * mean + (1 - share) * (1 - mean)), 1e-12);
  const torch::Tensor wanted = torch::tensor({{1.0, 0.0, 0.0}}, torch::kDouble);
  EXPECT_NEAR(loss_of(wanted), 0.03, 1e-12);
  EXPECT_LT(loss_of(wanted), loss_of(torch::tensor({{1.0, 1.0, 0.0}}, torch::kDouble)));
}

/// Of all rows of spaces and letters the fullest.
TEST(PatchBoundaries, TheMostPatchesOfARowAreReached) {
  for (const auto type : {PatchType::kSpacelike, PatchType::kFixed, PatchType::kWhitespace}) {
    const auto kind = kind_of(type);
    for (std::int64_t length = 1; length < 7; ++length) {
      for (const std::int64_t beginnings : {0, 1}) {
        std::int64_t fullest = 0;
        for (std::int64_t pattern = 0; pattern < 1 << (length - beginnings); ++pattern) {
          std::string text;
          for (std::int64_t t = beginnings; t < length; ++t) {
            text.push_back((pattern >> (t - beginnings)) % 2 == 0 ? ' ' : 'a');
          }
          fullest = std::max(fullest, kind->find(row_of(text, beginnings > 0)).begins.sum().item<std::int64_t>());
        }
        EXPECT_EQ(fullest, kind->most_patches(length)) << length << " " << beginnings;
      }
    }
  }
}

torch::Tensor two_rows_of_begins() {
  return torch::tensor({{1, 0, 1, 1, 0, 1}, {0, 0, 0, 1, 0, 0}}, torch::kLong).to(torch::kBool);
}

TEST(PatchPlaces, AreTheFirstBytesOfPatches) {
  const PatchPlaces found = find_places(two_rows_of_begins(), 3);
  EXPECT_TRUE(torch::equal(found.places, torch::tensor({{0, 2, 3}, {3, 6, 6}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(found.patch, torch::tensor({{0, 3, 1, 2, 3, 3}, {3, 3, 3, 0, 3, 3}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(found.begun, torch::tensor({{1, 1, 2, 3, 3, 3}, {0, 0, 0, 1, 1, 1}}, torch::kLong)));
  const torch::Tensor left_out = torch::tensor({{0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0}}, torch::kLong);
  EXPECT_TRUE(torch::equal(found.left_out, left_out.to(torch::kBool))) << "from the first patch without a place on";
  EXPECT_FALSE(find_places(two_rows_of_begins(), 4).left_out.any().item<bool>());
}

TEST(PatchPlaces, HandUpBehindZerosAndBringDownTheLastNumbers) {
  const auto kind = kind_of(PatchType::kSpacelike);
  const PatchStarts starts{.begins = two_rows_of_begins(), .probabilities = {}};
  const PatchPlaces places = find_places(starts.begins, 3);
  const torch::Tensor hidden = torch::arange(1, 25, torch::kDouble).view({2, 6, 2}).set_requires_grad(true);
  const torch::Tensor up = kind->up(hidden, places, 3);
  EXPECT_TRUE(torch::equal(
      up, torch::tensor({{{0, 1, 2}, {0, 5, 6}, {0, 7, 8}}, {{0, 19, 20}, {0, 0, 0}, {0, 0, 0}}}, torch::kDouble)));
  const torch::Tensor patches = (torch::arange(1, 19, torch::kDouble) * 100).view({2, 3, 3}).set_requires_grad(true);
  const torch::Tensor down = kind->down(hidden, patches, places, starts);
  torch::Tensor expected = hidden.detach().clone();
  expected[0][0] += torch::tensor({200, 300}, torch::kDouble);
  expected[0][2] += torch::tensor({500, 600}, torch::kDouble);
  expected[0][3] += torch::tensor({800, 900}, torch::kDouble);
  expected[1][3] += torch::tensor({1100, 1200}, torch::kDouble);
  EXPECT_TRUE(torch::equal(down, expected));
  const torch::Tensor weights = torch::arange(1, 25, torch::kDouble).view({2, 6, 2});
  (down * weights).sum().backward();
  EXPECT_TRUE(torch::equal(hidden.grad(), weights));
  EXPECT_TRUE(torch::equal(
      patches.grad(),
      torch::tensor({{{0, 1, 2}, {0, 5, 6}, {0, 7, 8}}, {{0, 19, 20}, {0, 0, 0}, {0, 0, 0}}}, torch::kDouble)));
}

}  // namespace
}  // namespace xlm
