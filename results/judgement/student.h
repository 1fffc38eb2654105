// Student's t: the one place where its distribution is asked.
#pragma once

namespace xlm {

inline constexpr double kLevel = 0.95;  // of intervals, if nothing else is asked

/// The factor of a two-sided interval: |T| exceeds it with the probability 1 − `level`.
double student_factor(double level, double freedom);

/// P(|T| > |t|).
double student_p(double t, double freedom);

/// P(T > t) of the non-central distribution, whose normal part has the mean `shift`; `t` is above 0. This is the chance
/// that an interval lies beyond a limit that is `shift` standard errors away.
double student_power(double t, double freedom, double shift);

}  // namespace xlm
