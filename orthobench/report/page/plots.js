// Plots: what the reader chose to see of each, its menu and its drawing.

/** All plots of the page, their data, and the numbers of solvers by their names. */
const plots = {
  data: null,
  numbers: null,
  all: [],

  /** The solver that is in front in all plots, if any is. */
  get focus() {
    return this.numbers.get(state.get("front"));
  },
};

const MANY = 6;

class PlotView {
  constructor(figure) {
    Object.assign(this, { figure, name: figure.id, plot: plots.data.plots[figure.dataset.plot], chart: null });
  }

  /** Build the menu, and the places of drawing and runs. */
  build() {
    this.selects = this.plot.choices.map(({ name, options }) => {
      const choose = ({ target: { value } }) => {
        keep({ [`${this.name}.${name}`]: Number(value) ? options[value] : null }, this.name);
        this.draw();
      };
      return element("select", { onchange: choose, "aria-label": name }, ...options.map((option, place) => element("option", { value: place }, option)));
    });
    const choices = this.selects.map((select) => element("label", {}, `${select.ariaLabel} `, select));
    this.summary = element("summary", {});
    this.canvas = element("div", { class: "canvas" });
    this.runs = element("div", { class: "runs", "aria-live": "polite" });
    const menu = element("details", { class: "menu", hidden: !choices.length }, this.summary, element("div", {}, ...choices));
    this.figure.querySelector(".drawing").replaceChildren(menu, this.canvas, this.runs);
    watchPointer(this);
  }

  /** Draw the panel of the chosen options. */
  draw() {
    if (!this.chart) this.build();
    const { kind, name, choices, panels } = this.plot;
    const places = choices.map((choice) => Math.max(0, choice.options.indexOf(state.get(`${this.name}.${choice.name}`))));
    this.selects.forEach((select, number) => (select.value = places[number]));
    const shown = this.selects.map((select) => select.selectedOptions[0].textContent);
    this.summary.textContent = `${shown.join(", ")} ⋯`;
    const panel = panels[places.reduce((at, place, number) => at * choices[number].options.length + place, 0)];
    this.chart = chartOf(panel, kind === "convergence" && panel.series.length > MANY);
    const words = ({ log, label }) => `${log ? "log" : "linear"} ${label}`;
    this.chart.root.setAttribute("aria-label", `${kind}, ${name}: ${words(panel.y)} against ${words(panel.x)}; ${panel.series.length} lines`);
    this.canvas.replaceChildren(this.chart.root);
    this.show();
  }

  /** Show what is in front, and its runs. */
  show() {
    showFocus(this);
    showRuns(this);
  }
}

/** The plots that were drawn, since they came into view. */
function drawnPlots() {
  return plots.all.filter(({ chart }) => chart);
}

/** Draw the plots of the page as they come into view, and all of them before printing. */
async function startPlots() {
  if (!("DecompressionStream" in window)) throw new Error("this browser cannot unpack the plots, a newer one can");
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (letter) => letter.charCodeAt(0));
  plots.data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  plots.numbers = new Map(plots.data.solvers.map(({ name }, number) => [name, number]));
  plots.all = [...document.querySelectorAll("figure[data-plot]")].map((figure) => new PlotView(figure));
  for (const one of plots.all) {
    const near = (changes) => !one.chart && changes.some(({ isIntersecting }) => isIntersecting) && one.draw();
    new IntersectionObserver(near, { rootMargin: "400px 0px" }).observe(one.figure);
  }
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:is(.problem, .part)")) one.open = true;
    for (const one of plots.all) if (!one.chart) one.draw();
  });
}
