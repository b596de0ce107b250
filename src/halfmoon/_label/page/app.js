// The page keeps a queue of rows, so the next row appears as soon as an answer is saved.

import { listen } from "./events.js";
import { meaningOf, numberOf, once } from "./keys.js";
import { get, newId, post, RETRY_MS, save } from "./server.js";
import { searching } from "./search.js";
import {
  $, announce, atEnd, showClasses, showFilled, showGiven, showLast, showProgress, showRow, showSaved,
  showTrouble,
} from "./view.js";

const FULL = 20, LOW = 10; // rows in the queue
const CANNOT_SAVE = "This could not be saved. The terminal of halfmoon label says why.";

const state = {
  who: "", target: "", kind: "classes", decimal: ".", classes: [],
  queue: [], current: null, shownAt: 0, history: [],
  asking: null, again: false, isSaving: false, ended: false, refits: 0,
};
const passes = once();

// The queue

// Fetch more rows; after a refit, replace the queue. Resolves when the rows are there.
function refill(fromRefit = false) {
  if (state.asking) state.again ||= fromRefit; // its queue is fetched next
  else state.asking = fetchRows(fromRefit);
  return state.asking;
}

async function fetchRows(fromRefit) {
  let failed = false;
  try {
    const kept = fromRefit ? state.queue.filter(each => each.kept) : state.queue;
    const held = [state.current, ...kept].filter(Boolean).map(each => each.row);
    const found = await get("/questions", { who: state.who, n: FULL, held });
    const late = new Set([state.current, ...state.history].map(each => each?.row)); // since then
    const rest = fromRefit ? state.queue.filter(each => each.kept) : state.queue;
    const there = new Set(rest.map(each => each.row));
    const fresh = found.questions.filter(each => !late.has(each.row) && !there.has(each.row));
    state.queue = [...rest, ...fresh];
    state.refits = found.refits;
    state.ended = !fresh.length && !rest.length;
  } catch {
    failed = true;
  }
  state.asking = null;
  document.documentElement.dataset.refits = state.refits;
  if (state.current === null) failed ? setTimeout(refill, RETRY_MS) : advance();
  if (state.again) {
    state.again = false;
    refill(true);
  }
}

function advance() {
  state.current = state.queue.shift() ?? null;
  if (state.current === null) {
    atEnd(state.ended);
    if (!state.ended) refill();
  } else {
    show();
  }
  if (state.queue.length < LOW) refill();
}

function show() {
  const question = state.current;
  showRow(question, state.target);
  state.shownAt = performance.now();
  $("number-wrong").textContent = "";
  if (state.kind === "numbers" && !document.querySelector("dialog[open]")) $("number").focus();
  const proposal = question.proposal === null ? "" : ` Proposal: ${question.proposal.text}.`;
  const cells = question.cells.slice(0, 3).map(([name, text]) => `${name} ${text.slice(0, 80)}`);
  announce(`Row ${question.name}.${proposal} ${cells.join(", ")}`);
}

// Answers. The row stays until the server has the answer on disk.

function isReady() {
  if (state.isSaving) announce("Waiting until the last answer is saved.");
  return !state.isSaving;
}

// Send an answer or an undo; resolves with the reply, or with null if it is refused.
async function sent(path, body) {
  state.isSaving = true;
  showSaved("Saving …");
  const { ok, reply } = await save(path, { id: newId(), who: state.who, ...body }, why =>
    showTrouble(`Not saved yet: ${why} Keep this page open: it keeps trying.`));
  state.isSaving = false;
  showGiven();
  showSaved(ok ? "All answers are saved." : "");
  showTrouble(ok ? "" : reply.error ?? CANNOT_SAVE);
  return ok ? reply : null;
}

async function answer(value, event = null) {
  if (state.current === null || !isReady() || !passes(event)) return;
  const question = state.current, { row, name } = question;
  const seconds = (performance.now() - state.shownAt) / 1000;
  const typed = $("number").value;
  $("number").value = ""; // now, since what is typed next belongs to the next row
  showGiven(value);
  const reply = await sent("/answer", { row, value, seconds, shown: question.proposal !== null });
  if (reply === null) {
    $("number").value ||= typed;
    return;
  }
  state.history.push({ id: reply.saved, row, name, value, question });
  if (typeof value === "string" && !state.classes.includes(value)) {
    state.classes.push(value);
    showClasses(state.classes, answer);
  }
  advance();
  showLast(state.history, reopen);
}

async function undo(event = null) {
  if (!isReady() || !passes(event)) return;
  const last = state.history.at(-1);
  const reply = await sent("/undo", { undo: last?.id ?? null });
  if (reply === null) return;
  state.history.pop();
  if (!state.history.length) state.history = reply.history.reverse(); // ten at a time
  showLast(state.history, reopen);
  const question = last?.question ?? reply.question;
  if (question) comeBack(question);
  else announce("There is nothing to undo.");
}

function comeBack(question) {
  if (state.current !== null && state.current.row !== question.row) {
    state.queue.unshift({ ...state.current, kept: true });
  }
  state.queue = state.queue.filter(each => each.row !== question.row);
  state.current = question;
  $("number").value = "";
  show();
}

// Show one of the last answered rows again.
async function reopen(each, event) {
  if (!isReady() || !passes(event)) return;
  event.currentTarget?.blur();
  try {
    comeBack(each.question ?? await get("/row", { who: state.who, row: each.row }));
  } catch {
    showTrouble("halfmoon label does not respond.");
  }
}

function take(event) {
  const proposal = state.current?.proposal;
  if (proposal) answer(proposal.value, event);
  else announce("This row has no proposal.");
}

function sendNumber(event) {
  const text = $("number").value, value = numberOf(text, state.decimal);
  if (value === null || Number.isNaN(value)) {
    const plain = text.trim(), [whole, digits] = plain.split(/[.,]/);
    $("number-wrong").textContent = value === null ? "This is not a number."
      : `Is ${plain} more than a thousand? Type ${whole}${digits}, or ${whole}${state.decimal}${digits}.`;
    return;
  }
  answer(value, event);
}

// Keys

const search = searching(() => state.classes, name => answer(name));
const openSearch = () => isReady() && search();

const ACTIONS = {
  class: (meaning, event) => answer(meaning.value, event),
  number: (_, event) => sendNumber(event),
  take: (_, event) => take(event),
  skip: (_, event) => answer(null, event),
  undo: (_, event) => undo(event),
  search: () => openSearch(),
  help: () => $("help").showModal(),
};

document.addEventListener("keydown", event => {
  if (document.querySelector("dialog[open]") || !$("keys-on").checked) return;
  const at = event.target, inNumber = at === $("number");
  const presses = at.closest?.("button, a, summary") && ["Enter", " "].includes(event.key);
  if (presses) return; // the key presses the button
  const meaning = meaningOf(event, state.classes, state.kind === "numbers", inNumber && $("number").value !== "");
  if (meaning === null) {
    if (state.kind === "numbers" && !inNumber && /^[0-9.,+-]$/.test(event.key)) $("number").focus();
    return;
  }
  event.preventDefault();
  ACTIONS[meaning.does](meaning, event);
});

// Speech input and some screen readers use the same keys, so they can be turned off.
function useKeys(on) {
  $("keys-on").checked = on;
  document.body.classList.toggle("no-keys", !on);
  localStorage.setItem("halfmoon-keys", on ? "on" : "off");
}

// A mouse or a finger leaves no focus on a button, so Enter accepts the proposal again.
document.addEventListener("click", event => {
  const button = event.target.closest?.(".answers button");
  if (button && event.detail > 0) {
    button.blur();
    if (state.kind === "numbers") $("number").focus();
  }
});

$("keys-on").addEventListener("change", event => useKeys(event.target.checked));
$("take").addEventListener("click", take);
$("skip").addEventListener("click", event => answer(null, event));
$("undo").addEventListener("click", undo);
$("find").addEventListener("click", openSearch);
$("help-open").addEventListener("click", () => $("help").showModal());
$("number-form").addEventListener("submit", event => {
  event.preventDefault();
  if ($("number").value === "") take(null);
  else sendNumber(null);
});
$("fill").addEventListener("click", async () => {
  showFilled({ working: true, table: "" });
  const answer = await post("/fill", {});
  const said = answer === null ? "halfmoon label does not respond." : answer.reply.error ?? CANNOT_SAVE;
  showFilled(answer?.ok ? answer.reply : { working: false, said, table: "" });
});
addEventListener("beforeunload", event => {
  if (state.isSaving) event.preventDefault();
});

// Start

function onProgress(progress) {
  for (const name of progress.classes) if (!state.classes.includes(name)) state.classes.push(name);
  showClasses(state.classes, answer);
  showProgress(progress);
  if (progress.refits > state.refits) refill(true); // a refit ended before this page listened
}

function askName() {
  return new Promise(done => {
    const dialog = $("name");
    dialog.addEventListener("cancel", event => event.preventDefault());
    $("name-form").addEventListener("submit", () => done($("who").value.trim()));
    dialog.showModal();
  });
}

async function begin() {
  const address = new URL(location.href), named = address.searchParams.get("as");
  history.replaceState(null, "", named ? `/?as=${encodeURIComponent(named)}` : "/");
  const first = await get("/start", {});
  state.who = (named || first.person || localStorage.getItem("halfmoon-who") || "").slice(0, 100);
  if (!state.who) {
    state.who = await askName();
    localStorage.setItem("halfmoon-who", state.who);
  }
  const start = await get("/start", { who: state.who });
  useKeys(localStorage.getItem("halfmoon-keys") !== "off");
  Object.assign(state, { target: start.target, kind: start.progress.kind, decimal: start.decimal });
  document.title = `Label ${start.target} in ${start.table} – halfmoon`;
  $("target").textContent = start.target;
  $("table").textContent = start.table;
  $("file").textContent = start.file;
  const numbers = state.kind === "numbers";
  $("number-form").hidden = !numbers;
  $("number-label").textContent = start.target;
  $("find").hidden = numbers;
  $("classes").hidden = numbers;
  state.history = start.history.reverse();
  showLast(state.history, reopen);
  onProgress(start.progress);
  showFilled(start.filled);
  showTrouble(start.notes.join(" "));
  await refill();
  listen(`/events?${new URLSearchParams({ who: state.who })}`, {
    progress: onProgress,
    queue: () => refill(true),
    filled: showFilled,
    stop: () => showTrouble("halfmoon label was stopped. Start it again to continue."),
  });
  document.documentElement.dataset.ready = "yes";
}

begin().catch(error => showTrouble(`The page could not start: ${error.message}`));
