// The first screen: sentence, table and code under one cost and one tolerance.

const CHOICES = ["cost", "tolerance"];

/** The boxes of a choice in the section of a family. */
function boxesOf(article, choice) {
  return [...article.querySelectorAll(`.switch input[data-choice="${choice}"]`)];
}

/** What is chosen in a family, by the name of the choice. */
function chosenIn(article) {
  return Object.fromEntries(CHOICES.map((choice) => [choice, boxesOf(article, choice).find((box) => box.checked)?.value]));
}

/** Choose an option in a family, if it has that one, and show what is decided then. */
function choose(article, choice, value) {
  const boxes = boxesOf(article, choice);
  if (!boxes.some((box) => box.value === value)) return;
  for (const box of boxes) box.checked = box.value === value;
  showDecision(article);
}

/** Show what is decided under the choices of a family. */
function showDecision(article) {
  const key = Object.values(chosenIn(article)).join();
  const shown = plots.data.families[Number(article.dataset.family)][key];
  if (!shown) return;
  const sentence = article.querySelector(".decision");
  if (sentence.textContent !== shown.sentence) sentence.textContent = shown.sentence;
  article.querySelector(".evidence").textContent = shown.evidence;
  const call = article.querySelector(".call");
  call.hidden = !shown.code;
  call.firstElementChild.textContent = shown.code;
  article.querySelectorAll(".matrix td").forEach((cell, place) => {
    const [kind, symbol, amount, seeds, bar, meaning] = shown.cells[place];
    cell.className = kind;
    const link = cell.firstElementChild;
    link.title = meaning;
    const [line, cost, count, mark, words] = link.children;
    line.style.width = `${bar}em`;
    [cost.textContent, count.textContent, mark.textContent, words.textContent] = [amount, seeds, symbol, ` ${meaning}`];
  });
}

/** One switch for all families: if others have the same option, they follow. */
function watchSwitches() {
  const articles = [...document.querySelectorAll("[data-family]")];
  for (const article of articles) {
    for (const choice of CHOICES) {
      for (const box of boxesOf(article, choice)) {
        box.addEventListener("change", () => {
          for (const other of articles) choose(other, choice, box.value);
          writeLink();
        });
      }
    }
  }
}

/** What is chosen on the first screen, for the address; empty as it is at first. */
function decisionState() {
  const article = document.querySelector("[data-family]");
  if (!article) return {};
  const chosen = chosenIn(article);
  return Object.fromEntries(CHOICES.filter((choice) => boxesOf(article, choice)[0]?.value !== chosen[choice]).map((choice) => [choice, chosen[choice]]));
}

/** Choose what the address says. */
function readDecisions(state) {
  for (const article of document.querySelectorAll("[data-family]")) {
    for (const choice of CHOICES) choose(article, choice, state.get(choice) ?? boxesOf(article, choice)[0]?.value);
  }
}

STATES.push({ read: readDecisions, write: decisionState });
