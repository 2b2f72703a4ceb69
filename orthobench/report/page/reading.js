// Reading a plot: the line in front, the values at a point, and the runs behind a line, by pointer and by keyboard.

const NEAR = 36;

function tip() {
  return document.getElementById("tip");
}

/** Put a series in front, the others in grey: the one of the solver that is in front in all plots, if no other is named. */
function showFocus(view, place = view.chart.lines.find(({ one }) => one.solver === plots.focus)?.place) {
  const { svg, lines } = view.chart;
  svg.classList.toggle("focused", place !== undefined);
  for (const part of view.figure.querySelectorAll("[data-place]")) part.classList.toggle("front", Number(part.dataset.place) === place);
  for (const label of svg.querySelectorAll(".label[role]")) label.setAttribute("aria-pressed", String(lines[label.dataset.place].one.solver === plots.focus));
  const front = lines[place]?.group;
  if (front?.nextSibling) front.parentNode.append(front);
}

/** Keep a solver in front in all plots, or no longer. */
function pin(solver, at) {
  keep({ front: solver === plots.focus ? null : (plots.data.solvers[solver]?.name ?? null) }, at);
  redraw();
}

function watchPointer(view) {
  const { canvas } = view;
  const place = (event) => {
    const { left, top } = view.chart.svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const leave = () => {
    tip().hidden = true;
    if (view.chart) showFocus(view, view.held() ?? undefined);
  };
  const pressed = (event) => {
    const label = event.target.closest(".label[role]");
    const entry = label ? view.chart.lines[label.dataset.place] : event.type === "click" && found(view, place(event))?.entry;
    if (entry) pin(entry.one.solver, view.name);
  };
  canvas.addEventListener("pointermove", (event) => {
    const label = event.target.closest(".label");
    if (label) return showFocus(view, Number(label.dataset.place));
    const hit = found(view, place(event));
    if (!hit) return leave();
    showFocus(view, hit.entry.place);
    showTip(view, hit, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("click", pressed);
  canvas.addEventListener("focusin", (event) => showFocus(view, Number(event.target.dataset.place)));
  canvas.addEventListener("focusout", () => setTimeout(leave));
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && plots.focus !== undefined) pin(plots.focus, view.name);
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pressed(event);
  });
}

/** The point of a line that is nearest to a place, if any is near. */
function found({ chart }, [left, top]) {
  const part = chart.parts.find(({ box }) => left >= box.left - 8 && left <= box.right + 8 && top >= box.top - 8 && top <= box.bottom + 8);
  const hits = (part?.lines ?? []).map((entry) => {
    const [distance, i] = nearestOn(entry.line, part.x, part.y, [left, top]);
    return { entry, distance, i };
  });
  return hits.filter(({ distance }) => distance < NEAR).reduce((one, other) => (one && one.distance <= other.distance ? one : other), null);
}

/** Show the values at a point beside the pointer. */
function showTip(view, { entry: { one, line }, i }, clientX, clientY) {
  const { x, y, band } = view.panel;
  const number = line.numbers[i];
  const at = line.numbers.indexOf(number);
  const values = [[x.label, x.categories ? x.categories[line.x[at]] : formatted(line.x[at])], [y.label, formatted(line.y[at])]];
  if (line.low) values.push([band || "from, to", `${formatted(line.low[at], 3)} to ${formatted(line.high[at], 3)}`]);
  if (one.notes) values.push(["", one.notes[number]]);
  if (one.chosen === number) values.push(["", "chosen by tuning"]);
  if (one.ended && i === line.there.at(-1)) values.push(["ended", one.ended]);
  const rows = values.map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value)));
  tip().replaceChildren(element("p", {}, lineSample(one.solver), one.label), element("table", {}, ...rows));
  tip().hidden = false;
  const { offsetWidth, offsetHeight, style } = tip();
  const left = clientX + 16 + offsetWidth < innerWidth ? clientX + 16 : clientX - 16 - offsetWidth;
  style.left = `${Math.max(4, left)}px`;
  style.top = `${Math.max(4, Math.min(clientY + 14, innerHeight - offsetHeight - 8))}px`;
}

/** Show the runs of the solver in front: of each seed what it ends above the best, its end, why it ended, and the load. */
function showRuns(view) {
  const { focus } = plots;
  const facts = view.plot.runs?.[focus];
  const one = view.panel.series.find((series) => series.solver === focus);
  if (!facts || !one) return view.runs.replaceChildren();
  const { x, y } = view.panel;
  const loaded = facts.runs.some(([, , , load]) => load);
  const heads = ["seed", "% of the gap above the best", x.label, y.label, "ended", ...(loaded ? ["load of a core before, after"] : [])];
  const rows = facts.runs.map(([seed, above, ending, load], number) => {
    const ends = (one.runs?.[number] ?? []).map((place) => formatted(plots.data.pool[place].at(-1)));
    return [String(seed), above, ends[0] ?? "", ends[1] ?? "", ending, ...(loaded ? [load] : [])];
  });
  const title = element("h4", {}, lineSample(focus), ` The ${rows.length} runs of ${plots.data.solvers[focus].name} `, element("span", { class: "muted" }, facts.about));
  const head = element("div", { class: "run-head" }, title, element("button", { type: "button", onclick: () => pin(focus, view.name) }, "close"));
  view.runs.replaceChildren(head, tableOf("Runs", heads, rows));
}
