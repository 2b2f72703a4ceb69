// Elements of the page, and downloads.

/** Download a text as a file. */
function download(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A new element with attributes and children; text never becomes markup. */
function element(tag, attributes = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) created.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") created.toggleAttribute(name, value);
    else created.setAttribute(name, value);
  }
  created.append(...children);
  return created;
}

/** A sample of a solver's line and marker; of a reference's line where the number is negative. */
function lineSample(solver) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "key");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#key-${solver < 0 ? `reference${solver}` : solver}`);
  svg.append(use);
  return svg;
}
