// The papers' figures, drawn from our runs. A figure has panels; in a panel a number for each group and series.

const figures = {};

figures.axis_titles = {
  scenario: "workload",
  policy: "scheduler",
  disturb: "disturbance",
  tile: "side of a tile",
  weight: "weight of a new time",
  place: "place (leader, width)",
  when: "part of the run",
};
figures.value_name = (axis, value) =>
  ({
    core: `core ${value}`,
    cores: `cores ${value}`,
    width: `width ${value}`,
    workers: `${value} ${value === "1" ? "worker" : "workers"}`,
    place: value
      .split("+")
      .map(p => `(${p})`)
      .join(" + "),
    disturb: value === "none" ? "undisturbed" : value,
  })[axis] ?? value;

figures.name = f => String(f.id).replace("-Fig.", " Fig. ");
figures.axis = a => {
  const axis = K.dict(a);
  const values = K.list(axis.values);
  return {
    name: axis.name,
    title: figures.axis_titles[axis.name] ?? axis.name ?? "",
    values,
    // On an axis whose title says what it is, the bare number is enough.
    short: values.map(v => (axis.name === "place" ? figures.value_name("place", v) : v)),
    names: values.length ? values.map(v => figures.value_name(axis.name, v)) : [""],
  };
};

// What the drawings need of a figure: its axes, its points by place, how its numbers are written.
figures.view = f => {
  const points = new Map(K.list(f.points).map(p => [p.at.join("/"), p]));
  return {
    f,
    panel: figures.axis(f.panel),
    group: figures.axis(f.group),
    series: figures.axis(f.series),
    at: (panel, group, series) => points.get(`${panel}/${group}/${series}`),
    printed: K.list(f.points).some(p => K.finite(p.published)),
    number: v => (f.unit === "seconds" ? K.seconds(v) : verdicts.number(v, f.share)),
    tick: v => (f.share ? K.percent(v) : f.unit === "seconds" ? K.seconds(v) : K.short(v)),
  };
};
figures.value = p => (p && K.finite(p.obtained) ? p.obtained : null);

figures.tip = (v, title, p) =>
  K.tip(title, [
    `obtained ${v.number(p?.obtained)}`,
    `${v.number(p?.low)} to ${v.number(p?.high)}`,
    p && K.finite(p.published) ? `published ${v.number(p.published)}${p.note ? ", " + p.note : ""}` : "published: not printed",
  ]);

figures.keys = (host, v, entries) =>
  host.append(
    K.keys([
      ...entries,
      ...(v.printed ? [{ color: "--hot", shape: "dash", text: "published" }] : []),
      ...(v.f.seeds > 1 && /bars|lines/.test(v.f.kind) ? [{ color: "--ink", shape: "whisker", text: "two standard deviations" }] : []),
    ]),
  );
figures.series_keys = v => v.series.names.map((text, i) => ({ color: K.palette[i % K.palette.length], text }));

figures.panels = (host, v, wide) => {
  const panels = K.h("div", { class: "panels" + (wide ? " wide" : "") });
  host.append(panels);
  return v.panel.names.map((name, i) => ({ panel: K.panel(panels, name), name, i }));
};
figures.label = (v, name) => `${figures.name(v.f)}, ${v.f.title}${name ? ", " + name : ""}; the table below has the figures`;

// Whiskers and published ticks over bars that stand side by side.
figures.bar_layout = { barGap: "10%", barCategoryGap: "22%" };
figures.bar_marks = (v, panel) => ({
  type: "custom",
  silent: true,
  z: 5,
  data: v.group.names.flatMap((_, g) =>
    v.series.names.map((_, s) => {
      const p = v.at(panel, g, s) || {};
      return [g, p.low ?? NaN, p.high ?? NaN, p.published ?? NaN, s];
    }),
  ),
  renderItem: (_, api) => {
    const layout = api.barLayout({ ...figures.bar_layout, count: v.series.names.length })[api.value(4)];
    const x = api.coord([api.value(0), 0])[0] + layout.offsetCenter,
      half = layout.width / 2;
    const y = value => api.coord([api.value(0), value])[1];
    const line = (x1, y1, x2, y2, style) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
    const children = [];
    const [low, high, published] = [api.value(1), api.value(2), api.value(3)];
    if (high > low) {
      const style = { stroke: K.color("--ink"), lineWidth: 1.2, opacity: 0.75 },
        cap = Math.min(4, half);
      children.push(line(x, y(low), x, y(high), style), line(x - cap, y(low), x + cap, y(low), style), line(x - cap, y(high), x + cap, y(high), style));
    }
    if (K.finite(published))
      children.push(line(x - half, y(published), x + half, y(published), { stroke: K.color("--hot"), lineWidth: 2.5, lineDash: [4, 2] }));
    return { type: "group", children };
  },
  encode: { x: 0, y: [1, 2, 3] },
});

figures.vertical = (v, more) => ({
  ...K.base_option(),
  grid: { left: 58, right: 12, top: 26, bottom: 44 },
  yAxis: K.value_axis({
    name: v.f.unit === "seconds" ? "" : v.f.unit,
    nameLocation: "end",
    nameTextStyle: { color: K.color("--faint"), fontSize: 11, align: "left", padding: [0, 0, 0, -50] },
    axisLabel: { color: K.color("--faint"), fontSize: 11, hideOverlap: true, formatter: v.tick },
  }),
  ...more,
});
figures.bottom_axis = (axis, more) => ({
  type: "category",
  data: axis.short,
  name: axis.title,
  nameLocation: "middle",
  nameGap: 28,
  nameTextStyle: { color: K.color("--faint"), fontSize: 11 },
  axisTick: { show: false },
  axisLine: { lineStyle: { color: K.color("--line") } },
  axisLabel: { color: K.color("--soft"), fontSize: 11, hideOverlap: true },
  ...more,
});

figures.bars = (host, v) => {
  if (v.series.name) figures.keys(host, v, figures.series_keys(v));
  else figures.keys(host, v, []);
  for (const { panel, name, i } of figures.panels(host, v))
    K.chart(panel, {
      height: 270,
      label: figures.label(v, name),
      make: () =>
        figures.vertical(v, {
          xAxis: figures.bottom_axis(v.group),
          series: [
            ...v.series.names.map((series, s) => ({
              type: "bar",
              name: series,
              ...figures.bar_layout,
              emphasis: { disabled: true },
              itemStyle: { color: K.color(K.palette[s % K.palette.length]), borderRadius: [2, 2, 0, 0] },
              data: v.group.names.map((_, g) => figures.value(v.at(i, g, s))),
            })),
            figures.bar_marks(v, i),
          ],
          tooltip: {
            ...K.base_option().tooltip,
            trigger: "item",
            formatter: item =>
              figures.tip(v, [v.series.names[item.seriesIndex], v.group.names[item.dataIndex]].filter(Boolean).join(", "), v.at(i, item.dataIndex, item.seriesIndex)),
          },
        }),
    });
};

figures.stacks = (host, v) => {
  figures.keys(host, v, figures.series_keys(v));
  const totals = v.panel.names.flatMap((_, i) => v.group.names.map((_, g) => K.sum(v.series.names.map((_, s) => figures.value(v.at(i, g, s)) ?? 0))));
  const limit = K.extremes(totals)[1] * 1.02;
  const panels = K.h("div", { class: "panels wide" });
  host.append(panels);
  v.panel.names.forEach((name, i) =>
    K.stacked_bars(panels, {
      title: name,
      names: v.group.names,
      limit,
      axis: value => (value >= limit ? "" : v.tick(value)),
      parts: v.series.names.map((series, s) => ({
        name: series,
        color: K.palette[s % K.palette.length],
        values: v.group.names.map((_, g) => figures.value(v.at(i, g, s))),
      })),
      label: figures.label(v, name),
      describe: (g, s) => figures.tip(v, `${v.group.names[g]}, ${v.series.names[s]}`, v.at(i, g, s)),
    }),
  );
};

// Colours are the same in all pies: the slices that are largest anywhere have one of their own.
figures.slice_colours = v => {
  const weight = v.series.names.map((_, s) => K.extremes(v.panel.names.map((_, i) => v.at(i, 0, s)?.obtained))[1]);
  const kept = weight
    .map((w, s) => [w, s])
    .sort((a, b) => b[0] - a[0])
    .slice(0, K.palette.length)
    .map(([, s]) => s)
    .sort((a, b) => a - b);
  return weight.map((_, s) => (kept.includes(s) ? K.palette[kept.indexOf(s)] : K.rest_color));
};

figures.shares = (host, v) => {
  const colours = figures.slice_colours(v);
  const own = colours.map((color, s) => ({ color, text: v.series.names[s] })).filter(e => e.color !== K.rest_color);
  host.append(
    K.keys([...own, ...(own.length < colours.length ? [{ color: K.rest_color, text: "other" }] : [])]),
    v.printed ? K.h("p", { class: "lead" }, "Inside: obtained. The ring outside: what the paper prints; its open part is not printed.") : K.note("The paper prints no share of this figure."),
  );
  const panels = K.h("div", { class: "panels pies" });
  host.append(panels);
  v.panel.names.forEach((name, i) => {
    const slices = v.series.names.map((series, s) => ({ series, s, p: v.at(i, 0, s) }));
    const printed = slices.filter(({ p }) => K.finite(p?.published));
    const slice = ({ series, s }, value) => ({ name: series, value, series: s, itemStyle: { color: K.color(colours[s]), borderColor: K.color("--panel"), borderWidth: 1 } });
    K.chart(K.panel(panels, name), {
      height: 190,
      label: figures.label(v, name),
      make: () => ({
        ...K.base_option(),
        tooltip: {
          ...K.base_option().tooltip,
          trigger: "item",
          formatter: item => (item.data.series === undefined ? K.tip(name, ["the paper prints no number for the rest"]) : figures.tip(v, `${name}, ${item.name}`, slices[item.data.series].p)),
        },
        series: [
          {
            type: "pie",
            radius: [0, "64%"],
            label: {
              position: "inside",
              color: "#fff",
              fontSize: 11,
              textBorderColor: "rgba(0,0,0,.55)",
              textBorderWidth: 2,
              formatter: item => (item.percent >= 9 ? item.name : ""),
            },
            labelLine: { show: false },
            emphasis: { disabled: true },
            data: slices.filter(({ p }) => figures.value(p) > 0).map(one => slice(one, one.p.obtained)),
          },
          ...(printed.length
            ? [
                {
                  type: "pie",
                  radius: ["74%", "90%"],
                  label: { show: false },
                  labelLine: { show: false },
                  emphasis: { disabled: true },
                  data: [
                    ...printed.map(one => slice(one, one.p.published)),
                    { name: "not printed", value: Math.max(0, 1 - K.sum(printed.map(({ p }) => p.published))), itemStyle: { color: K.color("--grid") } },
                  ],
                },
              ]
            : []),
        ],
      }),
    });
  });
};

figures.heat = (host, v) => {
  const dense = v.group.values.length > 16;
  const all = K.extremes(K.list(v.f.points).map(p => p.obtained));
  const by_series = v.series.names.map((_, s) => K.extremes(K.list(v.f.points).filter(p => p.at[2] === s).map(p => p.obtained)));
  const level = (s, value) => {
    const [low, high] = v.f.colours === "series" ? by_series[s] : all;
    return high > low ? (value - low) / (high - low) : 0.5;
  };
  host.append(
    K.h(
      "p",
      { class: "lead" },
      v.f.colours === "series"
        ? `${v.f.unit}; within each row, pale is its lowest and deep its highest number.`
        : `${v.f.unit}; pale is ${v.number(all[0])}, deep is ${v.number(all[1])}${v.panel.values.length > 1 ? ", the same in all panels" : ""}.`,
    ),
  );
  for (const { panel, name, i } of figures.panels(host, v, dense))
    K.chart(panel, {
      height: v.series.names.length * (dense ? 15 : 32) + 52,
      label: figures.label(v, name),
      make: chart => {
        const left = K.name_width(v.series.names, chart.getWidth());
        const narrow = (chart.getWidth() - left) / v.group.values.length < 34;
        return {
          ...K.base_option(),
          grid: { left, right: 10, top: 4, bottom: 44 },
          xAxis: figures.bottom_axis(v.group, { axisLine: { show: false } }),
          yAxis: {
            type: "category",
            data: v.series.names,
            inverse: /core|place/.test(v.series.name),
            axisTick: { show: false },
            axisLine: { show: false },
            axisLabel: { color: K.color("--soft"), fontSize: dense ? 10 : 11, interval: dense ? "auto" : 0 },
          },
          visualMap: { show: false, dimension: 2, min: 0, max: 1, inRange: { color: [K.color("--mark"), K.color("--accent")] } },
          series: [
            {
              type: "heatmap",
              emphasis: { disabled: true },
              itemStyle: { borderColor: K.color("--panel"), borderWidth: dense ? 0.5 : 1 },
              label: { show: !dense && !narrow, fontSize: 11, formatter: item => v.tick(item.value[3]) },
              data: v.series.names.flatMap((_, s) =>
                v.group.names
                  .map((_, g) => [g, s, figures.value(v.at(i, g, s))])
                  .filter(([, , value]) => value !== null)
                  .map(([g, , value]) => ({
                    value: [g, s, level(s, value), value],
                    label: { color: K.color(level(s, value) > 0.55 ? "--page" : "--ink") },
                  })),
              ),
            },
          ],
          tooltip: {
            ...K.base_option().tooltip,
            trigger: "item",
            formatter: item =>
              figures.tip(v, `${v.series.names[item.value[1]]}, ${v.group.title} ${v.group.short[item.value[0]]}`, v.at(i, item.value[0], item.value[1])),
          },
        };
      },
    });
};

// A line for each series; spreads and single marks only where the points are few enough to be told apart.
figures.lines = (host, v) => {
  const few = v.group.values.length <= 16;
  const numeric = v.group.values.every(value => value !== "" && Number.isFinite(Number(value)));
  const x = g => (numeric ? Number(v.group.values[g]) : g);
  const series_keys = v.series.name ? figures.series_keys(v) : [];
  host.append(
    K.keys([
      ...series_keys,
      ...(v.printed ? [{ color: "--hot", shape: "dash", text: "published" }] : []),
      ...(few ? [{ color: "--ink", shape: "whisker", text: "two standard deviations" }] : []),
    ]),
  );
  const marks = panel => ({
    type: "custom",
    silent: true,
    z: 5,
    data: v.group.names.flatMap((_, g) =>
      v.series.names.map((_, s) => {
        const p = v.at(panel, g, s) || {};
        return [x(g), few ? (p.low ?? NaN) : NaN, few ? (p.high ?? NaN) : NaN, p.published ?? NaN];
      }),
    ),
    renderItem: (_, api) => {
      const at = value => api.coord([api.value(0), value]);
      const line = (x1, y1, x2, y2, style) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      const children = [];
      const [low, high, published] = [api.value(1), api.value(2), api.value(3)];
      if (high > low) {
        const [cx, top] = at(high),
          [, bottom] = at(low),
          style = { stroke: K.color("--ink"), lineWidth: 1.2, opacity: 0.75 };
        children.push(line(cx, bottom, cx, top, style), line(cx - 4, bottom, cx + 4, bottom, style), line(cx - 4, top, cx + 4, top, style));
      }
      if (K.finite(published)) {
        const [cx, cy] = at(published);
        children.push(line(cx - 12, cy, cx + 12, cy, { stroke: K.color("--hot"), lineWidth: 2.5, lineDash: [4, 2] }));
      }
      return { type: "group", children };
    },
    encode: { x: 0, y: [1, 2, 3] },
  });
  for (const { panel, name, i } of figures.panels(host, v, true))
    K.chart(panel, {
      height: 300,
      label: figures.label(v, name),
      make: () =>
        figures.vertical(v, {
          grid: { left: 58, right: 24, top: 26, bottom: 44 },
          xAxis: numeric
            ? K.value_axis({ min: few ? 0 : 1, max: Math.max(...v.group.values.map(Number)), name: v.group.title, nameLocation: "middle", nameGap: 28, splitLine: { show: false } })
            : figures.bottom_axis(v.group),
          series: [
            ...v.series.names.map((series, s) => ({
              type: "line",
              name: series,
              symbol: "circle",
              symbolSize: few ? 6 : 4,
              lineStyle: { width: few ? 2 : 1.6 },
              color: K.color(K.palette[s % K.palette.length]),
              emphasis: { disabled: true },
              data: v.group.names.map((_, g) => [x(g), figures.value(v.at(i, g, s))]),
            })),
            marks(i),
          ],
          tooltip: {
            ...K.base_option().tooltip,
            trigger: "item",
            formatter: item => figures.tip(v, [v.series.names[item.seriesIndex], `${v.group.title} ${v.group.short[item.dataIndex]}`].filter(Boolean).join(", "), v.at(i, item.dataIndex, item.seriesIndex)),
          },
        }),
    });
};

// -- starts and widths of one run ---------------------------------------------------------------------------------------

figures.traces = v => K.list(v.f.traces).map((t, i) => ({ t: K.dict(t), name: v.panel.names[i] ?? "" }));

figures.disturbed_area = t =>
  t.disturbed_to_s > t.disturbed_from_s
    ? { silent: true, itemStyle: { color: K.color("--hot"), opacity: 0.13 }, data: [[{ xAxis: t.disturbed_from_s }, { xAxis: t.disturbed_to_s }]] }
    : undefined;

figures.time_axis = (t, more) =>
  K.value_axis({
    min: 0,
    max: t.makespan_s,
    splitLine: { show: false },
    axisLabel: { color: K.color("--faint"), fontSize: 11, hideOverlap: true, showMaxLabel: false, formatter: K.seconds },
    ...more,
  });

figures.starts = (host, v) => {
  const watched = figures.value_name("place", String(v.f.learned ?? ""));
  const types = K.unique(figures.traces(v).flatMap(({ t }) => K.list(t.learned).map(l => t.types[l[1]] ?? `type ${l[1]}`)));
  host.append(
    K.keys([
      { color: "--ink", text: "start of a critical task, and the cores of its place" },
      { color: "--base", text: "of another task" },
      { color: "--hot", text: "the disturbance is there (shaded)" },
      ...types.map((text, i) => ({ color: K.palette[i % K.palette.length], text: `learned time of ${watched}: ${text}` })),
    ]),
  );
  const panels = K.h("div", { class: "panels wide" });
  host.append(panels);
  for (const { t, name } of figures.traces(v)) {
    const panel = K.panel(panels, name);
    const starts = [...K.list(t.starts)].sort((a, b) => a[3] - b[3]);   // critical ones are drawn last, on top
    K.chart(panel, {
      height: t.cores * 22 + 50,
      renderer: "canvas",
      label: `${figures.label(v, name)}: starts of tasks by core over time`,
      make: () => ({
        ...K.base_option(),
        tooltip: { show: false },
        grid: { left: 58, right: 14, top: 8, bottom: 30 },
        xAxis: figures.time_axis(t),
        yAxis: K.value_axis({
          min: -0.6,
          max: t.cores - 0.4,
          interval: 1,
          inverse: true,
          splitLine: { show: false },
          axisLabel: { color: K.color("--soft"), fontSize: 11, hideOverlap: true, customValues: Array.from({ length: t.cores }, (_, c) => c), formatter: c => `core ${c}` },
        }),
        series: [
          {
            type: "custom",
            silent: true,
            data: starts,
            encode: { x: 0, y: 1 },
            renderItem: (_, api) => {
              const critical = api.value(3) === 1;
              const [px, py] = api.coord([api.value(0), api.value(1)]),
                [, end] = api.coord([api.value(0), api.value(1) + api.value(2) - 1]);
              const colour = K.color(critical ? "--ink" : "--base");
              return {
                type: "group",
                children: [
                  { type: "line", shape: { x1: px, y1: py, x2: px, y2: end }, style: { stroke: K.color("--s2"), lineWidth: critical ? 1 : 0.6, opacity: critical ? 0.9 : 0.35 } },
                  { type: "circle", shape: { cx: px, cy: py, r: critical ? 1.8 : 1.1 }, style: { fill: colour } },
                ],
              };
            },
            markArea: figures.disturbed_area(t),
          },
        ],
      }),
    });
    if (K.list(t.learned).length)
      K.chart(panel, {
        height: 160,
        label: `${figures.label(v, name)}: learned time of place ${watched} over time`,
        make: () => ({
          ...K.base_option(),
          grid: { left: 58, right: 14, top: 34, bottom: 30 },
          xAxis: figures.time_axis(t),
          yAxis: { ...K.value_axis({ name: `learned time of ${watched}`, nameTextStyle: { color: K.color("--faint"), fontSize: 11, align: "left", padding: [0, 0, 0, -50] }, axisLabel: { color: K.color("--faint"), fontSize: 11, hideOverlap: true, formatter: K.seconds } }), type: "log" },
          series: types.map((type, i) => ({
            type: "line",
            step: "end",
            showSymbol: false,
            lineStyle: { width: 1.5 },
            color: K.color(K.palette[i % K.palette.length]),
            emphasis: { disabled: true },
            data: t.learned.filter(l => (t.types[l[1]] ?? `type ${l[1]}`) === type && l[2] > 0).map(l => [l[0], l[2]]),
            markArea: i ? undefined : figures.disturbed_area(t),
          })),
          tooltip: { ...K.base_option().tooltip, trigger: "item" },
        }),
      });
    if (t.left_out > 0) panel.append(K.note(`${K.count(t.left_out)} later events are not drawn.`));
  }
  host.append(K.note("The drawing is of the run with seed 1; the numbers of the claims are of all seeds."));
};

// Starts of each core as members of a place, by part of the run.
figures.starts_tables = v => [
  K.table(
    "Makespan",
    ["", "obtained", "published"],
    v.panel.names.map((name, i) => [name, figures.spread(v, v.at(i, 0, 0)), "not printed"]),
  ),
  ...figures.traces(v).map(({ t, name }) => {
    const disturbed = t.disturbed_to_s > t.disturbed_from_s;
    const parts = disturbed ? ["before", "during", "after"] : ["all"];
    const part = start => (!disturbed ? 0 : start < t.disturbed_from_s ? 0 : start < t.disturbed_to_s ? 1 : 2);
    const counts = Array.from({ length: t.cores }, () => parts.flatMap(() => [0, 0]));
    for (const [start, leader, width, critical] of K.list(t.starts))
      for (let c = leader; c < leader + width; ++c) ++counts[c][2 * part(start) + (critical ? 0 : 1)];
    return K.table(
      `${name}: tasks that each core took part in, seed 1`,
      ["core", ...parts.flatMap(p => [`critical, ${p}`, `other, ${p}`])],
      counts.map((row, c) => [`core ${c}`, ...row.map(K.count)]),
    );
  }),
];

// -- tables -----------------------------------------------------------------------------------------------------------

figures.spread = (v, p) => {
  if (!p || !K.finite(p.obtained)) return none;
  const half = (p.high - p.low) / 2;
  return v.f.seeds > 1 && half > 0 ? `${v.number(p.obtained)} ± ${v.number(half)}` : v.number(p.obtained);
};

// Where the paper prints some of the numbers each has a row, so that theirs can stand beside ours; else rows by columns.
figures.table = (v, i, name) => {
  const at_series = v.series.name ? v.series : { names: [""], title: v.f.unit };
  const group_names = v.group.name ? v.group.short : [""];
  if (v.printed)
    return K.table(
      name,
      [v.group.title, v.series.title, "obtained", "low .. high", "published"],
      group_names.flatMap((group, g) =>
        at_series.names.map((series, s) => {
          const p = v.at(i, g, s);
          return p
            ? [group, series, v.number(p.obtained), `${v.number(p.low)} .. ${v.number(p.high)}`, K.finite(p.published) ? v.number(p.published) + (p.note ? ` (${p.note})` : "") : "not printed"]
            : [group, series, none, none, none];
        }),
      ),
    );
  const turned = group_names.length > 16;   // 60 iterations are rows, not columns
  return turned || v.f.kind !== "heat"
    ? K.table(
        name,
        [v.group.title, ...(v.series.name ? at_series.names : [v.f.unit])],
        group_names.map((group, g) => [group, ...at_series.names.map((_, s) => figures.spread(v, v.at(i, g, s)))]),
      )
    : K.table(
        name,
        [`${v.series.title} by ${v.group.title}`, ...group_names],
        at_series.names.map((series, s) => [series, ...group_names.map((_, g) => figures.spread(v, v.at(i, g, s)))]),
      );
};

figures.claims_table = f => {
  const rows = K.list(f.claims)
    .map(verdicts.of)
    .filter(Boolean)
    .flatMap(c =>
      K.list(c.values).map(value => [
        value.value,
        verdicts.number(value.published, value.share),
        `${verdicts.number(value.obtained, value.share)} (${verdicts.range(value.low, value.high, value.share)})`,
        value.inside ? "met" : "not met",
        K.h("a", { href: "#" + c.id }, c.id),
      ]),
    );
  return rows.length
    ? K.h(
        "div",
        { class: "scroll beside" },
        K.table("Numbers that the paper prints, and ours", ["", "published", "obtained", "", "claim"], rows, { mark: (i, j) => (rows[i][j] === "not met" ? "low" : null) }),
      )
    : null;
};

figures.draw = (host, f) => {
  const v = figures.view(f);
  host.append(K.h("p", { class: "said" }, K.h("b", {}, "The paper: "), f.said));
  const drawing = figures[f.kind];
  if (typeof drawing !== "function") return void host.append(K.note(`A drawing of kind ${f.kind} is not known here.`));
  drawing(host, v);
  if (!v.printed) host.append(K.h("p", { class: "soft" }, "Published numbers of single points: not printed."));
  host.append(
    K.fold(
      "The same as a table",
      f.kind === "starts" ? figures.starts_tables(v) : v.panel.names.map((name, i) => figures.table(v, i, name)),
    ),
  );
  const beside = figures.claims_table(f);
  if (beside) host.append(beside);
};

figures.sections = () =>
  K.list(K.doc.figures)
    .filter(f => f && typeof f === "object")
    .map(f => ({
      id: f.id,
      title: `${figures.name(f)}: ${f.title}`,
      nav: figures.name(f),
      draw: host => figures.draw(host, f),
    }));
