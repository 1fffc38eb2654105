// Whether two trained models differ on one text: a comparison of its parts. Both were scored on the same documents, so
// a part that is hard is hard for both, and only the differences vary. Those of neighbouring parts are alike.
#pragma once

#include <cstdint>
#include <vector>

namespace xlm {

/// Independent parts that an interval needs. With fewer it would hold the truth less often than it says.
inline constexpr std::int64_t kLeastParts = 30;

/// What the parts of a text say of the difference of two mean losses, in the unit of the sums for each token.
struct PartComparison {
  std::int64_t parts = 0;  // with scored tokens
  double effective = 0;    // independent parts that would say as much, at most `parts`
  double freedom = 0;      // degrees of freedom of the error
  double difference = 0;   // (Σ a − Σ b) / Σ tokens
  double low = 0;          // of its interval by Student's t
  double high = 0;
  double p = 1;  // two-sided, that the difference is zero
};

/// The error of the mean allows for neighbours that are alike: its variance is the mean of the first ν squared cosine
/// sums of the residuals, the longest waves of the text, and Student's t has ν degrees of freedom, ν = 0.4·n^⅔ (Lazarus
/// et al. 2018). If that is no more than the variance of single parts, these count as independent. `a`, `b` and
/// `tokens` have a number for each part, in the order of the text: two sums of losses and what they are sums of. At
/// least one part has tokens. Callers check that there are kLeastParts, also of effective ones.
PartComparison compare_parts(const std::vector<double>& a, const std::vector<double>& b,
                             const std::vector<std::int64_t>& tokens, double level);

}  // namespace xlm
