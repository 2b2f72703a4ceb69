// The page about what changed between two stores: its plots.

document.documentElement.classList.add("scripting");
startPlots().catch((error) => showError(`The plots cannot be drawn: ${error.message}. All text and tables are here.`));
