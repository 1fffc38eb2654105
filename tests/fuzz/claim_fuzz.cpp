// libFuzzer target: any text as the description of claims. Nothing but a UsageError may come out, and what was read is
// judged by an empty store without more.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/yaml.h"
#include "results/claims/claim_text.h"
#include "results/exhibits/exhibits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static xlm::Store store = xlm::Store::in_memory();
  try {
    xlm::ClaimList list{.title = "fuzz", .name = "fuzz"};
    for (const xlm::Yaml& node : xlm::find_exhibits(xlm::parse_yaml(text, "fuzz"), xlm::ExhibitKind::kClaim)) {
      xlm::RunTable runs(store);
      list.claims.push_back(xlm::judge_claim(runs, xlm::read_claim_description(node), {}));
    }
    (void)xlm::render_claims(list, xlm::TableFormat::kText, 40);
    (void)xlm::render_claims(list, xlm::TableFormat::kLatex);
  } catch (const xlm::UsageError&) {
  }
  return 0;
}
