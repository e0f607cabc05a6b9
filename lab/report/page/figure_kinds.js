// One drawing a kind of figure: bars, stacks, pies, heat maps and lines. `v` is figures.view of the
// figure.

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
    const layout = api.barLayout({ ...figures.bar_layout, count: v.series.names.length })[
      api.value(4)
    ];
    const x = api.coord([api.value(0), 0])[0] + layout.offsetCenter,
      half = layout.width / 2;
    const y = value => api.coord([api.value(0), value])[1];
    const line = (x1, y1, x2, y2, style) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
    const children = [];
    const [low, high, published] = [api.value(1), api.value(2), api.value(3)];
    if (high > low) {
      const style = { stroke: K.color("--ink"), lineWidth: 1.2, opacity: 0.75 },
        cap = Math.min(4, half);
      children.push(
        line(x, y(low), x, y(high), style),
        line(x - cap, y(low), x + cap, y(low), style),
        line(x - cap, y(high), x + cap, y(high), style),
      );
    }
    if (K.finite(published))
      children.push(
        line(x - half, y(published), x + half, y(published), {
          stroke: K.color("--hot"),
          lineWidth: 2.5,
          lineDash: [4, 2],
        }),
      );
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
    nameTextStyle: {
      color: K.color("--faint"),
      fontSize: 11,
      align: "left",
      padding: [0, 0, 0, -50],
    },
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
              itemStyle: {
                color: K.color(K.palette[s % K.palette.length]),
                borderRadius: [2, 2, 0, 0],
              },
              data: v.group.names.map((_, g) => figures.value(v.at(i, g, s))),
            })),
            figures.bar_marks(v, i),
          ],
          tooltip: {
            ...K.base_option().tooltip,
            trigger: "item",
            formatter: item =>
              figures.tip(
                v,
                [v.series.names[item.seriesIndex], v.group.names[item.dataIndex]]
                  .filter(Boolean)
                  .join(", "),
                v.at(i, item.dataIndex, item.seriesIndex),
              ),
          },
        }),
    });
};

figures.stacks = (host, v) => {
  figures.keys(host, v, figures.series_keys(v));
  const totals = v.panel.names.flatMap((_, i) =>
    v.group.names.map((_, g) =>
      K.sum(v.series.names.map((_, s) => figures.value(v.at(i, g, s)) ?? 0)),
    ),
  );
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
      describe: (g, s) =>
        figures.tip(v, `${v.group.names[g]}, ${v.series.names[s]}`, v.at(i, g, s)),
    }),
  );
};

// Colours are the same in all pies: the slices that are largest anywhere, in ours or in print, have
// one of their own.
figures.slice_palette = [...K.palette, "--s8", "--s9"];
figures.slice_colours = v => {
  const weight = v.series.names.map(
    (_, s) =>
      K.extremes(
        v.panel.names.flatMap((_, i) => [v.at(i, 0, s)?.obtained, v.at(i, 0, s)?.published]),
      )[1],
  );
  const kept = weight
    .map((w, s) => [w, s])
    .sort((a, b) => b[0] - a[0])
    .slice(0, figures.slice_palette.length)
    .map(([, s]) => s)
    .sort((a, b) => a - b);
  return weight.map((_, s) =>
    kept.includes(s) ? figures.slice_palette[kept.indexOf(s)] : K.rest_color,
  );
};

figures.shares = (host, v) => {
  const colours = figures.slice_colours(v);
  const own = colours
    .map((color, s) => ({ color, text: v.series.names[s] }))
    .filter(e => e.color !== K.rest_color);
  host.append(
    K.keys([
      ...own,
      ...(own.length < colours.length ? [{ color: K.rest_color, text: "other" }] : []),
    ]),
    v.printed
      ? K.h(
          "p",
          { class: "lead" },
          "Inside: obtained. The ring outside: what the paper prints; its open part is " +
            "not printed.",
        )
      : K.note("The paper prints no share of this figure."),
  );
  const panels = K.h("div", { class: "panels pies" });
  host.append(panels);
  v.panel.names.forEach((name, i) => {
    const slices = v.series.names.map((series, s) => ({ series, s, p: v.at(i, 0, s) }));
    const printed = slices.filter(({ p }) => K.finite(p?.published));
    const slice = ({ series, s }, value) => ({
      name: series,
      value,
      series: s,
      itemStyle: { color: K.color(colours[s]), borderColor: K.color("--panel"), borderWidth: 1 },
    });
    K.chart(K.panel(panels, name), {
      height: 170,
      label: figures.label(v, name),
      make: () => ({
        ...K.base_option(),
        tooltip: {
          ...K.base_option().tooltip,
          trigger: "item",
          formatter: item =>
            item.data.series === undefined
              ? K.tip(name, ["the paper prints no number for the rest"])
              : figures.tip(v, `${name}, ${item.name}`, slices[item.data.series].p),
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
            data: slices
              .filter(({ p }) => figures.value(p) > 0)
              .map(one => slice(one, one.p.obtained)),
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
                    {
                      name: "not printed",
                      value: Math.max(0, 1 - K.sum(printed.map(({ p }) => p.published))),
                      itemStyle: { color: K.color("--grid") },
                    },
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
  // Within a row pale is a fixed part of its best, so that differences of nothing look like
  // nothing.
  const palest = 0.6;
  const best = v.series.names.map(
    (_, s) =>
      K.extremes(
        K.list(v.f.points)
          .filter(p => p.at[2] === s)
          .map(p => p.obtained),
      )[1],
  );
  const level = (s, value) => {
    const [low, high] = v.f.colours === "series" ? [palest * best[s], best[s]] : all;
    return high > low ? Math.max(0, (value - low) / (high - low)) : 0.5;
  };
  host.append(
    K.h(
      "p",
      { class: "lead" },
      v.f.colours === "series"
        ? `${v.f.unit}; within each row deep is its highest number, pale ${K.percent(palest)} of ` +
            "that or less."
        : `${v.f.unit}; pale is ${v.number(all[0])}, deep is ` +
            `${v.number(all[1])}${v.panel.values.length > 1 ? ", the same in all panels" : ""}.`,
    ),
  );
  for (const { panel, name, i } of figures.panels(host, v, dense))
    K.chart(panel, {
      height: v.series.names.length * (dense ? 15 : 32) + 52,
      label: figures.label(v, name),
      make: chart => {
        const left = K.name_width(v.series.names, chart.getWidth());
        const cell = (chart.getWidth() - left) / v.group.values.length;
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
            axisLabel: {
              color: K.color("--soft"),
              fontSize: dense ? 10 : 11,
              interval: dense ? "auto" : 0,
            },
          },
          visualMap: {
            show: false,
            dimension: 2,
            min: 0,
            max: 1,
            inRange: { color: [K.color("--mark"), K.color("--accent")] },
          },
          series: [
            {
              type: "heatmap",
              markArea: figures.disturbed_frame(v, g => g),
              emphasis: { disabled: true },
              itemStyle: { borderColor: K.color("--panel"), borderWidth: dense ? 0.5 : 1 },
              label: {
                show: !dense && cell >= 34,
                fontSize: 11,
                formatter: item => (cell >= 60 ? v.number : v.tick)(item.value[3]),
              },
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
              figures.tip(
                v,
                `${v.series.names[item.value[1]]}, ${v.group.title} ` +
                  `${v.group.short[item.value[0]]}`,
                v.at(i, item.value[0], item.value[1]),
              ),
          },
        };
      },
    });
};

// A line for each series; spreads and single marks only where the points are few enough to be told
// apart.
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
        children.push(
          line(cx, bottom, cx, top, style),
          line(cx - 4, bottom, cx + 4, bottom, style),
          line(cx - 4, top, cx + 4, top, style),
        );
      }
      if (K.finite(published)) {
        const [cx, cy] = at(published);
        children.push(
          line(cx - 12, cy, cx + 12, cy, {
            stroke: K.color("--hot"),
            lineWidth: 2.5,
            lineDash: [4, 2],
          }),
        );
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
            ? K.value_axis({
                min: few ? 0 : 1,
                max: Math.max(...v.group.values.map(Number)),
                name: v.group.title,
                nameLocation: "middle",
                nameGap: 28,
                splitLine: { show: false },
              })
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
              markArea: s ? undefined : figures.disturbed_frame(v, x),
            })),
            marks(i),
          ],
          tooltip: {
            ...K.base_option().tooltip,
            trigger: "item",
            formatter: item =>
              figures.tip(
                v,
                [
                  v.series.names[item.seriesIndex],
                  `${v.group.title} ${v.group.short[item.dataIndex]}`,
                ]
                  .filter(Boolean)
                  .join(", "),
                v.at(i, item.dataIndex, item.seriesIndex),
              ),
          },
        }),
    });
  if (!few && v.f.seeds > 1)
    host.append(K.note("Spreads of so many points would hide the lines; they stand in the table."));
};
