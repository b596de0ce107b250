// Show rows and progress. Text of the table is inserted as text, never as HTML.

import { CLASS_KEYS } from "./keys.js";

const MAX_COLUMNS = 25; // the others are folded
const LONG_TEXT = 300; // characters of a cell that is set as a paragraph
const MAX_TEXT = 1000, MAX_LINES = 14; // of a cell; longer ones are folded
const SHORT_TEXT = 40, MANY = 8; // more cells than that, all short, are set in two columns
const MAX_BUTTONS = 100, MANY_BUTTONS = 12; // classes; the others are found by searching
const MAX_NAME = 60; // characters of a class on a button
// Marks that would change the order of other characters, or that nobody sees.
const MARKS = /[\u0000-\u0009\u000b-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
export const $ = id => document.getElementById(id);

export const visible = text => text.replace(MARKS, mark =>
  `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

export function element(kind, text = "", name = "") {
  const made = document.createElement(kind);
  if (text !== "") made.textContent = visible(text);
  if (name) made.className = name;
  return made;
}

function isolated(text) {
  const made = element("bdi", text);
  made.dir = "auto";
  return made;
}

// A name of a column, which may be broken after its signs.
function columnName(text) {
  const made = isolated("");
  for (const part of visible(text).split(/(?<=[_/.,:;-])/)) made.append(part, element("wbr"));
  return made;
}

const shortened = text => text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text;

function say(id, text) {
  const place = $(id);
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
}

const asText = value => value === null ? "skipped" : String(value);

const WHY = {
  random: "A random row without a proposal. Such rows measure how well halfmoon does.",
  again: "Somebody else has labeled this row. What is your answer?",
  chosen: "",
};

export function showRow(question, target) {
  const heading = $("question");
  heading.replaceChildren(`Row ${question.name}: which `, isolated(target), "?");
  const why = $("why");
  if (question.why === "check") {
    why.replaceChildren("The label of this row looks wrong. It is now ", isolated(asText(question.given)), ". ");
  } else {
    why.textContent = WHY[question.why] ?? "";
  }
  fill($("cells"), question.cells.slice(0, MAX_COLUMNS));
  const rest = question.cells.slice(MAX_COLUMNS);
  $("more").hidden = !rest.length;
  $("more-name").textContent = `${rest.length} more columns`;
  fill($("more-cells"), rest);
  showProposal(question.proposal);
  showNear(question);
  scrollTo(0, 0);
}

function fill(list, cells) {
  const areShort = cells.length > MANY && cells.every(([, text]) => text.length <= SHORT_TEXT);
  list.classList.toggle("short", areShort);
  list.replaceChildren(...cells.map(([name, text]) => {
    const pair = element("div"), term = element("dt"), cell = element("dd");
    term.append(columnName(name));
    if (text === "") {
      cell.className = "empty";
      cell.append("–");
    } else {
      cell.append(...isFolded(text) ? folding(name, text) : [isolated(text)]);
    }
    cell.classList.toggle("long", text.length > LONG_TEXT);
    pair.append(term, cell);
    return pair;
  }));
}

const isFolded = text => text.length > MAX_TEXT || text.split("\n").length > MAX_LINES;
const unfolded = new Set(); // columns whose texts are shown whole, in the next rows too

// A long text and the button that shows all of it.
function folding(column, text) {
  const body = isolated(text), button = element("button");
  body.className = "text";
  button.type = "button";
  const show = () => {
    const whole = unfolded.has(column);
    body.classList.toggle("folded", !whole);
    button.textContent = whole ? "Show less" : "Show all";
    button.setAttribute("aria-expanded", String(whole));
  };
  button.addEventListener("click", () => {
    if (!unfolded.delete(column)) unfolded.add(column);
    show();
  });
  show();
  return [body, button];
}

let proposed = null; // the text of the proposal

function markProposed() {
  for (const button of $("classes").children) {
    const is = button.value === proposed;
    button.classList.toggle("proposal", is);
    if (is) button.scrollIntoView({ block: "nearest" });
  }
}

// Mark the button of the answer that is being saved; undefined if there is none.
export function showGiven(value) {
  for (const button of $("classes").children) {
    button.classList.toggle("given", value !== undefined && button.value === value);
  }
  $("skip").classList.toggle("given", value === null);
}

// The button to accept stays where it is without a proposal, so that no other button moves.
function showProposal(proposal) {
  $("proposal").hidden = proposal === null;
  $("take").disabled = proposal === null;
  $("take-name").replaceChildren(...proposal === null
    ? ["No proposal"] : ["Accept ", isolated(shortened(proposal.text))]);
  proposed = proposal?.text ?? null;
  markProposed();
  if (proposal === null) return;
  $("proposed").replaceChildren(isolated(proposal.text));
  $("sure").textContent = proposal.confidence === null
    ? `between ${proposal.low} and ${proposal.high}`
    : `${proposal.confidence > 0.99 ? "over 99" : Math.round(100 * proposal.confidence)} % confidence`;
}

// The labeled rows behind a proposal, below the same cells of the row itself.
function showNear({ cells, proposal }) {
  const near = proposal?.neighbors ?? [];
  $("near").hidden = !near.length;
  if (!near.length) return;
  const names = near[0].cells.map(([name]) => name), own = new Map(cells);
  const lengths = names.map((name, i) =>
    Math.max((own.get(name) ?? "").length, ...near.map(each => each.cells[i][1].length)));
  const widest = Math.max(SHORT_TEXT, ...lengths);
  const head = (scope, ...parts) => {
    const made = element("th");
    made.scope = scope;
    made.append(...parts);
    return made;
  };
  const line = (title, texts, name) => {
    const made = element("tr", "", name);
    made.append(title, ...texts.map(text => {
      const cell = element("td"), body = isolated(text === "" ? "–" : text);
      body.className = "clip";
      cell.append(body);
      return cell;
    }));
    return made;
  };
  $("near-names").replaceChildren(head("col", "Label"), ...names.map((name, i) => {
    const made = head("col", columnName(name));
    made.classList.toggle("text", lengths[i] === widest);
    return made;
  }));
  $("near-rows").replaceChildren(
    line(head("row", "This row"), names.map(name => own.get(name) ?? ""), "own"),
    ...near.map(each => line(
      head("row", isolated(shortened(each.label)), " ", element("small", `row ${each.name}`)),
      each.cells.map(([, text]) => text),
      each.for ? "for" : "against",
    )),
  );
}

// Buttons are replaced only if the classes have changed, so that the focus stays.
export function showClasses(classes, onPick) {
  const group = $("classes"), shown = classes.slice(0, MAX_BUTTONS);
  $("no-classes").hidden = group.hidden || shown.length > 0; // hidden for numbers
  if (group.children.length === shown.length
    && shown.every((name, i) => group.children[i].value === name)) return;
  group.classList.toggle("many", shown.length > MANY_BUTTONS);
  group.replaceChildren(...shown.map((name, i) => {
    const button = element("button"), key = CLASS_KEYS[i];
    button.type = "button";
    button.value = name;
    if (key) {
      button.setAttribute("aria-keyshortcuts", key);
      button.append(element("kbd", key.toUpperCase()), " ");
    }
    button.append(isolated(shortened(name)));
    button.addEventListener("click", event => onPick(name, event));
    return button;
  }));
  markProposed();
}

export function showProgress(progress) {
  $("bar").value = progress.rows ? progress.labels / progress.rows : 0;
  const number = n => n.toLocaleString("en");
  const many = (n, one) => `${number(n)} ${one}${n === 1 ? "" : "s"}`;
  say("counts", `${many(progress.labels, "label")}, ${number(progress.answered)} of them given here; ${many(progress.blank, "row")} left.`);
  say("quality", progress.quality);
  say("forecast", progress.forecast);
  say("agreement", progress.agreement);
  say("pace", [progress.pace, progress.learning ? "halfmoon is learning from your answers" : ""].filter(Boolean).join(" · "));
  say("stop", progress.stop);
}

export function showLast(history, onPick) {
  $("no-last").hidden = history.length > 0;
  $("last").replaceChildren(...history.slice(-10).reverse().map(each => {
    const item = element("li"), button = element("button");
    button.type = "button";
    button.append(`Row ${each.name ?? each.row}: `, isolated(asText(each.value)));
    button.addEventListener("click", event => onPick(each, event));
    item.append(button);
    return item;
  }));
}

export function showFilled(filled) {
  $("fill").disabled = filled.working;
  $("filling").textContent = filled.working ? "Filling the table …" : filled.said;
  $("made").hidden = !filled.table;
}

export function showSaved(text) {
  $("saved").textContent = text;
}

export const showTrouble = text => say("trouble", text);

export function announce(text) {
  $("announcement").textContent = text;
}

export function atEnd(ended) {
  $("question").textContent = ended ? "There is no row left to label." : "The next row is on its way.";
  $("why").textContent = "";
  $("cells").replaceChildren();
  $("more").hidden = $("near").hidden = true;
  showProposal(null);
}
