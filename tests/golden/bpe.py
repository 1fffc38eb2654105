"""Makes tests/golden/bpe.json: a small byte-pair encoding, and the tokens of short texts in it and in GPT-2's.

Written from Sennrich et al. 2016, §3.2, and the pattern that Radford et al. 2019 published with GPT-2. Pieces are cut
by a scanner over Unicode categories, and pairs are counted again after every merge. Plain Python without any library.
tests/golden/README.md says which files it needs and how to run it.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import sys
import unicodedata

FILE = pathlib.Path(__file__).resolve().with_suffix(".json")
TOKENS = 700
END_OF_TEXT = "<|endoftext|>"
BOOK = "d026b743bd3550c92c64e42e3c3e04dc816097b702053bfe53a1e8a79c99378d"  # sha256 of PG-19's train/1342.txt
WHITE_SPACE = frozenset(
    [*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
)

ORIGIN = (
    "made by tests/golden/bpe.py. gpt2: tokens with GPT-2's own files; small: with the vocabulary and merges here, "
    "trained on Pride and Prejudice. tokenizers 0.23.3 gave the same vocabulary and merges, and it, tiktoken 0.14.0 and regex "
    "2026.11.15 the same tokens. Bytes that are no UTF-8 are neither letters, digits nor white space."
)

CASES = [
    "",
    "a",
    " ",
    "  ",
    "\n",
    "\n\n",
    " \n x",
    "Hello, world!",
    "don't they'll WE'LL I'm 'tis ''s 's",
    "  two   spaces   between  ",
    "\t\ttabs\tand\r\nline ends\r\n\r\n",
    "<|endoftext|> is plain text",
    "In 1984, x\xb2+\xbd = \u0663 \u2167 \u4e00",
    "na\xefve caf\xe9 d\xe9j\xe0 vu \xc5ngstr\xf6m",
    "e\u0301 combining",
    "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd",
    "Ti\u1ebfng Vi\u1ec7t",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3002",
    "\U0001f600\U0001f469\u200d\U0001f469\u200d\U0001f467 emoji",
    "nb\xa0space\u2003em\u3000wide\x85next\u2028line",
    "zero\u200bwidth",
    "\x1c\x1d control \x00 \x7f",
    "a" * 74,
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    " " * 40 + "x",
    "!?!?...---___###",
    "x\u2019s curly",
    "\ufeffbom",
    "\ufffd",
    "\ufb01 ligature \u01c5",
    b"\xff",
    b"caf\xe9 au lait",
    b"\xe2\x82",
    b"a\xe2\x82b",
    b"\xf0\x9f\x98 \x80",
    b"\xc3(",
    b" \xfe\xff!'s",
    b"\xed\xa0\x80 surrogate",
    b"\xc0\xaf overlong",
    b"\xf4\x90\x80\x80",
    b"\x80\x80 letters\xc3",
    bytes(range(256)),
]


def byte_symbols():
    """GPT-2 writes a byte as its Latin-1 character if that is visible, otherwise as a character from U+0100 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    symbols, shifted = {}, 0x100
    for byte in range(256):
        if byte in visible:
            symbols[byte] = chr(byte)
        else:
            symbols[byte] = chr(shifted)
            shifted += 1
    return symbols


SYMBOLS = byte_symbols()


def kind(character):
    if ord(character) in WHITE_SPACE:
        return "space"
    category = unicodedata.category(character)[0]
    return {"L": "letter", "N": "number"}.get(category, "other")


def pieces(text):
    """A text's pieces: 's 't 're 've 'm 'll 'd; letters, numbers or other signs in a row, with one blank before them;
    white space, whose last character belongs to the next piece."""
    kinds = [kind(character) for character in text]
    begin = 0
    while begin < len(text):
        end = begin
        contraction = next((c for c in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d") if text.startswith(c, begin)), "")
        first = begin + 1 if text[begin] == " " and begin + 1 < len(text) and kinds[begin + 1] != "space" else begin
        if contraction:
            end += len(contraction)
        else:
            end = first
            while end < len(text) and kinds[end] == kinds[first]:
                end += 1
            if kinds[first] == "space" and end < len(text) and end - begin > 1:
                end -= 1
        yield text[begin:end]
        begin = end


def symbols_of(piece):
    return [SYMBOLS[byte] for byte in piece.encode("utf-8", "surrogateescape")]


def merge(symbols, left, right):
    """`symbols` with every `left right` made one, from the left."""
    result = []
    for symbol in symbols:
        if result and result[-1] == left and symbol == right:
            result[-1] = left + right
        else:
            result.append(symbol)
    return result


def train(book):
    """Vocabulary and merges: joins the most frequent pair; of equally frequent ones, that with the smallest ids.
    Pieces are cut line by line."""
    counts = collections.Counter(piece for line in book.splitlines(keepends=True) for piece in pieces(line))
    words = [(symbols_of(piece), count) for piece, count in counts.items()]
    vocabulary = [END_OF_TEXT, *sorted(SYMBOLS.values())]
    ids = {symbol: index for index, symbol in enumerate(vocabulary)}
    merges = []
    while len(vocabulary) < TOKENS:
        pairs = collections.Counter()
        for symbols, count in words:
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += count
        left, right = min(pairs, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))
        merges.append(f"{left} {right}")
        ids[left + right] = len(vocabulary)
        vocabulary.append(left + right)
        words = [(merge(symbols, left, right) if left in symbols else symbols, count) for symbols, count in words]
    return vocabulary, merges


class Encoder:
    def __init__(self, vocabulary, merges):
        self.ids = {symbol: index for index, symbol in enumerate(vocabulary)}
        self.ranks = {tuple(line.split(" ")): rank for rank, line in enumerate(merges)}
        self.known = {}

    def encode(self, data):
        tokens = []
        for piece in pieces(data.decode("utf-8", "surrogateescape")):
            if piece not in self.known:
                self.known[piece] = self.encode_piece(piece)
            tokens += self.known[piece]
        return tokens

    def encode_piece(self, piece):
        symbols = symbols_of(piece)
        while True:
            pairs = [pair for pair in zip(symbols, symbols[1:]) if pair in self.ranks]
            if not pairs:
                return [self.ids[symbol] for symbol in symbols]
            symbols = merge(symbols, *min(pairs, key=self.ranks.get))


def gpt2_encoder(folder):
    ids = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    lines = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
    return Encoder(sorted(ids, key=ids.get), [line for line in lines[1:] if line])  # the first line says a version


def compute(stored, book, gpt2):
    """The content of the file. Parts that need files which are not given stay as stored."""
    vocabulary, merges = train(book) if book else (stored["vocabulary"], stored["merges"])
    small = Encoder(vocabulary, merges)
    cases = []
    for index, text in enumerate(CASES):
        data = text if isinstance(text, bytes) else text.encode()
        tokens = gpt2.encode(data) if gpt2 else stored["cases"][index]["gpt2"]
        cases.append({"bytes": data.hex(), "gpt2": tokens, "small": small.encode(data)})
    return {"origin": ORIGIN, "vocabulary": vocabulary, "merges": merges, "cases": cases}


def layout(result):
    """One line for each list and each case."""
    line = lambda value: json.dumps(value, ensure_ascii=False)
    head = [f" {line(key)}: {line(result[key])},\n" for key in ("origin", "vocabulary", "merges")]
    return "{\n" + "".join(head) + ' "cases": [\n  ' + ",\n  ".join(map(line, result["cases"])) + "\n ]\n}\n"


def read_book(path):
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != BOOK:
        sys.exit(f"{path} is not PG-19's train/1342.txt: its sha256 is not {BOOK}")
    return data.decode("utf-8")


def main():
    parser = argparse.ArgumentParser(description="Makes tests/golden/bpe.json.")
    parser.add_argument("--check", action="store_true", help="compare with the file and write nothing")
    parser.add_argument("--book", type=pathlib.Path, help="PG-19's train/1342.txt: trains the small encoding again")
    parser.add_argument("--gpt2", type=pathlib.Path, help="folder with GPT-2's vocab.json and merges.txt")
    parser.add_argument("--count", type=pathlib.Path, nargs="+", help="texts: counts and hashes their GPT-2 tokens")
    arguments = parser.parse_args()
    gpt2 = gpt2_encoder(arguments.gpt2) if arguments.gpt2 else None
    if arguments.count:
        if not gpt2:
            sys.exit("--count needs --gpt2")
        for path in arguments.count:
            tokens = gpt2.encode(path.read_bytes())
            data = b"".join(token.to_bytes(4, "little") for token in tokens)
            print(path, len(tokens), hashlib.sha256(data).hexdigest())
        return
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    computed = compute(stored, read_book(arguments.book) if arguments.book else None, gpt2)
    for given, what in ((arguments.book, "vocabulary and merges (no --book)"), (gpt2, "tokens of GPT-2 (no --gpt2)")):
        if not given:
            print(f"taken from the file, not computed: {what}")
    if not arguments.check:
        FILE.write_text(layout(computed), encoding="utf-8")
        print(FILE)
        return
    wrong = [key for key in stored.keys() | computed.keys() if stored.get(key) != computed.get(key)]
    verdict = f"not the same: {', '.join(sorted(wrong))}" if wrong else "all the same"
    print(f"{FILE.name}: {len(CASES)} texts, {verdict}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
