// Pages of an atlas: search, contents that fold on narrow screens, and plots where there are any.

const MOST_FOUND = 15;

/** List the pages whose titles have all words of the query. */
function watchSearch(pages) {
  const input = document.getElementById("find");
  const list = document.getElementById("found");
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? pages.filter(([title, kind]) => words.every((word) => `${title} ${kind}`.toLowerCase().includes(word))) : [];
    const items = found.slice(0, MOST_FOUND).map(([title, kind, address]) => element("li", {}, element("a", { href: address }, title), element("span", { class: "muted" }, kind)));
    if (words.length && !found.length) items.push(element("li", {}, "Nothing has these words."));
    if (found.length > MOST_FOUND) items.push(element("li", { class: "muted" }, `and ${found.length - MOST_FOUND} more`));
    list.replaceChildren(...items);
  });
}

function foldContents() {
  const narrow = window.matchMedia("(max-width: 70rem)");
  const details = document.querySelector("nav.contents details");
  const fold = () => (details.open = !narrow.matches);
  narrow.addEventListener("change", fold);
  fold();
}

async function start() {
  document.documentElement.classList.add("scripting");
  foldContents();
  const index = document.getElementById("search-data");
  if (index) watchSearch(JSON.parse(index.textContent));
  if (document.getElementById("data")) await startPlots();
}

start();
