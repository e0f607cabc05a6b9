// The closing sections and the page itself.

const closing = {};

closing.value = value => {
  if (value === null || value === undefined || value === "") return none;
  if (Array.isArray(value))
    return value.length ? value.map(v => (v && typeof v === "object" ? JSON.stringify(v) : String(v))).join(", ") : none;
  if (typeof value === "object")
    return Object.entries(value)
      .map(([k, v]) => `${k} ${v && typeof v === "object" ? JSON.stringify(v) : v}`)
      .join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
};
closing.facts = (host, title, facts) => {
  const entries = Object.entries(K.dict(facts));
  host.append(K.h("h3", { style: { marginTop: "14px" } }, title));
  if (!entries.length) return void host.append(K.note(`This document has no ${title.toLowerCase()}.`));
  host.append(
    K.h(
      "dl",
      { class: "facts" },
      entries.map(([name, value]) => [K.h("dt", {}, name.replaceAll("_", " ")), K.h("dd", {}, closing.value(value))]),
    ),
  );
};

closing.machine = host => {
  const machine = K.dict(K.doc.machine),
    cores = K.list(machine.cores);
  const kinds = K.list(machine.kinds).map(k => (typeof k === "string" ? k : K.dict(k).name));
  const kind = k => (typeof k === "number" ? (kinds[k] ?? `kind ${k}`) : k);
  const facts = {};
  if (machine.name) facts.name = machine.name;
  if (cores.length) facts.cores = cores.length;
  for (const [cluster, members] of K.group(cores, c => String(c.cluster ?? 0), []))
    facts[`cluster ${cluster}`] =
      `${members.length} × ${kind(members[0].kind) ?? "core"}: ` +
      members.map(c => `core ${c.id}` + (K.finite(c.os_index) ? ` (cpu ${c.os_index})` : "")).join(", ");
  if (K.list(machine.places).length) facts.places = machine.places.map(p => `(${p.leader},${p.width})`).join(" ");
  closing.facts(host, "Machine", facts);
};

closing.setup = host => {
  closing.facts(host, "Configuration", K.doc.config);
  closing.machine(host);
  closing.facts(host, "Environment", K.doc.environment);
};

closing.words = host =>
  host.append(
    K.h(
      "dl",
      { class: "words" },
      [
        ...K.list(K.doc.columns)
          .filter(c => c.head && c.meaning)
          .map(c => [c.head, c.meaning]),
        [
          "bound",
          "The least time in which these cores could do this work: the larger of all work over the capacity of the " +
            "cores and the longest chain on the freest core. It is measured by pinned loops of the same kernel, alone " +
            "and on all cores at once, under the same disturbance, before and after the runs, never from the runs " +
            "themselves. Measured bounds have errors too, so a run may come out slightly above 100 %; where one comes out more " +
            "than 3 % above, the bound was measured too low and the findings say so.",
        ],
        [
          "place",
          "The cores that run one task together, led by the lowest. A place of one core is an ordinary task; wider " +
            "places share one task's work.",
        ],
        [
          "critical task",
          "A task that much of the graph waits for. Policies may treat it apart: give it the place that finishes it first.",
        ],
        ["learned time", "What the policy expects a task of one type to take on a place, learned from the tasks that ran there."],
        [
          "slowdown",
          "How much longer a core takes than when it belongs to this program alone: 2× means that half of its time " +
            "goes elsewhere.",
        ],
        [
          "disturber",
          "The co-runner's own speed during the runs, against running alone: what the program's gain cost the other one.",
        ],
        ["explored", "Tasks sent somewhere in order to learn, not because it looked best."],
      ].map(([word, meaning]) => [K.h("dt", {}, word), K.h("dd", {}, meaning)]),
    ),
  );

K.sections("kilter.compare/2", [
  { id: "setup", title: "Configuration and environment", draw: results.setup },
  { id: "words", title: "What the numbers mean", draw: closing.words },
]);

K.headings = {
  "kilter.compare/2": () => results.heading(),
  "kilter.reproduce/1": () => verdicts.heading(),
  "kilter.matrix/1": () => results.heading(),
  "kilter.run/1": () => regions.heading(),
};

K.section = ({ id, title, lead, draw }) => {
  const host = K.h(
    "section",
    { id, "aria-labelledby": id + "-title" },
    K.h("h2", { id: id + "-title" }, title),
    lead ? K.h("p", { class: "lead" }, lead) : null,
  );
  document.getElementById("content").append(host);
  try {
    draw(host);
  } catch (error) {
    // one malformed part of a document must not hide the others
    host.append(K.note(`This section could not be drawn: ${error.message}`));
    console.error(error);
  }
};

K.set_printing = printing => {
  document.documentElement.classList.toggle("printing", printing);
  for (const entry of K.charts) if (entry.chart) entry.chart.resize();
};

K.start_theme = () => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = location.hash === "#dark" ? true : location.hash === "#light" ? false : null;
  K.set_theme(chosen ?? system.matches);
  system.addEventListener("change", () => {
    if (chosen === null) K.set_theme(system.matches);
  });
  document.getElementById("theme").addEventListener("click", () => {
    chosen = !K.dark();
    K.set_theme(chosen);
  });
  let was_dark = false;
  addEventListener("beforeprint", () => {
    was_dark = K.dark();
    K.set_printing(true);
    K.set_theme(false);
  });
  addEventListener("afterprint", () => {
    K.set_printing(false);
    K.set_theme(was_dark);
  });
};

K.start = () => {
  K.doc = JSON.parse(document.getElementById("document").textContent);
  results.unfold();
  for (const part of ["runs", "rows", "details"])
    K.doc[part] = K.list(K.doc[part]).filter(row => row && typeof row === "object");
  K.start_theme();
  const content = document.getElementById("content"),
    sections = (K.registry[K.doc.schema] || []).flatMap(s => (typeof s === "function" ? s() : s));
  const { title, meta, verdict } = K.headings[K.doc.schema]();
  document.title = `${title} – Kilter`;
  content.append(
    K.h("p", { class: "meta", style: { margin: "26px 0 0" } }, title),
    K.h("h1", { style: { marginTop: "4px" } }, verdict),
    K.h("p", { class: "meta" }, meta),
    K.h(
      "nav",
      { "aria-label": "Sections" },
      K.h(
        "ul",
        {},
        sections.map(s => K.h("li", {}, K.h("a", { href: "#" + s.id }, s.nav ?? s.title))),
      ),
    ),
  );
  for (const section of sections) K.section(section);
};

K.start();
