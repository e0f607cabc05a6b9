// Sections of kilter.compare/1 and kilter.matrix/1: a heat map for each disturbance, graphs and machines downwards, policies across.

const compare = {};

compare.rows = () => K.list(K.doc.rows).filter(r => r && typeof r === "object");
compare.is_matrix = () => K.doc.schema === "kilter.matrix/1";
compare.kind = r => String(r.kind ?? r.disturb ?? "none");
compare.value = r => (compare.is_matrix() ? r.ratio_to_best : r.ratio_to_rws);
compare.place = r => `${r.graph} on ${String(r.on).replace(/^sim:/, "")}`;
compare.policies = () => K.unique(compare.rows().map(r => String(r.policy)));

// The best of a line is marked; the others fade towards the colour of a loss as they lose up to 40 % to it.
compare.colour = ratio => {
  if (!K.finite(ratio)) return null;
  if (ratio >= 0.97) return `color-mix(in srgb, var(--accent) ${Math.round(ratio >= 1 ? 55 : 30)}%, var(--panel))`;
  return `color-mix(in srgb, var(--hot) ${Math.round(Math.min(80, ((1 - ratio) / 0.4) * 80))}%, var(--panel))`;
};

compare.cell = (row, best) => {
  if (!row) return K.h("td", {}, none);
  const ratio = best / row.makespan_s;
  const lines = [
    `${row.policy}: ${K.seconds(row.makespan_s)} (${K.seconds(row.makespan_min_s)} to ${K.seconds(row.makespan_max_s)}, ${row.runs} runs)`,
    `${K.times(row.ratio_to_rws)} rws, ${K.percent(row.ratio_to_bound)} of the bound, SLR ${K.fixed(row.slr, 2)}, speedup ${K.fixed(row.speedup, 2)}`,
  ];
  return K.h("td", { title: lines.join("\n"), style: { background: compare.colour(ratio) ?? "" } }, K.fixed(compare.value(row), 2));
};

compare.map = (host, kind) => {
  const rows = compare.rows().filter(r => compare.kind(r) === kind);
  const policies = compare.policies();
  const lines = K.group(rows, compare.place, []);
  const body = [...lines].map(([name, members]) => {
    const online = members.filter(r => !/^(heft|cpop)/.test(r.policy));
    const [best] = K.extremes((online.length ? online : members).map(r => r.makespan_s));
    const of = policy => members.find(r => r.policy === policy);
    return K.h("tr", {}, K.h("th", { scope: "row" }, name), policies.map(p => compare.cell(of(p), best)));
  });
  const head = K.h("tr", {}, K.h("th", { scope: "col" }, ""), policies.map(p => K.h("th", { scope: "col" }, p)));
  host.append(K.h("div", { class: "scroll" }, K.h("table", { class: "heat" }, K.h("thead", {}, head), K.h("tbody", {}, body))));
};

compare.lead = () =>
  (compare.is_matrix()
    ? "Makespan of the best online policy over the policy's own: 1.00 is the best. Plans (heft, cpop) know every cost beforehand; they may be above 1."
    : "Makespan of rws over the policy's own: above 1 is faster than rws.") +
  " Blue: within 3 % of the best online policy of the line. Orange: the more, the further from it. Point at a number for what it is made of.";

compare.standings = host => {
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

compare.conclusion = host => {
  const { policies, text } = K.doc.conclusion;
  const rows = K.list(policies).map(p => [
    p.policy,
    K.fixed(p.lead, 3),
    K.finite(p.lead_min) ? `${K.fixed(p.lead_min, 3)} to ${K.fixed(p.lead_max, 3)}` : none,
    K.percent(p.ratio_to_bound),
  ]);
  const head = ["policy", "the first is so many times as fast", "over the runs", "of the bound"];
  host.append(
    ...K.list(text).map(line => K.h("p", {}, line)),
    K.h("div", { class: "scroll" }, K.table(null, head, rows)),
  );
};

compare.sections = () => {
  const maps = K.unique(compare.rows().map(compare.kind)).map((kind, i) => ({
    id: `map-${i}`,
    title: K.scenario_title(kind),
    lead: compare.lead(),
    draw: host => compare.map(host, kind),
  }));
  return [
    ...(K.list(K.doc.conclusion?.policies).length
      ? [{ id: "conclusion", title: "Conclusion", lead: "Geometric means over all cells: a graph on a machine in a scenario.", draw: compare.conclusion }]
      : []),
    ...(compare.is_matrix() ? [{ id: "standings", title: "Over all cells", draw: compare.standings }] : []),
    ...maps,
    { id: "setup", title: "Configuration and environment", draw: closing.setup },
  ];
};

// One line at the top; the section has all.
compare.verdict = () => {
  const { best, policies } = K.doc.conclusion ?? {},
    [first, next] = K.list(policies);
  if (!next) return null;
  return best.length === 1
    ? `${first.policy} is best: ${K.fixed(next.lead, 2)} times as fast as ${next.policy}.`
    : `No policy is best: ${best.join(", ")} cannot be told apart.`;
};

compare.heading = () => {
  const rows = compare.rows(),
    online = K.list(K.doc.policies).filter(p => !p.planned),
    first = [...online].sort((a, b) => b.ratio_mean - a.ratio_mean)[0];
  const cells = K.unique(rows.map(r => `${compare.place(r)} ${compare.kind(r)}`)).length;
  return {
    title: compare.is_matrix() ? "Benchmark matrix" : "Comparison of policies on graphs",
    verdict: first
      ? `${first.policy} comes nearest to the best of each of ${K.count(cells)} cells: ${K.percent(first.within_3_percent / first.cells)} within 3 %.`
      : compare.verdict() ?? `${K.count(compare.policies().length)} policies in ${K.count(cells)} ${cells === 1 ? "cell" : "cells"}.`,
    meta: [`${K.count(K.unique(rows.map(r => r.graph)).length)} graphs`, `${K.count(K.unique(rows.map(r => r.on)).length)} machines`].join(" · "),
  };
};

K.sections("kilter.compare/1", [compare.sections]);
K.sections("kilter.matrix/1", [compare.sections]);
