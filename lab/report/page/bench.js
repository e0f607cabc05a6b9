// Sections of kilter.bench/1 that compare policies. A row is one policy (warm runs apart), a panel one scenario.

const bench = {};

bench.cells = () => {
  // one cell a (scenario, policy): its runs, and its line of the summary if there is one
  const scenarios = new Map();
  for (const [scenario, rows] of K.by_scenario(K.list(K.doc.runs))) {
    const summaries = K.list(K.doc.summary).filter(s => K.scenario(s) === scenario);
    scenarios.set(
      scenario,
      [...K.by_policy(rows)].map(([name, runs]) => {
        const summary = summaries.find(s => K.row_name(s) === name) || {};
        const [low, high] = K.extremes(runs.map(r => r.throughput));
        return {
          name,
          policy: runs[0].policy,
          runs,
          summary,
          low,
          high,
          throughput: K.finite(summary.throughput_median) ? summary.throughput_median : K.median(runs.map(r => r.throughput)),
          bound: K.median(runs.filter(r => r.bound_s > 0).map(r => r.tasks / r.bound_s)),
        };
      }),
    );
  }
  if (!scenarios.size)
    // a summary without runs still has its medians
    for (const [scenario, rows] of K.by_scenario(K.list(K.doc.summary)))
      scenarios.set(
        scenario,
        rows.map(s => ({
          name: K.row_name(s),
          policy: s.policy,
          runs: [],
          summary: s,
          low: NaN,
          high: NaN,
          throughput: s.throughput_median,
          bound: s.ratio_to_bound > 0 ? s.throughput_median / s.ratio_to_bound : NaN,
        })),
      );
  return scenarios;
};

// The scenario in which the best policy is furthest ahead of stealing at random; the undisturbed one only if there is no other.
bench.best = () => {
  const rows = K.list(K.doc.summary).filter(s => K.finite(s.ratio_to_rws_median) && s.policy !== "rws");
  const disturbed = rows.filter(s => K.scenario(s) !== "none");
  return (disturbed.length ? disturbed : rows).reduce(
    (a, b) => (!a || b.ratio_to_rws_median > a.ratio_to_rws_median ? b : a),
    null,
  );
};

bench.verdict = () => {
  const best = bench.best();
  if (!best) {
    const fastest = K.list(K.doc.summary)
      .filter(s => K.finite(s.throughput_median))
      .reduce((a, b) => (!a || b.throughput_median > a.throughput_median ? b : a), null);
    return fastest
      ? `${K.row_name(fastest)} ran ${K.count(fastest.throughput_median)} tasks a second; there is no other policy ` +
          `to compare with rws.`
      : "This document has no summary to judge by.";
  }
  const where = K.scenario(best) === "none" ? "Undisturbed" : `With ${K.scenario(best)}`;
  // A run faster than the bound says that the bound was measured too low; the findings say so.
  const holds = K.list(K.doc.summary).every(s => K.scenario(s) !== K.scenario(best) || !(s.ratio_to_bound > 1.03));
  const bound = holds && K.finite(best.ratio_to_bound) ? `, ${K.percent(best.ratio_to_bound)} of what the cores could give` : "";
  if (best.ratio_to_rws_median < 1.02)
    return (
      `${where}, no policy was more than 2 % ahead of random work stealing (rws); the best was ` +
      `${K.row_name(best)} at ${K.times(best.ratio_to_rws_median)}${bound}.`
    );
  return (
    `${where}, ${K.row_name(best)} was ${K.fixed(best.ratio_to_rws_median, 2)} times as fast as random work ` +
    `stealing (rws)${bound}.`
  );
};

bench.findings = host => {
  const findings = K.list(K.doc.findings);
  if (!findings.length) return void host.append(K.note("This document states no findings."));
  host.append(
    K.h(
      "ul",
      { class: "findings" },
      findings.map(text => K.h("li", {}, typeof text === "string" ? text : JSON.stringify(text))),
    ),
  );
};

// The spread as a line with caps, and the bound as a dashed tick through the row.
bench.marks = cells => [
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

bench.throughput = host => {
  const scenarios = bench.cells();
  if (!scenarios.size) return void host.append(K.note("This document has no runs."));
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
                axisLabel: { color: K.color("--soft"), formatter: i => K.times(cells[Number(i)].summary.ratio_to_rws_median) },
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
            ...bench.marks(cells),
          ],
          tooltip: {
            ...K.base_option().tooltip,
            trigger: "item",
            formatter: item => {
              const c = cells[item.dataIndex];
              return K.tip(c.name, [
                `${K.count(c.throughput)} tasks/s (${K.count(c.low)} to ${K.count(c.high)})`,
                `${K.times(c.summary.ratio_to_rws_median)} of rws`,
                `${K.percent(c.summary.ratio_to_bound)} of the bound`,
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

bench.ratios = host => {
  const scenarios = bench.cells();
  if (!scenarios.size) return void host.append(K.note("This document has no summary."));
  const panels = K.h("div", { class: "panels" });
  host.append(panels);
  for (const [scenario, cells] of scenarios) {
    const ratios = cells.map(c => c.summary.ratio_to_rws_median);
    const best = ratios.indexOf(K.extremes(ratios)[1]);
    const progress = cells.some(c => c.runs.some(r => K.finite(r.disturber_progress)));
    const rows = cells.map(({ name, runs, summary: s, throughput }) => [
      name,
      K.short(throughput),
      K.times(s.ratio_to_rws_median),
      K.finite(s.ratio_min) && K.finite(s.ratio_max) ? `${K.fixed(s.ratio_min, 2)} – ${K.fixed(s.ratio_max, 2)}` : none,
      K.percent(s.ratio_to_bound),
      ...(progress ? [K.percent(K.median(runs.map(r => r.disturber_progress)))] : []),
    ]);
    K.panel(panels, null).append(
      K.h(
        "div",
        { class: "scroll" },
        K.table(
          K.scenario_title(scenario),
          ["policy", "tasks/s", "× rws", "spread", "of bound", ...(progress ? ["disturber"] : [])],
          rows,
          { best, mark: (i, j) => (j === 2 && ratios[i] < 0.97 ? "low" : j >= 3 ? "faint" : null) },
        ),
      ),
    );
  }
};

bench.place_totals = runs => {
  const totals = new Map();
  for (const p of runs.flatMap(r => K.list(r.places))) {
    const entry = totals.get(K.place_key(p)) || { place: p, critical: 0, other: 0 };
    entry.critical += p.critical || 0;
    entry.other += p.other || 0;
    totals.set(K.place_key(p), entry);
  }
  return totals;
};

bench.places = host => {
  const runs = K.list(K.doc.runs);
  const order = [...bench.place_totals(runs).values()].filter(e => e.critical > 0).sort((a, b) => b.critical - a.critical);
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
      const totals = bench.place_totals(members);
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
bench.core_groups = cores => {
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

bench.cores = host => {
  const runs = K.list(K.doc.runs).filter(r => K.list(r.cores).length);
  if (!runs.length) return void host.append(K.note("No run recorded the work time of its cores."));
  const groups = K.colored(bench.core_groups(K.unique(runs.flatMap(r => r.cores.map(c => c.core)))));
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

K.sections("kilter.bench/1", [
  { id: "findings", title: "What was learned", draw: bench.findings },
  { id: "throughput", title: "Throughput", draw: bench.throughput },
  {
    id: "ratios",
    title: "Against random work stealing",
    lead: "Medians over the repeats, which were interleaved; the spread is the lowest and the highest ratio of one repeat.",
    draw: bench.ratios,
  },
  {
    id: "places",
    title: "Where critical tasks ran",
    lead: "Share of the critical tasks that each place executed, over all repeats.",
    draw: bench.places,
  },
  {
    id: "cores",
    title: "Work time of the cores",
    lead:
      "Seconds that each core spent in task bodies, mean of the repeats. A core that something else uses takes " +
      "longer for the same task.",
    draw: bench.cores,
  },
]);
