// Elements, requests and words, for the other scripts.

export const $ = id => document.getElementById(id);

// An element with attributes (functions listen) and children, texts among them.
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

export class Refused extends Error {
  constructor(told) { super(told.message); this.told = told; }
}

// What the desk answers; a page whose desk has gone says so.
export async function ask(path, { method = "GET", data, body } = {}) {
  const options = { method, body: data === undefined ? body : JSON.stringify(data) };
  if (data !== undefined) options.headers = { "content-type": "application/json" };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    lost();
    throw error;
  }
  $("lost").hidden = true;
  if (answer.status === 422 || answer.status === 413) throw new Refused(await answer.json());
  if (!answer.ok) {
    if (answer.status === 404) lost();
    throw new Error(`${path}: ${answer.status}`);
  }
  return answer.json();
}

function lost() {
  $("lost").textContent = "The desk does not answer any more. Start unisono app again, and open the link that it prints.";
  $("lost").hidden = false;
}

export function counted(n, what) {
  return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}

export function figure(value, digits = 2) {
  return value === null || value === undefined ? "–" : Number(value.toPrecision(digits + 1)).toString();
}

// A message with its ways out: buttons that choose, or that lead to where something is to be chosen.
export function refusal(told, choose, lead) {
  const ways = told.ways.map(way => make("button", { type: "button", click: () => way.field ? lead(way.field) : choose(way.choices) }, way.label));
  return make("div", { class: "alert" }, make("p", {}, told.message), ways.length ? make("p", { class: "row" }, ...ways) : null);
}

export function table(head, rows) {
  const cells = row => row.map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, String(cell)));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": head[0] },
    make("table", {}, make("thead", {}, make("tr", {}, ...head.map(name => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...rows.map(row => make("tr", {}, ...cells(row))))));
}

export function copyable(text, what) {
  const button = make("button", { type: "button", click: async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } }, `Copy ${what}`);
  return make("div", {}, make("pre", { tabindex: "0", class: "said" }, text), make("p", { class: "tools" }, button));
}
