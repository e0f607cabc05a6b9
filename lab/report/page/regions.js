// Sections of kilter.run/1: a program's parallel regions, where their threads' time went, and what
// the program was given.

const regions = {};

regions.result = () => K.dict(K.doc.result);
regions.all = () =>
  K.list(regions.result().processes)
    .flatMap(p => K.list(K.dict(p).regions).map(r => ({ ...K.dict(r), pid: p.pid })))
    .sort((a, b) => b.seconds - a.seconds);
regions.file = path => String(path).replace(/^.*\//, "");
regions.program = () => regions.file(K.list(K.doc.program)[0] ?? "a program");
regions.name = r =>
  r.source
    ? regions.file(r.source)
    : `${r.module ? regions.file(r.module) : regions.program()}+0x${Number(r.offset).toString(16)}`;
regions.waits = r => K.list(r.waited).filter(w => K.finite(K.dict(w).seconds));
regions.waited = r => K.sum(regions.waits(r).map(w => w.seconds));
regions.all_s = r => r.seconds * r.threads;
regions.cpu = w => (K.finite(w.cpu) ? `CPU ${w.cpu}` : "other CPUs");
regions.done = r => {
  if (r.left_for && !r.on_pool) return `left to ${r.library}: ${r.left_for}`;
  if (r.left_for)
    return (
      `on threads of Kilter ${K.count(r.on_pool)} times, then left to ${r.library}: ` +
      `${r.left_for}`
    );
  return r.on_pool ? "on threads of Kilter" : `${r.library}`;
};

// More would be too small to see.
regions.most_bars = 16;

regions.bars = host => {
  const shown = regions
    .all()
    .filter(r => regions.all_s(r) > 0)
    .slice(0, regions.most_bars);
  if (!shown.length) return void host.append(K.note("No parallel region of OpenMP was seen."));
  const cpus = K.unique(shown.flatMap(r => regions.waits(r).map(regions.cpu))).sort();
  const for_cpu = (r, cpu) =>
    K.sum(
      regions
        .waits(r)
        .filter(w => regions.cpu(w) === cpu)
        .map(w => w.seconds),
    );
  const waiting = K.colored(
    cpus.map(cpu => ({ name: `waited for ${cpu}`, values: shown.map(r => for_cpu(r, cpu)) })),
    K.palette.length - 1,
  );
  const parts = [
    {
      name: "at work",
      color: K.rest_color,
      values: shown.map(r => Math.max(0, regions.all_s(r) - regions.waited(r))),
    },
    ...waiting.map(p => ({ ...p, color: p.color ?? K.palette[K.palette.length - 1] })),
  ];
  host.append(K.keys(parts.map(p => ({ color: p.color, text: p.name }))));
  K.stacked_bars(host, {
    title: "Seconds of all threads together",
    names: shown.map(regions.name),
    parts,
    axis: value => K.seconds(value),
    label: "What the threads of each region did",
    describe: (i, part) =>
      K.tip(regions.name(shown[i]), [
        `${parts[part].name}: ${K.seconds(parts[part].values[i])}, ` +
          `${K.percent(parts[part].values[i] / regions.all_s(shown[i]))}`,
      ]),
  });
};

regions.table = host => {
  const rows = regions.all().map(r => [
    regions.name(r),
    K.count(r.calls),
    K.seconds(r.seconds),
    K.count(r.members),
    K.percent(regions.waited(r) / regions.all_s(r)),
    [...regions.waits(r)]
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, 3)
      .map(w => `${regions.cpu(w)} ${K.percent(w.seconds / regions.all_s(r))}`)
      .join(", ") || none,
    regions.done(r),
  ]);
  if (!rows.length) return void host.append(K.note("No parallel region of OpenMP was seen."));
  const head = ["region", "times", "took", "members", "waited", "for", "where it ran"];
  host.append(K.h("div", { class: "scroll" }, K.table(null, head, rows)));
};

regions.given = host => {
  const cpus = K.list(K.doc.cpus).map(c => [`CPU ${c.cpu}`, K.fixed(c.speed, 2)]);
  const set = K.list(K.doc.set).map(s => [`${s.variable}=${s.value}`, s.why]);
  const left = K.list(K.doc.left).map(l => [
    `${l.variable}=${l.value}`,
    `the user's; else it would be ${l.instead_of}`,
  ]);
  host.append(
    K.h("div", { class: "scroll" }, K.table("CPUs that it may use", ["CPU", "speed"], cpus)),
    set.length + left.length
      ? K.h(
          "div",
          { class: "scroll" },
          K.table("Variables", ["variable", "why"], [...set, ...left], { class: "prose" }),
        )
      : K.note("No variable had to be set: the CPUs are equal and paid for."),
    K.note(
      K.doc.loaded
        ? `${K.doc.loaded} was loaded into it.`
        : (K.doc.not_loaded_because ?? "Nothing was loaded into it."),
    ),
  );
};

regions.heading = () => {
  const result = regions.result(),
    [longest] = regions.all();
  const ended =
    K.doc.result === null
      ? "It was not run."
      : `${K.seconds(result.seconds)}, ${K.fixed(result.cpu_s / result.seconds, 2)} CPUs busy ` +
        "with it in the mean.";
  const part = longest ? regions.waited(longest) / regions.all_s(longest) : NaN;
  return {
    title: `kilter run ${K.list(K.doc.program).map(regions.file).join(" ")}`,
    verdict:
      ended +
      (part >= 0.01
        ? ` Threads of ${regions.name(longest)} waited ${K.percent(part)} of the time.`
        : ""),
    meta: [
      `${K.count(regions.all().length)} parallel regions`,
      `${K.count(K.list(K.doc.cpus).length)} CPUs`,
    ].join(" · "),
  };
};

K.sections("kilter.run/1", [
  {
    id: "regions",
    title: "Where the time of the regions went",
    lead:
      "A thread waits if it has nothing to do until another one has come as far; the CPU is " +
      "the one where that ran. Of a region that is left to its library only the wait at its " +
      "end is seen.",
    draw: regions.bars,
  },
  { id: "all", title: "All regions", draw: regions.table },
  { id: "given", title: "What the program was given", draw: regions.given },
]);
