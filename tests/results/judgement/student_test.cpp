// Student's t against SciPy 1.17.
#include "results/judgement/student.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

// t.ppf(1 - (1 - level) / 2, freedom)
TEST(Student, FactorsAreSciPys) {
  EXPECT_NEAR(student_factor(0.95, 1), 12.706204736174694, 1e-9);
  EXPECT_NEAR(student_factor(0.95, 2), 4.302652729749462, 1e-10);
  EXPECT_NEAR(student_factor(0.95, 16), 2.1199052992212546, 1e-10);
  EXPECT_NEAR(student_factor(0.99, 4.5882213251), 4.224937761921479, 1e-10);
  EXPECT_NEAR(student_factor(0.9, 29), 1.6991270265334972, 1e-10);
  EXPECT_NEAR(student_factor(0.998, 7), 4.785289628638333, 1e-10);
}

// 2 * t.sf(abs(t), freedom)
TEST(Student, TailsAreSciPys) {
  EXPECT_NEAR(student_p(2.776, 4), 0.05002277831997642, 1e-12);
  EXPECT_NEAR(student_p(-1.8608, 17.776), 0.07939657813977986, 1e-12);
  EXPECT_NEAR(student_p(12.3, 2), 0.006545001272475558, 1e-12);
  EXPECT_NEAR(student_p(302, 2), 1.0964251059750277e-05, 1e-15);
}

// nct.sf(t, freedom, shift)
TEST(Student, PowersAreSciPys) {
  EXPECT_NEAR(student_power(4.302652729749462, 2, 1.7320508), 0.17861005418564457, 1e-9);
  EXPECT_NEAR(student_power(2.2621571628, 9, 3.16227766), 0.8030962086488963, 1e-9);
  EXPECT_NEAR(student_power(2.119905, 16, 0.5), 0.06821879260172777, 1e-9);
  EXPECT_NEAR(student_power(2.119905, 16, -1), 0.0018466317386637, 1e-9);
  EXPECT_NEAR(student_power(22, 1, 40), 0.9306766215791751, 1e-8);
  EXPECT_NEAR(student_power(12.706, 1, 35.5), 0.9946528790649639, 1e-8);
  EXPECT_NEAR(student_power(196, 9999, 200), 0.9903710980119814, 1e-8);
  EXPECT_NEAR(student_power(196, 9999, 195), 0.2803415860338654, 1e-8);
  EXPECT_NEAR(student_power(3.18244630528, 3, 0), 0.025, 1e-9);
  EXPECT_EQ(student_power(2, 3, -20), 0);
  EXPECT_NEAR(student_power(1.960201263621357, 9999, 1e-7), 0.025000005843946276, 1e-9);
  EXPECT_NEAR(student_power(1.960201263621357, 9999, 0.5), 0.07214338719602238, 1e-9);
}

}  // namespace
}  // namespace xlm
