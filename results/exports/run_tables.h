// Exports the store as three tables: the runs, their series over training, their evaluations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/exports/export_table.h"
#include "results/store/run_table.h"

namespace xlm {

using MakeExportWriter =
    std::function<std::unique_ptr<ExportWriter>(const fs::path&, const std::vector<ExportColumn>&)>;

/// The names of the tables: "runs", "series", "evaluations".
std::vector<std::string> exported_table_names();

struct ExportedTables {
  std::vector<std::string> names;       // of exported_table_names(); empty: all
  std::vector<std::string> quantities;  // of series and evaluations ("loss", "bpc"), for any split; empty: all
};

/// Writes tables about `selected` rows (runs alone) into `folder`, each as NAME + `ending`, and returns the files.
/// docs/store.md lists the columns. Throws UsageError for a quantity that no run of the store reports.
std::vector<fs::path> export_run_tables(RunTable& runs, const std::vector<std::size_t>& selected,
                                        const fs::path& folder, const std::string& ending,
                                        const MakeExportWriter& make_writer, ExportedTables tables = {});

}  // namespace xlm
