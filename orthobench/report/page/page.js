// The page: what is decided under one cost and one tolerance, the table of all numbers, and the start.

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

/** One switch for all families. */
function watchSwitches() {
  for (const box of document.querySelectorAll("input[data-choice]")) {
    const first = box.closest("fieldset").querySelector("input");
    box.addEventListener("change", () => {
      keep({ [box.dataset.choice]: box === first ? null : box.value });
      showDecisions();
    });
  }
}

/** The table of all numbers: order, filters, columns, CSV. Returns what shows it under the choices of the address. */
function numbersTable() {
  const table = document.getElementById("entries");
  if (!table) return () => {};
  const [heads, body] = [[...table.tHead.rows[0].cells], table.tBodies[0]];
  const filters = [...document.querySelectorAll("[data-filter]")];
  const textOf = (row, i) => row.cells[i].dataset.v ?? row.cells[i].textContent;
  const shown = () => [...body.rows].filter((row) => !row.hidden);

  /** Order rows; what is missing or infinite comes last in both directions. */
  function sort(head, up) {
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const number = head.classList.contains("number");
    const texts = new Intl.Collator("en", { numeric: true });
    const keyOf = (text) => [number && text === "" ? 2 : number && text.endsWith("inf") ? 1 : 0, text];
    const rows = [...body.rows].map((row) => [row, ...keyOf(textOf(row, head.cellIndex))]);
    rows.sort(([, last, one], [, otherLast, other]) => last - otherLast || (up ? 1 : -1) * (number ? Number(one) - Number(other) || 0 : texts.compare(one, other)));
    body.append(...rows.map(([row]) => row));
  }

  /** Hide the columns that were not chosen, and those that are empty in all shown rows. */
  function hideColumns() {
    heads.forEach((head, i) => {
      const empty = shown().length > 0 && shown().every((row) => row.cells[i].textContent === "");
      boxes[i].closest("label").hidden = empty;
      const hidden = empty || !boxes[i].checked;
      if (head.hidden !== hidden) for (const { cells } of table.rows) cells[i].hidden = hidden;
    });
  }

  function show() {
    for (const filter of filters) filter.value = state.get(filter.dataset.filter) ?? "";
    const fits = (row, { value, dataset: { column } }) => (column ? ["", row.cells[column].textContent].includes(value) : row.textContent.toLowerCase().includes(value.trim().toLowerCase()));
    for (const row of body.rows) row.hidden = !filters.every((filter) => fits(row, filter));
    document.getElementById("filter-count").textContent = `${shown().length} of ${body.rows.length} rows`;
    hideColumns();
    const order = state.get("sort") ?? "";
    const head = heads.find((one) => one.dataset.key === order.replace(/^-/, ""));
    if (head) sort(head, !order.startsWith("-"));
  }

  const choose = (choices) => {
    keep(choices, "table");
    show();
  };
  const boxes = heads.map((head) => element("input", { type: "checkbox", checked: "few" in head.dataset, onchange: hideColumns }));
  document.querySelector(".more-columns > div").replaceChildren(...boxes.map((box, i) => element("label", {}, box, ` ${heads[i].textContent}`)));
  for (const head of heads) {
    const order = () => choose({ sort: `${head.getAttribute("aria-sort") === "ascending" ? "-" : ""}${head.dataset.key}` });
    head.replaceChildren(element("button", { type: "button", onclick: order }, head.textContent));
  }
  for (const filter of filters) filter.addEventListener("input", () => choose({ [filter.dataset.filter]: filter.value || null }));
  document.getElementById("table-csv").addEventListener("click", () => {
    const rows = shown().map((row) => Object.fromEntries(heads.map((head, i) => [head.dataset.key, textOf(row, i)])));
    download([document.querySelector("h1").textContent, "table"], "csv", csv(rows), "text/csv");
  });
  show();
  return show;
}

function findProblems() {
  document.getElementById("find-problem")?.addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const one of document.querySelectorAll("#problems > details")) one.hidden = !one.querySelector("summary").textContent.toLowerCase().includes(wanted);
  });
}

/** Before printing, everything is open. */
function openForPrinting() {
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:is(.problem, .part):not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}

function showError(message) {
  const notice = document.getElementById("trouble");
  notice.hidden = false;
  for (const one of [notice, ...document.querySelectorAll(".waiting")]) one.textContent = message;
}

async function start() {
  document.documentElement.classList.add("scripting");
  findProblems();
  openForPrinting();
  const showNumbers = numbersTable();
  followLinks(() => {
    showNumbers();
    if (!plots.data) return;
    showDecisions();
    redraw();
  });
  await startPlots();
  showDecisions();
  watchSwitches();
}

start().catch((error) => showError(`The plots cannot be drawn: ${error.message}. All text and tables are here.`));
