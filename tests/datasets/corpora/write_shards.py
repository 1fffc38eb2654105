"""write_shards.py parquet|tfrecord|arrow-stream|arrow-file[:TYPE] FILE < JSON: writes a list of articles as a shard of wiki40b.

TYPE is how Arrow holds the column of text: large, view, dictionary, large-dictionary, list, struct; without it plain strings.

Parquet and Arrow by pyarrow; a stream is what the `datasets` library saves. TFRecord from its description, with a bit-by-bit CRC-32C, so that nothing is shared with the reader
under test; the checksum is first held against the value in RFC 3720, appendix B.4.
"""
import json
import struct
import sys


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


assert crc32c(bytes(32)) == 0x8A9136AA


def masked(data):
    value = crc32c(data)
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def example(features):
    entries = b""
    for name, value in features.items():
        entries += field(1, field(1, name.encode()) + field(2, field(1, field(1, value.encode()))))
    return field(1, entries)


def rows():
    for number, text in enumerate(json.load(sys.stdin)):
        yield {"wikidata_id": f"Q{number}", "text": text, "version_id": str(number * 1000)}


kind, path = sys.argv[1:]
kind, _, column_type = kind.partition(":")
if kind == "tfrecord":
    with open(path, "wb") as out:
        for row in rows():
            record = example(row)
            length = struct.pack("<Q", len(record))
            out.write(length + masked(length) + record + masked(record))
else:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pylist(list(rows()))
    if column_type:
        text = table["text"]
        if column_type == "list":
            text = pyarrow.array([[row] for row in text.to_pylist()])
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
