"""draw.py puts every number where the picture's axes say."""

import json
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib", minversion="3.7")

from xlm import draw

AXIS = {"title": {"text": "x"}, "range": [0, 10], "tickvals": [0, 5, 10], "ticktext": ["0", "5", "10"], "type": "linear"}
LOG = {
    "title": {"text": "y"},
    "range": [0, 3],
    "tickvals": [1, 10, 100, 1000],
    "ticktext": ["1", "10", "100", "1k"],
    "type": "log",
}
LINE = {"color": "#0072b2", "width": 2, "dash": "solid"}


def picture(data, layout=None, **keys):
    whole = {
        "title": "T",
        "caption": "C",
        "width": 0,
        "height": 0,
        "font_size": 0,
        "legend": "auto",
        "data": data,
        "layout": {"xaxis": AXIS, "yaxis": LOG, **(layout or {})},
    }
    return {**whole, **keys}


def points(name="a", **keys):
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": [1, 2, 4],
        "y": [3, 30, 300],
        "line": LINE,
        **keys,
    }


def test_points_and_axes():
    axes = draw.drawn(picture([points(), points("b", line={**LINE, "dash": "dash"})])).axes[0]
    assert axes.get_yscale() == "log" and axes.get_ylim() == (1, 1000)
    assert list(axes.lines[0].get_xdata()) == [1, 2, 4] and list(axes.lines[0].get_ydata()) == [3, 30, 300]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "10", "100", "1k"]
    assert axes.lines[1].get_linestyle() == "--"
    assert axes.figure.get_size_inches().tolist() == [6.4, 4.2]
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["a", "b"]


def test_spreads_have_their_length():
    trace = points(error_y={"array": [1, None, 20], "color": "#0072b2"})
    axes = draw.drawn(picture([trace])).axes[0]
    (bars,) = axes.containers
    assert [segment.tolist() for segment in bars[2][0].get_segments()] == [[[1, 2], [1, 4]], [[4, 280], [4, 320]]]


def test_bands_end_at_a_null():
    band = {
        "type": "scatter",
        "fill": "toself",
        "fillcolor": "#0072b233",
        "showlegend": False,
        "x": [1, 2, 2, 1, None, 4, 5, 4],
        "y": [2, 3, 1, 1, None, 9, 8, 7],
    }
    axes = draw.drawn(picture([band, points()])).axes[0]
    assert [len(patch.get_xy()) - 1 for patch in axes.patches] == [4, 3]
    assert axes.patches[0].get_alpha() == 0x33 / 255


def test_bars_of_a_place_stand_side_by_side():
    names = {"title": {"text": "x"}, "range": [-0.6, 1.6], "tickvals": [0, 1], "ticktext": ["one", "two"]}
    marks = {"a": {"color": "#0072b2", "pattern": {"shape": ""}}, "b": {"color": "#0072b2", "pattern": {"shape": "/"}}}
    traces = [{"type": "bar", "name": name, "x": [0, 1], "y": [3, 4], "marker": mark} for name, mark in marks.items()]
    axes = draw.drawn(picture(traces, {"xaxis": names})).axes[0]
    assert [patch.get_hatch() for patch in axes.patches] == [None, None, "//", "//"]
    boxes = [(patch.get_x(), patch.get_x() + patch.get_width(), patch.get_height()) for patch in axes.patches]
    assert [height for _, _, height in boxes] == [3, 4, 3, 4]
    assert boxes[0][1] < 0 < boxes[2][0] and boxes[0][0] > -0.4 and boxes[2][1] < 0.4


def test_cells_have_colours_and_numbers():
    cells = {
        "type": "heatmap",
        "z": [[1, None], [0, 2]],
        "text": [["1.0", ""], ["0.0", "2.0"]],
        "zmin": 0,
        "zmax": 2,
        "colorscale": [[0, "#440154"], [1, "#fde725"]],
        "colorbar": {"title": {"text": "v"}, "tickvals": [0, 2], "ticktext": ["0", "2"]},
    }
    names = {"title": {"text": "x"}, "range": [-0.5, 1.5], "tickvals": [0, 1], "ticktext": ["p", "q"]}
    axes = draw.drawn(picture([cells], {"xaxis": names, "yaxis": names})).axes[0]
    assert {text.get_text(): (text.get_position(), text.get_color()) for text in axes.texts} == {
        "1.0": ((0, 0), "#000000"),
        "0.0": ((0, 1), "#ffffff"),
        "2.0": ((1, 1), "#000000"),
    }
    assert axes.get_ylim() == (-0.5, 1.5), "the first row is below"


def test_marks_of_a_text_are_lines_across_it():
    layout = {
        "xaxis": AXIS,
        "yaxis": LOG,
        "shapes": [{"x0": 1.5, "x1": 1.5, "yref": "paper", "y0": 0, "y1": 1, "line": {"color": "#d62728", "width": 1}}],
    }
    axes = draw.drawn(picture([points()], layout)).axes[0]
    assert list(axes.lines[-1].get_xdata()) == [1.5, 1.5]


def test_nothing_touches_and_nothing_leaves_the_picture():
    for width in (3.25, 5.0, 6.75):
        figure = draw.drawn(picture([points("a"), points("b")], width=width))
        figure.draw_without_rendering()
        boxes = (
            [one.get_window_extent() for one in figure.axes]
            + [figure.legends[0].get_window_extent()]
            + [text.get_window_extent() for text in figure.texts]
        )
        for i, box in enumerate(boxes):
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width * figure.dpi and box.y1 <= figure.bbox.height
            for other in boxes[:i]:
                assert box.x0 >= other.x1 or other.x0 >= box.x1 or box.y0 >= other.y1 or other.y0 >= box.y1


def test_texts_at_ticks_that_would_touch():
    many = {**AXIS, "tickvals": list(range(11)), "ticktext": [f"{i}00000" for i in range(11)]}
    axes = draw.drawn(picture([points()], {"xaxis": many}, width=3.0)).axes[0]
    shown = [label.get_text() for label in axes.get_xticklabels() if label.get_text()]
    assert shown[0] == "000000" and 2 <= len(shown) < 11
    names = {
        "title": {"text": "x"},
        "range": [-0.6, 9.6],
        "tickvals": list(range(10)),
        "ticktext": [f"a long name {i}" for i in range(10)],
    }
    axes = draw.drawn(picture([points()], {"xaxis": names})).axes[0]
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {90}


def test_letters_without_a_font_are_refused_but_in_svg():
    japanese = picture([points(name="\u65e5\u672c\u8a9e"), points(name="b")])
    assert b"\xe6\x97\xa5" in draw.saved(japanese, "svg")
    refused = draw.answer({"picture": japanese, "format": "png"})
    assert "Glyph" in refused["illegible"] and "labels" in refused["advice"]


def test_what_has_no_room_is_refused():
    for keys in ({"width": 1}, {"height": 0.6}):
        with pytest.raises(draw.Illegible):
            draw.drawn(picture([points(), points("b")], **keys))
    assert "illegible" in draw.answer({"picture": picture([points()], width=0.8), "format": "svg"})


def test_answers_are_lines_of_json(monkeypatch, capsys):
    answer = json.loads(json.dumps(draw.answer({"picture": picture([points()]), "format": "pdf"})))
    assert answer["file"].startswith("JVBERi")
    assert "error" in draw.answer({"picture": picture([{"type": "unknown"}]), "format": "pdf"})


def test_a_script_writes_only_pictures(tmp_path):
    script = tmp_path / "one.py"
    source = pathlib.Path(draw.__file__).read_text()
    script.write_text(
        source.replace("PICTURE: Optional[Picture] = None", f"PICTURE: Optional[Picture] = {picture([points()])!r}")
    )
    for words, made in ((["--help"], 1), (["a.xyz"], 1), ([], 0)):
        assert subprocess.run([sys.executable, str(script), *words], cwd=tmp_path, capture_output=True).returncode == made
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.pdf", "one.py"]
