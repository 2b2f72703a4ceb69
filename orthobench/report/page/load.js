// The data and the plotting library: compressed in the page, inflated when it opens.

/** Inflate what an element of the page holds. */
async function inflated(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (letter) =>
    letter.charCodeAt(0),
  );
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** Run the plotting library; no other text of the page may run, whatever it holds. */
async function libraryLoaded() {
  const script = document.createElement("script");
  script.textContent = await inflated("plotly");
  document.head.append(script);
  if (!window.Plotly) throw new Error("the plotting library did not start");
}

/** Say what is wrong, where all see it. */
function tell(message) {
  const notice = document.getElementById("trouble");
  notice.textContent = message;
  notice.hidden = false;
  for (const waiting of document.querySelectorAll(".waiting")) waiting.textContent = message;
}
