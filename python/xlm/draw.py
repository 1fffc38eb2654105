"""Draws figures with matplotlib: the part of `xlm figure` that is Python.

The program contains this file and starts it with `python3 -c`, so an installed program needs no module `xlm`. It reads
lines of JSON on standard input, and answers each with one line on standard output: {"picture": PICTURE, "format": "svg",
"pdf" or "png"} with {"file": its bytes in base64}, or with {"illegible": why} or {"error": why}.

PICTURE is {"title", "caption", "width" and "height" in inches (0: chosen here), "font_size" (0: chosen here),
"legend": its place, "data", "layout"}. The data and the layout are those of plotly.js: a page and a picture show the
same numbers.

`xlm figure --format py` writes this file with one picture in it, to be changed by hand: python3 NAME.py NAME.pdf
"""

from __future__ import annotations

import sys

sys.path[:] = [folder for folder in sys.path if folder]  # a file json.py of the current folder is not the library's

import base64
import functools
import html
import io
import json
import logging
import math
import warnings
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import matplotlib
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

USUAL_WIDTH, USUAL_HEIGHT = 6.4, 4.2  # inches
WIDE_WIDTH, WIDE_HEIGHT = 9.6, 3.4  # with room for a line of text
FAMILY = ("DejaVu Sans",)
LEAST_HEIGHT = 2.2  # if only a width is given
TEXT_SIZES = (8.5, 7.5, 6.5)  # points; the first that fits
LEAST_SIZE, LEAST_TOKEN_SIZE = 6.0, 4.5
LINE = 1.3  # height of a line, of the size of its text
SYMBOLS = {
    "circle": "o",
    "square": "s",
    "triangle-up": "^",
    "triangle-down": "v",
    "diamond": "D",
    "square-open": "s",
    "circle-open": "o",
    "star": "*",
}
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
STYLE: Any = {  # Any, here and below: matplotlib's own hints differ from version to version
    "svg.fonttype": "none",  # texts stay texts
    "svg.hashsalt": "xlm",  # the same numbers are the same file
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": "#333333",
    "ytick.labelcolor": "#333333",
    "legend.frameon": False,
    "legend.handlelength": 2.2,
}

Picture = Dict[str, Any]


class Illegible(Exception):
    """The picture cannot be read at its size."""

    advice = "make it larger (width, height: inches), or show less"


class LettersLacking(Illegible):
    """No font here has a letter of it."""

    advice = "give what has it another name (labels), or write svg, which leaves letters to the program that shows it"


def text_width(text: str, size: float) -> float:
    """In points."""
    return size * _usual_width(text)


@functools.lru_cache(maxsize=None)
def _usual_width(text: str) -> float:
    return float(TextPath((0, 0), text, size=100, prop=FontProperties(family=list(FAMILY))).get_extents().width) / 100


def wrapped(text: str, room: float, size: float) -> str:
    """The text in lines no wider than `room` points, broken at blanks."""
    lines: List[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def height_of(text: str, size: float) -> float:
    return LINE * size * (text.count("\n") + 1) if text else 0.0


def numbers_of(values: Sequence[Optional[float]]) -> List[float]:
    return [math.nan if value is None else value for value in values]


class Drawing:
    """One try to draw a picture, with a size of texts and a place of the legend."""

    def __init__(self, picture: Picture, size: float, place: str) -> None:
        self.picture, self.size, self.place = picture, size, place
        self.width, self.height = self._inches()
        self.stroke = min(1.0, max(0.6, self.width / USUAL_WIDTH))
        self.handles: Dict[str, Any] = {}
        style: Any = {
            **STYLE,
            "font.size": size,
            "font.family": list(FAMILY),
            "axes.titlesize": size,
            "axes.labelsize": size,
            "xtick.labelsize": size,
            "ytick.labelsize": size,
        }
        with matplotlib.rc_context(style):
            self.figure: Any = Figure(figsize=(self.width, self.height))
            self._draw()

    def _inches(self) -> Tuple[float, float]:
        wide = (WIDE_WIDTH, WIDE_HEIGHT)
        usual_width, usual_height = wide if _shows_text(self.picture) else (USUAL_WIDTH, USUAL_HEIGHT)
        width = self.picture["width"] or usual_width
        if self.picture["height"]:
            return width, self.picture["height"]
        if self.picture["width"]:
            height = min(usual_height, max(LEAST_HEIGHT, width * usual_height / usual_width))
        else:
            height = usual_height
        return width, height + (self._legend_height() if self.place == "below" and self.picture["width"] else 0) / 72

    def _labels(self) -> List[str]:
        seen = {
            html.unescape(t["name"]): 0 for t in self.picture["data"] if t.get("showlegend", True) and t.get("name")
        }
        return list(seen)

    def _legend_columns(self) -> int:
        labels = self._labels()
        widest = max((text_width(label, self.size) for label in labels), default=0)
        room = int((72 * self._legend_room() + 2 * self.size) / (widest + 5 * self.size))
        columns = max(1, min(room, len(labels) if self.place == "below" else 1))
        return math.ceil(len(labels) / math.ceil(len(labels) / columns))  # no last column that is almost empty

    def _legend_room(self) -> float:
        width: float = self.picture["width"] or USUAL_WIDTH
        return width if self.place == "below" else (0.34 if self.place == "right" else 0.6) * width

    def _legend_height(self) -> float:
        return 1.4 * self.size * math.ceil(len(self._labels()) / self._legend_columns())

    def _draw(self) -> None:
        looks = self.picture
        title = wrapped(looks["title"], 72 * self.width - self.size, 1.14 * self.size)
        small = max(0.72 * self.size, LEAST_SIZE)
        caption = wrapped(looks["caption"], 72 * self.width - self.size, small)
        below = (height_of(caption, small) + 0.4 * self.size) / 72 / self.height if caption else 0.0
        above = (height_of(title, 1.14 * self.size) + 0.6 * self.size) / 72 / self.height if title else 0.0
        self.rect = (0.0, below, 1.0, 1 - below - above)
        if self.rect[3] <= 0.1:
            raise Illegible("its title and its caption fill it")
        self.pad = 0.3 * self.size / 72
        self.figure.set_layout_engine("constrained", rect=self.rect, w_pad=self.pad, h_pad=self.pad)
        if title:
            self.figure.text(
                0.5, 1 - 0.4 * self.size / 72 / self.height, title, ha="center", va="top", size=1.14 * self.size
            )
        if caption:
            self.figure.text(
                1 - 0.6 * self.size / 72 / self.width,
                0.3 * self.size / 72 / self.height,
                caption,
                ha="right",
                va="bottom",
                size=small,
                color="#777777",
            )
        self.axes: Any = self.figure.subplots()
        self._draw_plot(self.axes)
        self._draw_legend()
        self._fit()

    def _draw_plot(self, axes: Any) -> None:
        data, layout = self.picture["data"], self.picture["layout"]
        for name in "xy":
            axis = layout[f"{name}axis"]
            if axis.get("type") == "log":
                getattr(axes, f"set_{name}scale")("log")
        bars = [trace for trace in data if trace["type"] == "bar"]
        for index, trace in enumerate(data):
            if trace["type"] == "heatmap":
                self._draw_cells(axes, trace)
            elif trace["type"] == "bar":
                self._draw_bars(axes, trace, index, len(bars))
            elif trace.get("fill") == "toself":
                self._draw_band(axes, trace)
            else:
                self._draw_points(axes, trace)
        self._set_axes(axes, layout)
        for shape in layout.get("shapes", []):
            self._draw_shape(axes, shape)

    def _keep(self, trace: Dict[str, Any], handle: Any) -> None:
        if trace.get("showlegend", True) and trace.get("name"):
            self.handles.setdefault(html.unescape(trace["name"]), handle)

    def _draw_points(self, axes: Any, trace: Dict[str, Any]) -> None:
        marker, line = trace.get("marker", {}), trace["line"]
        symbol = marker.get("symbol", "circle")
        colour = line["color"]
        (drawn,) = axes.plot(
            numbers_of(trace["x"]),
            numbers_of(trace["y"]),
            color=colour,
            linestyle=DASHES[line["dash"]] if "lines" in trace["mode"] else "none",
            linewidth=0.75 * line["width"] * self.stroke,
            marker=SYMBOLS[symbol] if "markers" in trace["mode"] else "none",
            markersize=(8 if symbol == "star" else 5) * self.stroke,
            markerfacecolor="none" if symbol.endswith("-open") else colour,
            zorder=2 if trace.get("hoverinfo") == "skip" else 3,
        )
        self._draw_spreads(axes, trace, numbers_of(trace["x"]))
        self._keep(trace, drawn)

    def _draw_spreads(self, axes: Any, trace: Dict[str, Any], places: Sequence[float]) -> None:
        spread = trace.get("error_y")
        if spread is None:
            return
        points = [(x, y, size) for x, y, size in zip(places, trace["y"], spread["array"]) if size is not None]
        if points:
            x, y, sizes = zip(*points)
            axes.errorbar(x, y, sizes, fmt="none", ecolor=spread["color"], elinewidth=self.stroke, capsize=2 * self.stroke)

    def _draw_band(self, axes: Any, trace: Dict[str, Any]) -> None:
        colour, part_x, part_y = trace["fillcolor"], [], []  # type: str, List[float], List[float]
        for x, y in [*zip(trace["x"], trace["y"]), (None, None)]:
            if x is not None:
                part_x.append(x)
                part_y.append(y)
            elif part_x:
                axes.fill(part_x, part_y, color=colour[:7], alpha=int(colour[7:], 16) / 255, linewidth=0)
                part_x, part_y = [], []

    def _draw_bars(self, axes: Any, trace: Dict[str, Any], index: int, count: int) -> None:
        width = 0.8 / count
        places = [x + (index + 0.5) * width - 0.4 for x in trace["x"]]
        marker = trace["marker"]
        hatch = 2 * marker["pattern"]["shape"] or None
        looks = {"color": marker["color"], "alpha": 0.85, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        drawn: Any = axes.bar(places, numbers_of(trace["y"]), 0.94 * width, **looks)
        self._draw_spreads(axes, trace, places)
        self._keep(trace, drawn)

    def _draw_cells(self, axes: Any, trace: Dict[str, Any]) -> None:
        cells = [numbers_of(row) for row in trace["z"]]
        colours = LinearSegmentedColormap.from_list("xlm", [(place, colour) for place, colour in trace["colorscale"]])
        image = axes.imshow(
            cells,
            cmap=colours,
            vmin=trace["zmin"],
            vmax=trace["zmax"],
            aspect="auto",
            origin="lower",
            interpolation="nearest",
        )
        bar = trace["colorbar"]
        label = wrapped(html.unescape(bar["title"]["text"]), 50 * self.height, self.size)
        scale = self.figure.colorbar(image, ax=axes, ticks=bar["tickvals"], label=label, pad=0.02)
        scale.ax.set_yticklabels(bar["ticktext"])
        scale.outline.set_visible(False)
        scale.ax.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        self.cells = []
        for y, row in enumerate(trace.get("text", [])):
            for x, text in enumerate(row):
                if text:
                    light = sum(
                        w * _linear(part) for w, part in zip((0.2126, 0.7152, 0.0722), to_rgb(image.to_rgba(cells[y][x])))
                    )
                    self.cells.append(
                        axes.text(x, y, text, ha="center", va="center", color="#000000" if light > 0.179 else "#ffffff")
                    )

    def _draw_shape(self, axes: Any, shape: Dict[str, Any]) -> None:
        line = shape["line"]
        axes.axvline(shape["x0"], color=line["color"], linewidth=0.8 * line["width"] * self.stroke, zorder=1.5)

    def _set_axes(self, axes: Any, layout: Dict[str, Any]) -> None:
        for name in "xy":
            axis, own = layout[f"{name}axis"], getattr(axes, f"{name}axis")
            low, high = axis["range"]
            is_log = axis.get("type") == "log"
            getattr(axes, f"set_{name}lim")(*((10**low, 10**high) if is_log else (low, high)))
            own.set_ticks(axis["tickvals"], labels=[html.unescape(text) for text in axis["ticktext"]])
            own.set_tick_params(which="minor", length=0, labelsize=0)
            own.set_ticks([], minor=True)
            own.set_tick_params(length=0 if axis.get("ticks") == "" else 2.5)
            if not axis.get("showgrid", True):
                own.grid(False)
            room = 72 * (self.width if name == "x" else 0.72 * self.height)
            own.set_label_text(wrapped(html.unescape(axis["title"]["text"]), room, self.size))

    def _draw_legend(self) -> None:
        if self.place == "none" or not self.handles:
            return
        columns = self._legend_columns()
        room = 72 * self._legend_room() / columns - 4 * self.size
        labels = [wrapped(label, room, self.size) for label in self.handles]
        handles = list(self.handles.values())
        if self.place == "inside":
            self.axes.legend(handles, labels, loc="best", ncols=columns)
        else:
            left, bottom, width, height = self.rect
            loc, corner = ("lower center", (0.5, bottom)) if self.place == "below" else ("upper right", (1, bottom + height))
            legend = self.figure.legend(
                handles, labels, loc=loc, bbox_to_anchor=corner, borderaxespad=0.3, ncols=columns
            )
            self.figure.draw_without_rendering()
            box = legend.get_window_extent().transformed(self.figure.transFigure.inverted())
            if self.place == "below":
                bottom, height = bottom + box.height, height - box.height
            else:
                width -= box.width
            if min(width, height) <= 0.1:
                raise Illegible(f"its legend has {len(labels)} entries")
            self.figure.set_layout_engine("constrained", rect=(left, bottom, width, height), w_pad=self.pad, h_pad=self.pad)

    def _fit(self) -> None:
        """Turns, thins and scales what would touch. Raises Illegible if the rest has no room."""
        self.figure.draw_without_rendering()
        axes = self.axes
        box = axes.get_position()
        width, height = 72 * self.width * box.width, 72 * self.height * box.height
        if _shows_text(self.picture):
            self._fit_tokens(axes, width)
        else:
            self._fit_ticks(axes, "x", width, "type" not in self.picture["layout"]["xaxis"])
        self._fit_ticks(axes, "y", height, False)
        self.figure.draw_without_rendering()
        box = axes.get_position()
        if 72 * self.width * box.width < 11 * self.size:
            raise Illegible(f"{max(0.0, self.width * box.width):.1f} inches remain between its axes")
        if 72 * self.height * box.height < 8 * self.size:
            raise Illegible(f"{max(0.0, self.height * box.height):.1f} inches of its height remain for the axes")
        self._fit_cells()
        for text in self._outer_texts():
            box = text.get_window_extent()
            if (
                box.x0 < -1
                or box.y0 < -1
                or box.x1 > 72 * self.width * self.figure.dpi / 72 + 1
                or box.y1 > self.height * self.figure.dpi + 1
            ):
                raise Illegible(
                    f"'{text.get_text()}' reaches beyond its edge"
                    if hasattr(text, "get_text")
                    else "its legend is larger than the picture"
                )

    def _outer_texts(self) -> Iterator[Any]:
        yield from self.figure.legends
        yield from self.figure.texts
        yield from (self.axes.xaxis.label, self.axes.yaxis.label)

    def _fit_tokens(self, axes: Any, width: float) -> None:
        labels, upright = axes.get_xticklabels(), self.picture["layout"]["xaxis"]["tickangle"] != 0
        widest = max(len(label.get_text()) for label in labels)
        room, share = width / (len(labels) + 1), 1.1 if upright else 0.66 * widest
        if room / share < LEAST_TOKEN_SIZE:
            raise Illegible(f"its {len(labels)} tokens on x have room for {int(width / LEAST_TOKEN_SIZE / share)}")
        for label in labels:
            label.set(size=min(1.1 * self.size, room / share), family="DejaVu Sans Mono", rotation=90 if upright else 0)

    def _fit_ticks(self, axes: Any, name: str, length: float, named: bool) -> None:
        """Texts at ticks that would touch stand upright if they are names, and are fewer otherwise."""
        axis = getattr(axes, f"{name}axis")
        texts = [label.get_text() for label in axis.get_ticklabels()]
        if len(texts) < 2:
            return
        ends = axes.transAxes.inverted().transform(axes.transData.transform([(t, t) for t in axis.get_ticklocs()]))
        places = [length * end[0 if name == "x" else 1] for end in ends]
        sizes = [text_width(text, self.size) for text in texts] if name == "x" else [self.size] * len(texts)

        def touch(kept: Sequence[int]) -> bool:
            return any(places[b] - places[a] < (sizes[a] + sizes[b]) / 2 + 0.5 * self.size for a, b in zip(kept, kept[1:]))

        everything = range(len(texts))
        if not touch(everything):
            return
        if named and not all(_is_number(text) for text in texts):
            room = min(b - a for a, b in zip(places, places[1:]))
            if room < LINE * self.size:
                raise Illegible(f"its {len(texts)} names on x have room for {int(length / (LINE * self.size))}")
            axis.set_tick_params(rotation=90)
            return
        powers = [
            i
            for i, t in enumerate(axis.get_ticklocs())
            if axis.get_scale() == "log" and math.log10(t) == round(math.log10(t))
        ]
        fewer = [powers] if len(powers) > 1 else []
        kept = next(kept for kept in [*fewer, *(everything[:: i + 2] for i in everything)] if not touch(kept))
        axis.set_ticks(axis.get_ticklocs(), labels=[text if i in kept else "" for i, text in enumerate(texts)])

    def _fit_cells(self) -> None:
        """Numbers in cells are as large as the narrowest allows, or left out."""
        texts = getattr(self, "cells", [])
        if not texts:
            return
        axes = self.axes
        box, (low, high), (bottom, top) = axes.get_position(), axes.get_xlim(), axes.get_ylim()
        width, height = 72 * self.width * box.width / (high - low), 72 * self.height * box.height / (top - bottom)
        widest = max(text_width(text.get_text(), 1) for text in texts)
        size = min(0.86 * self.size, (width - 2) / widest, height / LINE)
        for text in texts:
            text.set(size=size, visible=size >= LEAST_SIZE)


def _shows_text(picture: Picture) -> bool:
    return "monospace" in picture["layout"]["xaxis"].get("tickfont", {}).get("family", "")


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def tries(picture: Picture) -> Iterator[Tuple[float, str]]:
    """Sizes of texts and places of the legend, in the order in which they are tried."""
    for size in [picture["font_size"]] if picture["font_size"] else TEXT_SIZES:
        for place in ["right", "below"] if picture["legend"] == "auto" else [picture["legend"]]:
            yield size, place


def drawn(picture: Picture) -> Any:
    """Raises Illegible if no try fits."""
    why = ""
    for size, place in tries(picture):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # axes that have collapsed
                warnings.filterwarnings("ignore", message="Glyph")
                drawing = Drawing(picture, size, place)
        except (Illegible, UserWarning) as problem:
            why = str(problem)
            continue
        labels = [text_width(label, size) for label in drawing.handles]
        if (
            place == "right"
            and picture["legend"] == "auto"
            and labels
            and max(labels) > 0.34 * 72 * drawing.width - 4 * size
        ):
            continue  # broken labels are for those who asked for this place
        return drawing.figure
    raise Illegible(why)


def saved(picture: Picture, kind: str) -> bytes:
    out = io.BytesIO()
    dates: Dict[str, Dict[str, Optional[str]]] = {
        "svg": {"Date": None},
        "pdf": {"CreationDate": None},
        "png": {"Software": None},
    }
    with matplotlib.rc_context(STYLE), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        drawn(picture).savefig(out, format=kind, dpi=240, metadata=dates.get(kind))
    lacking = [str(warning.message) for warning in said if str(warning.message).startswith("Glyph")]
    if lacking and kind != "svg":
        raise LettersLacking(lacking[0])
    return out.getvalue()


def answer(request: Dict[str, Any]) -> Dict[str, Any]:
    try:
        return {"file": base64.b64encode(saved(request["picture"], request["format"])).decode()}
    except Illegible as problem:
        return {"illegible": str(problem), "advice": problem.advice}
    except Exception as problem:
        return {"error": f"matplotlib {matplotlib.__version__}: {problem!r}"}


def main() -> int:
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
    return 0


matplotlib.rcdefaults()
logging.getLogger("matplotlib").setLevel(logging.ERROR)
PICTURE: Optional[Picture] = None

if __name__ == "__main__":
    if PICTURE is None:
        sys.exit(main())
    target = sys.argv[1] if len(sys.argv) > 1 else f"{sys.argv[0].removesuffix('.py')}.pdf"
    if len(sys.argv) > 2 or not target.endswith((".svg", ".pdf", ".png")):
        sys.exit(f"usage: python3 {sys.argv[0]} [FILE.svg, FILE.pdf or FILE.png]")
    with open(target, "wb") as file:
        file.write(saved(PICTURE, target.rpartition(".")[2]))
    print(target)
