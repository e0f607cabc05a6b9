// The papers' figures, drawn from our runs. A figure has panels; in a panel a number for each group
// and series.

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

figures.name = f => {
  const [paper, part, what] = String(f.id).split("-");
  return (
    [paper, (part ?? "").replace("Fig.", "Fig. ")].join(" ").trim() + (what ? ", " + what : "")
  );
};
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

// Runs of iterations that mostly began during a disturbance, as [first, last] indices of groups.
figures.disturbed_ranges = f => {
  const ranges = [];
  K.list(f.disturbed).forEach((part, g) => {
    if (!(part > 0.5)) return;
    const last = ranges[ranges.length - 1];
    if (last && last[1] === g - 1) last[1] = g;
    else ranges.push([g, g]);
  });
  return ranges;
};
figures.disturbed_frame = (v, at) => {
  const ranges = figures.disturbed_ranges(v.f);
  if (!ranges.length) return undefined;
  return {
    silent: true,
    z: 6,
    itemStyle: {
      color: "transparent",
      borderColor: K.color("--hot"),
      borderWidth: 1.5,
      borderType: "dashed",
    },
    data: ranges.map(([first, last]) => [{ xAxis: at(first) }, { xAxis: at(last) }]),
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
    p && K.finite(p.published)
      ? `published ${v.number(p.published)}${p.note ? ", " + p.note : ""}`
      : "published: not printed",
  ]);

figures.keys = (host, v, entries) =>
  host.append(
    K.keys([
      ...entries,
      ...(v.printed ? [{ color: "--hot", shape: "dash", text: "published" }] : []),
      ...(v.f.seeds > 1 && /bars|lines/.test(v.f.kind)
        ? [{ color: "--ink", shape: "whisker", text: "two standard deviations" }]
        : []),
    ]),
  );
figures.series_keys = v =>
  v.series.names.map((text, i) => ({ color: K.palette[i % K.palette.length], text }));

figures.panels = (host, v, wide) => {
  const panels = K.h("div", { class: "panels" + (wide ? " wide" : "") });
  host.append(panels);
  return v.panel.names.map((name, i) => ({ panel: K.panel(panels, name), name, i }));
};
figures.label = (v, name) =>
  `${figures.name(v.f)}, ${v.f.title}${name ? ", " + name : ""}; the table below has the figures`;

figures.spread = (v, p) => {
  if (!p || !K.finite(p.obtained)) return none;
  const half = (p.high - p.low) / 2;
  return v.f.seeds > 1 && half > 0
    ? `${v.number(p.obtained)} ± ${v.number(half)}`
    : v.number(p.obtained);
};

// Where the paper prints some of the numbers each has a row, so that theirs can stand beside ours;
// else rows by columns.
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
            ? [
                group,
                series,
                v.number(p.obtained),
                `${v.number(p.low)} .. ${v.number(p.high)}`,
                K.finite(p.published)
                  ? v.number(p.published) + (p.note ? ` (${p.note})` : "")
                  : "not printed",
              ]
            : [group, series, none, none, none];
        }),
      ),
    );
  const turned = group_names.length > 16; // 60 iterations are rows, not columns
  return turned || v.f.kind !== "heat"
    ? K.table(
        name,
        [v.group.title, ...(v.series.name ? at_series.names : [v.f.unit])],
        group_names.map((group, g) => [
          group,
          ...at_series.names.map((_, s) => figures.spread(v, v.at(i, g, s))),
        ]),
      )
    : K.table(
        name,
        [`${v.series.title} by ${v.group.title}`, ...group_names],
        at_series.names.map((series, s) => [
          series,
          ...group_names.map((_, g) => figures.spread(v, v.at(i, g, s))),
        ]),
      );
};

figures.claims_table = f => {
  const rows = K.list(f.claims)
    .map(verdicts.of)
    .filter(Boolean)
    .flatMap(c =>
      K.list(c.values).map(value => [
        [K.h("a", { href: "#" + c.id }, c.id), " ", value.value],
        verdicts.number(value.published, value.share),
        verdicts.number(value.obtained, value.share),
        verdicts.range(value.low, value.high, value.share),
        value.inside ? "met" : "not met",
      ]),
    );
  if (!rows.length) return null;
  const mark = (i, j) => (rows[i][j] === "not met" ? "low" : null);
  const head = ["claim", "published", "obtained", "low .. high", ""];
  return K.h(
    "div",
    { class: "scroll beside" },
    K.table("Numbers that the paper prints, and ours", head, rows, { mark }),
  );
};

figures.draw = (host, f) => {
  const v = figures.view(f);
  host.append(K.h("p", { class: "said" }, K.h("b", {}, "The paper: "), f.said));
  const drawing = figures[f.kind];
  if (typeof drawing !== "function")
    return void host.append(K.note(`A drawing of kind ${f.kind} is not known here.`));
  drawing(host, v);
  if (figures.disturbed_ranges(f).length)
    host.append(
      K.note(
        "In the dashed frame: iterations that began, in most of the runs drawn, while the " +
          "disturbance was there.",
      ),
    );
  if (!v.printed)
    host.append(K.h("p", { class: "soft" }, "Published numbers of single points: not printed."));
  host.append(
    K.fold(
      "The same as a table",
      f.kind === "starts"
        ? figures.starts_tables(v)
        : v.panel.names.map((name, i) => figures.table(v, i, name)),
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
