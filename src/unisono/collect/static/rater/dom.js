// Elements made by hand: text stays text, so nothing that a study says can become markup.

import { sentence } from "./sentences.js";

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name in node && typeof value === "boolean") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// The server has split the researcher's text into blocks; see prose.py.
export function prose(blocks) {
  return blocks.map((block) =>
    block.kind === "list"
      ? el("ul", {}, block.lines.map((line) => el("li", {}, line)))
      : el("p", {}, block.lines[0]));
}

const page = document.getElementById("page");

// Shows a page and puts the reader at its start.
export function show(content, { focus = true, neutral = false } = {}) {
  document.body.classList.toggle("neutral", neutral);
  // What belonged to the page before goes with it.
  document.getElementById("keys").hidden = true;
  document.querySelector("dialog[open]")?.close();
  page.replaceChildren(...[content].flat());
  onward = null;
  window.scrollTo(0, 0);
  if (focus) page.focus({ preventScroll: true });
}

// On pages that only want to be read, Enter presses the button that leads on, wherever on the page one is.
let onward = null;
export function enterPresses(button) {
  onward = button;
}
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.repeat || !onward || ![page, document.body].includes(event.target)) return;
  event.preventDefault();
  onward.click();
});

export function say(text) {
  document.getElementById("spoken").textContent = text;
}

export function sheet(heading, ...content) {
  return el("section", { class: "sheet" }, el("h1", {}, heading), ...content);
}

export function setProgress(done, total) {
  const top = document.getElementById("top");
  top.classList.toggle("bare", total === 0);
  const share = total ? (100 * done) / total : 0;
  document.getElementById("progress").setAttribute("aria-valuenow", String(Math.round(share)));
  document.getElementById("progress-done").style.width = `${share}%`;
  document.getElementById("progress-text").textContent = total ? sentence("progress_of", { done: Math.min(done + 1, total), total }) : "";
}
