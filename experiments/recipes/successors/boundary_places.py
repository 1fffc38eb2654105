#!/usr/bin/env python3
"""At which kinds of characters the boundaries of a model stand: xlm segment MODEL --file TEXT --json | boundary_places.py

A row has the bytes of its kind in the text, the boundaries at them, their share of all boundaries, and the share of these
bytes that have one.
"""
import json
import sys

KINDS = ["ends of lines", "spaces", "first letters of words", "other letters", "digits", "other signs", "bytes beyond ASCII"]


def is_letter(byte):
    return chr(byte).isascii() and chr(byte).isalpha()


def kind_of(byte, before):
    if byte in b"\n\r":
        return "ends of lines"
    if byte in b" \t\v\f":
        return "spaces"
    if byte >= 0x80:
        return "bytes beyond ASCII"
    if is_letter(byte):
        return "other letters" if is_letter(before) or before >= 0x80 else "first letters of words"
    return "digits" if byte in b"0123456789" else "other signs"


def places(groups, boundaries):
    """{kind: [bytes, boundaries]}: a boundary stands at the last byte of its group, and the rest of the text has none."""
    counts = {kind: [0, 0] for kind in KINDS}
    before = ord(" ")
    for number, group in enumerate(groups):
        # JSON has U+FFFD for a byte of a character that a group ends within.
        for byte in group.replace("\ufffd", "\udcff").encode("utf-8", "surrogateescape"):
            kind = kind_of(byte, before)
            counts[kind][0] += 1
            before = byte
        if number < boundaries and group:
            counts[kind][1] += 1
    return counts


if __name__ == "__main__":
    segmented = json.load(sys.stdin)
    counts = places(segmented["groups"], segmented["boundaries"])
    print(f"{'at':<24}{'bytes':>8}{'boundaries':>12}{'of all':>9}{'of these bytes':>16}")
    for kind, (seen, ended) in counts.items():
        if seen:
            print(f"{kind:<24}{seen:>8}{ended:>12}{ended / max(1, segmented['boundaries']):>9.1%}{ended / seen:>16.1%}")
