// What every core did. Spans thinner than a few pixels are merged into slices whose height is the
// share of time that was busy, so that a run of any length draws in bounded work and shows single
// tasks again when zoomed in.

const timeline = {};

timeline.colorings = spans => {
  const types = K.unique(spans.map(s => String(s.type ?? "task"))),
    widths = K.unique(spans.map(s => s.width || 1)).sort((a, b) => a - b);
  const capped = (values, name, of) => {
    const kept = new Map(values.slice(0, K.palette.length - 1).map((v, i) => [v, i]));
    const keys = [...kept.keys()].map((v, i) => ({ text: name(v), color: K.palette[i] }));
    if (values.length > kept.size) keys.push({ text: "others", color: K.rest_color });
    return { keys, of: s => kept.get(of(s)) ?? keys.length - 1 };
  };
  return {
    "critical or not": {
      keys: [
        { text: "critical task", color: "--s5" },
        { text: "other task", color: "--s0" },
      ],
      of: s => (s.critical ? 0 : 1),
    },
    ...(types.length > 1
      ? {
          "task type": capped(
            types,
            v => v,
            s => String(s.type ?? "task"),
          ),
        }
      : {}),
    ...(widths.length > 1
      ? {
          width: capped(
            widths,
            w => (w === 1 ? "1 core" : `${w} cores`),
            s => s.width || 1,
          ),
        }
      : {}),
  };
};

// Rectangles [start, end, lane, class, bottom, top, span or -1, tasks] for the stretch from..to
// drawn `pixels` wide.
timeline.rectangles = (lanes, of, classes, from, to, pixels) => {
  const slice = (to - from) / Math.max(1, pixels / Math.max(3, Math.ceil(lanes.length / 6)));
  const out = [];
  lanes.forEach((spans, lane) => {
    let busy = null,
      index = -1,
      tasks = 0;
    const flush = () => {
      if (!busy) return;
      const start = from + index * slice;
      let bottom = 0;
      for (let c = 0; c < classes; ++c)
        if (busy[c] > 0) {
          const top = Math.min(1, bottom + busy[c] / slice);
          out.push([start, start + slice, lane, c, bottom, top, -1, tasks]);
          bottom = top;
        }
      busy = null;
      tasks = 0;
    };
    for (
      let i = timeline.first_ending_after(spans, from);
      i < spans.length && spans[i].start_s < to;
      ++i
    ) {
      const s = spans[i];
      if (s.end_s - s.start_s >= 2 * slice) {
        flush();
        out.push([s.start_s, s.end_s, lane, of(s), 0, 1, i, 1]);
        continue;
      }
      for (let at = Math.max(from, s.start_s); at < s.end_s && at < to;) {
        const here = Math.floor((at - from) / slice + 1e-9);
        if (here !== index || !busy) {
          flush();
          index = here;
          busy = new Float64Array(classes);
        }
        const until = Math.min(s.end_s, from + (here + 1) * slice);
        busy[of(s)] += Math.max(0, until - at);
        if (at === Math.max(from, s.start_s)) ++tasks;
        if (until <= at) break;
        at = until;
      }
    }
    flush();
  });
  return out;
};

// Rectangles [start, end, lane] of the time of which nobody knows what a core did. It must not look
// like a core that was idle.
timeline.unrecorded = (cores, list) => {
  const lane_of = new Map(cores.map((c, lane) => [c, lane]));
  return list
    .filter(s => lane_of.has(s.core) && K.finite(s.from_s) && K.finite(s.to_s))
    .map(s => [s.from_s, s.to_s, lane_of.get(s.core)]);
};

// Diagonal lines, which no class of tasks has.
timeline.hatch = color => {
  const size = 7,
    image = document.createElement("canvas");
  image.width = image.height = size;
  const pen = image.getContext("2d");
  pen.strokeStyle = color;
  pen.lineWidth = 1.1;
  for (const at of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(at - 1, size + 1);
    pen.lineTo(at + size + 1, -1);
    pen.stroke();
  }
  return { image, repeat: "repeat" };
};

// Spans are sorted by start; nested ones may end later than their followers, so a few are looked at
// twice.
timeline.first_ending_after = (spans, time) => {
  let low = 0,
    high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].latest_end > time) high = middle;
    else low = middle + 1;
  }
  return low;
};

timeline.lanes_of = spans => {
  const cores = K.unique(spans.map(s => s.core)).sort((a, b) => a - b),
    machine = K.list(K.dict(K.doc.machine).cores);
  const known = K.unique([...machine.map(c => c.id), ...cores]).sort((a, b) => a - b);
  const kinds = new Map(machine.map(c => [c.id, c.kind]));
  const kind_names = K.list(K.dict(K.doc.machine).kinds).map(k =>
    typeof k === "string" ? k : K.dict(k).name,
  );
  const several = K.unique([...kinds.values()]).length > 1;
  const lists = new Map(known.map(c => [c, []]));
  for (const s of spans) lists.get(s.core).push({ ...s });
  for (const list of lists.values()) {
    list.sort((a, b) => a.start_s - b.start_s);
    let latest = -Infinity;
    for (const s of list) s.latest_end = latest = Math.max(latest, s.end_s);
  }
  const kind_of = c => {
    const k = kinds.get(c);
    return typeof k === "number" ? (kind_names[k] ?? `kind ${k}`) : k;
  };
  return {
    cores: known,
    names: known.map(c => `core ${c}` + (several && kind_of(c) ? ` ${kind_of(c)}` : "")),
    lists: known.map(c => lists.get(c)),
  };
};

timeline.buttons = () => {
  const step = (text, label, change) =>
    K.h(
      "button",
      {
        type: "button",
        "aria-label": label,
        title: label,
        onclick: () => {
          const [a, b] = detail.view || [0, detail.total];
          detail.zoom_to(...change(a, b - a));
        },
      },
      text,
    );
  return K.h(
    "div",
    { class: "buttons" },
    step("+", "Zoom in", (a, n) => [a + n / 4, a + (n * 3) / 4]),
    step("−", "Zoom out", (a, n) => [a - n / 2, a + (n * 3) / 2]),
    step("←", "Earlier", (a, n) => [a - n / 3, a + (n * 2) / 3]),
    step("→", "Later", (a, n) => [a + n / 3, a + (n * 4) / 3]),
    step("Whole run", "Show the whole run", () => [0, detail.total]),
  );
};

timeline.draw = (host, run) => {
  const spans = K.list(run.spans).filter(
    s => K.finite(s.core) && K.finite(s.start_s) && K.finite(s.end_s) && s.end_s > s.start_s,
  );
  if (!spans.length) return void host.append(K.note("This run recorded no spans of its tasks."));
  const { cores, names, lists } = timeline.lanes_of(spans);
  const gaps = timeline.unrecorded(cores, K.list(run.unrecorded));
  const colorings = timeline.colorings(spans);
  let coloring = colorings["critical or not"];
  const panel = K.panel(
    host,
    `Timeline: ${K.count(spans.length)} task parts on ${names.length} cores`,
  );
  const keys = K.h("div", {});
  const choice = K.h(
    "select",
    {
      onchange: () => {
        coloring = colorings[choice.value];
        repaint();
      },
    },
    Object.keys(colorings).map(name => K.h("option", { value: name }, name)),
  );
  panel.append(
    K.h(
      "div",
      { class: "controls" },
      Object.keys(colorings).length > 1 ? K.h("label", {}, "Colour by", choice) : null,
      timeline.buttons(),
    ),
    keys,
  );
  const lane_height = names.length > 24 ? 14 : names.length > 8 ? 22 : 34;
  const left = chart => K.name_width(names, chart.getWidth());
  const fill = chart =>
    timeline.rectangles(
      lists,
      coloring.of,
      coloring.keys.length,
      ...(detail.view || [0, detail.total]),
      chart.getWidth() - left(chart) - 14,
    );
  const render = (params, api) => {
    const [x1, y] = api.coord([api.value(0), api.value(2)]),
      [x2] = api.coord([api.value(1), api.value(2)]);
    const height = api.size([0, 1])[1] * 0.78,
      bottom = y + height / 2;
    const shape = echarts.graphic.clipRectByRect(
      {
        x: x1,
        y: bottom - api.value(5) * height,
        width: Math.max(0.6, x2 - x1 - (api.value(6) >= 0 && x2 - x1 > 4 ? 0.8 : 0)),
        height: (api.value(5) - api.value(4)) * height,
      },
      params.coordSys,
    );
    return shape && { type: "rect", shape, style: { fill: timeline.colors[api.value(3)] } };
  };
  const render_gap = (params, api) => {
    const [x1, y] = api.coord([api.value(0), api.value(2)]),
      [x2] = api.coord([api.value(1), api.value(2)]);
    const height = api.size([0, 1])[1] * 0.78;
    const shape = echarts.graphic.clipRectByRect(
      { x: x1, y: y - height / 2, width: Math.max(0.6, x2 - x1), height },
      params.coordSys,
    );
    return shape && { type: "rect", shape, style: { fill: timeline.hatching } };
  };
  const describe = item => {
    if (item.seriesId === "unrecorded")
      return K.tip(names[item.value[2]], [
        `not recorded from ${K.seconds(item.value[0])} to ${K.seconds(item.value[1])}`,
        "what the core did meanwhile is not known here",
      ]);
    const [start, end, lane, kind, low, high, index, tasks] = item.value;
    if (index < 0)
      return K.tip(names[lane], [
        `${K.seconds(start)} to ${K.seconds(end)}`,
        `${coloring.keys[kind].text}: ${K.percent(high - low)} of this slice`,
        `${K.count(tasks)} task parts begin here or reach in`,
      ]);
    const s = lists[lane][index];
    return K.tip(`${s.type ?? "task"} ${s.task ?? ""}`, [
      `${names[lane]}, ${K.seconds(s.end_s - s.start_s)} from ${K.seconds(s.start_s)}`,
      `${s.critical ? "critical" : "not critical"}, on ` +
        `${K.place_name({ leader: s.leader ?? s.core, width: s.width || 1 })}` +
        (s.width > 1 ? `, member ${s.member ?? 0}` : ""),
    ]);
  };
  const entry = K.chart(panel, {
    height: names.length * lane_height + 72,
    renderer: "canvas",
    after: detail.follow,
    label:
      `Timeline of ${names.length} cores: ${K.count(spans.length)} task parts in ` +
      `${K.seconds(detail.total)}`,
    make: chart => {
      timeline.colors = coloring.keys.map(k => K.color(k.color));
      timeline.hatching = timeline.hatch(K.color("--base"));
      return {
        ...K.base_option(),
        grid: { left: left(chart), right: 14, top: 4, bottom: 64 },
        xAxis: detail.time_axis(detail.total, true),
        yAxis: K.name_axis(names, {
          axisLabel: {
            width: left(chart) - 12,
            fontSize: names.length > 24 ? 10 : 12,
            interval: "auto",
          },
          splitLine: { show: true, lineStyle: { color: K.color("--grid") } },
        }),
        dataZoom: detail.zooms(true),
        series: [
          {
            id: "unrecorded",
            type: "custom",
            renderItem: render_gap,
            encode: { x: [0, 1], y: 2 },
            clip: true,
            progressive: 0,
            z: 1,
            data: gaps,
          },
          {
            id: "spans",
            type: "custom",
            renderItem: render,
            encode: { x: [0, 1], y: 2 },
            clip: true,
            progressive: 0,
            z: 2,
            data: fill(chart),
          },
        ],
        tooltip: { ...K.base_option().tooltip, trigger: "item", formatter: describe },
      };
    },
  });
  let scheduled = false;
  entry.refill = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      if (entry.chart && !entry.chart.isDisposed())
        entry.chart.setOption({ series: [{ id: "spans", data: fill(entry.chart) }] });
    });
  };
  const show_keys = () =>
    keys.replaceChildren(
      K.keys([
        ...coloring.keys,
        ...(gaps.length ? [{ text: "not recorded", color: "--base", shape: "hatch" }] : []),
      ]),
    );
  const repaint = () => {
    show_keys();
    entry.draw();
  };
  show_keys();
  detail.charts.push(entry);
  detail.timeline = entry;
  panel.append(
    K.h(
      "p",
      { class: "lead", style: { margin: "8px 0 2px" } },
      "Drag to move; Ctrl and wheel, the bar below, or the buttons zoom. Where tasks are too " +
        "short to be seen, " +
        "the height of a slice is the share of its time that was busy." +
        (gaps.length
          ? " Hatched: not recorded, so neither busy nor idle; a long run is kept in stretches."
          : ""),
    ),
  );
};

// The one that is shown: the page carries all runs packed (pack.hpp).
detail.unpacked = run => ({
  ...run,
  spans: K.unpack(run.spans),
  table: K.unpack(run.table),
  unrecorded: K.unpack(run.unrecorded),
});

detail.draw = host => {
  const details = K.list(K.doc.details).filter(d => d && typeof d === "object");
  if (!details.length)
    return void host.append(K.note("This document has no details of single runs."));
  const content = K.h("div", {});
  const { controls, refresh } = detail.picker(details, run => {
    for (const entry of detail.charts) entry.dispose();
    detail.charts = [];
    detail.timeline = detail.view = null;
    content.replaceChildren();
    if (!run)
      return void content.append(K.note("There are no details of this policy in this scenario."));
    run = detail.unpacked(run);
    detail.total = K.extremes([
      ...run.spans.map(s => s.end_s),
      ...run.table.map(r => r.t_s),
      run.seconds,
    ])[1];
    if (!run.spans.length && !run.table.length)
      return void content.append(K.note("This run recorded neither table updates nor spans."));
    timeline.draw(content, run);
    content.append(K.h("div", { style: { height: "16px" } }));
    detail.table(content, run);
  });
  host.append(controls, content);
  refresh();
};

K.sections("kilter.compare/2", [
  () =>
    K.list(K.doc.details).length
      ? [
          {
            id: "run",
            title: "One run in time",
            lead: "What every core did, and what the trace table believed while it did.",
            draw: detail.draw,
          },
        ]
      : [],
]);
