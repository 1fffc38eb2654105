"""write_shards.py parquet|arrow-stream|arrow-file[:TYPE] FILE < JSON: writes a list of articles as a shard of wiki40b.

TYPE is how Arrow holds the column of text: large, view, dictionary, large-dictionary, list, struct, null (no row
has a text); without it plain strings.

Parquet and Arrow by pyarrow; a stream is what the `datasets` library saves.
"""
import json
import sys

import pyarrow
import pyarrow.parquet


def rows():
    for number, text in enumerate(json.load(sys.stdin)):
        yield {"wikidata_id": f"Q{number}", "text": text, "version_id": str(number * 1000)}


kind, path = sys.argv[1:]
kind, _, column_type = kind.partition(":")
table = pyarrow.Table.from_pylist(list(rows()))
if column_type:
    text = table["text"]
    if column_type == "list":
        text = pyarrow.array([[row] for row in text.to_pylist()])
    elif column_type == "null":
        text = pyarrow.nulls(len(text))
    elif column_type == "struct":
        text = pyarrow.array([{"part": row} for row in text.to_pylist()])
    else:
        if column_type.startswith("large"):
            text = text.cast(pyarrow.large_string())
        if column_type.endswith("dictionary"):
            text = text.dictionary_encode()
        if column_type == "view":
            text = pyarrow.array(text.to_pylist(), pyarrow.string_view())
    table = table.set_column(table.schema.get_field_index("text"), "text", text)
if kind.startswith("arrow"):
    new = pyarrow.ipc.new_stream if kind == "arrow-stream" else pyarrow.ipc.new_file
    with pyarrow.OSFile(path, "wb") as out, new(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
elif kind == "parquet":
    pyarrow.parquet.write_table(table, path, compression="snappy", row_group_size=2, write_page_checksum=True)
