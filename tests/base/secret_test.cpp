// Secrets and proofs.
#include "base/secret.h"

#include <set>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(Secret, ProofsAreThoseOfRfc4231) {
  EXPECT_EQ(proof(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(proof("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Secret, AllDiffer) {
  std::set<std::string> secrets;
  for (int i = 0; i < 100; ++i) secrets.insert(fresh_secret());
  EXPECT_EQ(secrets.size(), 100U);
  EXPECT_EQ(secrets.begin()->size(), kSecretLength);
}

TEST(Secret, ProofsAreEqualInEveryDigit) {
  const std::string good = proof("secret", "text");
  EXPECT_TRUE(same_proof(good, proof("secret", "text")));
  EXPECT_FALSE(same_proof(good, proof("Secret", "text")));
  EXPECT_FALSE(same_proof(good, good.substr(1)));
  EXPECT_FALSE(same_proof(good, ""));
  for (const std::size_t at : {std::size_t{0}, good.size() - 1}) {
    std::string other = good;
    other[at] = other[at] == '0' ? '1' : '0';
    EXPECT_FALSE(same_proof(good, other)) << at;
  }
}

}  // namespace
}  // namespace xlm
