// The first screen: sentence, marks and plot under one cost and one tolerance.

/** Show what is decided under the choices of a plot of quality against cost, in its family. */
function showDecision(view) {
  const article = view.figure.closest("[data-family]");
  if (!article) return;
  const key = view.plot.choices.map((choice, number) => choice.keys[view.places[number]]).join();
  const shown = plots.data.families[Number(article.dataset.family)][key];
  if (!shown) return;
  const sentence = article.querySelector(".decision");
  if (sentence.textContent !== shown.sentence) sentence.textContent = shown.sentence;
  article.querySelector(".evidence").textContent = shown.evidence;
  article.querySelectorAll(".matrix td").forEach((cell, place) => {
    const [mark, symbol, factor, meaning] = shown.cells[place];
    cell.className = mark;
    const link = cell.firstElementChild;
    link.title = meaning;
    const [first, words, last] = link.children;
    [first.textContent, words.textContent, last.textContent] = [symbol, ` ${meaning} `, factor];
  });
  for (const box of article.querySelectorAll(".switch input")) box.checked = Number(box.value) === view.places[Number(box.dataset.choice)];
}

/** One switch for all families: where their plots have the same option, they follow. */
function watchSwitches() {
  const views = plots.all.filter((view) => view.plot.kind === "pareto");
  for (const view of views) {
    view.onupdate = () => showDecision(view);
    showDecision(view);
    for (const box of view.figure.closest("[data-family]")?.querySelectorAll(".switch input") ?? []) {
      box.addEventListener("change", () => {
        const number = Number(box.dataset.choice);
        const wanted = view.plot.choices[number].options[Number(box.value)];
        for (const other of views) {
          const place = other.plot.choices[number].options.indexOf(wanted);
          if (place < 0) continue;
          other.places[number] = place;
          other.set({ zoom: null });
        }
      });
    }
  }
}
