#include "datasets/tokens/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Vocabulary kLetters{.unit = Vocabulary::Unit::kCharacter, .symbols = {" ", "a", "é"}};

TEST(Symbols, CharactersBecomeIds) { EXPECT_THAT(encode_symbols(kLetters, "é aa"), ElementsAre(2, 0, 1, 1)); }

TEST(Symbols, BytesAreTakenOneByOne) {
  const Vocabulary bytes{.unit = Vocabulary::Unit::kByte, .symbols = {"\xA9", "\xC3", "x"}};
  EXPECT_THAT(encode_symbols(bytes, "xé"), ElementsAre(2, 1, 0));
}

TEST(Symbols, WhatTheVocabularyLacksIsNamed) {
  EXPECT_THAT([] { encode_symbols(kLetters, "aß"); }, ThrowsMessage<DataError>(HasSubstr("'ß' (U+00DF)")));
  EXPECT_THAT([] { encode_symbols(kLetters, "a\xFF"); }, ThrowsMessage<DataError>(HasSubstr("after 1 characters")));
  EXPECT_THROW(encode_symbols({.unit = Vocabulary::Unit::kBpe, .symbols = {"a"}}, "a"), UsageError);
}

}  // namespace
}  // namespace xlm
