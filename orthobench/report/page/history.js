// The page of a history: its plots, and links to commits in closed sections.

function openLinked() {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.tagName === "DETAILS") target.open = true;
}

document.documentElement.classList.add("scripting");
window.addEventListener("hashchange", openLinked);
openLinked();
startPlots().catch((error) => showError(`The plots cannot be drawn: ${error.message}. All text and tables are here.`));
