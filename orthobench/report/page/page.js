// The page: what is decided under one cost and one tolerance, and the start.

const CHOICES = ["cost", "tolerance"];

/** Show what is decided in all families under the cost and the tolerance of the address, or else the first. */
function showDecisions() {
  for (const article of document.querySelectorAll("article.family")) {
    const key = CHOICES.map((choice) => {
      const boxes = [...article.querySelectorAll(`input[data-choice="${choice}"]`)];
      const box = boxes.find(({ value }) => value === state.get(choice)) ?? boxes[0];
      if (box) box.checked = true;
      return box?.value;
    }).join();
    for (const one of article.querySelectorAll("[data-key]")) one.hidden = key.length > 1 && one.dataset.key !== key;
  }
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
