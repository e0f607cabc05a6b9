// What every chart shares: colours of the theme, size, redrawing, tooltips made of elements.

K.palette = ["--s0", "--s1", "--s2", "--s3", "--s4", "--s5", "--s6", "--s7"];
K.rest_color = "--rest";
K.color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

K.dark = () => document.documentElement.dataset.theme === "dark";
K.set_theme = dark => {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const button = document.getElementById("theme");
  if (button) button.textContent = dark ? "Light" : "Dark";
  for (const entry of K.charts) entry.draw();
};

// `make()` gives the option anew for each theme. The label is what a screen reader says in place of
// the picture.
K.chart = (host, { height, label, make, renderer = "svg", after }) => {
  const box = K.h("div", {
    class: "chart",
    role: "img",
    "aria-label": label,
    style: { height: height + "px" },
  });
  host.append(box);
  const entry = { box, chart: null };
  entry.draw = () => {
    if (!box.isConnected || box.clientWidth === 0) return;
    if (!entry.chart) {
      entry.chart = echarts.init(box, null, { renderer });
      if (after) after(entry.chart);
    }
    entry.chart.setOption(make(entry.chart), { notMerge: true });
    if (entry.redrawn) entry.redrawn();
  };
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth === width) return;
    width = box.clientWidth;
    if (entry.chart) entry.chart.resize();
    entry.draw();
  }).observe(box);
  entry.dispose = () => {
    if (entry.chart) entry.chart.dispose();
    K.charts.splice(K.charts.indexOf(entry), 1);
    box.remove();
  };
  K.charts.push(entry);
  return entry;
};

K.tip = (title, lines) =>
  K.h(
    "div",
    { class: "tip" },
    K.h("b", {}, title),
    lines.map(line => K.h("div", {}, line)),
  );

K.base_option = () => ({
  animation: false,
  backgroundColor: "transparent",
  textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: K.color("--soft") },
  tooltip: {
    confine: true,
    backgroundColor: K.color("--panel"),
    borderColor: K.color("--line"),
    padding: [6, 10],
    textStyle: { color: K.color("--ink") },
    extraCssText: "box-shadow: 0 2px 10px rgba(0,0,0,.18);",
  },
});

K.value_axis = more => ({
  type: "value",
  axisLine: { show: false },
  axisTick: { show: false },
  axisLabel: { color: K.color("--faint"), fontSize: 11, hideOverlap: true },
  splitLine: { lineStyle: { color: K.color("--grid") } },
  nameTextStyle: { color: K.color("--faint"), fontSize: 11 },
  ...more,
});

K.name_axis = (names, more = {}) => ({
  type: "category",
  data: names,
  inverse: true,
  axisTick: { show: false },
  splitLine: { show: false },
  axisLine: { show: false },
  ...more,
  axisLabel: {
    color: K.color("--ink"),
    fontSize: 12,
    width: 108,
    overflow: "truncate",
    interval: 0,
    ...more.axisLabel,
  },
});

// Room for the longest name, without letting one long name eat a narrow screen.
K.name_width = (names, chart_width) => {
  const longest = Math.max(0, ...names.map(n => [...String(n)].length));
  return Math.min(Math.ceil(longest * 7.4) + 22, Math.max(70, chart_width * 0.32));
};

K.panel = (host, title) => {
  const panel = K.h("div", { class: "panel" }, title ? K.h("h3", {}, title) : null);
  host.append(panel);
  return panel;
};

// Horizontal bars, one row a policy, each split into parts. parts[]: {name, color, values[]}.
K.stacked_bars = (host, { title, names, parts, axis, limit, label, describe }) => {
  const panel = K.panel(host, title);
  K.chart(panel, {
    height: names.length * 27 + 42,
    label,
    make: chart => {
      const left = K.name_width(names, chart.getWidth());
      return {
        ...K.base_option(),
        grid: { left, right: 14, top: 4, bottom: 26 },
        xAxis: K.value_axis({
          max: limit,
          axisLabel: {
            color: K.color("--faint"),
            fontSize: 11,
            hideOverlap: true,
            formatter: axis,
          },
        }),
        yAxis: K.name_axis(names, { axisLabel: { width: left - 12 } }),
        series: parts.map(part => ({
          type: "bar",
          stack: "all",
          name: part.name,
          barWidth: 15,
          data: part.values,
          itemStyle: {
            color: K.color(part.color),
            borderColor: K.color("--panel"),
            borderWidth: 1,
          },
          emphasis: { disabled: true },
        })),
        tooltip: {
          ...K.base_option().tooltip,
          trigger: "item",
          formatter: item => describe(item.dataIndex, item.seriesIndex),
        },
      };
    },
  });
};

// The largest `limit` entries keep a colour of their own; the others share one.
K.colored = (entries, limit = K.palette.length) =>
  entries.slice(0, limit).map((entry, i) => ({ ...entry, color: K.palette[i % K.palette.length] }));
