// Power laws of a loss, L = E + A·x^(−α) with one term or several, and fitting them as Hoffmann et al. 2022 (approach
// 3) do: Huber's loss of the logarithm's error, by L-BFGS from a grid of starts.
#pragma once

#include <cstddef>
#include <vector>

namespace xlm {

/// A·x^(−α) of one column.
struct PowerTerm {
  double scale = 0;     // A
  double exponent = 0;  // α
};

/// E + Σ A·x^(−α), a term for each column.
struct PowerLaw {
  double floor = 0;  // E: the loss that no size takes away
  std::vector<PowerTerm> terms;

  /// The loss at `x`, one number above 0 for each term.
  double at(const std::vector<double>& x) const;
  /// E, then A and α of each term.
  std::vector<double> parameters() const;
};

/// How many parameters a law of so many columns has.
constexpr std::size_t count_parameters(std::size_t columns) { return 1 + 2 * columns; }

struct FoundLaw {
  PowerLaw law;
  double misfit = 0;           // the sum of Huber's losses, divided by δ²
  bool floor_is_zero = false;  // the fit pushed E towards 0 until it made no difference
  bool at_limit = false;       // an exponent ended at the limit of what is tried
};

/// Fits laws to losses at the same places, again and again for a bootstrap.
class PowerLawFitter {
 public:
  /// `x`: [point][column], above 0. `delta`: δ of Huber's loss, in units of log loss.
  PowerLawFitter(const std::vector<std::vector<double>>& x, double delta);

  /// The best law over all starts. `losses`: one for each place, above 0.
  FoundLaw fit(const std::vector<double>& losses) const;

  /// The law that a single descent from `start` reaches.
  FoundLaw fit_from(const std::vector<double>& losses, const PowerLaw& start) const;

 private:
  struct Bounds {
    std::vector<double> low;
    std::vector<double> high;
  };

  Bounds bounds_for(const std::vector<double>& logs) const;
  std::vector<std::vector<double>> starts_for(const std::vector<double>& logs) const;
  double misfit(const std::vector<double>& at, const std::vector<double>& logs, double* gradient) const;
  FoundLaw descend(const std::vector<double>& start, const std::vector<double>& logs) const;
  PowerLaw law_at(const std::vector<double>& at) const;

  // A place of a descent is ln E, then ln A' and α of each term, with A'·(x/centre)^(−α) = A·x^(−α): around the centre
  // of the points, A' and α hardly depend on each other.
  std::vector<std::vector<double>> logs_;  // [point][column], ln x less its mean
  std::vector<double> centres_;            // [column], the means
  double delta_;
};

}  // namespace xlm
