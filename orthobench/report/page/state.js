// What the reader chose, in the fragment of the address: `#section?name=value&...`. It is kept nowhere else, so that every state has a link.

const chosen = () => new URLSearchParams(location.hash.split(/\?(.*)/s)[1]);
let state = chosen();

/** The section that the address leads to. */
function section() {
  return decodeURIComponent(location.hash.slice(1).split("?")[0]);
}

/** Write choices into the address, by name; null for one that is as it was at first. */
function keep(choices, at = section()) {
  for (const [name, value] of Object.entries(choices)) {
    if (value === null) state.delete(name);
    else state.set(name, value);
  }
  const text = String(state);
  history.replaceState(null, "", `#${encodeURIComponent(at)}${text ? `?${text}` : ""}`);
}

/** Follow links: open the closed sections around what they lead to, and show the state that they have, or else keep the present one. */
function followLinks(show) {
  const go = () => {
    const target = document.getElementById(section());
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target?.scrollIntoView();
  };
  window.addEventListener("hashchange", () => {
    if (location.hash.includes("?")) {
      state = chosen();
      show();
    } else keep({});
    go();
  });
  go();
}
