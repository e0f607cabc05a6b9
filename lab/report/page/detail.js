// One run in time: what the trace table said, and what every core did.

const detail = { run: null, view: null, charts: [] };

detail.choose_first = details => {
  const best = results.best();
  return (
    details.find(d => best && K.row_name(d) === K.row_name(best) && K.scenario(d) === K.scenario(best)) ||
    details.find(d => K.scenario(d) !== "none") ||
    details[0]
  );
};

detail.picker = (details, show) => {
  const select = (label, values, title, current, change) => {
    const box = K.h(
      "select",
      { onchange: () => change(box.value) },
      values.map(v => K.h("option", { value: v, selected: v === current }, title(v))),
    );
    return K.h("label", {}, label, box);
  };
  const controls = K.h("div", { class: "controls" });
  let chosen = detail.choose_first(details);
  let wanted = { policy: K.row_name(chosen), scenario: K.scenario(chosen), repeat: String(chosen.repeat ?? 0) };
  const refresh = () => {
    const same = details.filter(d => K.row_name(d) === wanted.policy && K.scenario(d) === wanted.scenario);
    chosen = same.find(d => String(d.repeat ?? 0) === wanted.repeat) || same[0] || null;
    if (chosen) wanted.repeat = String(chosen.repeat ?? 0);
    const change = key => value => {
      wanted = { ...wanted, [key]: value };
      refresh();
    };
    const had_focus = [...controls.querySelectorAll("select")].indexOf(document.activeElement);
    controls.replaceChildren(
      select("Policy", K.unique(details.map(K.row_name)), v => v, wanted.policy, change("policy")),
      select("Scenario", K.unique(details.map(K.scenario)), K.scenario_title, wanted.scenario, change("scenario")),
    );
    const repeats = K.unique(same.map(d => String(d.repeat ?? 0)));
    if (repeats.length > 1) controls.append(select("Repeat", repeats, v => v, wanted.repeat, change("repeat")));
    if (had_focus >= 0) (controls.querySelectorAll("select")[had_focus] || controls.querySelector("select")).focus();
    show(chosen);
  };
  return { controls, refresh };
};

// All charts of the section show the same stretch of time.
detail.zoom_to = (start, end) => {
  const total = detail.total,
    length = Math.min(total, Math.max(total * 1e-6, end - start));
  start = Math.max(0, Math.min(start, total - length));
  if (detail.view && detail.view[0] === start && detail.view[1] === start + length) return;
  detail.view = [start, start + length];
  for (const entry of detail.charts)
    if (entry.chart) entry.chart.dispatchAction({ type: "dataZoom", startValue: detail.view[0], endValue: detail.view[1] });
  if (detail.timeline && detail.timeline.refill) detail.timeline.refill();
};
detail.follow = chart =>
  chart.on("datazoom", () => {
    const zoom = chart.getOption().dataZoom[0];
    detail.zoom_to(zoom.startValue, zoom.endValue);
  });
detail.zooms = slider => {
  const at = detail.view || [0, detail.total];
  const range = { startValue: at[0], endValue: at[1], filterMode: "none" };
  const zooms = [
    { type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, moveOnMouseWheel: false, throttle: 30, ...range },
  ];
  if (slider)
    zooms.push({
      type: "slider",
      height: 18,
      bottom: 6,
      showDetail: false,
      brushSelect: false,
      throttle: 30,
      borderColor: K.color("--line"),
      fillerColor: K.color("--mark"),
      handleStyle: { color: K.color("--panel"), borderColor: K.color("--faint") },
      moveHandleSize: 4,
      moveHandleStyle: { color: K.color("--base") },
      dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } },
      selectedDataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } },
      ...range,
    });
  return zooms;
};
detail.time_axis = (total, named) =>
  K.value_axis({
    min: 0,
    max: total,
    name: named ? "seconds since the run began" : "",
    nameLocation: "middle",
    nameGap: 24,
    splitLine: { show: false },
    axisLine: { show: true, lineStyle: { color: K.color("--line") } },
    axisLabel: {
      color: K.color("--faint"),
      fontSize: 11,
      hideOverlap: true,
      showMinLabel: true,
      showMaxLabel: false,
      formatter: v => String(Number(v.toPrecision(7))),
    },
  });

detail.lines = (host, { title, lines, scale, unit, label, floor }) => {
  const panel = K.panel(host, title);
  panel.append(K.keys(lines.map(l => ({ color: l.color, text: l.name }))));
  const entry = K.chart(panel, {
    height: 250,
    label,
    renderer: "canvas",
    after: detail.follow,
    make: () => ({
      ...K.base_option(),
      grid: { left: 52, right: 14, top: 22, bottom: 42 },
      xAxis: detail.time_axis(detail.total, true),
      yAxis: K.value_axis({
        name: unit,
        min: floor,
        nameTextStyle: { color: K.color("--faint"), fontSize: 11, align: "right" },
        axisLabel: { color: K.color("--faint"), fontSize: 11, formatter: K.short },
      }),
      dataZoom: detail.zooms(false),
      series: lines.map(l => ({
        type: "line",
        step: "end",
        name: l.name,
        showSymbol: l.points.length < 2,
        symbolSize: 5,
        sampling: "lttb",
        lineStyle: { width: 1.6 },
        color: K.color(l.color),
        emphasis: { disabled: true },
        data: l.points.map(([t, v]) => [t, v * scale]),
      })),
      tooltip: {
        ...K.base_option().tooltip,
        trigger: "axis",
        axisPointer: { type: "line", lineStyle: { color: K.color("--faint") } },
        formatter: items =>
          K.tip(
            `at ${K.seconds(items[0].value[0])}`,
            items.map(i => `${i.seriesName}: ${K.fixed(i.value[1], 2)} ${unit}`),
          ),
      },
    }),
  });
  detail.charts.push(entry);
};

// Lines end where the run ends, so that a value that stays is seen to stay.
detail.to_the_end = points => {
  const sorted = [...points].sort((a, b) => a[0] - b[0]);
  if (sorted.length && sorted[sorted.length - 1][0] < detail.total) sorted.push([detail.total, sorted[sorted.length - 1][1]]);
  return sorted;
};

detail.table = (host, run) => {
  const rows = K.list(run.table).filter(r => K.finite(r.t_s));
  if (!rows.length)
    return void host.append(
      K.note("This run recorded no updates of its trace table (a policy that does not learn, or a run without details)."),
    );
  const types = [...K.group(rows, r => String(r.type ?? "task"), [])]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([type]) => type);
  const content = K.h("div", {});
  const show = type => {
    for (const entry of detail.charts.filter(e => content.contains(e.box))) {
      entry.dispose();
      detail.charts.splice(detail.charts.indexOf(entry), 1);
    }
    content.replaceChildren();
    const learned = rows.filter(r => String(r.type ?? "task") === type && K.finite(r.seconds) && r.seconds > 0);
    const places = K.group(learned, K.place_key, []);
    const busiest = [...places.values()]
      .sort((a, b) => b.length - a.length)
      .slice(0, K.palette.length)
      .sort((a, b) => a[0].width - b[0].width || a[0].leader - b[0].leader);
    const lines = K.colored(
      busiest.map(list => ({ name: K.place_name(list[0]), points: detail.to_the_end(list.map(r => [r.t_s, r.seconds])) })),
    );
    const [unit, scale] = K.unit_of(K.median(learned.map(r => r.seconds)) * 2);
    if (lines.length)
      detail.lines(content, {
        title: "Learned time of a task" + (types.length > 1 ? `: ${type}` : ""),
        lines,
        scale,
        unit,
        floor: 0,
        label: "Learned time of a task on each place over the run",
      });
    if (places.size > lines.length)
      content.append(K.note(`Shown: the ${lines.length} places with the most updates, of ${places.size}.`));
    content.append(K.h("div", { style: { height: "16px" } }));
    const slow = K.group(
      rows.filter(r => r.slowdown > 0 && (r.core !== undefined || r.width === 1)),
      r => String(r.core ?? r.leader),
      [],
    );
    if ([...slow.values()].flat().some(r => Math.abs(r.slowdown - 1) > 1e-6)) {
      const cores = [...slow].sort((a, b) => Number(a[0]) - Number(b[0]));
      const shown =
        cores.length <= K.palette.length
          ? cores
          : cores
              .sort((a, b) => K.extremes(b[1].map(r => r.slowdown))[1] - K.extremes(a[1].map(r => r.slowdown))[1])
              .slice(0, K.palette.length);
      detail.lines(content, {
        title: "Slowdown of each core" + (shown.length < cores.length ? ` (the ${shown.length} slowest of ${cores.length})` : ""),
        scale: 1,
        unit: "×",
        floor: 0,
        lines: K.colored(
          shown.map(([core, list]) => ({ name: `core ${core}`, points: detail.to_the_end(list.map(r => [r.t_s, r.slowdown])) })),
        ),
        label: "Learned slowdown of each core over the run",
      });
    }
  };
  if (types.length > 1) {
    const box = K.h(
      "select",
      { onchange: () => show(box.value) },
      types.map(t => K.h("option", { value: t }, t)),
    );
    host.append(K.h("div", { class: "controls" }, K.h("label", {}, "Task type", box)));
  }
  host.append(content);
  show(types[0]);
};
