// The page: what is decided under one cost and one tolerance, and the start.

const CHOICES = ["cost", "tolerance"];

/** Show what is decided in all families under the cost and the tolerance of the address, or else the first. */
function showDecisions() {
  document.querySelectorAll("[data-family]").forEach((article, number) => {
    const key = CHOICES.map((choice) => {
      const boxes = [...article.querySelectorAll(`input[data-choice="${choice}"]`)];
      const box = boxes.find(({ value }) => value === state.get(choice)) ?? boxes[0];
      if (box) box.checked = true;
      return box?.value;
    });
    const shown = plots.data.families[number][key.join()];
    if (!shown) return;
    const parts = { ".decision": shown.sentence, ".evidence": shown.evidence, ".call > code": shown.code };
    for (const [name, text] of Object.entries(parts)) article.querySelector(name).textContent = text;
    article.querySelector(".call").hidden = !shown.code;
    article.querySelectorAll(".matrix td").forEach((cell, place) => {
      const [kind, symbol, amount, seeds, bar, meaning] = shown.cells[place];
      cell.className = kind;
      const link = cell.firstElementChild;
      link.title = meaning;
      link.children[0].style.width = `${bar}em`;
      [amount, seeds, symbol, ` ${meaning}`].forEach((text, i) => (link.children[i + 1].textContent = text));
    });
  });
}

/** One switch for all families; and cells lead to the runs that they are decided by. */
function watchDecisions() {
  for (const box of document.querySelectorAll("input[data-choice]")) {
    const first = box.closest("fieldset").querySelector("input");
    box.addEventListener("change", () => {
      keep({ [box.dataset.choice]: box === first ? null : box.value });
      showDecisions();
    });
  }
  for (const link of document.querySelectorAll("[data-front]")) {
    link.addEventListener("click", () => {
      keep({ front: link.dataset.front });
      for (const one of drawnPlots()) one.show();
    });
  }
}

function showError(error) {
  const notice = document.getElementById("trouble");
  notice.hidden = false;
  for (const one of [notice, ...document.querySelectorAll(".waiting")]) one.textContent = `The plots cannot be drawn: ${error.message}. All text and tables are here.`;
}

async function start() {
  document.documentElement.classList.add("scripting");
  await startPlots();
  showDecisions();
  watchDecisions();
  followLinks(() => {
    showDecisions();
    for (const one of drawnPlots()) one.draw();
  });
}

start().catch(showError);
