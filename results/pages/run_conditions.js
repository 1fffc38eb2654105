// Conditions on runs in a page without a program, as --where takes them (results/store/filter.cpp, base/words.cpp). Only
// formulas and COLUMN@KEY=VALUE need the program.
"use strict";
window.xlm_conditions = (() => {
  const signs = ["!=", "<=", ">=", "<", ">", "="];
  const fields = ["run_id", "experiment", "status", "step", "created", "started", "finished", "parent", "parent_step",
    "tag", "note", "bad", "is_bad"];

  const begins_with_quote = (text) => text.startsWith('"') || text.startsWith("'");

  /// The place of the quote that closes the one at `open`.
  function closing_quote(text, open) {
    const quote = text[open];
    for (let i = open + 1; i < text.length; ++i) {
      if ((quote === "'" && text.startsWith("''", i)) || (quote === '"' && text[i] === "\\")) {
        ++i;
      } else if (text[i] === quote) {
        return i;
      }
    }
    throw new Error(`${text}: the quote is not closed`);
  }

  /// The parts between commas that stand outside of quotes and of square brackets.
  function split_words(text) {
    const parts = [""];
    let depth = 0;
    let begins_word = true;
    for (let i = 0; i < text.length; ++i) {
      if (begins_word && begins_with_quote(text.slice(i))) {
        const close = closing_quote(text, i);
        parts[parts.length - 1] += text.slice(i, close + 1);
        i = close;
        begins_word = false;
        continue;
      }
      if (text[i] === "[") ++depth;
      if (text[i] === "]" && depth > 0) --depth;
      if (text[i] === "," && depth === 0) {
        parts.push("");
      } else {
        parts[parts.length - 1] += text[i];
      }
      if (text[i] !== " ") begins_word = ",=<>!@([{".includes(text[i]);
    }
    return parts;
  }

  function unquoted(text) {
    const close = closing_quote(text, 0);
    if (close + 1 !== text.length) throw new Error(`${text}: '${text.slice(close + 1)}' follows the quotes`);
    if (text[0] === "'") return text.slice(1, close).replaceAll("''", "'");
    return text.slice(1, close).replace(/\\(.)/gs, (_, c) => ({ n: "\n", t: "\t", r: "\r", 0: "\0" })[c] ?? c);
  }

  /// What a text stands for: null, true or false, a number, or itself. Lists are texts.
  function to_value(text) {
    if (text.startsWith("[")) {
      try {
        return JSON.stringify(JSON.parse(text));
      } catch {
        return text;
      }
    }
    if (["", "~", "null", "Null", "NULL"].includes(text)) return null;
    if (["true", "True", "TRUE"].includes(text)) return true;
    if (["false", "False", "FALSE"].includes(text)) return false;
    if (/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text) || /^0(o[0-7]+|x[0-9a-fA-F]+)$/.test(text)) return Number(text);
    return text;
  }

  function asked_value(part) {
    const text = part.trim();
    return begins_with_quote(text) ? { value: unquoted(text) } : { value: to_value(text), written: text };
  }

  /// The conditions in a text: [{column, sign, values}].
  function parse(text) {
    const conditions = [];
    if (text.trim() === "") return conditions;
    for (const part of split_words(text)) {
      const trimmed = part.trim();
      const column = /^[A-Za-z0-9_.-]+(?= *[=!<>])/.exec(trimmed)?.[0];
      if (column === undefined) {
        if (conditions.length === 0) throw new Error(`'${text}' is not a condition (for example model.span=256, or seed<4)`);
        conditions.at(-1).values.push(asked_value(trimmed));
        continue;
      }
      const rest = trimmed.slice(column.length).trimStart();
      const sign = signs.find((each) => rest.startsWith(each));
      if (sign === undefined) throw new Error(`'${text}': expected =, !=, <, <=, > or >=`);
      conditions.push({ column, sign, values: [asked_value(rest.slice(sign.length))] });
    }
    for (const { sign, values } of conditions) {
      if (sign === "=" || sign === "!=") continue;
      if (values.length === 1 && typeof values[0].value === "number") continue;
      throw new Error(`'${text}': after '${sign}' there must be one number`);
    }
    return conditions;
  }

  const seconds = (time) => (time ? Date.parse(time) / 1000 : null);

  /// The value of a run in a column; undefined if it has no such column.
  function value_of(run, column) {
    if (["created", "started", "finished"].includes(column)) return seconds(run[column]);
    if (column === "tag") return run.tags?.join(", ") ?? null;
    if (column === "is_bad") return run.bad ? 1 : 0;
    if (fields.includes(column)) return run[column] ?? null;
    if (run.params && column in run.params) return run.params[column];
    if (run.costs && column in run.costs) return run.costs[column];
    const dot = column.indexOf(".");
    const evaluation = run.evaluations?.find((each) => each.split === column.slice(0, dot));
    return evaluation?.[column.slice(dot + 1)];
  }

  function check_column(runs, column) {
    if (fields.includes(column) || runs.some((run) => value_of(run, column) !== undefined)) return;
    throw new Error(`no run of this page has a column '${column}'`);
  }

  const rank = (value) => (value === null || value === undefined ? 0 : typeof value === "number" ? 1 : 2);

  /// The order of values: missing ones, numbers, texts, to which true and false belong.
  function compare(a, b) {
    if (rank(a) !== rank(b) || rank(a) === 0) return rank(a) - rank(b);
    const [x, y] = rank(a) === 1 ? [a, b] : [String(a), String(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  }

  function value_holds({ sign, values }, value) {
    const is_one_of = () => values.some((asked) =>
      compare(value, asked.value) === 0 || (typeof value === "string" && asked.written === value));
    if (sign === "=") return is_one_of();
    if (sign === "!=") return !is_one_of();
    if (typeof value !== "number") return false;
    const limit = values[0].value;
    return sign === "<" ? value < limit : sign === "<=" ? value <= limit : sign === ">" ? value > limit : value >= limit;
  }

  /// Whether a run meets a condition. Of several experiments or tags one does; none may, if none is to be met.
  function holds(condition, run) {
    const several = condition.column === "experiment" ? run.experiments : condition.column === "tag" ? run.tags : undefined;
    if (!several || several.length === 0) return value_holds(condition, value_of(run, condition.column));
    const met = (value) => value_holds(condition, value);
    return condition.sign === "!=" ? several.every(met) : several.some(met);
  }

  return { parse, holds, value_of, compare, check_column };
})();
