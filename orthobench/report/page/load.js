// Loading of the data and the plotting library, which are compressed in the page.

/** The decompressed text of an element of the page. */
async function inflated(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (letter) =>
    letter.charCodeAt(0),
  );
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** Run the plotting library, the only text that the content security policy lets run. */
async function loadLibrary() {
  const script = document.createElement("script");
  script.textContent = await inflated("plotly");
  document.head.append(script);
  if (!window.Plotly) throw new Error("the plotting library did not start");
}

/** Show an error at the top of the page and in place of the plots. */
function showError(message) {
  const notice = document.getElementById("trouble");
  notice.textContent = message;
  notice.hidden = false;
  for (const waiting of document.querySelectorAll(".waiting")) waiting.textContent = message;
}
