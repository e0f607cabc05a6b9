// Sections of kilter.reproduce/1 that judge: what became of each claim, with the numbers from which
// that follows.

const verdicts = {};

verdicts.kinds = [
  ["reproduced", "every case holds, and every published value is met"],
  ["direction", "every case holds; no value is published, or one is not met"],
  ["differs", "a case does not hold"],
  ["needs-hardware", "nothing here can decide it"],
  ["arithmetic", "follows from definitions: we read the paper right"],
  ["input", "the number feeds the model, so it is no evidence"],
];
verdicts.relations = { gt: "above", lt: "below", eq: "equal to" };

verdicts.claims = () => K.list(K.doc.claims).filter(c => c && typeof c === "object");
verdicts.of = id => verdicts.claims().find(c => c.id === id);

verdicts.number = (value, share) => {
  if (!K.finite(value)) return none;
  if (share) return (100 * value).toFixed(1).replace(/^-0\.0$/, "0.0") + " %";
  const magnitude = Math.abs(value);
  if (magnitude > 0 && magnitude < 1e-3) return value.toExponential(3);
  return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });
};
verdicts.range = (low, high, share) =>
  K.finite(low) && K.finite(high)
    ? `${verdicts.number(low, share)} .. ${verdicts.number(high, share)}`
    : none;

verdicts.badge = name => K.h("span", { class: `badge ${name}` }, String(name));

verdicts.heading = () => {
  const claims = verdicts.claims();
  const count = name => claims.filter(c => c.verdict === name).length;
  const are = n => (n === 1 ? "is" : "are");
  const parts = [
    [count("reproduced"), n => `${n} ${are(n)} reproduced`],
    [count("direction"), n => `${n} ${n === 1 ? "holds" : "hold"} in direction`],
    [count("differs"), n => `${n} ${n === 1 ? "differs" : "differ"}`],
    [count("needs-hardware"), n => `${n} ${n === 1 ? "needs" : "need"} other hardware`],
    [count("arithmetic"), n => `${n} ${n === 1 ? "is" : "are"} arithmetic`],
    [count("input"), n => `${n} ${n === 1 ? "is an input" : "are inputs"}`],
  ].filter(([n]) => n > 0);
  const seeds = K.unique(claims.map(c => c.seeds).filter(n => n > 0));
  const figures = K.list(K.doc.figures).length;
  return {
    title: "Published claims, checked in virtual time",
    verdict: claims.length
      ? `Of ${claims.length} ${claims.length === 1 ? "claim" : "claims"}, ` +
        `${K.or_list(parts.map(([n, say]) => say(n)))}.`
      : "No claim was judged.",
    meta: [
      figures
        ? `${figures} ${figures === 1 ? "figure" : "figures"} drawn again`
        : "no figure belongs to these claims",
      K.doc.as && K.doc.as !== "published" ? `read as ${K.doc.as}` : null,
      ...K.list(K.doc.first).map(
        f => `${K.list(f.papers).join(" and ")} at first (${f.commit}): ${f.said}`,
      ),
      seeds.length ? `${seeds.join(", ")} seeds for every number` : null,
      "spreads are two standard deviations over the seeds",
    ]
      .filter(Boolean)
      .join(" · "),
  };
};

verdicts.overview = host => {
  const claims = verdicts.claims();
  if (!claims.length) return void host.append(K.note("This document has no claims."));
  host.append(
    K.h(
      "dl",
      { class: "overview" },
      verdicts.kinds
        .map(([name, meaning]) => [name, meaning, claims.filter(c => c.verdict === name)])
        .filter(([, , members]) => members.length)
        .map(([name, meaning, members]) => [
          K.h("dt", {}, verdicts.badge(name), ` ${members.length}`),
          K.h(
            "dd",
            {},
            K.h("span", { class: "soft" }, `${meaning}: `),
            members.map((c, i) => [i ? ", " : "", K.h("a", { href: "#" + c.id }, c.id)]),
          ),
        ]),
    ),
  );
};

// The case that decides: the JSON's own obtained, low and high are its, where no value is
// published. Several cases may be of the same number; then the one that fails.
verdicts.tightest = claim => {
  const same = K.list(claim.cases).filter(
    c => c.obtained === claim.obtained && c.low === claim.low && c.high === claim.high,
  );
  return same.find(c => !c.holds) ?? same[0];
};

verdicts.needs = c =>
  c.relation === "eq"
    ? `${verdicts.number(c.reference, c.share)}, within ${verdicts.number(c.margin, c.share)}`
    : `${verdicts.relations[c.relation] ?? c.relation} ${verdicts.number(c.reference, c.share)} ` +
      `by ${verdicts.number(c.margin, c.share)}`;

verdicts.numbers = claim => {
  const values = K.list(claim.values);
  const head = ["", "published", "obtained", "low .. high", "counts if", ""];
  const rows = values.map(v => [
    v.value,
    verdicts.number(v.published, v.share),
    verdicts.number(v.obtained, v.share),
    verdicts.range(v.low, v.high, v.share),
    verdicts.range(K.dict(v.band).low, K.dict(v.band).high, v.share),
    v.inside ? "met" : "not met",
  ]);
  const tight = values.length ? null : verdicts.tightest(claim);
  if (tight)
    rows.push([
      tight.holds ? "nearest case" : "worst case",
      "not printed",
      verdicts.number(tight.obtained, tight.share),
      verdicts.range(tight.low, tight.high, tight.share),
      verdicts.needs(tight),
      tight.holds ? "holds" : "fails",
    ]);
  if (!rows.length && K.finite(claim.published))
    rows.push(["", verdicts.number(claim.published), none, none, none, "not decided here"]);
  if (!rows.length) return null;
  const mark = (i, j) => (/^(not met|fails)$/.test(rows[i][j]) ? "low" : null);
  return [
    K.h("div", { class: "scroll" }, K.table(null, head, rows, { mark })),
    tight
      ? K.h(
          "p",
          { class: "remark" },
          tight.holds ? "The case that is nearest to failing: " : "The case that fails worst: ",
          K.h("code", {}, tight.case),
        )
      : null,
  ];
};

verdicts.cases = claim => {
  const cases = K.list(claim.cases);
  if (!cases.length) return null;
  const held = cases.filter(c => c.holds).length;
  const rows = [...cases]
    .sort((a, b) => Number(a.holds) - Number(b.holds))
    .map(c => [
      c.case,
      verdicts.number(c.obtained, c.share),
      verdicts.range(c.low, c.high, c.share),
      verdicts.needs(c),
      c.holds ? "holds" : "fails",
    ]);
  const summary = `${held} of ${cases.length} ${cases.length === 1 ? "case holds" : "cases hold"}`;
  return K.fold(
    summary,
    K.table(null, ["case", "obtained", "low .. high", "must be", ""], rows, {
      mark: (i, j) => (rows[i][j] === "fails" ? "low" : null),
    }),
  );
};

// What was measured on a real machine; most claims have nothing of the kind.
verdicts.native = native => {
  if (!native) return null;
  return [
    K.h(
      "p",
      { class: "native" },
      "Natively ",
      verdicts.badge(native.verdict),
      ` (${native.repeats} repeats, ${native.measured}):`,
    ),
    verdicts.cases(native),
  ];
};

verdicts.claim = claim => {
  const drawn = K.list(K.doc.figures).filter(f => K.list(f.claims).includes(claim.id));
  return K.h(
    "article",
    { class: "claim", id: claim.id, "data-verdict": claim.verdict },
    K.h(
      "h3",
      {},
      verdicts.badge(claim.verdict),
      " ",
      claim.id,
      " ",
      K.h("span", { class: "source" }, claim.source),
    ),
    K.h("p", {}, claim.statement),
    claim.impossible && claim.verdict === "differs"
      ? K.h("p", { class: "soft" }, `Impossible in the model: ${claim.impossible}.`)
      : null,
    claim.cause && ["direction", "differs"].includes(claim.verdict)
      ? K.h("p", { class: "soft" }, `Cause: ${claim.cause}.`)
      : null,
    claim.exceptions
      ? K.h("p", { class: "soft" }, `Excepted by the paper itself: ${claim.exceptions}.`)
      : null,
    verdicts.numbers(claim),
    verdicts.cases(claim),
    verdicts.native(claim.native),
    claim.note ? K.h("p", { class: "remark" }, K.h("b", {}, "Remark: "), claim.note) : null,
    K.h(
      "p",
      { class: "again" },
      K.h("code", {}, claim.command),
      drawn.map(f => [" · ", K.h("a", { href: "#" + f.id }, figures.name(f))]),
    ),
  );
};

verdicts.list = host => {
  const claims = verdicts.claims();
  if (!claims.length) return void host.append(K.note("This document has no claims."));
  const list = K.h("div", { class: "claims" }, claims.map(verdicts.claim));
  const present = verdicts.kinds
    .map(([name]) => name)
    .filter(name => claims.some(c => c.verdict === name));
  if (present.length > 1) {
    const buttons = ["all", ...present].map(name =>
      K.h(
        "button",
        {
          type: "button",
          "aria-pressed": name === "all" ? "true" : "false",
          onclick: () => {
            for (const b of buttons) b.setAttribute("aria-pressed", String(b.textContent === name));
            for (const article of list.children)
              article.hidden = name !== "all" && article.dataset.verdict !== name;
          },
        },
        name,
      ),
    );
    host.append(
      K.h(
        "div",
        { class: "controls buttons", role: "group", "aria-label": "Show claims with this verdict" },
        buttons,
      ),
    );
  }
  host.append(list);
};

verdicts.words = host =>
  host.append(
    K.h(
      "dl",
      { class: "words" },
      [
        [
          "published",
          "What the paper prints as a number, in its text or beside its figure. Nothing was read " +
            "off a drawing; where no number is printed, the report says so.",
        ],
        [
          "obtained",
          "The mean over the seeds, each of them a run in virtual time on the platform that the " +
            "paper names, or the mean of several runs where the experiment says so.",
        ],
        [
          "low .. high",
          "Two standard deviations below and above the mean. Error bars in the drawings " +
            "are the same.",
        ],
        [
          "case",
          'An order or equality that the claim\'s words state. "above" holds if low is at least ' +
            'the reference plus the margin, "below" if high is at most the reference less the ' +
            'margin, "equal" if the mean is within the margin.',
        ],
        [
          "met",
          "A published value is met within 15 % of it, a share within 5 points; a gain or loss " +
            "also within half of itself.",
        ],
        ["place", "(leader, width): the cores that run one task together, led by the lowest."],
      ].map(([word, meaning]) => [K.h("dt", {}, word), K.h("dd", {}, meaning)]),
    ),
  );

K.sections("kilter.reproduce/1", [
  { id: "overview", title: "Overview", draw: verdicts.overview },
  {
    id: "verdicts",
    title: "Every claim",
    lead: "In the order of the experiments. The command under a claim repeats it.",
    draw: verdicts.list,
  },
  () => figures.sections(),
  { id: "words", title: "What the words mean", draw: verdicts.words },
]);
