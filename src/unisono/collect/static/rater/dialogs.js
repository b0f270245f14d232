// What opens above the page: an image enlarged, the keys explained. Native dialogs: the rest of the page is out of reach
// meanwhile, Esc closes, and the focus goes back to where it was. Nothing in them answers anything.

import { el } from "./dom.js";
import { sentence } from "./sentences.js";

export function openDialog(kind, label, ...content) {
  const close = el("button", { type: "button", class: "close", onclick: () => dialog.close() }, sentence("close"));
  const dialog = el("dialog", { class: kind, "aria-label": label }, content, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function isOpen() {
  return document.querySelector("dialog[open]") !== null;
}

export function enlarge(url) {
  const image = el("img", { src: url, alt: sentence("image") });
  const view = el("div", { class: "closer", tabindex: 0, role: "region", "aria-label": sentence("enlarged"), autofocus: true }, image);
  const dialog = openDialog("zoomed", sentence("enlarged"), view);
  image.addEventListener("click", () => dialog.close());
}

// The button in the header, on pages where keys do something; `onOpen` is told first.
export function offerKeys(keys, onOpen = () => {}) {
  const button = document.getElementById("keys");
  button.hidden = false;
  button.onclick = () => {
    onOpen();
    openDialog("help", sentence("keys_heading"), el("h2", {}, sentence("keys_heading")), el("ul", {}, keys.map((key) => el("li", {}, sentence(key)))));
  };
}
