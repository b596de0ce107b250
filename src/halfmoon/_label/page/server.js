// Requests to the server. Answers are sent one after the other, each repeated until it is
// saved.

export const newId = () => [...crypto.getRandomValues(new Uint8Array(12))]
  .map(byte => byte.toString(16).padStart(2, "0")).join("");

export const RETRY_MS = 1000;

export async function get(path, asked = {}) {
  const answer = await fetch(`${path}?${new URLSearchParams(asked)}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const reply = await answer.json().catch(() => ({}));
  return { ok: answer.ok, status: answer.status, reply };
}

// Why an answer is not saved now but may be later; empty if it is saved or refused. Once the
// new address of a restarted server is open in this browser, requests of this page succeed.
function whyNotYet(answer) {
  if (answer === null) return "halfmoon label does not respond.";
  if (answer.status === 507) return answer.reply.error;
  const isGone = answer.status === 403 || answer.status === 400;
  return isGone ? "halfmoon label was restarted. Open the address that it has printed now." : "";
}

// Answers that are not saved yet. `onChange` is called with their number and with an error
// message, if there is one.
export class Outbox {
  constructor(onChange) {
    this.waiting = [];
    this.onChange = onChange;
    this.busy = false;
  }

  get length() {
    return this.waiting.length;
  }

  // Resolves with the response, once the answer is saved or refused.
  send(path, body) {
    return new Promise(done => {
      this.waiting.push({ path, body, done });
      this.onChange(this.length, "");
      this.work();
    });
  }

  async work() {
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.length) {
      const { path, body, done } = this.waiting[0];
      let answer;
      try {
        answer = await post(path, body);
      } catch {
        answer = null; // the server does not respond
      }
      const why = whyNotYet(answer);
      if (why) {
        this.onChange(this.length, why);
        await new Promise(wake => setTimeout(wake, RETRY_MS));
        continue;
      }
      this.waiting.shift();
      this.onChange(this.length, "");
      done(answer);
    }
    this.busy = false;
  }
}
