// Which key is which answer. Keys that do something else are never given to a class.

export const RESERVED = ["enter", " ", "u", "backspace", "/", "?", "escape", "tab"];
export const CLASS_KEYS = [..."123456789abcdefghijklmnopqrstuvwxyz"]
  .filter(key => !RESERVED.includes(key));
const TWICE = 150; // milliseconds in which a second press counts once

// What a key means on the row; null if it is nothing of ours.
export function meaningOf(event, classes, typesNumbers, typed) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  const key = event.key.toLowerCase();
  if (key === "?") return { does: "help" };
  if (key === "/" && !typesNumbers) return { does: "search" };
  if (key === "u") return { does: "undo" };
  if (key === "backspace") return typesNumbers && typed ? null : { does: "undo" };
  if (key === " ") return { does: "skip" };
  if (key === "enter") return typesNumbers && typed ? { does: "number" } : { does: "take" };
  if (typesNumbers) return null;
  const place = CLASS_KEYS.indexOf(key);
  return place >= 0 && place < classes.length ? { does: "class", value: classes[place] } : null;
}

// Lets a press pass unless it follows another one at once.
export function once() {
  let last = -Infinity;
  return event => {
    const now = performance.now();
    if ((event && event.repeat) || now - last < TWICE) return false;
    last = now;
    return true;
  };
}

// A number as people type it, or null.
export function numberOf(text) {
  const plain = text.trim().replace(",", ".").replace("\u2212", "-");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) && Number.isFinite(Number(plain))
    ? Number(plain) : null;
}
