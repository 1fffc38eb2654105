// The explorer of runs: a table that readers filter and sort, and curves of the chosen runs over each other. Its numbers
// come from the page itself, or from the program that serves the page; the rest is the same.
"use strict";
(() => {
  const { page, element, text, show_runs, draw_figure, dark } = window.xlm_page;
  const place = document.getElementById("explorer");
  const data = page.explorer;
  const rows_at_once = 200;
  const most_chosen = 50;
  const chosen_at_first = 6;
  const pause = 3000;  // milliseconds between questions whether something has changed

  const raw = (cell) => (Array.isArray(cell) ? cell[0] : cell);
  const shown = (cell) => (Array.isArray(cell) ? cell[1] : text(cell));
  const plain = (label) => label.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  /// Runs and curves that the page itself holds.
  function own_source({ list, curves }) {
    const { parse, holds, value_of, compare, check_column } = window.xlm_conditions;
    const runs = list.rows.map((row) => page.runs[row.id]);

    function sorted(rows, { sort, reverse }) {
      if (sort === "") return reverse ? [...rows].reverse() : rows;
      check_column(runs, sort);
      const key = (row) => value_of(page.runs[row.id], sort) ?? null;
      const order = (a, b) => {
        if (key(a) === null || key(b) === null) return (key(a) === null) - (key(b) === null);
        return reverse ? compare(key(b), key(a)) : compare(key(a), key(b));
      };
      return [...rows].sort(order);
    }

    /// The table with further columns.
    function with_columns(columns) {
      const further = columns.filter((name) => !list.columns.some((column) => column.name === name));
      further.forEach((name) => check_column(runs, name));
      const heads = further.map((name) => {
        return { name, label: name, key: false, right: runs.some((run) => typeof value_of(run, name) === "number") };
      });
      const cells = (row) => row.cells.concat(further.map((name) => value_of(page.runs[row.id], name) ?? null));
      return [list.columns.concat(heads), (row) => ({ id: row.id, cells: cells(row) })];
    }

    return {
      async list(query) {
        const conditions = parse(query.where);
        for (const { column } of conditions) check_column(runs, column);
        const met = list.rows.filter((row) => conditions.every((condition) => holds(condition, page.runs[row.id])));
        const [columns, row] = with_columns(query.columns);
        const part = sorted(met, query).slice(0, query.limit);
        return { ...list, found: met.length, columns, note: met.length > 0 ? "" : "no run meets these conditions", rows: part.map(row) };
      },
      async curves({ runs: ids, quantity }) {
        const known = curves.quantities.includes(quantity) ? quantity : curves.quantity;
        const of_quantity = curves.of[known] ?? { curves: [], note: curves.note };
        return { quantities: curves.quantities, quantity: known, axes: ["step"], axis: "step", ...of_quantity,
          curves: of_quantity.curves.filter((curve) => ids.includes(curve.run)) };
      },
      async run(id) {
        return page.runs[id];
      },
    };
  }

  /// The program that serves the page.
  function served_source() {
    async function ask(name, query = []) {
      const response = await fetch(`${name}?${new URLSearchParams(query)}`).catch(() => {
        throw new Error("xlm does not answer: is it still running, and the tunnel to it open?");
      });
      const answer = await response.json().catch(() => ({ error: `this address has no ${name}: open the one that xlm prints` }));
      if (!response.ok) throw new Error(answer.error);
      return answer;
    }
    const many = (key, values) => values.map((value) => [key, value]);
    return {
      list: ({ where, columns, sort, reverse, limit }) => ask("runs.json", [
        ...many("where", where === "" ? [] : [where]), ...many("column", columns),
        ["sort", sort], ["reverse", reverse ? 1 : 0], ["limit", limit]]),
      curves: ({ runs, quantity, axis }) => ask("curves.json", [...many("run", runs), ["quantity", quantity], ["axis", axis]]),
      run: (id) => ask("run.json", [["run", id]]),
      state: () => ask("state.json"),
    };
  }

  const source = data.whole ? own_source(data.whole) : served_source();
  const asked = { where: data.where ?? "", columns: [], sort: "", reverse: false, quantity: "", axis: "step", log: false };
  const chosen = new Map();  // runs by id: their row and the number of their look
  let table = null;          // what the source answered

  // The parts of the explorer.
  const input = (name, label, hint) => {
    const field = element("input", { type: "text", name, placeholder: hint, spellcheck: "false", autocomplete: "off" });
    return [field, element("label", {}, label, " ", field)];
  };
  const button = (label, act) => {
    const made = element("button", { type: "button" }, label);
    made.addEventListener("click", act);
    return made;
  };
  const [where, where_label] = input("where", "conditions", "status=running, seed<4");
  const [columns, columns_label] = input("columns", "more columns", "optimizer.lr, test.loss");
  const form = element("form", {}, where_label, columns_label, element("button", { type: "submit" }, "apply"));
  const problem = element("p", { class: "problem", role: "alert", hidden: "" });
  const lost = element("p", { class: "problem", role: "alert", hidden: "" });  // the program, or the runs' folder
  const count = element("p", { class: "about", "aria-live": "polite" });
  const quantity = element("select", { "aria-label": "quantity" });
  const axis = element("select", { "aria-label": "axis" });
  const log = element("input", { type: "checkbox" });
  const plot = element("div", { class: "plot", role: "img", "aria-label": "curves of the chosen runs" });
  const plot_note = element("p", { class: "about" });
  const figure = element("div", { class: "curves", hidden: "" },
    element("p", { class: "tools" }, quantity, " over ", axis, element("label", {}, log, " logarithmic"),
      button("compare settings", () => open_runs([...chosen.keys()])), button("choose none", () => choose_all(false))),
    element("div", { class: "scroll" }, plot), plot_note);
  const head = element("thead", {});
  const body = element("tbody", {});
  const more = button("show more", show_more);
  const all = button(`choose the first ${most_chosen}`, () => choose_all(true));
  const file = data.whole ? "" : element("a", { href: "page.html", download: "" }, "save these runs as a file");
  where.value = asked.where;

  function complain(error, at = problem) {
    at.textContent = error ? error.message : "";
    at.hidden = !error;
  }

  async function open_runs(ids) {
    try {
      for (const id of ids) page.runs[id] = await source.run(id);
      show_runs(ids, ids);
    } catch (error) {
      complain(error);
    }
  }

  const short_id = (id) => {
    const hash = id.slice(id.lastIndexOf("-") + 1);
    return /^[0-9a-f]{16}$/.test(hash) ? hash.slice(0, 8) : id;
  };

  /// The keys of the table in which the chosen runs differ, and their values: "span limit 64, seed 1".
  function label_of(id) {
    const rows = [...chosen.values()].map((each) => each.row);
    const cells = (row, name) => shown(row.cells[row.columns.findIndex((column) => column.name === name)]);
    const differs = (name) => new Set(rows.map((row) => cells(row, name))).size > 1;
    const keys = table.columns.filter((column) => column.key && differs(column.name));
    const parts = keys.map((column) => `${column.label} ${cells(chosen.get(id).row, column.name)}`);
    return parts.length > 0 ? parts.join(", ") : short_id(id);
  }

  function free_look() {
    const taken = new Set([...chosen.values()].map((each) => each.look));
    let look = 0;
    while (taken.has(look)) ++look;
    return look;
  }

  const look_of = (id) => data.looks[chosen.get(id).look % data.looks.length];

  function choose(row, is_chosen) {
    if (is_chosen && chosen.size < most_chosen) chosen.set(row.id, { row, look: free_look() });
    if (!is_chosen) chosen.delete(row.id);
  }

  function choose_all(are_chosen) {
    if (!are_chosen) chosen.clear();
    if (are_chosen) table.rows.forEach((row) => choose(row, true));
    show_table();
    show_curves();
  }

  function fill(select, names, present) {
    select.replaceChildren(...names.map((name) => element("option", name === present ? { selected: "" } : {}, name)));
  }

  function trace(curve) {
    const look = look_of(curve.run);
    const label = plain(label_of(curve.run));
    return { type: "scatter", mode: curve.x.length > 30 ? "lines" : "lines+markers", name: label, x: curve.x, y: curve.y,
      line: { color: look.color, dash: look.dash, width: 2 }, marker: { color: look.color, size: 6 },
      customdata: curve.x.map(() => [curve.run]),
      hovertemplate: `<b>${label}</b><br>%{x}: %{y:.5g}<extra></extra>` };
  }

  let last_curves = 0;  // the newest question: the answer to an older one is dropped
  async function show_curves() {
    const question = ++last_curves;
    figure.hidden = chosen.size === 0;
    if (chosen.size === 0) return;
    try {
      const answer = await source.curves({ runs: [...chosen.keys()], quantity: asked.quantity, axis: asked.axis });
      if (question !== last_curves) return;
      fill(quantity, answer.quantities, answer.quantity);
      fill(axis, answer.axes, answer.axis);
      plot_note.textContent = answer.note ?? "";
      const layout = structuredClone(data.layout);
      layout.xaxis.title.text = plain(answer.axis_label ?? answer.axis);
      layout.yaxis.title.text = plain(answer.label ?? answer.quantity);
      layout.yaxis.type = asked.log ? "log" : "linear";
      layout.uirevision = `${answer.quantity} ${answer.axis} ${asked.log}`;  // what is zoomed in stays so
      const known = answer.curves.filter((curve) => chosen.has(curve.run));
      draw_figure(plot, { name: answer.quantity || "curves", data: known.map(trace), layout });
      listen();
    } catch (error) {
      complain(error);
    }
  }

  let listens = false;
  function listen() {
    if (listens) return;
    listens = true;
    plot.on("plotly_click", (event) => open_runs(event.points[0].customdata));
  }

  function head_of(column) {
    const is_sorted = asked.sort === column.name;
    const sort = button(column.label, () => {
      asked.reverse = is_sorted && !asked.reverse;
      asked.sort = column.name;
      show_runs_again();
    });
    const order = is_sorted ? (asked.reverse ? "descending" : "ascending") : "none";
    return element("th", { scope: "col", title: column.name, "aria-sort": order, ...(column.right ? { class: "number" } : {}) }, sort);
  }

  function cell_of(cell, column) {
    const content = column.name === "status" ? element("span", { class: `status ${raw(cell)}` }, shown(cell)) : shown(cell);
    return element("td", column.right ? { class: "number" } : {}, content);
  }

  function row_of(row) {
    const box = element("input", { type: "checkbox", "aria-label": `curve of ${row.id}` });
    box.checked = chosen.has(row.id);
    const swatch = element("span", { class: "swatch" });
    if (box.checked) swatch.style.background = look_of(row.id).color;
    box.addEventListener("change", () => {
      choose(row, box.checked);
      box.checked = chosen.has(row.id);
      swatch.style.background = box.checked ? look_of(row.id).color : "";
      show_curves();
    });
    const name = button(short_id(row.id), () => open_runs([row.id]));
    name.title = row.id;
    return element("tr", {}, element("td", { class: "choice" }, element("label", {}, box, swatch)),
      element("th", { scope: "row", class: "id" }, name), ...row.cells.map((cell, i) => cell_of(cell, table.columns[i])));
  }

  function show_table() {
    head.replaceChildren(element("tr", {}, element("th", {}), element("th", { scope: "col" }, "run"), ...table.columns.map(head_of)));
    body.replaceChildren(...table.rows.map(row_of));
    more.hidden = table.rows.length >= table.found;
    const hidden = table.hidden_keys > 0 ? `; ${table.hidden_keys} more settings differ` : "";
    count.textContent = table.note || `${table.found} of ${table.all} runs${hidden}`;
  }

  let limit = rows_at_once;
  let last_table = 0;
  async function show_runs_again() {
    const question = ++last_table;
    try {
      const answer = await source.list({ ...asked, limit });
      if (question !== last_table) return;
      complain(null);
      for (const row of answer.rows) {
        row.columns = answer.columns;
        if (chosen.has(row.id)) chosen.get(row.id).row = row;
      }
      table = answer;
      if (file) file.href = `page.html?${new URLSearchParams(asked.where === "" ? [] : [["where", asked.where]])}`;
      show_table();
    } catch (error) {
      if (question === last_table) complain(error);
    }
  }

  function show_more() {
    limit += rows_at_once;
    show_runs_again();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    asked.where = where.value.trim();
    asked.columns = columns.value.split(/,(?![^()[\]{}]*[)\]}])/).map((name) => name.trim()).filter((name) => name !== "");
    show_runs_again();
  });
  for (const [field, set] of [[quantity, () => (asked.quantity = quantity.value)], [axis, () => (asked.axis = axis.value)],
    [log, () => (asked.log = log.checked)]]) {
    field.addEventListener("change", () => {
      set();
      show_curves();
    });
  }
  dark.addEventListener("change", show_curves);

  /// Looks again when jobs have written something. A page that no reader looks at waits.
  async function follow() {
    let version = data.version;
    for (;;) {
      await new Promise((done) => setTimeout(done, pause));
      if (document.hidden) continue;
      try {
        const state = await source.state();
        complain(state.problem ? { message: state.problem } : null, lost);
        if (state.version === version) continue;
        version = state.version;
        await show_runs_again();
        await show_curves();
      } catch (error) {
        complain(error, lost);
      }
    }
  }

  async function begin() {
    const runs = element("table", { class: "results explored" }, head, body);
    place.append(form, problem, lost, count, figure, element("div", { class: "scroll" }, runs),
      element("p", { class: "tools" }, more, all, file));
    await show_runs_again();
    if (data.whole || !table) return;
    table.rows.slice(0, chosen_at_first).forEach((row) => choose(row, true));
    show_table();
    await show_curves();
  }

  begin().then(() => {
    if (!data.whole) follow();
  });
})();
