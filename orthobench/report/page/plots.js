// Plots: what the reader chose to see of each, its controls and its drawing.

/** All plots of the page, their data, the solvers that are hidden in all of them, and the one in front. */
const plots = { data: null, off: new Set(), focus: null, all: [] };

const MANY = 6;
const WIDE = 520;
const LABELS = { together: "together", apart: "apart", runs: "single runs" };

class PlotView {
  constructor(figure, plot) {
    Object.assign(this, { figure, plot, visible: false, dirty: true, built: false, chart: null });
    this.reset();
  }

  reset() {
    Object.assign(this, { places: this.plot.choices.map(() => 0), log: { x: null, y: null }, mode: null, zoom: null, run: null, dirty: true });
  }

  get name() {
    return this.figure.id;
  }

  get panel() {
    return this.plot.panels[this.places.join()];
  }

  /** The ways of showing several seeds and solvers that the panel allows. */
  get modes() {
    if (this.plot.kind !== "convergence" && this.plot.kind !== "ecdf" && this.plot.kind !== "profile") return [];
    const runs = Object.values(this.plot.panels).some((panel) => panel.series.some((one) => one.runs));
    return ["together", "apart", ...(runs ? ["runs"] : [])];
  }

  get usualMode() {
    const shown = this.panel?.series.filter((one) => !plots.off.has(one.solver)).length ?? 0;
    return this.plot.kind === "convergence" && shown > MANY ? "apart" : "together";
  }

  /** Build the controls, the first time. */
  build() {
    if (this.built) return;
    this.built = true;
    this.canvas = element("div", { class: "canvas" });
    this.missing = element("p", { class: "waiting", hidden: true }, "This combination is left out to keep the page small.");
    this.legend = element("details", { class: "legend" }, element("summary", {}, "solvers"), element("div"));
    this.details = element("div", { class: "run-details", "aria-live": "polite" });
    this.table = element("details", { class: "more values" }, element("summary", {}, "the same as a table"), element("div"));
    this.table.addEventListener("toggle", () => fillTable(this));
    this.figure.querySelector(".drawing").replaceChildren(this.toolbar(), this.canvas, this.missing, this.legend, this.details, this.table);
    watchPointer(this);
    new ResizeObserver(() => this.resized()).observe(this.canvas);
  }

  toolbar() {
    const bar = element("div", { class: "toolbar", role: "group", "aria-label": `What ${this.plot.name} shows` });
    this.selects = this.plot.choices.map((choice, number) => {
      const options = choice.options.map((name, place) => element("option", { value: place }, name));
      const select = element("select", { "data-choice": choice.name, onchange: () => this.choose(number, Number(select.value)) }, ...options);
      if (options.length > 1 && !this.figure.closest("[data-family]")) bar.append(element("label", {}, `${choice.name} `, select));
      return select;
    });
    this.toggles = {};
    for (const axis of ["x", "y"]) {
      const box = element("input", { type: "checkbox", "data-log": axis, onchange: () => this.set({ log: { ...this.log, [axis]: box.checked }, zoom: null }) });
      this.toggles[axis] = box;
      bar.append(element("label", { class: "tick" }, box, ` log ${axis}`));
    }
    bar.append(this.modeButtons(), this.tools());
    return bar;
  }

  modeButtons() {
    this.radios = this.modes.map((mode) => element("input", { type: "radio", name: `${this.name}-mode`, value: mode, onchange: () => this.set({ mode }) }));
    const labels = this.radios.map((radio) => element("label", { class: "tick" }, radio, ` ${LABELS[radio.value]}`));
    return element("span", { class: "modes", role: "radiogroup", "aria-label": "Lines" }, ...labels);
  }

  tools() {
    const button = (name, title, onclick) => element("button", { type: "button", class: name.toLowerCase().replaceAll(" ", "-"), title, onclick }, name);
    const tools = element("span", { class: "tools" });
    this.unzoom = button("whole range", "Show the whole range again (Escape)", () => this.set({ zoom: null }));
    this.unpin = button("clear", "No solver in front of the others any more", () => plots.focus !== null && pin(this, plots.focus));
    tools.append(this.unpin, this.unzoom);
    const alike = plots.all.filter((other) => other.plot.kind === this.plot.kind);
    if (alike.length > 1) tools.append(button("apply to all", `Show all plots of ${this.plot.kind} in this way`, () => this.share(alike)));
    tools.append(
      button("CSV", "Save what is shown as CSV", () => saveCsv(this)),
      button("SVG", "Save the picture as SVG", () => saveSvg(this)),
      button("PNG", "Save the picture as PNG", () => savePng(this)),
    );
    return tools;
  }

  choose(number, place) {
    this.places[number] = place;
    this.set({ zoom: null });
  }

  set(changes) {
    Object.assign(this, changes);
    this.update();
    writeLink(this);
  }

  /** Apply the choices of this plot to others of the same kind, where they have the same options. */
  share(others) {
    for (const other of others) {
      if (other === this) continue;
      this.plot.choices.forEach((choice, number) => {
        const theirs = other.plot.choices.findIndex((one) => one.name === choice.name);
        const place = other.plot.choices[theirs]?.options.indexOf(choice.options[this.places[number]]) ?? -1;
        if (place >= 0) other.places[theirs] = place;
      });
      Object.assign(other, { log: { ...this.log }, mode: this.mode, zoom: null, dirty: true });
    }
    redrawVisible();
    writeLink(this);
  }

  /** Whether an axis must be linear: it has names, or most of its values are below zero. */
  linear(axis) {
    return Boolean(this.panel[axis].categories) || (axis === "y" && this.panel.floor === null);
  }

  /** The choices of the reader, completed by the defaults of the panel. */
  view(width, height) {
    const { x, y } = this.panel;
    return {
      width, height, labels: width >= WIDE,
      logX: !this.linear("x") && (this.log.x ?? x.log),
      logY: !this.linear("y") && (this.log.y ?? y.log),
      mode: this.modes.includes(this.mode) ? this.mode : this.usualMode,
      zoom: this.zoom, run: this.run, off: plots.off,
    };
  }

  size() {
    const width = Math.max(280, this.canvas.clientWidth || 680);
    return [width, width < WIDE ? 320 : 416];
  }

  resized() {
    if (this.chart && Math.abs(this.canvas.clientWidth - this.chart.view.width) > 1) this.update();
  }

  update() {
    this.build();
    this.dirty = false;
    this.onupdate?.();
    const there = Boolean(this.panel);
    this.canvas.hidden = !there;
    this.missing.hidden = there;
    this.syncControls();
    if (there) this.draw();
  }

  draw(size = this.size()) {
    const held = this.canvas.contains(document.activeElement) ? document.activeElement.dataset.place : undefined;
    this.chart = chartOf(this.panel, plots.data, this.view(...size), this.name);
    this.chart.svg.setAttribute("aria-label", this.summary());
    this.canvas.replaceChildren(this.chart.svg);
    listSolvers(this);
    showFocus(this, frontPlace(this));
    showRuns(this);
    if (this.table.open) fillTable(this);
    if (held !== undefined) this.canvas.querySelector(`.label[data-place="${held}"]`)?.focus();
  }

  summary() {
    const { panel, view, lines } = this.chart;
    const kinds = `${view.logY ? "log" : "linear"} ${panel.y.label} against ${view.logX ? "log" : "linear"} ${panel.x.label}`;
    return `${this.plot.kind}, ${this.plot.name}: ${kinds}; ${lines.length} of ${panel.series.length} lines shown`;
  }

  syncControls() {
    this.selects.forEach((select, number) => (select.value = this.places[number]));
    this.unzoom.hidden = !this.zoom;
    this.unpin.hidden = plots.focus === null;
    if (!this.panel) return;
    const view = this.view(...this.size());
    for (const radio of this.radios) radio.checked = radio.value === view.mode;
    for (const [axis, box] of Object.entries(this.toggles)) {
      box.checked = axis === "x" ? view.logX : view.logY;
      box.closest("label").hidden = this.linear(axis);
    }
  }

  options() {
    return this.plot.choices.map((choice, number) => choice.options[this.places[number]]);
  }
}

/** Fill the legend of a plot, whose boxes hide and show solvers in all plots. */
function listSolvers(view) {
  const { panel, legend } = view;
  const labels = panel.series.map((one) => `${one.solver} ${one.label}`).join("\n");
  if (view.labels !== labels) {
    view.labels = labels;
    const rows = panel.series.map((one, place) => {
      const name = element("span", { class: "name" }, one.label);
      const value = element("output", { "data-place": place });
      if (one.solver < 0) return element("li", { class: "reference" }, lineSample(one.solver), name, value);
      const box = element("input", { type: "checkbox", value: one.solver, onchange: () => switchSolvers([one.solver], box.checked) });
      return element("li", { "data-place": place }, element("label", {}, box, lineSample(one.solver), name), value);
    });
    const everyone = panel.series.map((one) => one.solver);
    const all = element("button", { type: "button", onclick: () => switchSolvers(everyone, true) }, "all");
    const none = element("button", { type: "button", onclick: () => switchSolvers(everyone, false) }, "none");
    legend.lastChild.replaceChildren(element("p", { class: "legend-head" }, element("span", { class: "at" }), all, none), element("ul", {}, ...rows));
  }
  if (view.named !== view.chart.named) {
    view.named = view.chart.named;
    legend.open = !view.named;
  }
  const hidden = panel.series.filter((one) => plots.off.has(one.solver)).length;
  legend.firstChild.textContent = hidden ? `solvers (${hidden} hidden)` : "solvers";
  for (const box of legend.querySelectorAll("input")) box.checked = !plots.off.has(Number(box.value));
}

/** Hide or show solvers in all plots of the page. */
function switchSolvers(solvers, on) {
  for (const solver of solvers) {
    if (solver < 0) continue;
    if (on) plots.off.delete(solver);
    else plots.off.add(solver);
  }
  for (const one of plots.all) one.dirty = true;
  redrawVisible();
  writeLink();
}

function redrawVisible() {
  for (const one of plots.all) if (one.visible && one.dirty) one.update();
}

/** Draw plots as they come into view. */
function watchPlots(data) {
  plots.data = data;
  const figures = [...document.querySelectorAll("figure[data-plot]")];
  plots.all = figures.map((figure) => new PlotView(figure, data.plots[Number(figure.dataset.plot)]));
  const views = new Map(plots.all.map((one) => [one.figure, one]));
  const observer = new IntersectionObserver(
    (changes) => {
      for (const change of changes) views.get(change.target).visible = change.isIntersecting;
      redrawVisible();
    },
    { rootMargin: "400px 0px" },
  );
  readLink();
  for (const one of plots.all) observer.observe(one.figure);
}
