// What a page asks, as elements: a pad where the study joins two sliders, else one control per question. Every control has
// dimension, element, value (null until answered), touched, markMissing() and focus().

import { Options } from "./options.js";
import { Pad } from "./pad.js";
import { Scale } from "./scale.js";
import { sentence } from "./sentences.js";
import { letters } from "./stimulus.js";
import { Words } from "./words.js";

export function makeControls(study, names, { start, values = null, onChange = () => {} }) {
  const all = names.map((name) => {
    const dimension = study.dimensions.find((one) => one.name === name);
    const labels = study.mode === "compare" && dimension.choices.length ? { labels: sidesOf(dimension) } : {};
    return makeControl({ ...dimension, ...labels }, { start: start[name], value: values?.[name] ?? null, onChange });
  });
  const byName = Object.fromEntries(all.map((one) => [one.dimension.name, one]));
  const pads = study.pads.filter(({ x, y }) => byName[x] && byName[y]).map(({ x, y, size }) => new Pad(byName[x], byName[y], size));
  const inPads = new Set(pads.flatMap((pad) => pad.scales));
  const elements = [...pads.map((pad) => pad.element), ...all.filter((one) => !inPads.has(one)).map((one) => one.element)];
  return { all, scales: all.filter((one) => one instanceof Scale), pads, elements, isLarge: pads.some((pad) => pad.isLarge) };
}

function sidesOf({ choices }) {
  const [first, second] = letters();
  const words = { left: first, tie: sentence("no_difference"), right: second };
  return choices.map((side, index) => words[side] ?? letters()[index]);
}

function makeControl(dimension, options) {
  if (dimension.kind === "text") return new Words(dimension, options);
  if (dimension.kind === "slider") return new Scale(dimension, options);
  return new Options(dimension, options);
}
