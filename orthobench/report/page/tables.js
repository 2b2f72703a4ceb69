// The table of all entries: sorting, filters, CSV.

/** The sort key of a cell: numbers come first, then infinity, then missing values. */
function sortKey(cell) {
  const text = cell.dataset.v ?? cell.textContent;
  if (text === "") return [2, 0];
  const value = { inf: Infinity, "-inf": -Infinity }[text] ?? Number(text);
  return Number.isFinite(value) ? [0, value] : [1, value];
}

/** Compare two keys; infinite and missing values come last in both directions. */
function compared(a, b, sign) {
  return a[0] - b[0] || (a[0] === 0 ? sign * (a[1] - b[1]) : 0);
}

function sortableTable() {
  const table = document.getElementById("entries");
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) {
    const sort = () => {
      sortEntries(head, head.getAttribute("aria-sort") !== "ascending");
      writeLink({ name: "table" });
    };
    head.replaceChildren(element("button", { type: "button", onclick: sort }, head.textContent));
  }
  filters(table, heads, table.tBodies[0]);
}

/** The boxes that choose which columns are shown: few at first. */
function columnBoxes(table, heads, changed) {
  const boxes = heads.map((head) => element("input", { type: "checkbox", checked: "few" in head.dataset, onchange: changed }));
  const labels = boxes.map((box, place) => element("label", {}, box, ` ${heads[place].textContent}`));
  document.querySelector(".more-columns > div").replaceChildren(...labels);
  return boxes;
}

/** Sort the table by a column. */
function sortEntries(head, up) {
  const body = document.getElementById("entries").tBodies[0];
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const numeric = head.classList.contains("number");
  const sign = up ? 1 : -1;
  const rows = [...body.rows].map((row) => {
    const cell = row.cells[head.cellIndex];
    return { row, key: numeric ? sortKey(cell) : cell.textContent };
  });
  const texts = new Intl.Collator("en", { numeric: true });
  rows.sort((a, b) => (numeric ? compared(a.key, b.key, sign) : sign * texts.compare(a.key, b.key)));
  body.append(...rows.map(({ row }) => row));
}

function filters(table, heads, body) {
  const text = document.getElementById("filter-text");
  const selects = [...document.querySelectorAll("select.filter")];
  const count = document.getElementById("filter-count");
  const boxes = columnBoxes(table, heads, () => hideEmpty());

  function filter() {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      const fits = selects.every((one) => !one.value || row.cells[Number(one.dataset.column)].textContent === one.value);
      row.hidden = !fits || !row.textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${body.rows.length} rows`;
    hideEmpty();
  }

  /** Hide the columns that were not chosen, and those that are empty in all shown rows. */
  function hideEmpty() {
    const rows = [...body.rows].filter((row) => !row.hidden);
    heads.forEach((head, place) => {
      const bare = rows.length > 0 && rows.every((row) => row.cells[place].textContent === "");
      boxes[place].closest("label").hidden = bare;
      const empty = bare || !boxes[place].checked;
      if (head.hidden === empty) return;
      head.hidden = empty;
      for (const row of body.rows) row.cells[place].hidden = empty;
    });
  }

  function downloadCsv() {
    const rows = [...body.rows].filter((row) => !row.hidden);
    const value = (cell) => cell.dataset.v ?? cell.textContent;
    const named = rows.map((row) => Object.fromEntries(heads.map((head, i) => [head.dataset.key, value(row.cells[i])])));
    download(`${slug(document.querySelector("h1").textContent, "table")}.csv`, csv(named), "text/csv");
  }

  const changed = () => {
    filter();
    writeLink({ name: "table" });
  };
  text.addEventListener("input", (event) => (event.isTrusted ? changed() : filter()));
  for (const one of selects) one.addEventListener("change", changed);
  document.getElementById("table-csv").addEventListener("click", downloadCsv);
  filter();
}
