// The state of the page in the fragment of its address, so that every state has a link.

const TABLE = { text: () => document.getElementById("filter-text"), selects: () => [...document.querySelectorAll("select.filter")] };

/** What the address says beside plots: each part reads its state, and writes what differs from the start. */
const STATES = [{ read: readTable, write: tableState }];

/** The anchor of the address, without the state that follows it. */
function anchor() {
  return decodeURIComponent(location.hash.slice(1).split("?")[0]);
}

/** Write the state of the page into its address; of what was changed, so that the link leads there. */
function writeLink(changed = null) {
  const state = new URLSearchParams();
  for (const view of plots.all) {
    for (const [name, value] of Object.entries(plotState(view))) state.set(`${view.name}.${name}`, value);
  }
  for (const solver of plots.off) state.append("hidden", plots.data.solvers[solver].name);
  if (plots.focus !== null) state.set("front", plots.data.solvers[plots.focus].name);
  for (const part of STATES) for (const [name, value] of Object.entries(part.write())) state.set(name, value);
  const at = changed?.name ?? anchor();
  const text = String(state);
  history.replaceState(null, "", `#${encodeURIComponent(at)}${text ? `?${text}` : ""}`);
}

/** What differs from how a plot is shown at first. */
function plotState(view) {
  const found = {};
  view.plot.choices.forEach((choice, number) => {
    if (view.places[number]) found[choice.name] = choice.options[view.places[number]];
  });
  if (view.log.x !== null) found["log x"] = view.log.x;
  if (view.log.y !== null) found["log y"] = view.log.y;
  if (view.mode) found.lines = view.mode;
  if (view.zoom) found.zoom = [...view.zoom.x, ...view.zoom.y];
  if (view.run) found.seed = runsOf(view, view.run.solver)?.runs[view.run.number][0];
  return found;
}

/** Show the state that the address has; what is no state of this page is passed over. */
function readLink() {
  const [, text] = location.hash.split(/\?(.*)/s);
  if (text === undefined) return;
  const state = new URLSearchParams(text);
  const numbers = new Map(plots.data.solvers.map(({ name }, number) => [name, number]));
  plots.off = new Set(state.getAll("hidden").filter((name) => numbers.has(name)).map((name) => numbers.get(name)));
  plots.focus = numbers.get(state.get("front")) ?? null;
  for (const view of plots.all) {
    view.reset();
    readPlot(view, (name) => state.get(`${view.name}.${name}`));
  }
  for (const part of STATES) part.read(state);
  redrawVisible();
}

function readPlot(view, state) {
  view.plot.choices.forEach((choice, number) => {
    view.places[number] = Math.max(0, choice.options.indexOf(state(choice.name)));
  });
  for (const axis of ["x", "y"]) view.log[axis] = { true: true, false: false }[state(`log ${axis}`)] ?? null;
  if (view.modes.includes(state("lines"))) view.mode = state("lines");
  const zoom = (state("zoom") ?? "").split(",").map(Number);
  if (zoom.length === 4 && zoom.every(Number.isFinite) && zoom[0] < zoom[1] && zoom[2] < zoom[3]) view.zoom = { x: zoom.slice(0, 2), y: zoom.slice(2) };
  const runs = plots.focus === null ? null : runsOf(view, plots.focus);
  const number = runs?.runs.findIndex(([seed]) => String(seed) === state("seed")) ?? -1;
  if (number >= 0) view.run = { solver: plots.focus, number };
}

/** Filters and order of the table of all entries. */
function tableState() {
  const found = {};
  if (!TABLE.text()) return found;
  if (TABLE.text().value) found.text = TABLE.text().value;
  for (const select of TABLE.selects()) if (select.value) found[`column${select.dataset.column}`] = select.value;
  const sorted = document.querySelector("#entries [aria-sort]");
  if (sorted) found.sort = `${sorted.getAttribute("aria-sort") === "descending" ? "-" : ""}${sorted.dataset.key}`;
  return found;
}

function readTable(state) {
  if (!TABLE.text()) return;
  TABLE.text().value = state.get("text") ?? "";
  for (const select of TABLE.selects()) {
    const wanted = state.get(`column${select.dataset.column}`) ?? "";
    select.value = [...select.options].some((option) => option.value === wanted) ? wanted : "";
  }
  TABLE.text().dispatchEvent(new Event("input"));
  const sort = state.get("sort");
  const head = [...document.querySelectorAll("#entries th")].find((one) => sort && one.dataset.key === sort.replace(/^-/, ""));
  if (head) sortEntries(head, !sort.startsWith("-"));
}
