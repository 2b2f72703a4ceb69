// One panel as an SVG drawing: axes, grid, the floor, series, single runs.

/** A drawing of a panel, with what is needed to point at it. */
function chartOf(panel, view, id) {
  const { pool, solvers, references } = plots.data;
  const lines = panel.series.map((one, place) => {
    const [acrossX, acrossY] = one.crosses ?? [];
    const runs = one.solver === view.focus ? (one.runs ?? []) : [];
    return {
      one, place, phase: place / panel.series.length,
      style: solvers[one.solver] ?? { name: one.label, dash: references[-1 - one.solver] },
      line: lineOf({ x: pool[one.x], y: pool[one.y], low: pool[one.low], high: pool[one.high] }, panel),
      runs: runs.map(([x, y]) => lineOf({ x: pool[x], y: pool[y] }, panel)),
      crosses: (pool[acrossX] ?? []).map((at, i) => [placed(at, panel.x.log), raised(pool[acrossY][i], panel)]).filter(([, at]) => at !== null),
    };
  });
  const svg = drawn("svg", { class: "chart", width: view.width, role: "group" });
  const chart = { panel, view, id, lines, svg, parts: [] };
  Object.assign(chart, rangesOf(chart));
  if (view.apart && lines.length > 1) drawApart(chart);
  else drawTogether(chart);
  filled(svg, { height: chart.height, viewBox: `0 0 ${view.width} ${round(chart.height)}` }, []);
  if (!lines.some(({ line }) => line.there.length)) svg.append(drawn("text", { class: "tick", x: view.width / 2, y: view.height / 2, "text-anchor": "middle" }, "no finite value"));
  return chart;
}

/** The ranges of both axes: around all lines, and around bands unless they are far above. */
function rangesOf({ panel, lines }) {
  const all = lines.flatMap(({ line, runs }) => [line, ...runs]);
  const places = (name) => all.flatMap((one) => one.there.map((i) => one[name]?.[i] ?? null)).filter((at) => at !== null);
  const crosses = lines.flatMap((entry) => entry.crosses);
  const ys = places("atY");
  const top = greatest(ys, 1);
  const most = panel.y.log ? 10 * top : top + 0.5 * (top - Math.min(least(ys, 0), 0));
  const around = [...places("atLow"), ...places("atHigh"), ...crosses.map(([, y]) => y)].filter((y) => y <= most);
  const xs = [...panel.rules, ...places("atX"), ...crosses.map(([x]) => x).filter((x) => x !== null)];
  const { categories } = panel.x;
  return {
    rangeX: categories ? [-0.6, categories.length - 0.4] : rangeOf(xs, panel.x.log, 0.025),
    rangeY: rangeOf([...ys, ...around], panel.y.log, 0.06, true),
    zeros: all.some((one) => one.floored.some(Boolean)),
  };
}

/** All series in one pair of axes, with names at the ends of lines if these have room. */
function drawTogether(chart) {
  const { panel, view, lines } = chart;
  const ended = lines.filter(({ line }) => line.there.length);
  const names = view.width >= WIDE && ended.some(({ line }) => line.x.length > 1) && !panel.x.categories ? ended : [];
  const widest = greatest(names.map(({ style }) => textWidth(style.name)), 0);
  const box = outerBox(chart, names.length ? Math.min(0.3 * view.width, widest) + 26 : 14);
  chart.height = view.height;
  const part = drawPart(chart, box, lines);
  drawTitles(chart, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
  if (names.length) endLabels(chart, names, part);
  chart.labelled = names.length > 0;
}

/** Small multiples: each series in front of all others, in axes of the same scales. */
function drawApart(chart) {
  const { view, lines, id, svg } = chart;
  const columns = Math.max(2, Math.min(4, Math.floor(view.width / 230)));
  const outer = outerBox(chart, 10);
  const [width, height] = [(outer.right - outer.left + 14) / columns - 14, Math.max(110, 0.55 * (view.width / columns))];
  chart.height = outer.top + Math.ceil(lines.length / columns) * (height + 24) + (view.height - outer.bottom);
  svg.classList.add("apart");
  lines.forEach((entry, number) => {
    const [across, down] = [(number % columns) * (width + 14), Math.floor(number / columns) * (height + 24)];
    const [left, top] = [outer.left + across, outer.top + 18 + down];
    const ghosts = ({ x, y }) => (number ? drawn("use", { href: `#${id}-ghosts`, x: across, y: down }) : drawn("g", { id: `${id}-ghosts` }, ...lines.map(({ line }) => drawn("path", { class: "ghost", d: pathsOf(line, x, y)[0] }))));
    const edges = { left: !across, below: number + columns >= lines.length };
    drawPart(chart, { left, right: left + width, top, bottom: top + height }, [entry], edges, ghosts);
    svg.append(labelOf(chart, entry, left, top - 6, fitted(entry.style.name, width)));
  });
  drawTitles(chart, view.width / 2, chart.height / 2);
  chart.labelled = true;
}

/** One pair of axes with some series; the edges are those with texts. */
function drawPart(chart, box, lines, edges = { left: true, below: true }, behind = () => "") {
  const { svg, parts, panel } = chart;
  const [x, y] = [new Scale(panel.x.log, chart.rangeX, box.left, box.right), new Scale(panel.y.log, chart.rangeY, box.bottom, box.top)];
  const part = { box, x, y, lines };
  drawFrame(chart, part, edges);
  const id = `${chart.id}-clip-${parts.length}`;
  const clip = { x: box.left - 6, y: box.top - 6, width: box.right - box.left + 12, height: box.bottom - box.top + 12 };
  const room = panel.x.categories ? (0.6 / lines.length) * (x.at(1) - x.at(0)) : 0;
  const groups = lines.map((entry, number) => (entry.group = seriesGroup(chart, entry, x.moved(room * (number - (lines.length - 1) / 2)), y)));
  svg.append(drawn("clipPath", { id }, drawn("rect", clip)), drawn("g", { "clip-path": `url(#${id})` }, behind(part), ...groups));
  parts.push(part);
  return part;
}

/** The box of the axes, inside what ticks and titles need. */
function outerBox({ panel, view, rangeY }, right) {
  const rough = new Scale(panel.y.log, rangeY, view.height - 50, 10);
  const texts = ticksOf(panel.y, rough, Math.floor((view.height - 56) / 40)).map(([, text]) => textWidth(text));
  return { left: greatest(texts, 10) + 36, right: view.width - right, top: 12, bottom: view.height - 44 - categoryRoom(panel, view) };
}

/** The room below an axis for names that do not fit side by side. */
function categoryRoom(panel, view) {
  const names = panel.x.categories ?? [];
  const widest = greatest(names.map((name) => textWidth(name)), 0);
  return widest < (view.width - 80) / names.length - 8 ? 0 : Math.min(110, 0.6 * widest);
}

function drawTitles({ svg, panel, view, height }, x, y) {
  svg.append(
    drawn("text", { class: "x-title", x, y: height - 6, "text-anchor": "middle", "aria-hidden": "true" }, fitted(panel.x.label, view.width - 20)),
    drawn("text", { class: "y-title", transform: `translate(13 ${round(y)}) rotate(-90)`, "text-anchor": "middle", "aria-hidden": "true" }, fitted(panel.y.label, height - 20)),
  );
}

function drawFrame({ panel, view, svg, zeros }, { box, x, y }, edges) {
  const tilted = categoryRoom(panel, view) > 0;
  const across = ticksOf(panel.x, x, Math.max(2, Math.floor((box.right - box.left) / 75)));
  const up = ticksOf(panel.y, y, Math.max(2, Math.floor((box.bottom - box.top) / 40)));
  const frame = drawn("g", { "aria-hidden": "true" });
  const line = (name, x1, y1, x2, y2) => frame.append(drawn("path", { class: name, d: `M${round(x1)},${round(y1)}L${round(x2)},${round(y2)}` }));
  for (const [value, text] of across) {
    const at = x.at(value);
    if (!panel.x.categories) line("grid", at, box.top, at, box.bottom);
    line("axis", at, box.bottom, at, box.bottom + 4);
    if (!edges.below) continue;
    const turned = tilted ? { transform: `translate(${round(at + 3)} ${round(box.bottom + 16)}) rotate(-35)`, "text-anchor": "end" } : { x: at, y: box.bottom + 17, "text-anchor": "middle" };
    frame.append(drawn("text", { class: "tick x-tick", ...turned }, tilted ? fitted(text, 150) : text));
  }
  for (const [value, text] of up) {
    const at = y.at(value);
    line("grid", box.left, at, box.right, at);
    if (edges.left) frame.append(drawn("text", { class: "tick y-tick", x: box.left - 7, y: at + 4, "text-anchor": "end" }, text));
  }
  line("axis", box.left, box.top, box.left, box.bottom);
  line("axis", box.left, box.bottom, box.right, box.bottom);
  for (const at of panel.rules) line("rule", x.at(at), box.top, x.at(at), box.bottom);
  if (zeros) {
    const at = y.at(panel.floor);
    frame.append(drawn("rect", { class: "floor", x: box.left, y: at - 7, width: box.right - box.left, height: Math.max(0, box.bottom - at + 7) }));
    if (edges.left) frame.append(drawn("text", { class: "tick", x: box.left + 5, y: at - 11 }, `zero, or below ${tick(panel.zero, true)}`));
  }
  svg.append(frame);
}

/** One series: its band, its line, single runs, markers, crosses, and the chosen point. */
function seriesGroup({ panel }, { one, line, style, runs, place, phase, crosses }, x, y) {
  const { categories } = panel.x;
  const group = drawn("g", { class: `series ${colourClass(one.solver)}`, "data-place": place });
  const at = (i) => `translate(${round(x.at(line.atX[i]))} ${round(y.at(line.atY[i]))})`;
  const draw = (from, name, dash) => {
    const [above, below] = pathsOf(from, x, y);
    group.append(drawn("path", { class: name, d: above, "stroke-dasharray": dash || undefined }));
    if (below) group.append(drawn("path", { class: `${name} floored`, d: below }));
  };
  if (line.low) group.append(categories ? bars(line, x, y) : drawn("path", { class: "band", d: bandOf(line, x, y) }));
  for (const run of runs) draw(run, "line run");
  if (!categories) draw(line, "line", style.dash);
  const markers = one.solver < 0 ? [] : categories ? line.there : marked(line, phase);
  group.append(...markers.map((i) => drawn("path", { class: line.floored[i] ? "marker at-floor" : "marker", d: style.shape, transform: at(i) })));
  if (line.there.includes(one.chosen)) group.append(drawn("circle", { class: "chosen", r: 8.5, transform: at(one.chosen) }));
  for (const [left, height] of crosses) group.append(drawn("path", { class: "cross", d: "M-4-4L4 4M4-4L-4 4", transform: `translate(${round(left === null ? x.begin : x.at(left))} ${round(y.at(height))})` }));
  if (one.ended && line.there.length) group.append(drawn("path", { class: "ended", d: "M0-7V7", transform: at(line.there.at(-1)) }));
  return group;
}

function bars(line, x, y) {
  const ends = line.there.filter((i) => line.atLow[i] !== null && line.atHigh[i] !== null);
  return drawn("path", { class: "bar", d: ends.map((i) => `M${round(x.at(line.atX[i]))},${round(y.at(line.atLow[i]))}V${round(y.at(line.atHigh[i]))}`).join("") });
}
