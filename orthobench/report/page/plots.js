// Plots: what the reader chose to see of each, its controls and its drawing.

/** All plots of the page, their data, and the numbers of solvers by their names. */
const plots = {
  data: null,
  numbers: null,
  all: [],

  /** The solvers that are hidden in all plots. */
  get off() {
    return new Set(state.getAll("hidden").map((name) => this.numbers.get(name)));
  },

  /** The solver that is in front in all plots, if any is. */
  get focus() {
    return this.numbers.get(state.get("front"));
  },
};

const MANY = 6;
const WIDE = 520;
const CURVES = ["convergence", "profile", "ecdf"];
const MODES = { together: "together", apart: "apart", runs: "single runs" };

class PlotView {
  constructor(figure) {
    Object.assign(this, { figure, name: figure.id, plot: plots.data.plots[Number(figure.dataset.plot)], visible: false, dirty: true, chart: null });
  }

  /** What the reader chose by a name; null as it is at first. */
  chosen(name) {
    return state.get(`${this.name}.${name}`);
  }

  /** Choices by the names that they have in the address. */
  named(choices) {
    return Object.fromEntries(Object.entries(choices).map(([name, value]) => [`${this.name}.${name}`, value]));
  }

  /** Keep choices by their names, and show what they change. */
  choose(choices) {
    keep(this.named(choices), this.name);
    this.update();
  }

  get places() {
    return this.plot.choices.map(({ name, options }) => Math.max(0, options.indexOf(this.chosen(name))));
  }

  get panel() {
    return this.plot.panels[this.places.join()];
  }

  get options() {
    return this.places.map((place, number) => this.plot.choices[number].options[place]);
  }

  /** The ways of showing several seeds and solvers that the plot allows. */
  get modes() {
    const runs = Object.values(this.plot.panels).some((panel) => panel.series.some((one) => one.runs));
    return CURVES.includes(this.plot.kind) ? ["together", "apart", ...(runs ? ["runs"] : [])] : [];
  }

  get zoom() {
    const [left, right, bottom, top] = (this.chosen("zoom") ?? "").split(",").map(Number);
    const sizes = [right - left, top - bottom];
    return sizes.every((size) => size > 0 && size < Infinity) ? { x: [left, right], y: [bottom, top] } : null;
  }

  /** The number of the chosen run among those of the solver in front, or -1. */
  get run() {
    return this.plot.runs?.[plots.focus]?.runs.findIndex(([seed]) => String(seed) === this.chosen("seed")) ?? -1;
  }

  /** Whether an axis must be linear: it has names, or most of its values are below zero. */
  linear(axis) {
    return Boolean(this.panel[axis].categories) || (axis === "y" && this.panel.floor === null);
  }

  log(axis) {
    return !this.linear(axis) && ({ true: true, false: false }[this.chosen(`log ${axis}`)] ?? this.panel[axis].log);
  }

  /** How the panel is drawn: the choices of the reader, completed by defaults. */
  view(width, height) {
    const { off, focus } = plots;
    const many = this.panel.series.filter((one) => !off.has(one.solver)).length > MANY;
    const mode = this.modes.includes(this.chosen("lines")) ? this.chosen("lines") : this.plot.kind === "convergence" && many ? "apart" : "together";
    return { width, height, off, focus, mode, runs: mode === "runs", labels: width >= WIDE, logX: this.log("x"), logY: this.log("y"), zoom: this.zoom, run: this.run };
  }

  /** Build the controls. */
  build() {
    const { plot, name } = this;
    const bar = element("div", { class: "toolbar", role: "group", "aria-label": `What ${plot.name} shows` });
    this.selects = plot.choices.map((choice) => {
      const options = choice.options.map((option, place) => element("option", { value: place }, option));
      const chosen = () => (Number(select.value) ? choice.options[select.value] : null);
      const select = element("select", { "data-choice": choice.name, onchange: () => this.choose({ [choice.name]: chosen(), zoom: null }) }, ...options);
      if (options.length > 1) bar.append(element("label", {}, `${choice.name} `, select));
      return select;
    });
    this.boxes = ["x", "y"].map((axis) => {
      const change = () => this.choose({ [`log ${axis}`]: box.checked === this.panel[axis].log ? null : box.checked, zoom: null });
      const box = element("input", { type: "checkbox", "data-log": axis, onchange: change });
      bar.append(element("label", {}, box, ` log ${axis}`));
      return box;
    });
    this.radios = this.modes.map((mode) => element("input", { type: "radio", name: `${name}-mode`, value: mode, onchange: () => this.choose({ lines: mode }) }));
    const labels = this.radios.map((radio) => element("label", {}, radio, ` ${MODES[radio.value]}`));
    bar.append(element("span", { class: "modes", role: "radiogroup", "aria-label": "Lines" }, ...labels));
    this.unzoom = button("whole range", "Show the whole range again (Escape)", () => this.choose({ zoom: null }));
    this.clear = button("clear", "No solver in front of the others any more", () => pin(this, plots.focus));
    const alike = plots.all.filter((other) => other !== this && other.plot.kind === plot.kind);
    const share = button("apply to all", `Show all plots of ${plot.kind} in this way`, () => this.share(alike));
    bar.append(element("span", { class: "tools" }, this.clear, this.unzoom, ...(alike.length ? [share] : []), ...savingButtons(this)));
    this.canvas = element("div", { class: "canvas" });
    this.missing = element("p", { class: "waiting" }, "This combination is left out to keep the page small.");
    this.legend = element("details", { class: "legend" }, element("summary", {}, "solvers"), element("div"));
    this.details = element("div", { class: "run-details", "aria-live": "polite" });
    this.table = element("details", { class: "more values", ontoggle: () => fillTable(this) }, element("summary", {}, "the same as a table"), element("div"));
    this.figure.querySelector(".drawing").replaceChildren(bar, this.canvas, this.missing, this.legend, this.details, this.table);
    watchPointer(this);
    new ResizeObserver(() => {
      if (this.chart && Math.abs(this.canvas.clientWidth - this.chart.view.width) > 1) this.update();
    }).observe(this.canvas);
  }

  /** Apply the choices of this plot to others of the same kind, as far as they have the same options. */
  share(others) {
    const names = [...this.plot.choices.map(({ name }) => name), "log x", "log y", "lines"];
    const choices = others.map((other) => {
      const offered = (name) => other.plot.choices.find((choice) => choice.name === name)?.options.includes(this.chosen(name)) ?? true;
      const theirs = names.filter((name) => this.chosen(name) === null || offered(name));
      return other.named({ ...Object.fromEntries(theirs.map((name) => [name, this.chosen(name)])), zoom: null });
    });
    keep(Object.assign({}, ...choices), this.name);
    redraw();
  }

  update(...size) {
    if (!this.canvas) this.build();
    this.dirty = false;
    const { panel } = this;
    this.canvas.hidden = !panel;
    this.missing.hidden = Boolean(panel);
    this.selects.forEach((select, number) => (select.value = this.places[number]));
    this.unzoom.hidden = !this.zoom;
    if (panel) this.draw(...size);
  }

  draw(width = Math.max(280, this.canvas.clientWidth || 680), height = width < WIDE ? 320 : 416) {
    const held = this.held();
    this.chart = chartOf(this.panel, this.view(width, height), this.name);
    const { svg, view, panel, lines } = this.chart;
    for (const radio of this.radios) radio.checked = radio.value === view.mode;
    for (const box of this.boxes) {
      box.checked = this.log(box.dataset.log);
      box.closest("label").hidden = this.linear(box.dataset.log);
    }
    const axes = `${view.logY ? "log" : "linear"} ${panel.y.label} against ${view.logX ? "log" : "linear"} ${panel.x.label}`;
    svg.setAttribute("aria-label", `${this.plot.kind}, ${this.plot.name}: ${axes}; ${lines.length} of ${panel.series.length} lines shown`);
    this.canvas.replaceChildren(svg);
    listSolvers(this);
    showFocus(this);
    showRuns(this);
    fillTable(this);
    if (held !== null) this.canvas.querySelector(`.label[data-place="${held}"]`)?.focus();
  }

  /** The place of the line whose name has the focus of the keyboard, or null. */
  held() {
    return this.canvas.contains(document.activeElement) ? Number(document.activeElement.dataset.place) : null;
  }
}

/** Fill the legend of a plot, whose boxes hide and show solvers in all plots. */
function listSolvers(view) {
  const { panel, legend } = view;
  const { off } = view.chart.view;
  const labels = panel.series.map((one) => `${one.solver} ${one.label}`).join("\n");
  if (view.listed !== labels) {
    view.listed = labels;
    const rows = panel.series.map((one, place) => {
      const name = [lineSample(one.solver), element("span", { class: "name" }, one.label)];
      if (one.solver < 0) return element("li", { class: "reference" }, ...name);
      const box = element("input", { type: "checkbox", value: one.solver, onchange: () => switchSolvers([one], box.checked) });
      return element("li", { "data-place": place }, element("label", {}, box, ...name));
    });
    const all = button("all", "Show all solvers", () => switchSolvers(panel.series, true));
    const none = button("none", "Hide all solvers", () => switchSolvers(panel.series, false));
    legend.lastChild.replaceChildren(element("p", { class: "legend-head" }, all, none), element("ul", {}, ...rows));
  }
  if (view.labelled !== view.chart.labelled) legend.open = !view.chart.labelled;
  view.labelled = view.chart.labelled;
  const hidden = panel.series.filter((one) => off.has(one.solver)).length;
  legend.firstChild.textContent = hidden ? `solvers (${hidden} hidden)` : "solvers";
  for (const box of legend.querySelectorAll("input")) box.checked = !off.has(Number(box.value));
}

/** Hide or show the solvers of some series in all plots of the page. */
function switchSolvers(series, on) {
  const { off } = plots;
  for (const { solver } of series) {
    if (on) off.delete(solver);
    else off.add(solver);
  }
  keep({ hidden: [...plots.numbers].filter(([, solver]) => off.has(solver)).map(([name]) => name) });
  redraw();
}

/** Draw all plots anew that are in view, and the others as they come into view. */
function redraw() {
  for (const one of plots.all) one.dirty = true;
  for (const one of plots.all) if (one.visible) one.update();
}

/** Draw the plots of the page as they come into view, and all of them as wide as paper before printing. */
async function startPlots() {
  if (!("DecompressionStream" in window)) throw new Error("this browser cannot unpack the plots, a newer one can");
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (letter) => letter.charCodeAt(0));
  plots.data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  plots.numbers = new Map(plots.data.solvers.map(({ name }, number) => [name, number]));
  plots.all = [...document.querySelectorAll("figure[data-plot]")].map((figure) => new PlotView(figure));
  const views = new Map(plots.all.map((one) => [one.figure, one]));
  const changed = (changes) => {
    for (const { target, isIntersecting } of changes) {
      const view = views.get(target);
      view.visible = isIntersecting;
      if (view.visible && view.dirty) view.update();
    }
  };
  const observer = new IntersectionObserver(changed, { rootMargin: "400px 0px" });
  for (const one of plots.all) observer.observe(one.figure);
  const drawAll = (...size) => plots.all.forEach((one) => one.update(...size));
  window.addEventListener("beforeprint", () => drawAll(680, 380));
  window.addEventListener("afterprint", () => drawAll());
}
