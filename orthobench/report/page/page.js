// The page: contents, links into closed sections, printing, start.

/** Open the closed sections around an element, so that links to it work. */
function reveal(target) {
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
}

function followLinks() {
  const go = () => {
    const target = document.getElementById(anchor());
    if (!target) return;
    reveal(target);
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", () => {
    if (plots.data && location.hash.includes("?")) readLink();
    else if (plots.data) writeLink();
    go();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link) reveal(document.getElementById(link.hash.slice(1)));
  });
  go();
}

function findProblems() {
  document.getElementById("find-problem")?.addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const one of document.querySelectorAll("#problems > details")) {
      one.hidden = !one.querySelector("summary").textContent.toLowerCase().includes(wanted);
    }
  });
}

/** Before printing, everything is open. */
function printable() {
  let opened = [];
  window.addEventListener("beforeprint", () => {
    document.body.classList.add("printing");
    opened = [...document.querySelectorAll("details.problem:not([open]), details.part:not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => {
    document.body.classList.remove("printing");
    for (const one of opened) one.open = false;
  });
}

async function start() {
  document.documentElement.classList.add("scripting");
  findProblems();
  followLinks();
  sortableTable();
  printable();
  await startPlots();
  watchSwitches();
}

start().catch((error) => showError(`The plots cannot be drawn: ${error.message}. All text and tables are here.`));
