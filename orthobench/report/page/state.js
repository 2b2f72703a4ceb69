// What the reader chose, in the fragment of the address: `#section?name=value&...`. It is kept nowhere else, so that every state has a link.

let state = new URLSearchParams(location.hash.split(/\?(.*)/s)[1]);

/** The section that the address leads to. */
function section() {
  return decodeURIComponent(location.hash.slice(1).split("?")[0]);
}

/** Write choices into the address, by name; null for one that is as it was at first. */
function keep(choices, at = section()) {
  for (const [name, value] of Object.entries(choices)) {
    state.delete(name);
    for (const one of [value ?? []].flat()) state.append(name, one);
  }
  const text = String(state);
  history.replaceState(null, "", `#${encodeURIComponent(at)}${text ? `?${text}` : ""}`);
}

/** Follow links: open the closed sections around what they lead to, and show the state that they have, or else keep the one there is. */
function followLinks(show) {
  const reveal = (target) => {
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  };
  const go = () => {
    const target = document.getElementById(section());
    reveal(target);
    target?.scrollIntoView();
  };
  window.addEventListener("hashchange", () => {
    const [, text] = location.hash.split(/\?(.*)/s);
    if (text === undefined) keep({});
    else {
      state = new URLSearchParams(text);
      show();
    }
    go();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link) reveal(document.getElementById(link.hash.slice(1)));
  });
  go();
}
