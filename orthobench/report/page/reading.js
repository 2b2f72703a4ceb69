// Reading a plot: the line in front, the values at a point, by pointer and by keyboard; zooming; the runs behind a line.

const NEAR = 36;
const DRAG = 8;

function tip() {
  return document.getElementById("tip");
}

/** Put a series in front, the others in grey: the one of the solver that is in front in all plots, if no other is named. */
function showFocus(view, place = view.chart.lines.find(({ one }) => one.solver === plots.focus)?.place) {
  const { svg, lines } = view.chart;
  const { focus } = plots;
  svg.classList.toggle("focused", place !== undefined);
  for (const root of [svg, view.legend]) for (const part of root.querySelectorAll("[data-place]")) part.classList.toggle("front", Number(part.dataset.place) === place);
  for (const label of svg.querySelectorAll(".label[role]")) label.setAttribute("aria-pressed", String(entryOf(view, label).one.solver === focus));
  const front = lines.find((entry) => entry.place === place)?.group;
  if (front?.nextSibling) front.parentNode.append(front);
  view.clear.hidden = focus === undefined;
  view.clear.textContent = `clear ${plots.data.solvers[focus]?.name}`;
}

/** Keep a solver in front in all plots, or no longer; with one of its runs, if that is chosen in a plot. */
function pin(view, solver, seed = null) {
  const front = (solver !== plots.focus || seed !== null) && plots.data.solvers[solver]?.name;
  const seeds = plots.all.map((one) => one.named({ seed: one === view ? seed : null }));
  keep(Object.assign({ front: front || null }, ...seeds), view.name);
  for (const one of plots.all) one.told = one === view && Boolean(front);
  redraw();
}

function watchPointer(view) {
  const { canvas } = view;
  let begin = null;
  let zoomed = false;
  const place = (event) => {
    const { left, top } = view.chart.svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  canvas.addEventListener("pointermove", (event) => {
    if (begin) return stretch(view, begin, place(event));
    const label = event.target.closest(".label");
    if (label) return showFocus(view, Number(label.dataset.place));
    const hit = found(view, place(event));
    if (!hit) return leave(view);
    showFocus(view, hit.entry.place);
    showTip(view, hit, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => leave(view));
  canvas.addEventListener("pointerdown", (event) => {
    zoomed = false;
    if (event.button === 0 && event.pointerType === "mouse" && !event.target.closest(".label") && partAt(view, place(event))) begin = place(event);
  });
  window.addEventListener("pointerup", (event) => {
    if (begin) zoomed = zoomTo(view, begin, place(event));
    begin = null;
  });
  canvas.addEventListener("click", (event) => {
    const label = event.target.closest(".label[role]");
    const hit = label ? { entry: entryOf(view, label) } : found(view, place(event));
    if (hit && !zoomed) press(view, hit);
  });
  canvas.addEventListener("dblclick", () => view.choose({ zoom: null }));
  canvas.addEventListener("focusin", (event) => showFocus(view, Number(event.target.dataset.place)));
  canvas.addEventListener("focusout", () => setTimeout(() => leave(view)));
  canvas.addEventListener("keydown", (event) => pressKey(view, event));
}

function entryOf(view, label) {
  return view.chart.lines.find((entry) => entry.place === Number(label.dataset.place));
}

function partAt({ chart }, [x, y]) {
  return chart.parts.find(({ box }) => x >= box.left - 8 && x <= box.right + 8 && y >= box.top - 8 && y <= box.bottom + 8);
}

/** The point of a line that is nearest to a place, if any is near. */
function found(view, at) {
  const part = partAt(view, at);
  if (!part) return null;
  const { x, y } = part;
  const hits = part.lines.flatMap((entry) => {
    const near = (entry.single ? entry.runs : [entry.line]).map((line, run) => {
      const [distance, i] = nearestOn(line, x, y, at);
      return { distance, entry, line, i, run: entry.single ? run : undefined };
    });
    const crosses = entry.crosses.map(([left, height], cross) => ({ distance: Math.hypot((left === null ? x.begin : x.at(left)) - at[0], y.at(height) - at[1]) - 7, entry, cross }));
    return [...near.filter(({ distance }) => distance < NEAR), ...crosses.filter(({ distance }) => distance < 0)];
  });
  return hits.length ? hits.reduce((one, other) => (other.distance < one.distance ? other : one)) : null;
}

function leave(view) {
  tip().hidden = true;
  if (view.chart) showFocus(view, view.held() ?? undefined);
}

/** A click on a line: its solver stays in front; on a single run, that run is told. */
function press(view, { entry, run }) {
  pin(view, entry.one.solver, run === undefined ? null : seedOf(view, entry.one.solver, run));
}

/** Keys on a name: arrows go along its line and to the other names, Enter keeps it in front. */
function pressKey(view, event) {
  const label = event.target.closest(".label[role]");
  if (event.key === "Escape") {
    if (view.zoom) view.choose({ zoom: null });
    else if (plots.focus !== undefined) pin(view, plots.focus);
    return;
  }
  if (!label) return;
  const names = [...view.chart.svg.querySelectorAll(".label[role]")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const to = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const along = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (event.key === "Enter" || event.key === " ") press(view, { entry: entryOf(view, label) });
  else if (to) names[names.indexOf(label) + to]?.focus();
  else if (along) step(view, entryOf(view, label), along);
  else return;
  event.preventDefault();
}

/** Go along a line from its end, and show the values there. */
function step(view, entry, by) {
  const { line } = entry;
  const part = view.chart.parts.find(({ lines }) => lines.includes(entry));
  if (!line.points.length || !part) return;
  entry.at = within((entry.at ?? line.points.length - 1) + by, 0, line.points.length - 1);
  const i = line.points[entry.at];
  const { left, top } = view.chart.svg.getBoundingClientRect();
  showTip(view, { entry, line, i }, left + part.x.at(line.atX[i]), top + part.y.at(line.atY[i]));
}

/** Show the values at a point beside it. */
function showTip(view, hit, clientX, clientY) {
  const rows = valuesAt(view, hit).map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value)));
  tip().replaceChildren(element("p", {}, lineSample(hit.entry.one.solver), hit.entry.one.label), element("table", {}, ...rows));
  tip().hidden = false;
  const { offsetWidth, offsetHeight, style } = tip();
  const left = clientX + 16 + offsetWidth < innerWidth ? clientX + 16 : clientX - 16 - offsetWidth;
  style.left = `${Math.max(4, left)}px`;
  style.top = `${Math.max(4, Math.min(clientY + 14, innerHeight - offsetHeight - 8))}px`;
}

function valuesAt(view, { entry: { one }, line, i, run, cross }) {
  const { x, y, band } = view.chart.panel;
  if (cross !== undefined) {
    const [left, height] = one.crosses.map((number) => plots.data.pool[number][cross]);
    return [[x.label, formatted(left)], [y.label, formatted(height)], ["", "a failed run ended here"]];
  }
  const number = line.numbers[i];
  const at = line.numbers.indexOf(number);
  const values = [[x.label, x.categories ? x.categories[line.x[at]] : formatted(line.x[at])], [y.label, formatted(line.y[at])]];
  if (run !== undefined) return [...values, ["run", runName(view, one.solver, run)]];
  if (line.low) values.push([band || "from, to", `${formatted(line.low[at], 3)} to ${formatted(line.high[at], 3)}`]);
  if (one.notes) values.push(["", one.notes[number]]);
  if (one.chosen === number) values.push(["", "chosen by tuning"]);
  if (one.ended && i === line.there.at(-1)) values.push(["ended", one.ended]);
  return values;
}

/** Show the part of the plot that the pointer is drawing a rectangle around. */
function stretch(view, from, to) {
  tip().hidden = true;
  view.chart.svg.querySelector(".stretch")?.remove();
  const [x, y] = [0, 1].map((i) => Math.min(from[i], to[i]));
  view.chart.svg.append(drawn("rect", { class: "stretch", x, y, width: Math.abs(to[0] - from[0]), height: Math.abs(to[1] - from[1]) }));
}

/** Zoom to a rectangle, if it is one and not a click; return whether it is. */
function zoomTo(view, from, to) {
  view.chart.svg.querySelector(".stretch")?.remove();
  const part = partAt(view, from);
  if (!part || [0, 1].some((i) => Math.abs(to[i] - from[i]) < DRAG)) return false;
  const range = (scale, i) => [from[i], to[i]].map((pixel) => Number(scale.place(pixel).toPrecision(5))).sort((a, b) => a - b);
  view.choose({ zoom: [...range(part.x, 0), ...range(part.y, 1)].join() });
  return true;
}

function seedOf(view, solver, run) {
  return view.plot.runs?.[solver]?.runs[run][0] ?? null;
}

function runName(view, solver, run) {
  const seed = seedOf(view, solver, run);
  return seed === null ? `${run + 1}` : `seed ${seed}`;
}

/** Show the runs of the solver in front, in the plot in which it was put there: seed, ending, load, and the command that runs one again. */
function showRuns(view) {
  const { focus } = plots;
  const facts = view.plot.runs?.[focus];
  const one = view.panel.series.find((series) => series.solver === focus);
  if (!facts || !one || !(view.told || view.run >= 0)) return view.details.replaceChildren();
  const { panel } = view.chart;
  const heads = ["seed", panel.x.label, panel.y.label, "ended", ...(facts.load ? ["load of a core before, after"] : [])];
  const rows = facts.runs.map(([seed, ending, load], number) => {
    const picked = number === view.run;
    const choose = element("button", { type: "button", "aria-pressed": String(picked), onclick: () => view.choose({ seed: picked ? null : seed }) }, `seed ${seed}`);
    const ends = (one.runs?.[number] ?? []).map((place) => formatted(plots.data.pool[place].at(-1)));
    return { class: picked ? "picked" : "", cells: [choose, ends[0] ?? "", ends[1] ?? "", plots.data.endings[ending], ...(facts.load ? [load ?? ""] : [])] };
  });
  const title = element("h5", {}, lineSample(focus), ` The ${rows.length} runs of ${plots.data.solvers[focus].name}`, element("span", { class: "muted" }, ` ${facts.about}`));
  const head = element("p", { class: "run-head" }, title, button("close", "Show no runs", () => pin(view, focus)));
  view.details.replaceChildren(head, tableOf("Runs", heads, rows), ...again(view, facts));
}

/** How to run the chosen run again, alone. */
function again(view, facts) {
  if (view.run < 0) return [];
  const [seed] = facts.runs[view.run];
  const command = facts.command.join(String(seed));
  const copy = button("copy", "Copy the command", () => navigator.clipboard?.writeText(command));
  return [element("p", { class: "about" }, `Seed ${seed} alone: `, copy), element("pre", { class: "command", tabindex: 0 }, command)];
}
