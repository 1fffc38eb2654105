#include "experiments/sweeps/sweep.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/text.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/sweep_conditions.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Points as "key=value key=value".
std::vector<std::string> points(const std::string& text) {
  std::vector<std::string> result;
  for (const SweepPoint& point : recipe_of(parse_yaml(text, "sweep.yaml")).points) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : point) parts.push_back(key + "=" + to_json(value).dump());
    result.push_back(join(parts, " "));
  }
  return result;
}

std::string sweep_complaint(const std::string& text) {
  return thrown_message([&] { points(text); });
}

TEST(Sweep, WithoutASweepThereIsOnePoint) {
  EXPECT_THAT(points("seed: 1\n"), ElementsAre(""));
  EXPECT_THAT(points("sweep:\n"), ElementsAre(""));
  EXPECT_THAT(points("sweep: {}\n"), ElementsAre(""));
}

TEST(Sweep, GridIsTheProductInFileOrderLastKeyFastest) {
  EXPECT_THAT(points("sweep: {grid: {b: [1, 2], a: [x, y]}}\n"),
              ElementsAre(R"(b=1 a="x")", R"(b=1 a="y")", R"(b=2 a="x")", R"(b=2 a="y")"));
}

TEST(Sweep, ZipMovesKeysTogetherAndMultipliesWithTheGrid) {
  EXPECT_THAT(points("sweep: {zip: [{f: [2, 3], g: [8, 12]}, {h: [0]}], grid: {s: [1, 2]}}\n"),
              ElementsAre("s=1 f=2 g=8 h=0", "s=1 f=3 g=12 h=0", "s=2 f=2 g=8 h=0", "s=2 f=3 g=12 h=0"));
}

TEST(Sweep, NamesWithSignsAreExcludedInQuotes) {
  EXPECT_THAT(points("sweep: {grid: {d: ['a,b', 'c #1', ' e']}, exclude: [{d: 'a,b'}, {d: ' e'}]}\n"),
              ElementsAre(R"(d="c #1")"));
}

TEST(Sweep, ExcludesPartialPointsAndIncludesExtraOnes) {
  EXPECT_THAT(
      points("sweep: {grid: {a: [1, 2], b: [1, 2]}, exclude: [{a: 1}, {a: 2, b: 1}], include: [{a: 1, c: 5}]}\n"),
      ElementsAre("a=2 b=2", "a=1 c=5"));
}

TEST(Sweep, IncludeAloneIsAListOfPoints) {
  EXPECT_THAT(points("sweep: {include: [{a: 1}, {b: 2}]}\n"), ElementsAre("a=1", "b=2"));
}

TEST(Sweep, ANullRemovesAnAxis) {
  EXPECT_THAT(points("sweep: {grid: {a: [1, 2], b: null}}\n"), ElementsAre("a=1", "a=2"));
}

TEST(Sweep, WhenDropsAKeyWhereItsConditionDoesNotHold) {
  EXPECT_THAT(points("m: q\nsweep: {grid: {t: [fixed, none], k: [2, 3]}, when: {k: {t: [fixed], m: q}}}\n"),
              ElementsAre(R"(t="fixed" k=2)", R"(t="fixed" k=3)", R"(t="none")", R"(t="none")"));
}

TEST(Sweep, RandomSamplesAreFixedByTheGenerator) {
  const std::string text =
      "sweep: {random: {samples: 50, generator: 7, keys: {lr: {low: 1e-4, high: 1e-2, log: true}, n: {low: 3, high: "
      "5}, "
      "u: {low: 0.0, high: 1.0}, c: [x, y]}}}\n";
  const std::vector<SweepPoint> sampled = recipe_of(parse_yaml(text, "s")).points;
  ASSERT_EQ(sampled.size(), 50U);
  EXPECT_EQ(points(text), points(text));
  std::vector<int> seen(6, 0);
  for (const SweepPoint& point : sampled) {
    const double lr = to_json(point[0].second).get<double>();
    EXPECT_GE(lr, 1e-4);
    EXPECT_LE(lr, 1e-2);
    ++seen.at(to_json(point[1].second).get<std::size_t>());
    EXPECT_LT(to_json(point[2].second).get<double>(), 1.0);
  }
  EXPECT_GT(seen[3], 0);
  EXPECT_GT(seen[4], 0);
  EXPECT_GT(seen[5], 0);
  EXPECT_NE(points(text),
            points("sweep: {random: {samples: 50, generator: 8, keys: {lr: {low: 1e-4, high: 1e-2, log: true}, n: "
                   "{low: 3, high: 5}, u: {low: 0.0, high: 1.0}, c: [x, y]}}}\n"));
}

/// Computed in Python from the definition: base/random.h's mixing of (generator, the first 64 bits of the key's
/// SHA-256, number of the sample), and the distributions of docs/sweeps.md.
TEST(Sweep, RandomSamplesAreTheSameOnEveryMachine) {
  EXPECT_THAT(
      points("sweep: {random: {samples: 3, generator: 7, keys: {optimizer.lr: {low: 1e-4, high: 1e-2, log: true}, "
             "model.dropout: {low: 0, high: 0.5}, model.layers: {low: 2, high: 12}, "
             "model.span_type: [fixed, adaptive, dynamic]}}}\n"),
      ElementsAre(R"(optimizer.lr=0.00330032 model.dropout=0.0638107 model.layers=4 model.span_type="dynamic")",
                  R"(optimizer.lr=0.00203635 model.dropout=0.180855 model.layers=4 model.span_type="dynamic")",
                  R"(optimizer.lr=0.00227346 model.dropout=0.365436 model.layers=9 model.span_type="fixed")"));
}

/// Counts within five standard deviations of the expectation for 4000 samples.
TEST(Sweep, RandomSamplesAreDistributedAsTheirNamesSay) {
  constexpr int kSamples = 4000;
  const std::vector<SweepPoint> sampled =
      recipe_of(
          parse_yaml("sweep: {random: {samples: 4000, generator: 1, keys: {u: {low: -1.0, high: 3.0}, l: {low: 1e-4, "
                     "high: 1e-2, log: true}, n: {low: -1, high: 2}, c: [[1, 2], null, 0.5, true]}}}\n",
                     "s"))
          .points;
  int low_u = 0;
  int low_l = 0;
  std::map<std::string, int> n;
  std::map<std::string, int> c;
  for (const SweepPoint& point : sampled) {
    low_u += to_json(point[0].second).get<double>() < 0 ? 1 : 0;
    low_l += to_json(point[1].second).get<double>() < 1e-3 ? 1 : 0;  // the middle of the exponents
    ++n[to_json(point[2].second).dump()];
    ++c[to_json(point[3].second).dump()];
  }
  const auto expect_share = [](int count, double share) {
    EXPECT_NEAR(count, kSamples * share, 5 * std::sqrt(kSamples * share * (1 - share)));
  };
  expect_share(low_u, 0.25);
  expect_share(low_l, 0.5);
  for (const char* value : {"-1", "0", "1", "2"}) expect_share(n[value], 0.25);
  for (const char* value : {"[1,2]", "null", "0.5", "true"}) expect_share(c[value], 0.25);
  EXPECT_EQ(n.size() + c.size(), 8U);
}

TEST(Sweep, RandomSamplesReachBothEndsOfSteps) {
  const std::vector<SweepPoint> sampled =
      recipe_of(parse_yaml("sweep: {random: {samples: 4000, generator: 2, keys: {n: {low: 2, high: 9, step: 2}, r: "
                           "{low: 0.1, high: 0.3, step: 0.1}, l: {low: 1, high: 3, log: true}}}}\n",
                           "s"))
          .points;
  std::map<std::string, std::map<std::string, int>> counts;
  for (const SweepPoint& point : sampled) {
    for (const auto& [key, value] : point) ++counts[key][value.scalar];
  }
  const auto expect_shares = [&](const std::string& key, const std::map<std::string, double>& shares) {
    EXPECT_EQ(counts[key].size(), shares.size()) << key;
    for (const auto& [value, share] : shares) {
      EXPECT_NEAR(counts[key][value], 4000 * share, 5 * std::sqrt(4000 * share * (1 - share))) << key << " " << value;
    }
  };
  expect_shares("n", {{"2", 0.25}, {"4", 0.25}, {"6", 0.25}, {"8", 0.25}});
  expect_shares("r", {{"0.1", 1 / 3.0}, {"0.2", 1 / 3.0}, {"0.3", 1 / 3.0}});
  const double all = std::log(3.5 / 0.5);  // of the orders of magnitude from 0.5 to 3.5
  expect_shares("l",
                {{"1", std::log(1.5 / 0.5) / all}, {"2", std::log(2.5 / 1.5) / all}, {"3", std::log(3.5 / 2.5) / all}});
}

TEST(Sweep, ValuesOfAStepAreMultiplesOfIt) {
  const auto values = [](const std::string& range) {
    std::set<std::string> found;
    for (const std::string& point : points("sweep: {random: {samples: 90, keys: {a: " + range + "}}}\n"))
      found.insert(point);
    return found;
  };
  EXPECT_THAT(values("{low: -0.3, high: 0.3, step: 0.1}"),
              UnorderedElementsAre("a=-0.3", "a=-0.2", "a=-0.1", "a=0", "a=0.1", "a=0.2", "a=0.3"));
  EXPECT_THAT(values("{low: 100000.0, high: 100000.5, step: 0.25}"),
              UnorderedElementsAre("a=100000", "a=100000.25", "a=100000.5"));
  EXPECT_THAT(values("{low: 0.1, high: 0.1}"), UnorderedElementsAre("a=0.1"));
  EXPECT_EQ(points("sweep: {grid: {s: [1, 2]}, random: {samples: 3, keys: {a: null}}}\n").size(), 2U)
      << "a profile removed it";
}

TEST(Sweep, RandomSamplesOfANarrowRangeDifferAndLieInIt) {
  std::set<double> values;
  for (const SweepPoint& point :
       recipe_of(parse_yaml(
                     "sweep: {random: {samples: 50, generator: 1, keys: {b: {low: 0.99999, high: 0.9999999}}}}\n", "s"))
           .points) {
    values.insert(to_json(point[0].second).get<double>());
  }
  EXPECT_GE(values.size(), 49U);
  EXPECT_GE(*values.begin(), 0.99999);
  EXPECT_LE(*values.rbegin(), 0.9999999);
}

TEST(Sweep, RandomIsOneMoreAxisOfTheProduct) {
  EXPECT_EQ(points("sweep: {grid: {seed: [1, 2]}, random: {samples: 3, keys: {a: {low: 0.0, high: 1.0}}}}\n").size(),
            6U);
}

TEST(Sweep, WhenHoldsForRandomKeysAndExtraPointsToo) {
  EXPECT_THAT(
      points("sweep: {grid: {t: [p, q]}, random: {samples: 1, keys: {a: {low: 5, high: 5}}}, when: {a: {t: q}}, "
             "include: [{t: p, a: 9}, {t: q, a: 9}]}\n"),
      ElementsAre(R"(t="p")", R"(t="q" a=5)", R"(t="p")", R"(t="q" a=9)"));
}

TEST(Sweep, WhenMayNameAnAxisThatAProfileRemoved) {
  EXPECT_THAT(points("sweep: {grid: {t: [p, q], k: null}, when: {k: {t: p}}}\n"), ElementsAre(R"(t="p")", R"(t="q")"));
}

TEST(Sweep, ASampleStaysWhenAnotherKeyIsAdded) {
  const std::string one = "sweep: {random: {samples: 3, keys: {a: {low: 0.0, high: 1.0}}}}\n";
  const std::string two = "sweep: {random: {samples: 3, keys: {b: {low: 0.0, high: 1.0}, a: {low: 0.0, high: 1.0}}}}\n";
  const auto first = recipe_of(parse_yaml(one, "s")).points;
  const auto second = recipe_of(parse_yaml(two, "s")).points;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(first[i][0].second.scalar, second[i][1].second.scalar);
}

TEST(Sweep, EveryComplaintNamesFileAndLine) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"sweep:\n  gird: {a: [1]}\n", "did you mean 'grid'"},
      {"sweep: 3\n", "must be a map"},
      {"sweep:\n  grid: [1]\n", "sweep.grid must be a map"},
      {"sweep:\n  grid: {a: 1}\n", "'a' must be a list"},
      {"sweep:\n  grid: {a: []}\n", "'a' is empty"},
      {"sweep:\n  zip: [{a: [1, 2], b: [1]}]\n", "'b' has 1 values, but 'a'"},
      {"sweep:\n  zip: [3]\n", "a block of sweep.zip"},
      {"sweep:\n  grid: {a: [1]}\n  zip: {a: [1]}\n", "swept twice"},
      {"sweep:\n  grid: {a: [1], a.b: [1]}\n", "one is part of the other"},
      {"sweep:\n  include: {a: 1}\n", "must be a list of maps"},
      {"sweep:\n  include: [1]\n", "must be a map"},
      {"sweep:\n  grid: {model.span: [1]}\n  exclude: [{model.spam: 1}]\n", "did you mean 'model.span'"},
      {"sweep:\n  grid: {a: [1]}\n  exclude: [{a: 1}]\n", "no points"},
      {"sweep:\n  grid: {a: [1]}\n  when: [a]\n", "sweep.when must be a map"},
      {"sweep:\n  grid: {model.span: [1]}\n  when: {model.spam: {a: 1}}\n", "did you mean 'model.span'"},
      {"sweep:\n  grid: {a: [1]}\n  when: {a: 3}\n", "must be a map"},
      {"sweep:\n  grid: {a: [1]}\n  when: {a: {t: [1]}}\n", "which neither the sweep nor the configuration sets"},
      {"sweep:\n  random: {keys: {a: {low: 0.0, high: 1.0}}}\n", "samples is missing"},
      {"sweep:\n  random: {samples: 2, kees: {}}\n", "unknown key 'kees'"},
      {"sweep:\n  random: {samples: 2, keys: {a: {low: 0, hihg: 3}}}\n", "did you mean 'high'"},
      {"sweep:\n  random: {samples: 2, keys: {a: {low: 1, high: 0}}}\n", "1 is above 0"},
      {"sweep:\n  random: {samples: 2, keys: {a: {low: 0, high: 3, log: true}}}\n", "needs low above 0"},
      {"sweep:\n  random: {samples: 2, keys: {a: {low: 0, high: 1}}}\n", "only two whole numbers"},
      {"sweep:\n  random: {samples: 2, keys: {a: 1}}\n", "must be a range"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(sweep_complaint(text), AllOf(HasSubstr("sweep.yaml:"), HasSubstr(message))) << text;
  }
}

TEST(Sweep, RefusesTooManyPoints) {
  std::string list = "[0";
  for (int i = 1; i < 400; ++i) list += ", " + std::to_string(i);
  list += "]";
  EXPECT_THAT(sweep_complaint("sweep: {grid: {a: " + list + ", b: " + list + "}}\n"),
              HasSubstr("more than 100000 points"));
}

TEST(Sweep, AKeySetOnTheCommandLineIsNoLongerSwept) {
  Yaml tree = parse_yaml("sweep: {grid: {seed: [1, 2], a: [1]}, zip: {b: [1, 2]}}\n", "sweep.yaml");
  apply_override(tree, "seed=5");
  const auto expanded = recipe_of(tree, {"seed=5"}).points;
  ASSERT_EQ(expanded.size(), 2U);
  EXPECT_EQ(expanded[0][0].second.scalar, "5");
  apply_override(tree, "b=5");
  EXPECT_EQ(thrown_message([&] { recipe_of(tree, {"b=5"}); }),
            "'b=5': the sweep at sweep.yaml:1 varies 'b' together with other keys and has no such value\nadd the value "
            "there");
}

TEST(Sweep, AKeyOfAZipBlockSetOnTheCommandLineLeavesItsPlaces) {
  Yaml tree = parse_yaml("sweep: {zip: [{a: [1, 2, 1], b: [x, y, z]}, {c: [7, 8]}]}\n", "sweep.yaml");
  apply_override(tree, "a=1");
  const auto expanded = recipe_of(tree, {"a=1"}).points;
  ASSERT_EQ(expanded.size(), 4U);
  std::string values;
  for (const SweepPoint& point : expanded) values += point[1].second.scalar + point[2].second.scalar + " ";
  EXPECT_EQ(values, "x7 x8 z7 z8 ");
}

TEST(Sweep, AFolderOfAZipBlockMayBeSpeltInAnotherWay) {
  const std::string file = "sweep: {zip: [{data.path: [data/text8, data/cc-100], b: [x, y]}]}\n";
  for (const std::string& folder : {std::string("./data/text8"), fs::absolute("data/text8").string()}) {
    Yaml tree = parse_yaml(file, "sweep.yaml");
    apply_override(tree, "data.path=" + folder);
    const auto expanded = recipe_of(tree, {"data.path=" + folder}).points;
    ASSERT_EQ(expanded.size(), 1U) << folder;
    EXPECT_EQ(expanded[0][1].second.scalar, "x") << folder;
  }
}

TEST(Sweep, AKeyOfExtraPointsSetOnTheCommandLineIsTheirsToo) {
  Yaml tree = parse_yaml("sweep: {grid: {t.n: [1, 2]}, include: [{t.n: 3, a: 1}, {a: 2}]}\n", "sweep.yaml");
  apply_override(tree, "t.n=5");
  std::string values;
  for (const SweepPoint& point : recipe_of(tree, {"t.n=5"}).points) {
    for (const auto& [key, value] : point) values += fmt::format("{}={} ", key, value.scalar);
  }
  EXPECT_EQ(values, "t.n=5 t.n=5 a=1 a=2 ");
}

TEST(Sweep, APointIsLaidOverTheBase) {
  const Yaml base = parse_yaml("model: {span: 1, width: 2}\n", "base");
  const auto expanded = recipe_of(parse_yaml("sweep: {grid: {model.span: [5]}}\n", "s")).points;
  const Yaml tree = at_point(base, expanded.front());
  EXPECT_EQ(tree.find("model")->find("span")->scalar, "5");
  EXPECT_EQ(tree.find("model")->find("width")->scalar, "2");
}

/// The error for the values of conditions in a file, with a profile applied by hand.
std::string condition_complaint(const std::string& file, const std::string& tree = "") {
  return thrown_message([&] {
    const Yaml whole = parse_yaml(file, "sweep.yaml");
    check_condition_values(whole, tree.empty() ? whole : parse_yaml(tree, "tree.yaml"));
  });
}

TEST(SweepConditions, AValueThatAKeyNeverTakesIsRefusedWithTheNearest) {
  const std::string grid = "sweep:\n  grid: {model.span_type: [fixed, adaptive], model.span: [64, 256]}\n";
  EXPECT_EQ(
      condition_complaint(grid + "  exclude:\n    - {model.span: 64,\n       model.span_type: adaptve}\n"),
      "sweep.yaml:5: sweep.exclude asks for 'adaptve' of model.span_type, which never has that value (did you mean "
      "'adaptive'?)\nit has fixed, adaptive");
  EXPECT_THAT(condition_complaint(grid + "  exclude: [{model.span: 265}]\n"),
              HasSubstr("'265' of model.span, which never has that value (did you mean '256'?)"));
  EXPECT_THAT(condition_complaint(grid + "  exclude: [{model.span: '256'}]\n"), HasSubstr("never has that value"))
      << "text is no number";
  EXPECT_THAT(condition_complaint(grid + "  exclude: [{model.span: [64, 256]}]\n"), HasSubstr("'[64,256]'"))
      << "a point has one value";
  EXPECT_THAT(
      condition_complaint(grid + "  when: {model.span: {model.span_type: [fixed, adaptve]}}\n"),
      AllOf(HasSubstr("sweep.yaml:3: sweep.when of 'model.span' asks for 'adaptve'"), HasSubstr("'adaptive'?")));
  EXPECT_THAT(condition_complaint(grid + "evaluate:\n  - {where: {model.span: 65}, split: valid}\n"),
              AllOf(HasSubstr("sweep.yaml:4: 'where' of evaluate asks for '65'"), HasSubstr("did you mean '64'?")));
  EXPECT_THAT(condition_complaint("model: {type: gpt2}\nevaluate: {where: {model.type: gpt}}\n"),
              HasSubstr("did you mean 'gpt2'?"))
      << "not swept, but what no model is";
  EXPECT_THAT(condition_complaint("profiles:\n  smoke:\n    sweep: {grid: {a: [1]}, exclude: [{a: 2}]}\n"),
              HasSubstr("sweep.yaml:3"));
}

TEST(SweepConditions, AValueThatSomePartOfTheFileGivesIsTaken) {
  const std::string grid = "sweep:\n  grid: {optimizer.lr: [0.1, 1e-2], model.span: [64, 256]}\n";
  EXPECT_EQ(condition_complaint(grid + "  exclude: [{optimizer.lr: 0.10, model.span: 64.0}, {optimizer.lr: 0.01}]\n"),
            "")
      << "numbers, however they are written";
  EXPECT_EQ(condition_complaint(grid + "  exclude: [{model.span: 256}]\n", "sweep: {grid: {model.span: [64]}}\n"), "")
      << "the command line has taken it away";
  EXPECT_EQ(condition_complaint(
                "sweep:\n  grid: {a: [1]}\n  exclude: [{a: 2}]\nprofiles: {p: {sweep: {grid: {a: [1, 2]}}}}\n"),
            "")
      << "a profile adds it";
  EXPECT_EQ(condition_complaint("sweep:\n  zip: [{a: [1, 2], b: [x, y]}]\n  exclude: [{b: y}]\n"), "");
  EXPECT_EQ(condition_complaint("sweep:\n  random: {samples: 2, keys: {a: {low: 0.0, high: 1.0}, b: [2]}}\n"
                                "  exclude: [{a: 0.5, b: 2}]\n"),
            "");
  EXPECT_THAT(condition_complaint("sweep:\n  random: {samples: 2, keys: {b: [2]}}\n  exclude: [{b: 3}]\n"),
              HasSubstr("never has that value"));
  const std::string evaluate = "evaluate: {where: {model.recurrence.pool: none}, split: valid}\n";
  EXPECT_EQ(condition_complaint("model: {type: gpt2}\nsweep: {grid: {model.recurrence.pool: [mean]}}\n" + evaluate), "")
      << "its default";
  EXPECT_EQ(condition_complaint("sweep: {grid: {data.path: [a, b/../c]}}\nevaluate: {where: {data.path: " +
                                fs::absolute("c").string() + "}}\n"),
            "");
  EXPECT_EQ(condition_complaint("sweep:\n  include: [{seed: 7}]\nevaluate: {where: {seed: 7}}\n"), "");
  EXPECT_EQ(condition_complaint("train: {steps: 5}\nsweep: {grid: {a: [1]}, when: {a: {train.steps: 50}}}\n"), "")
      << "the command line may set it";
}

TEST(Sweep, ABudgetIsThatOfEveryPoint) {
  EXPECT_THAT(points("sweep: {budget: {flops: 1e15}, grid: {a: [1, 2]}, include: [{a: 7}]}\n"),
              ElementsAre("a=1 train.flops=1e+15", "a=2 train.flops=1e+15", "a=7 train.flops=1e+15"));
  EXPECT_THAT(points("sweep: {budget: {seconds: 60}}\n"), ElementsAre("train.seconds=60"));
  EXPECT_THAT(points("sweep: {budget: {flops: null}, grid: {a: [1]}}\n"), ElementsAre("a=1"));
  for (const char* wrong : {"{steps: 5}", "7", "{flops: 0}", "{flops: many}", "{flops: 1, seconds: 1}"}) {
    EXPECT_THAT(sweep_complaint(fmt::format("sweep: {{budget: {}}}\n", wrong)),
                AllOf(HasSubstr("sweep.yaml:1"), HasSubstr("sweep.budget must be")))
        << wrong;
  }
  EXPECT_THAT(sweep_complaint("sweep: {budget: {flops: 1e15}, grid: {train.steps: [1, 2]}}\n"),
              HasSubstr("train.steps gives it another"));
}

}  // namespace
}  // namespace xlm
