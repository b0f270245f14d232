// What is judged, as an element: a colour, an image, a text, a sound, a video.

import { enlarge } from "./dialogs.js";
import { el } from "./dom.js";
import { sentence } from "./sentences.js";

export function stimulus(item, base, { zoom = false } = {}) {
  switch (item.media) {
    case "set": return setOf(item, base, zoom);
    case "colour": return swatch(item.rgb);
    case "image": return imageOf(base + item.url, zoom);
    case "video": return el("video", { src: base + item.url, controls: true, playsinline: true, "aria-label": sentence("video") });
    case "audio": return el("audio", { src: base + item.url, controls: true, "aria-label": sentence("audio") });
    case "check": return el("p", { class: "reading check", dir: "auto" }, item.text);
    default: return el("p", { class: "reading", dir: "auto" }, item.text);
  }
}

// Left stays left in languages that are read the other way: what was seen where is part of the answer.
function setOf({ sides }, base, zoom) {
  const names = letters();
  return el("div", { class: sides.length > 2 ? `pair of-${sides.length}` : "pair", dir: "ltr" }, sides.map((side, index) =>
    el("figure", {}, el("figcaption", {}, names[index]), el("div", { class: "side" }, stimulus(side, base, { zoom })))));
}

// What the items that are compared are called, from left to right.
export function letters() {
  return [sentence("first_of_two"), sentence("second_of_two"), ...sentence("more_letters").split(" ")];
}

function imageOf(url, zoom) {
  const image = el("img", { src: url, alt: sentence("image") });
  if (!zoom) return image;
  return el("button", { type: "button", class: "zoom", onclick: () => enlarge(url) }, image, el("span", { class: "hidden-visually" }, sentence("enlarge")));
}

// Resolves when there is something to see or hear, and fails when there never will be.
export function whenShown(element) {
  const parts = [element, ...element.querySelectorAll("*")].filter((one) => ["IMG", "VIDEO", "AUDIO"].includes(one.tagName));
  return parts.length ? Promise.all(parts.map(whenLoaded)) : null;
}

function whenLoaded(element) {
  if (element.tagName === "IMG") return element.decode();
  return new Promise((resolve, reject) => {
    element.addEventListener("loadedmetadata", resolve, { once: true });
    element.addEventListener("error", () => reject(new Error("media")), { once: true });
  });
}

export function swatch([red, green, blue]) {
  const canvas = el("canvas", { class: "swatch", width: 8, height: 8, role: "img", "aria-label": sentence("plain_colour") });
  paint(canvas, red, green, blue);
  return canvas;
}

export function paint(canvas, red, green, blue) {
  const context = canvas.getContext("2d");
  context.fillStyle = `rgb(${red} ${green} ${blue})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
}

// Fetches what comes next while the rater looks at what is here.
export function preload(item, base) {
  if (item?.media === "set") for (const side of item.sides) preload(side, base);
  if (item?.media === "image") new Image().src = base + item.url;
  // Kept by the browser, from where the page that plays it takes it.
  if (item?.media === "walk") fetch(base + item.url).catch(() => {});
  if (item?.media === "video" || item?.media === "audio") {
    ahead.push(el(item.media, { src: base + item.url, preload: "auto" }));
    if (ahead.length > AHEAD) ahead.shift().removeAttribute("src");
  }
}

const AHEAD = 4;
const ahead = [];

// HSV, as the server computes it: hue in degrees, the others from 0 to 100.
export function hsvToRgb(hue, saturation, brightness) {
  const [s, v] = [saturation / 100, brightness / 100];
  const channel = (n) => {
    const k = (n + hue / 60) % 6;
    return Math.round(255 * (v - v * s * Math.max(0, Math.min(k, 4 - k, 1))));
  };
  return [channel(5), channel(3), channel(1)];
}
