// Small pieces that all parts of the researcher's page are made of.

export const root = document.getElementById("board").dataset.root;
export const byId = (id) => document.getElementById(id);

export function cell(text, kind = "td", className = "") {
  const node = document.createElement(kind);
  node.textContent = text;
  if (className) node.className = className;
  if (kind === "th") node.scope = "row";
  return node;
}

export function row(...cells) {
  const node = document.createElement("tr");
  node.append(...cells);
  return node;
}

export function ago(moment) {
  const seconds = Math.max(0, (Date.now() - moment) / 1000);
  if (seconds < 90) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes ago`;
  return new Date(moment).toLocaleString();
}
