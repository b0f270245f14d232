// What this page says, in the raters' language; see languages/ on the server. Numbers are written as the language does.

const texts = JSON.parse(document.getElementById("page").dataset.sentences);
const numbers = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 3 });
const rightToLeft = document.documentElement.dir === "rtl";

export function sentence(key, values = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (gap, name) => {
    const value = values[name] ?? gap;
    return typeof value === "number" ? number(value) : value;
  });
}

export function number(value) {
  // A value that is a little below nothing is nothing.
  return numbers.format(Math.round(value * 1000) / 1000 || 0).replace("-", "−");
}

// How far along a line a pointer is, from 0 where reading begins to 1; `inset` is left out at both ends.
export function along(box, x, inset = 0) {
  const share = (x - box.left - inset) / (box.width - 2 * inset);
  return rightToLeft ? 1 - share : share;
}
