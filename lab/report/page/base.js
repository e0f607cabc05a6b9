// Elements, numbers and the registry of sections (or functions that give sections from the
// document). Text reaches the page through text nodes only.

const K = { doc: null, charts: [], registry: {} };

K.sections = (schema, list) => {
  K.registry[schema] = (K.registry[schema] || []).concat(list);
};

// Names may hold control characters, which a page would swallow.
K.printable = text =>
  text.replace(/(?![\t\n])\p{Cc}/gu, c => "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0"));

K.h = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value !== undefined && value !== null && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined)
      element.append(child instanceof Node ? child : K.printable(String(child)));
  return element;
};
K.note = text => K.h("p", { class: "note" }, text);
K.fold = (title, ...content) =>
  K.h("details", {}, K.h("summary", {}, title), K.h("div", { class: "scroll" }, content));

K.list = value => (Array.isArray(value) ? value : []);
K.dict = value => (value && typeof value === "object" && !Array.isArray(value) ? value : {});
K.finite = value => typeof value === "number" && Number.isFinite(value);
K.unique = values => [...new Set(values)];
K.sum = values => values.reduce((a, b) => a + b, 0);
K.mean = values => (values.length ? K.sum(values) / values.length : NaN);
K.median = values => {
  const v = values.filter(K.finite).sort((a, b) => a - b),
    n = v.length;
  return n === 0 ? NaN : n % 2 ? v[(n - 1) / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
};
K.extremes = values => {
  // spreading a long list over Math.max's arguments overflows the stack
  let low = Infinity,
    high = -Infinity;
  for (const v of values)
    if (K.finite(v)) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
  return [low, high];
};

// Rows as pack.hpp packs them: lists of one column each. Numbers are differences, in base 32 from
// the lowest digit on, as in source maps.
K.digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
K.unpack_numbers = text => {
  const numbers = [];
  let sum = 0,
    value = 0,
    unit = 1;
  for (const c of text) {
    const digit = K.digits.indexOf(c);
    value += (digit % 32) * unit;
    unit *= 32;
    if (digit >= 32) continue;
    sum += value % 2 ? -(value + 1) / 2 : value / 2;
    numbers.push(sum);
    value = 0;
    unit = 1;
  }
  return numbers;
};
K.unpack_column = (column, rows) => {
  if (Array.isArray(column)) return column;
  if ("all" in column) return Array(rows).fill(column.all);
  const numbers = K.unpack_numbers(column.text);
  return "of" in column ? numbers.map(n => column.of[n]) : numbers.map(n => n / column.scale);
};
K.unpack = packed => {
  if (Array.isArray(packed)) return packed;
  const { rows = 0, columns = {} } = K.dict(packed);
  const all = Object.entries(columns).map(([name, column]) => [
    name,
    K.unpack_column(column, rows),
  ]);
  return Array.from({ length: rows }, (_, i) =>
    Object.fromEntries(all.map(([name, values]) => [name, values[i]])),
  );
};

const none = "–";
K.fixed = (value, digits) => (K.finite(value) ? value.toFixed(digits) : none);
K.count = value => (K.finite(value) ? Math.round(value).toLocaleString("en-US") : none);
K.short = value => {
  if (!K.finite(value)) return none;
  for (const [unit, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ])
    if (Math.abs(value) >= unit) return String(Number((value / unit).toPrecision(3))) + letter;
  return String(Number(value.toPrecision(3)));
};
K.times = value => (K.finite(value) ? value.toFixed(2) + "×" : none);
K.percent = value =>
  K.finite(value) ? (value * 100).toFixed(value > 0 && value < 0.0995 ? 1 : 0) + " %" : none;
K.unit_of = seconds => (seconds >= 1 ? ["s", 1] : seconds >= 1e-3 ? ["ms", 1e3] : ["µs", 1e6]);
K.seconds = value => {
  if (!K.finite(value)) return none;
  if (value === 0) return "0 s";
  const [unit, scale] = K.unit_of(Math.abs(value));
  return Number((value * scale).toPrecision(3)) + " " + unit;
};
K.or_list = words =>
  words.length < 2
    ? words.join("")
    : words.slice(0, -1).join(", ") + " and " + words[words.length - 1];

// Warm runs are rows of their own, beside the cold ones of the same policy.
K.row_name = row => String(row.policy ?? "?") + (row.warm ? " (warm)" : "");
K.scenario = row => String(row.disturb ?? "none");
K.scenario_title = name => (name === "none" ? "Undisturbed" : name);
K.place_name = p =>
  p.width > 1 ? `cores ${p.leader}–${p.leader + p.width - 1}` : `core ${p.leader}`;
K.place_key = p => `${p.leader}/${p.width}`;

// Rows that measure the same thing, in the order of the configuration, else of appearance.
K.group = (rows, key, preferred) => {
  const groups = new Map();
  for (const name of preferred) groups.set(String(name), []);
  for (const row of rows) {
    const name = key(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  for (const [name, members] of groups) if (!members.length) groups.delete(name);
  return groups;
};
K.by_scenario = rows =>
  K.group(rows, K.scenario, ["none", ...K.list(K.dict(K.doc.config).disturbs)]);
K.by_policy = rows =>
  K.group(
    rows,
    K.row_name,
    K.list(K.dict(K.doc.config).policies).flatMap(p => [p, p + " (warm)"]),
  );

K.table = (caption, head, rows, options = {}) =>
  K.h(
    "table",
    { class: options.class ?? null },
    caption ? K.h("caption", {}, caption) : null,
    K.h(
      "thead",
      {},
      K.h(
        "tr",
        {},
        head.map(text => K.h("th", { scope: "col" }, text)),
      ),
    ),
    K.h(
      "tbody",
      {},
      rows.map((cells, i) =>
        K.h(
          "tr",
          { class: options.best === i ? "best" : null },
          cells.map((cell, j) =>
            j === 0
              ? K.h("th", { scope: "row" }, cell)
              : K.h("td", { class: options.mark ? options.mark(i, j) : null }, cell),
          ),
        ),
      ),
    ),
  );

K.keys = entries =>
  K.h(
    "ul",
    { class: "keys" },
    entries.map(({ color, text, shape }) =>
      K.h(
        "li",
        {},
        K.h("span", {
          class: "key" + (shape ? " " + shape : ""),
          style:
            shape === "tick" || shape === "dash"
              ? { borderColor: `var(${color})` }
              : shape === "hatch"
                ? { color: `var(${color})` }
                : { background: `var(${color})` },
        }),
        text,
      ),
    ),
  );
