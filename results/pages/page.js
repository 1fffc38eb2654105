// A page of results in the browser: plotly.js draws the figures, and a click on a number shows its runs.
"use strict";
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const panel = document.getElementById("panel");
  const printed = { width: 660, height: 345 };  // pixels; two fit on A4 and on Letter

  /// An element with text (never HTML) or other elements inside.
  function element(name, attributes, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  }

  function row(label, values) {
    return element("tr", {}, element("th", { scope: "row" }, label), ...values.map((v) => element("td", {}, v)));
  }

  const text = (value) => (value === undefined || value === null ? "–" : String(value));

  /// Keys of all configurations: those in which `runs` differ, and the others.
  function split_keys(runs) {
    const keys = [...new Set(runs.flatMap((run) => Object.keys(run.params ?? {})))];
    const differs = (key) => new Set(runs.map((run) => text(run.params?.[key]))).size > 1;
    return [keys.filter(differs), keys.filter((key) => !differs(key))];
  }

  function measured(runs) {
    const rows = new Map();
    const add = (run, name, value) => rows.set(name, { ...rows.get(name), [run.run_id]: value });
    for (const run of runs) {
      for (const [name, value] of Object.entries(run.measured ?? {})) add(run, name, value);
    }
    return [...rows].map(([name, values]) => row(name, runs.map((run) => text(values[run.run_id]))));
  }

  function folded(title, rows) {
    return element("details", {}, element("summary", {}, title), element("table", { class: "pairs" }, ...rows));
  }

  /// Fills the panel with the runs behind one number; `around` are the runs of the whole table or figure.
  function show_runs(ids, around) {
    const runs = ids.map((id) => page.runs[id]).filter(Boolean);
    if (runs.length === 0) return;
    const [differing, same] = split_keys(around.map((id) => page.runs[id]).filter(Boolean));
    const values = (key) => row(key, runs.map((run) => text(run.params?.[key])));
    const head = element("table", { class: "pairs" },
      row("run", runs.map((run) => run.run_id)),
      row("status", runs.map((run) => text(run.status))),
      row("step", runs.map((run) => text(run.step))),
      row("results", runs.map((run) => run.results)));
    const close = element("button", { type: "button", class: "close", "aria-label": "close" }, "×");
    close.addEventListener("click", hide_panel);
    panel.replaceChildren(
      element("header", {}, element("h2", {}, runs.length === 1 ? "1 run" : `${runs.length} runs`), close),
      head,
      element("h3", {}, "Configuration: what differs here"),
      element("table", { class: "pairs differing" }, ...differing.map(values)),
      folded(`the same in all (${same.length} keys)`, same.map((key) => row(key, [text(runs[0].params?.[key])]))),
      folded("all results and costs", measured(runs)));
    panel.hidden = false;
  }

  function hide_panel() {
    panel.hidden = true;
  }

  /// Runs of the table or figure that contains `place`.
  function runs_around(place) {
    const section = place.closest("section");
    const ids = [...section.querySelectorAll("[data-runs]")].flatMap((cell) => JSON.parse(cell.dataset.runs));
    for (const plot of section.querySelectorAll("[data-figure]")) {
      ids.push(...page.figures[plot.dataset.figure].data.flatMap((trace) => (trace.customdata ?? []).flat(Infinity)));
    }
    return [...new Set(ids)];
  }

  document.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-runs]");
    if (cell) show_runs(JSON.parse(cell.dataset.runs), runs_around(cell));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide_panel();
  });

  /// Our ticks suit the whole picture. For a part of it plotly.js chooses the ticks.
  function keep_ticks_readable(plot, layout) {
    plot.on("plotly_relayout", (change) => {
      const update = {};
      for (const axis of ["xaxis", "yaxis"]) {
        if (!(`${axis}.range[0]` in change) && !(`${axis}.range` in change)) continue;
        const [low, high] = plot.layout[axis].range;
        const whole = low === layout[axis].range[0] && high === layout[axis].range[1];
        const mode = whole || layout[axis].type === undefined ? "array" : "auto";  // names have no other places
        if (plot.layout[axis].tickmode !== mode) update[`${axis}.tickmode`] = mode;
      }
      if (Object.keys(update).length > 0) Plotly.relayout(plot, update);
    });
  }

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let on_paper = false;

  /// Changes for a dark screen: all colours that suit a white background.
  function darken(data, layout) {
    const [paper, ink, soft, grid] = ["#15181c", "#e4e6e9", "#9aa1aa", "#30363d"];
    Object.assign(layout, { paper_bgcolor: paper, plot_bgcolor: paper });
    layout.font.color = ink;
    Object.assign(layout.hoverlabel, { bgcolor: "#23282e", font: { ...layout.hoverlabel.font, color: ink } });
    const axes = [layout.xaxis, layout.yaxis, layout.xaxis2, layout.yaxis2].filter((axis) => axis !== undefined);
    for (const axis of axes) Object.assign(axis, { gridcolor: grid, linecolor: soft, tickcolor: soft });
    const lighter = (colour) => (colour === "#000000" ? ink : colour === "#333333" ? soft : colour);
    for (const trace of data) {
      for (const part of [trace.line, trace.marker, trace.error_y]) {
        if (typeof part?.color === "string") part.color = lighter(part.color);
      }
    }
  }

  /// On a phone the legend and the colours' scale are below the picture, which keeps its width.
  function narrow(data, layout) {
    layout.legend = { title: layout.legend?.title, orientation: "h", y: -0.2, yanchor: "top" };
    layout.font.size = 11;
    Object.assign(layout.margin, { l: 48, r: 8 });
    for (const trace of data) {
      if (!trace.colorbar) continue;
      const title = { ...trace.colorbar.title, side: "bottom" };
      Object.assign(trace.colorbar, { orientation: "h", y: -0.22, yanchor: "top", thickness: 10, title });
      layout.margin.b = 120;
    }
  }

  /// Draws {"name", "data", "layout"} into an element, as its place and the screen suit.
  function draw_figure(plot, figure) {
    const data = structuredClone(figure.data);
    const layout = structuredClone(figure.layout);
    if (on_paper) Object.assign(layout, printed);
    if (!on_paper && dark.matches) darken(data, layout);
    plot.style.minWidth = !on_paper && figure.least_width ? `${figure.least_width}px` : "";
    if (!on_paper && plot.parentElement.clientWidth < 520) narrow(data, layout);
    const options = {
      responsive: true,
      displaylogo: false,
      doubleClick: "reset",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: figure.name },
    };
    Plotly.react(plot, data, layout, options);
  }

  function draw(plot) {
    draw_figure(plot, page.figures[plot.dataset.figure]);
  }

  function listen(plot) {
    plot.on("plotly_click", (event) => show_runs(event.points[0].customdata ?? [], runs_around(plot)));
    keep_ticks_readable(plot, page.figures[plot.dataset.figure].layout);
  }

  const plots = [...document.querySelectorAll("[data-figure]")];
  plots.forEach(draw);
  plots.forEach(listen);
  dark.addEventListener("change", () => plots.forEach(draw));

  // Two pictures fit on a page of paper.
  function draw_for(paper) {
    on_paper = paper;
    plots.forEach(draw);
  }
  window.addEventListener("beforeprint", () => draw_for(true));
  window.addEventListener("afterprint", () => draw_for(false));

  window.xlm_page = { page, element, text, show_runs, draw_figure, dark };  // for run_explorer.js
})();
