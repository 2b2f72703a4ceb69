// The start of a page with plots, and its printing.

/** Draw the plots of the page, and draw them again as wide as paper before printing. */
async function startPlots() {
  const PAPER = [680, 380];
  if (!("DecompressionStream" in window)) {
    showError("This browser cannot unpack the plots; a newer one can. All text and tables are here.");
    return;
  }
  watchPlots(JSON.parse(await inflated("data")));
  window.addEventListener("beforeprint", () => {
    for (const one of plots.all) {
      if (one.dirty) one.update();
      if (one.panel) one.draw(PAPER);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const one of plots.all) if (one.panel) one.draw();
  });
}
