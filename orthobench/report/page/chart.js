// One panel as axes and lines in percent of their width and height: a browser lays them out at any size.

const MARKED = 12;

/** The place of a value on an axis, in percent from its beginning. */
function placeOn({ log, range }, value) {
  const [low, high, at] = log ? [...range, value].map(Math.log10) : [...range, value];
  return (100 * (at - low)) / (high - low);
}

/** The place from the top; on a log axis, values that are numerically zero are at its floor. */
function topOf(panel, value) {
  return 100 - placeOn(panel.y, isZero(panel, value) ? panel.floor : value);
}

function isZero({ y, zero }, value) {
  return y.log && value <= zero;
}

/** A chart: one pair of axes with all series, or if they are apart one of each with the others in grey behind it. */
function chartOf(panel, apart) {
  const lines = panel.series.map((one, place) => ({ one, place, ...lineOf(panel, one) }));
  const ends = [...lines].sort((a, b) => (a.top[a.there.at(-1)] ?? 101) - (b.top[b.there.at(-1)] ?? 101));
  const parts = (apart ? lines.map((entry) => [entry]) : [lines]).map((own) => ({ lines: own, axes: axesOf(panel, own, apart ? lines : []) }));
  const drawings = parts.map(({ lines: [first], axes }) => element("div", { class: "part" }, apart ? nameOf(first) : "", axes));
  const root = element("div", { class: "chart", role: "group" },
    element("div", { class: "y-title" }, panel.y.label),
    element("div", { class: "parts" }, ...drawings),
    element("div", { class: "x-title" }, panel.x.label),
    element("div", { class: "legend" }, ...(apart ? [] : ends.map((entry) => nameOf(entry)))));
  for (const [name, value] of Object.entries({ apart, named: panel.x.named })) root.classList.toggle(name, value);
  return { panel, lines, parts, root };
}

/** A series with its values and its points in percent, null for those without a place. */
function lineOf(panel, one) {
  const [x, y, low, high] = ["x", "y", "low", "high"].map((name) => plots.data.pool[one[name]]);
  const left = x.map((value) => (value === null ? null : placeOn(panel.x, value)));
  const [top, bottoms, tops] = [y, low, high].map((values) => values?.map((value) => (value === null ? null : topOf(panel, value))));
  const there = [...x.keys()].filter((i) => left[i] !== null && top[i] !== null);
  return { x, y, low, high, left, top, bottoms, tops, there, group: null };
}

/** The name of a series, which can be pressed if it is that of a solver. */
function nameOf({ one, place }) {
  const button = one.solver < 0 ? {} : { type: "button", "aria-pressed": "false" };
  return element(one.solver < 0 ? "span" : "button", { class: "label", "data-place": place, ...button }, lineSample(one.solver), element("span", {}, one.label));
}

/** A pair of axes with some series in front of others in grey. */
function axesOf(panel, lines, ghosts) {
  const frame = drawn("g", { "aria-hidden": "true" });
  const line = (name, x1, y1, x2, y2) => frame.append(drawn("line", { class: name, x1: `${x1}%`, y1: `${y1}%`, x2: `${x2}%`, y2: `${y2}%` }));
  const texts = ["x-ticks", "y-ticks"].map((name) => frame.appendChild(drawn("g", { class: name })));
  for (const [value, text] of panel.x.ticks) {
    const at = placeOn(panel.x, value);
    if (!panel.x.named) line("grid", at, 0, at, 100);
    texts[0].append(drawn("text", { x: `${at}%`, y: "100%", dy: 17 }, text));
  }
  for (const [value, text] of panel.y.ticks) {
    const at = topOf(panel, value);
    line("grid", 0, at, 100, at);
    texts[1].append(drawn("text", { x: -7, y: `${at}%`, dy: 4 }, text));
  }
  line("axis", 0, 0, 0, 100);
  line("axis", 0, 100, 100, 100);
  for (const at of panel.rules) line("rule", placeOn(panel.x, at), 0, placeOn(panel.x, at), 100);
  if (panel.floored) {
    const at = topOf(panel, panel.floor);
    line("rule", 0, at, 100, at);
    texts[1].append(drawn("text", { class: "floor", x: 5, y: `${at}%`, dy: -6 }, panel.floored));
  }
  const behind = scaled(...ghosts.map((entry) => drawn("path", { class: "ghost", d: pathsOf(panel, entry)[0] })));
  return drawn("svg", { class: "axes" }, frame, behind, ...lines.map((entry) => (entry.group = seriesGroup(panel, entry))));
}

/** Shapes in percent of the axes; what is outside of these is cut off. */
function scaled(...shapes) {
  return drawn("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, ...shapes);
}

/** One series: its band or bars, its line, markers, crosses, and the chosen point. */
function seriesGroup(panel, entry) {
  const { one, y, left, top, bottoms, tops, there, place } = entry;
  const shapes = [];
  const put = (href, name, x, height) => drawn("use", { href, class: name, x: `${x}%`, y: `${height}%` });
  const banded = bottoms ? there.filter((i) => bottoms[i] !== null && tops[i] !== null) : [];
  if (panel.x.named) shapes.push(...banded.map((i) => drawn("path", { class: "bar", d: `M${left[i]},${bottoms[i]}V${tops[i]}` })));
  else {
    const [above, below] = pathsOf(panel, entry);
    const dash = plots.data.solvers[one.solver]?.dash ?? plots.data.references[-1 - one.solver];
    if (bottoms) shapes.push(drawn("path", { class: "band", d: bandOf(entry) }));
    shapes.push(drawn("path", { class: "line", d: above, "stroke-dasharray": dash || undefined }));
    if (below) shapes.push(drawn("path", { class: "line floored", d: below }));
  }
  const marked = panel.x.named || (there.length <= MARKED && !panel.stepped) ? there : there.slice(-1);
  const markers = one.solver < 0 ? [] : marked.map((i) => put(`#shape-${one.solver}`, isZero(panel, y[i]) ? "marker at-floor" : "marker", left[i], top[i]));
  const crosses = one.crosses.map(([at, value]) => put("#cross", "cross", placeOn(panel.x, at), topOf(panel, value)));
  const chosen = there.includes(one.chosen) ? [put("#chosen", "chosen", left[one.chosen], top[one.chosen])] : [];
  return drawn("g", { class: `series ${one.solver < 0 ? "reference" : `c-${one.solver}`}`, "data-place": place }, scaled(...shapes), ...markers, ...crosses, ...chosen);
}

/** The line as a path, without the points at the floor, and these as a path of their own: no line leads there. */
function pathsOf(panel, { y, left, top }) {
  const paths = [[], []];
  let before = null;
  left.forEach((at, i) => {
    const own = at === null || top[i] === null ? null : Number(isZero(panel, y[i]));
    if (own !== null) paths[own].push(own === before ? `L${at},${top[i]}` : `M${at},${top[i]}${own ? "h.3" : ""}`);
    before = own;
  });
  return paths.map((parts) => parts.join(""));
}

/** The band over the seeds, with gaps if an end is infinite. */
function bandOf({ left, bottoms, tops }) {
  const pieces = [[]];
  left.forEach((at, i) => {
    if (at === null || bottoms[i] === null || tops[i] === null) pieces.push([]);
    else pieces.at(-1).push(i);
  });
  const outline = (piece) => [...piece.map((i) => [left[i], bottoms[i]]), ...piece.reverse().map((i) => [left[i], tops[i]])];
  return pieces.filter((piece) => piece.length > 1).map((piece) => `M${outline(piece).join("L")}Z`).join("");
}
