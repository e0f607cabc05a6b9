// Sections of kilter.compare/2 and kilter.matrix/1. One experiment has bars, places and cores; several
// have a heat map for each disturbance, graphs and machines downwards, policies across.

const results = {};

results.rows = () => K.list(K.doc.rows).filter(r => r && typeof r === "object");
results.is_matrix = () => K.doc.schema === "kilter.matrix/1";
results.is_single = () => !results.is_matrix() && K.list(K.doc.experiments).length === 1;
results.kind = r => String(r.kind ?? r.disturb ?? "none");
results.value = r => (results.is_matrix() ? r.ratio_to_best : r.ratio_to_rws);
results.place = r => `${r.graph} on ${String(r.on).replace(/^sim:/, "")}`;
results.policies = () => K.unique(results.rows().map(r => String(r.policy)));

// What a single experiment has stands where the sections look for it.
results.unfold = () => {
  if (results.is_single()) {
    const { machine, config, runs, bounds, details } = K.dict(K.doc.experiments[0]);
    Object.assign(K.doc, { machine, config, runs, bounds, details });
  }
};

results.cells = () => {
  // one cell a (scenario, policy): its row, and its runs if there are any
  const scenarios = new Map();
  for (const [scenario, rows] of K.by_scenario(results.rows())) {
    const runs = K.list(K.doc.runs).filter(r => K.scenario(r) === scenario);
    scenarios.set(
      scenario,
      rows.map(row => {
        const own = runs.filter(r => K.row_name(r) === K.row_name(row));
        const [low, high] = K.extremes(own.map(r => r.throughput));
        const bound = K.median(own.filter(r => r.bound_s > 0).map(r => r.tasks / r.bound_s));
        return { name: K.row_name(row), policy: row.policy, runs: own, row, low, high, bound, throughput: row.throughput };
      }),
    );
  }
  return scenarios;
};

// The row in which a policy is furthest ahead of rws; an undisturbed one only if there is no other.
results.best = () => {
  const rows = results.rows().filter(r => K.finite(r.ratio_to_rws) && r.policy !== "rws");
  const disturbed = rows.filter(r => K.scenario(r) !== "none");
  return (disturbed.length ? disturbed : rows).reduce(
    (a, b) => (!a || b.ratio_to_rws > a.ratio_to_rws ? b : a),
    null,
  );
};

// What a value of a column looks like, by its unit.
results.shown = (value, unit) => {
  if (!K.finite(value)) return typeof value === "string" ? value : none;
  const by_unit = { s: K.seconds, "1/s": K.short, share: K.percent, J: K.short, "J s": K.short };
  return (by_unit[unit] ?? (v => K.fixed(v, 2)))(value);
};

results.shown_of = (row, column) =>
  column.name === "ratio_to_rws_min"
    ? K.finite(row.ratio_to_rws_min)
      ? `${K.fixed(row.ratio_to_rws_min, 2)} – ${K.fixed(row.ratio_to_rws_max, 2)}`
      : none
    : results.shown(row[column.name], column.unit);

// Columns come from the document: a new one needs nothing here.
results.table = (host, caption, rows, runs_of) => {
  const columns = K.list(K.doc.columns).filter(
    c => c.head && c.name !== "policy" && rows.some(r => r[c.name] !== null && r[c.name] !== undefined),
  );
  const progress = rows.map(r => K.median(runs_of(r).map(run => run.disturber_progress)));
  const beside = progress.some(K.finite);
  const ratios = rows.map(r => r.ratio_to_rws),
    at = 1 + columns.findIndex(c => c.name === "ratio_to_rws");
  host.append(
    K.h(
      "div",
      { class: "scroll" },
      K.table(
        caption,
        ["policy", ...columns.map(c => c.head), ...(beside ? ["co-runner"] : [])],
        rows.map((r, i) => [
          K.row_name(r),
          ...columns.map(c => results.shown_of(r, c)),
          ...(beside ? [K.percent(progress[i])] : []),
        ]),
        {
          best: ratios.indexOf(K.extremes(ratios)[1]),
          mark: (i, j) => (j === at && ratios[i] < 0.97 ? "low" : j > at ? "faint" : null),
        },
      ),
    ),
  );
};

results.tables = host => {
  const scenarios = results.cells();
  if (!scenarios.size) return void host.append(K.note("This document has no rows."));
  for (const [scenario, cells] of scenarios)
    results.table(
      host,
      K.scenario_title(scenario),
      cells.map(c => c.row),
      row => cells.find(c => c.row === row).runs,
    );
};

results.all_rows = host => {
  const tables = [...K.group(results.rows(), r => `${results.place(r)}, ${K.scenario_title(results.kind(r))}`, [])].map(
    ([title, rows]) => {
      const part = K.h("div", {});
      results.table(part, title, rows, () => []);
      return part;
    },
  );
  host.append(K.fold("All rows", tables));
};

// The spread as a line with caps, and the bound as a dashed tick through the row.
results.marks = cells => [
  {
    type: "custom",
    silent: true,
    z: 4,
    data: cells.map((c, i) => [c.low, c.high, i]).filter(d => d[1] > d[0]),
    renderItem: (_, api) => {
      const [x1, y] = api.coord([api.value(0), api.value(2)]),
        [x2] = api.coord([api.value(1), api.value(2)]);
      const style = { stroke: K.color("--ink"), lineWidth: 1.4, opacity: 0.75 };
      const line = (a, b, c, d) => ({ type: "line", shape: { x1: a, y1: b, x2: c, y2: d }, style });
      return { type: "group", children: [line(x1, y, x2, y), line(x1, y - 4, x1, y + 4), line(x2, y - 4, x2, y + 4)] };
    },
    encode: { x: [0, 1], y: 2 },
  },
  {
    type: "custom",
    silent: true,
    z: 5,
    data: cells.map((c, i) => [c.bound, i]).filter(d => K.finite(d[0])),
    renderItem: (_, api) => {
      const [x, y] = api.coord([api.value(0), api.value(1)]),
        half = api.size([0, 1])[1] / 2;
      return {
        type: "line",
        shape: { x1: x, x2: x, y1: y - half, y2: y + half },
        style: { stroke: K.color("--hot"), lineWidth: 2, lineDash: [4, 3] },
      };
    },
    encode: { x: 0, y: 1 },
  },
];

results.throughput = host => {
  const scenarios = results.cells();
  if (!scenarios.size) return void host.append(K.note("This document has no rows."));
  host.append(
    K.keys([
      { color: "--accent", text: "median of the repeats" },
      { color: "--base", text: "rws, the baseline" },
      { color: "--ink", shape: "whisker", text: "slowest to fastest repeat" },
      { color: "--hot", shape: "tick", text: "bound: what the cores could give" },
    ]),
  );
  const all = [...scenarios.values()].flat();
  const limit = K.extremes(all.flatMap(c => [c.throughput, c.high, c.bound]))[1] * 1.04;
  const panels = K.h("div", { class: "panels" });
  host.append(panels);
  for (const [scenario, cells] of scenarios) {
    const names = cells.map(c => c.name);
    const panel = K.panel(panels, K.scenario_title(scenario));
    K.chart(panel, {
      height: cells.length * 30 + 56,
      label:
        `Throughput, ${K.scenario_title(scenario)}: ` +
        cells.map(c => `${c.name} ${K.short(c.throughput)} tasks a second`).join(", "),
      make: chart => {
        const left = K.name_width(names, chart.getWidth());
        return {
          ...K.base_option(),
          grid: { left, right: 58, top: 4, bottom: 42 },
          xAxis: K.value_axis({
            min: 0,
            max: K.finite(limit) ? limit : null,
            name: "tasks per second",
            nameLocation: "middle",
            nameGap: 26,
            axisLabel: { color: K.color("--faint"), fontSize: 11, hideOverlap: true, showMaxLabel: false, formatter: K.short },
          }),
          yAxis: [
            K.name_axis(names, { axisLabel: { width: left - 12 } }),
            K.name_axis(
              cells.map((c, i) => `${i}`),
              {
                position: "right",
                axisLabel: { color: K.color("--soft"), formatter: i => K.times(cells[Number(i)].row.ratio_to_rws) },
              },
            ),
          ],
          series: [
            {
              type: "bar",
              barWidth: 15,
              emphasis: { disabled: true },
              data: cells.map(c => ({
                value: c.throughput,
                itemStyle: { color: K.color(c.policy === "rws" ? "--base" : "--accent"), borderRadius: [0, 2, 2, 0] },
              })),
            },
            { type: "bar", yAxisIndex: 1, data: [], silent: true },
            ...results.marks(cells),
          ],
          tooltip: {
            ...K.base_option().tooltip,
            trigger: "item",
            formatter: item => {
              const c = cells[item.dataIndex];
              return K.tip(c.name, [
                `${K.count(c.throughput)} tasks/s (${K.count(c.low)} to ${K.count(c.high)})`,
                `${K.times(c.row.ratio_to_rws)} of rws`,
                `${K.percent(c.row.ratio_to_bound)} of the bound`,
                `${c.runs.length} runs`,
              ]);
            },
          },
        };
      },
    });
  }
  host.append(
    K.h(
      "p",
      { class: "lead", style: { marginTop: "12px" } },
      "The number at the right of each bar is the median ratio to rws in the same scenario.",
    ),
  );
};

results.place_totals = runs => {
  const totals = new Map();
  for (const p of runs.flatMap(r => K.list(r.places))) {
    const entry = totals.get(K.place_key(p)) || { place: p, critical: 0, other: 0 };
    entry.critical += p.critical || 0;
    entry.other += p.other || 0;
    totals.set(K.place_key(p), entry);
  }
  return totals;
};

results.places = host => {
  const runs = K.list(K.doc.runs);
  const order = [...results.place_totals(runs).values()].filter(e => e.critical > 0).sort((a, b) => b.critical - a.critical);
  if (!order.length) return void host.append(K.note("No run placed a critical task, so there are no shares to show."));
  const kept = order.slice(0, K.palette.length).sort((a, b) => a.place.width - b.place.width || a.place.leader - b.place.leader);
  const shown = K.colored(kept.map(e => ({ key: K.place_key(e.place), name: K.place_name(e.place) })));
  if (order.length > shown.length)
    shown.push({ key: null, name: `${order.length - shown.length} other places`, color: K.rest_color });
  host.append(K.keys(shown.map(s => ({ color: s.color, text: s.name }))));
  const panels = K.h("div", { class: "panels" }),
    tables = [];
  host.append(panels);
  for (const [scenario, rows] of K.by_scenario(runs)) {
    const policies = [...K.by_policy(rows)].map(([name, members]) => {
      const totals = results.place_totals(members);
      const all = K.sum([...totals.values()].map(e => e.critical));
      const counts = shown.map(s =>
        s.key
          ? (totals.get(s.key) || { critical: 0 }).critical
          : K.sum([...totals].filter(([key]) => !shown.some(o => o.key === key)).map(([, e]) => e.critical)),
      );
      return { name, all, shares: counts.map(n => (all ? n / all : 0)), counts };
    });
    K.stacked_bars(panels, {
      title: K.scenario_title(scenario),
      names: policies.map(p => p.name + (p.all ? "" : " (none)")),
      limit: 1,
      axis: v => K.percent(v),
      parts: shown.map((s, i) => ({ name: s.name, color: s.color, values: policies.map(p => p.shares[i]) })),
      label: `Places of critical tasks, ${K.scenario_title(scenario)}; the table below has the figures`,
      describe: (row, part) =>
        K.tip(policies[row].name, [
          `${K.percent(policies[row].shares[part])} of critical tasks on ${shown[part].name}`,
          `${K.count(policies[row].counts[part])} of ${K.count(policies[row].all)}`,
        ]),
    });
    tables.push(
      K.table(
        K.scenario_title(scenario),
        ["policy", ...shown.map(s => s.name), "critical tasks"],
        policies.map(p => [p.name, ...p.shares.map(v => (p.all ? K.percent(v) : none)), K.count(p.all)]),
      ),
    );
  }
  host.append(K.fold("The same as a table", tables));
};

// Cores, or, where a colour for each would be unreadable, clusters, or runs of neighbouring cores.
results.core_groups = cores => {
  const sorted = [...cores].sort((a, b) => a - b),
    machine = K.list(K.dict(K.doc.machine).cores);
  if (sorted.length <= K.palette.length) return sorted.map(c => ({ name: `core ${c}`, has: o => o === c }));
  const cluster_of = new Map(machine.map(c => [c.id, c.cluster]));
  const clusters = K.unique(sorted.map(c => cluster_of.get(c))).filter(c => c !== undefined);
  if (clusters.length > 1 && clusters.length <= K.palette.length)
    return clusters.map(cluster => {
      const members = sorted.filter(c => cluster_of.get(c) === cluster);
      return { name: `cluster ${cluster} (${members.length} cores)`, has: c => cluster_of.get(c) === cluster };
    });
  const size = Math.ceil(sorted.length / K.palette.length);
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, i) => {
    const members = new Set(sorted.slice(i * size, (i + 1) * size)),
      list = [...members];
    return { name: `cores ${list[0]}–${list[list.length - 1]}`, has: c => members.has(c) };
  });
};

results.cores = host => {
  const runs = K.list(K.doc.runs).filter(r => K.list(r.cores).length);
  if (!runs.length) return void host.append(K.note("No run recorded the work time of its cores."));
  const groups = K.colored(results.core_groups(K.unique(runs.flatMap(r => r.cores.map(c => c.core)))));
  const mean = members =>
    groups.map(g => K.mean(members.map(r => K.sum(r.cores.filter(c => g.has(c.core)).map(c => c.work_s || 0)))));
  host.append(K.keys(groups.map(g => ({ color: g.color, text: g.name }))));
  const scenarios = [...K.by_scenario(runs)].map(([scenario, rows]) => [
    scenario,
    [...K.by_policy(rows)].map(([name, members]) => ({ name, work: mean(members) })),
  ]);
  const limit = K.extremes(scenarios.flatMap(([, rows]) => rows.map(r => K.sum(r.work))))[1];
  const panels = K.h("div", { class: "panels" });
  host.append(panels);
  for (const [scenario, rows] of scenarios)
    K.stacked_bars(panels, {
      title: K.scenario_title(scenario),
      names: rows.map(r => r.name),
      limit: limit > 0 ? limit * 1.02 : null,
      axis: v => (v > limit ? "" : K.seconds(v)),
      parts: groups.map((g, i) => ({ name: g.name, color: g.color, values: rows.map(r => r.work[i]) })),
      label: `Work time of each core, ${K.scenario_title(scenario)}; the table below has the figures`,
      describe: (row, part) =>
        K.tip(rows[row].name, [
          `${groups[part].name}: ${K.seconds(rows[row].work[part])} of work`,
          `all: ${K.seconds(K.sum(rows[row].work))}`,
        ]),
    });
  host.append(
    K.fold(
      "The same as a table",
      scenarios.map(([scenario, rows]) =>
        K.table(
          K.scenario_title(scenario),
          ["policy", ...groups.map(g => g.name), "all"],
          rows.map(r => [r.name, ...r.work.map(K.seconds), K.seconds(K.sum(r.work))]),
        ),
      ),
    ),
  );
};

// The best of a line is marked; the others fade towards the colour of a loss as they lose up to 40 % to it.
results.colour = ratio => {
  if (!K.finite(ratio)) return null;
  if (ratio >= 0.97) return `color-mix(in srgb, var(--accent) ${Math.round(ratio >= 1 ? 55 : 30)}%, var(--panel))`;
  return `color-mix(in srgb, var(--hot) ${Math.round(Math.min(80, ((1 - ratio) / 0.4) * 80))}%, var(--panel))`;
};

results.cell = (row, best) => {
  if (!row) return K.h("td", {}, none);
  const ratio = best / row.makespan_s;
  const lines = [
    `${row.policy}: ${K.seconds(row.makespan_s)} (${K.seconds(row.makespan_min_s)} to ${K.seconds(row.makespan_max_s)}, ${row.runs} runs)`,
    `${K.times(row.ratio_to_rws)} rws, ${K.percent(row.ratio_to_bound)} of the bound, SLR ${K.fixed(row.slr, 2)}, speedup ${K.fixed(row.speedup, 2)}`,
  ];
  return K.h("td", { title: lines.join("\n"), style: { background: results.colour(ratio) ?? "" } }, K.fixed(results.value(row), 2));
};

results.map = (host, kind) => {
  const rows = results.rows().filter(r => results.kind(r) === kind);
  const policies = results.policies();
  const lines = K.group(rows, results.place, []);
  const body = [...lines].map(([name, members]) => {
    const online = members.filter(r => !/^(heft|cpop)/.test(r.policy));
    const [best] = K.extremes((online.length ? online : members).map(r => r.makespan_s));
    const of = policy => members.find(r => r.policy === policy);
    return K.h("tr", {}, K.h("th", { scope: "row" }, name), policies.map(p => results.cell(of(p), best)));
  });
  const head = K.h("tr", {}, K.h("th", { scope: "col" }, ""), policies.map(p => K.h("th", { scope: "col" }, p)));
  host.append(K.h("div", { class: "scroll" }, K.h("table", { class: "heat" }, K.h("thead", {}, head), K.h("tbody", {}, body))));
};

results.lead = () =>
  (results.is_matrix()
    ? "Makespan of the best online policy over the policy's own: 1.00 is the best. Plans (heft, cpop) know every cost beforehand; they may be above 1."
    : "How many times as fast as rws: above 1 is faster.") +
  " Blue: within 3 % of the best online policy of the line. Orange: the more, the further from it. Point at a number for what it is made of.";

results.standings = host => {
  const rows = K.list(K.doc.policies).map(p => [
    p.policy,
    p.planned ? none : K.count(p.best),
    K.percent(p.within_3_percent / p.cells),
    K.fixed(p.ratio_mean, 3),
    K.fixed(p.ratio_median, 3),
    K.fixed(p.ratio_min, 3),
  ]);
  const head = ["policy", "best in cells", "within 3 % of the best", "geometric mean", "median", "least"];
  host.append(K.h("div", { class: "scroll" }, K.table(null, head, rows)));
};

results.conclusion = host => {
  const rows = K.list(K.dict(K.doc.conclusion).policies).map(p => [
    p.policy,
    K.fixed(p.lead, 3),
    K.finite(p.lead_min) ? `${K.fixed(p.lead_min, 3)} to ${K.fixed(p.lead_max, 3)}` : none,
    K.percent(p.ratio_to_bound),
  ]);
  const findings = K.list(K.doc.findings);
  if (findings.length) host.append(K.h("ul", { class: "findings" }, findings.map(text => K.h("li", {}, String(text)))));
  if (rows.length > 1)
    host.append(
      K.h(
        "div",
        { class: "scroll" },
        K.table(null, ["policy", "the first is so many times as fast", "over the runs", "of the bound"], rows),
      ),
    );
  if (!findings.length && !rows.length) host.append(K.note("This document comes to no conclusion."));
};

results.setup = host => {
  if (results.is_matrix() || results.is_single()) return closing.setup(host);
  for (const one of K.list(K.doc.experiments)) closing.facts(host, results.place(one), one.config);
  closing.facts(host, "Environment", K.doc.environment);
};

results.maps = () =>
  K.unique(results.rows().map(results.kind)).map((kind, i) => ({
    id: `map-${i}`,
    title: K.scenario_title(kind),
    lead: results.lead(),
    draw: host => results.map(host, kind),
  }));

results.single = [
  { id: "throughput", title: "Throughput", draw: results.throughput },
  {
    id: "rows",
    title: "All figures",
    lead: "Medians over the repeats, which were interleaved; the spread is the lowest and the highest ratio of one repeat.",
    draw: results.tables,
  },
  {
    id: "places",
    title: "Where critical tasks ran",
    lead: "Share of the critical tasks that each place executed, over all repeats.",
    draw: results.places,
  },
  {
    id: "cores",
    title: "Work time of the cores",
    lead:
      "Seconds that each core spent in task bodies, mean of the repeats. A core that something else uses takes " +
      "longer for the same task.",
    draw: results.cores,
  },
];

results.sections = () => [
  ...(results.is_matrix()
    ? [{ id: "standings", title: "Over all cells", draw: results.standings }]
    : [{ id: "findings", title: "What was learned", draw: results.conclusion }]),
  ...(results.is_single() ? results.single : results.maps()),
  ...(results.is_matrix() || results.is_single() ? [] : [{ id: "rows", title: "All figures", draw: results.all_rows }]),
];

// One line at the top; the section has all.
results.verdict = () => {
  const { best, policies, cells } = K.dict(K.doc.conclusion),
    [first, next] = K.list(policies);
  if (!first) return "No policy has run in every scenario.";
  if (!next) return `${first.policy} ran alone${K.finite(first.ratio_to_bound) ? `, at ${K.percent(first.ratio_to_bound)} of the bound` : ""}.`;
  const over = cells > 1 ? ` over ${K.count(cells)} cells` : "";
  return best.length === 1
    ? `${first.policy} is best${over}: ${K.fixed(next.lead, 2)} times as fast as ${next.policy}.`
    : `No policy is best${over}: ${best.join(", ")} cannot be told apart.`;
};

results.heading = () => {
  if (results.is_single()) return results.heading_of_one(K.doc.experiments[0]);
  const rows = results.rows(),
    online = K.list(K.doc.policies).filter(p => !p.planned),
    first = [...online].sort((a, b) => b.ratio_mean - a.ratio_mean)[0];
  const cells = K.unique(rows.map(r => `${results.place(r)} ${results.kind(r)}`)).length;
  return {
    title: results.is_matrix() ? "Benchmark matrix" : "Comparison of policies",
    verdict: first
      ? `${first.policy} comes nearest to the best of each of ${K.count(cells)} cells: ${K.percent(first.within_3_percent / first.cells)} within 3 %.`
      : results.verdict(),
    meta: [`${K.count(K.unique(rows.map(r => r.graph)).length)} graphs`, `${K.count(K.unique(rows.map(r => r.on)).length)} machines`].join(" · "),
  };
};

results.heading_of_one = experiment => {
  const c = K.dict(experiment.config);
  const some = (n, one, many) => (n ? `${K.count(n)} ${n === 1 ? one : many}` : null);
  return {
    title: `${results.place(experiment)}${c.kernel ? `, ${c.kernel}` : ""}${K.finite(c.tile) ? ` ${c.tile}` : ""}`,
    verdict: results.verdict(),
    meta: [
      K.dict(K.doc.machine).name,
      some(K.list(K.dict(K.doc.machine).cores).length, "core", "cores"),
      some(c.tasks, "task", "tasks"),
      K.finite(c.parallelism) ? `parallelism ${c.parallelism}` : null,
      some(K.list(c.policies).length, "policy", "policies"),
      some(K.list(c.disturbs).length, "scenario", "scenarios"),
      some(K.finite(c.repeat) ? c.repeat : 0, "repeat", "repeats"),
    ]
      .filter(Boolean)
      .join(" · "),
  };
};

K.sections("kilter.compare/2", [results.sections]);
K.sections("kilter.matrix/1", [
  results.sections,
  { id: "setup", title: "Configuration and environment", draw: host => results.setup(host) },
]);
