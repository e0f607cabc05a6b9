// The drawing of single events: where each task of one run began and how wide, and what the trace
// table held meanwhile.

figures.traces = v =>
  K.list(v.f.traces).map((t, i) => ({ t: K.dict(t), name: v.panel.names[i] ?? "" }));

figures.disturbed_area = t =>
  t.disturbed_to_s > t.disturbed_from_s
    ? {
        silent: true,
        itemStyle: { color: K.color("--hot"), opacity: 0.13 },
        data: [[{ xAxis: t.disturbed_from_s }, { xAxis: t.disturbed_to_s }]],
      }
    : undefined;

figures.time_axis = (t, more) =>
  K.value_axis({
    min: 0,
    max: t.makespan_s,
    splitLine: { show: false },
    axisLabel: {
      color: K.color("--faint"),
      fontSize: 11,
      hideOverlap: true,
      showMaxLabel: false,
      formatter: K.seconds,
    },
    ...more,
  });

figures.starts = (host, v) => {
  const watched = figures.value_name("place", String(v.f.learned ?? ""));
  const types = K.unique(
    figures
      .traces(v)
      .flatMap(({ t }) => K.list(t.learned).map(l => t.types[l[1]] ?? `type ${l[1]}`)),
  );
  host.append(
    K.keys([
      { color: "--ink", text: "start of a critical task, and the cores of its place" },
      { color: "--base", text: "of another task" },
      { color: "--hot", text: "the disturbance is there (shaded)" },
      ...types.map((text, i) => ({
        color: K.palette[i % K.palette.length],
        text: `learned time of ${watched}: ${text}`,
      })),
    ]),
  );
  const panels = K.h("div", { class: "panels wide" });
  host.append(panels);
  for (const { t, name } of figures.traces(v)) {
    const panel = K.panel(panels, name);
    // critical ones are drawn last, on top
    const starts = [...K.list(t.starts)].sort((a, b) => a[3] - b[3]);
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
          axisLabel: {
            color: K.color("--soft"),
            fontSize: 11,
            hideOverlap: true,
            customValues: Array.from({ length: t.cores }, (_, c) => c),
            formatter: c => `core ${c}`,
          },
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
                  {
                    type: "line",
                    shape: { x1: px, y1: py, x2: px, y2: end },
                    style: {
                      stroke: K.color("--s2"),
                      lineWidth: critical ? 1 : 0.6,
                      opacity: critical ? 0.9 : 0.35,
                    },
                  },
                  {
                    type: "circle",
                    shape: { cx: px, cy: py, r: critical ? 1.8 : 1.1 },
                    style: { fill: colour },
                  },
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
          yAxis: {
            ...K.value_axis({
              name: `learned time of ${watched}`,
              nameTextStyle: {
                color: K.color("--faint"),
                fontSize: 11,
                align: "left",
                padding: [0, 0, 0, -50],
              },
              axisLabel: {
                color: K.color("--faint"),
                fontSize: 11,
                hideOverlap: true,
                formatter: K.seconds,
              },
            }),
            type: "log",
          },
          series: types.map((type, i) => ({
            type: "line",
            step: "end",
            showSymbol: false,
            lineStyle: { width: 1.5 },
            color: K.color(K.palette[i % K.palette.length]),
            emphasis: { disabled: true },
            data: t.learned
              .filter(l => (t.types[l[1]] ?? `type ${l[1]}`) === type && l[2] > 0)
              .map(l => [l[0], l[2]]),
            markArea: i ? undefined : figures.disturbed_area(t),
          })),
          tooltip: { ...K.base_option().tooltip, trigger: "item" },
        }),
      });
    if (t.left_out > 0) panel.append(K.note(`${K.count(t.left_out)} later events are not drawn.`));
  }
  host.append(
    K.note("The drawing is of the run with seed 1; the numbers of the claims are of all seeds."),
  );
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
    const part = start =>
      !disturbed ? 0 : start < t.disturbed_from_s ? 0 : start < t.disturbed_to_s ? 1 : 2;
    const counts = Array.from({ length: t.cores }, () => parts.flatMap(() => [0, 0]));
    for (const [start, leader, width, critical] of K.list(t.starts))
      for (let c = leader; c < leader + width; ++c)
        ++counts[c][2 * part(start) + (critical ? 0 : 1)];
    return K.table(
      `${name}: tasks that each core took part in, seed 1`,
      ["core", ...parts.flatMap(p => [`critical, ${p}`, `other, ${p}`])],
      counts.map((row, c) => [`core ${c}`, ...row.map(K.count)]),
    );
  }),
];
