// What keys mean, and what controls are called.

// The digit from 1 to 9 that was typed, on whatever keyboard: French ones have digits above the shift key, Arabic ones
// digits of their own. Without Num Lock the number pad moves, and that is no digit.
export function digitOf(event) {
  const found = /^(Digit|Numpad)([1-9])$/.exec(event.code);
  if (!found || event.ctrlKey || event.altKey || event.metaKey || event.key.length !== 1) return null;
  return Number(found[2]);
}

// Letters of every script stay, so that two names never make one id.
export function idOf(kind, name) {
  return `${kind}-${name.replace(/[^\p{L}\p{N}_-]/gu, (sign) => `_${sign.codePointAt(0).toString(16)}_`)}`;
}
