// What each key does. Reserved keys are never assigned to a class.

export const RESERVED = ["enter", " ", "u", "backspace", "/", "?", "escape", "tab"];
export const CLASS_KEYS = [..."123456789abcdefghijklmnopqrstuvwxyz"]
  .filter(key => !RESERVED.includes(key));
const DOUBLE_PRESS_MS = 150; // within which a second press does not count

// The name of a key. Where a keyboard has other characters, as on the digits in France and on
// the letters in Greece, its place counts.
function keyOf(event) {
  const key = event.key.toLowerCase();
  if (key.length > 1 || event.shiftKey || /[a-z0-9/? ]/.test(key)) return key;
  const place = /^(?:Key|Digit)(.)$/.exec(event.code);
  return place ? place[1].toLowerCase() : key;
}

// What a key means while a row is shown; null if the page does not use it.
export function meaningOf(event, classes, typesNumbers, typed) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  const key = keyOf(event);
  if (key === "?") return { does: "help" };
  if (key === "/" && !typesNumbers) return { does: "search" };
  if (key === "u") return { does: "undo" };
  if (key === "backspace") return typesNumbers && typed ? null : { does: "undo" };
  if (key === " ") return typesNumbers && typed ? null : { does: "skip" };
  if (key === "enter") return typesNumbers && typed ? { does: "number" } : { does: "take" };
  if (typesNumbers) return null;
  const place = CLASS_KEYS.indexOf(key);
  return place >= 0 && place < classes.length ? { does: "class", value: classes[place] } : null;
}

// Return a function that accepts a press unless it closely follows another one.
export function once() {
  let last = -Infinity;
  return event => {
    const now = performance.now();
    if ((event && event.repeat) || now - last < DOUBLE_PRESS_MS) return false;
    last = now;
    return true;
  };
}

// Parse a number as people type it, in a table with this decimal mark. Returns null if it is
// not a number, and NaN if 1,234 may be a thousand or a decimal.
export function numberOf(text, decimal = ".") {
  const groups = decimal === "." ? "," : ".";
  let plain = text.trim().replace("\u2212", "-").replace(/(?<=\d)[\s']+(?=\d{3}(\D|$))/g, "");
  const marks = [...plain.matchAll(/[.,]/g)].map(each => each[0]);
  const [whole] = plain.split(decimal), isGrouped = /^[+-]?[1-9]\d{0,2}([.,]\d{3})+$/.test(whole);
  if (marks.length === 1 && marks[0] === groups) {
    if (isGrouped) return NaN;
    plain = plain.replace(groups, "."); // the decimal mark of another country
  } else {
    if (isGrouped) plain = plain.replaceAll(groups, "");
    plain = plain.replace(decimal, ".");
  }
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) && Number.isFinite(Number(plain))
    ? Number(plain) : null;
}
