// The store's tables and views, as a list of versions: each entry brings a store one version further.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace SQLite {
class Database;
}

namespace xlm {

/// SQL of all versions; the store's version is the number of entries applied. Entries are never changed once released.
const std::vector<std::string_view>& schema_versions();

/// What may be asked for rows of a run, by a column run_id: views, behind which lie the stored tables.
const std::vector<std::string_view>& run_tables();

/// Tables that hold rows of a run, each with the run's number.
const std::vector<std::string_view>& stored_tables();

/// The version of `database`; 0 where it is empty. Throws DataError where it holds something else than a store.
std::int64_t schema_version(const SQLite::Database& database);

/// Throws DataError where `version` is newer than this program knows; `name` is what messages call the store.
void refuse_newer(std::int64_t version, std::int64_t newest, std::string_view name);

/// Brings `database` to the newest of `versions` in one transaction. Throws as refuse_newer.
void migrate(SQLite::Database& database, const std::vector<std::string_view>& versions, std::string_view name);

}  // namespace xlm
