// The store's tables and views. The store is an index that is made again from the run folders, so there is one version
// of it: a store of another version is refused until it is rebuilt.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace SQLite {
class Database;
}

namespace xlm {

/// Rises with every change of the tables, or of what a sync writes into them. Views are renewed.
inline constexpr std::int64_t kSchemaVersion = 8;

/// The text of results/store/schema.sql, which makes the tables and views in an empty database.
std::string_view schema_sql();

/// Tables that hold rows of a run, each with the run's number.
const std::vector<std::string_view>& stored_tables();

/// The version of `database`; 0 if it is empty. Throws DataError if it holds something else than a store.
std::int64_t schema_version(const SQLite::Database& database);

/// Makes the tables in an empty database. Throws DataError if `database` is a store of another version, or none; `name`
/// is what messages call it.
void make_schema(SQLite::Database& database, std::string_view name);

/// Throws DataError as make_schema.
void check_version(const SQLite::Database& database, std::string_view name);

}  // namespace xlm
