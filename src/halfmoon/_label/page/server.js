// Requests to the server. Answers are sent one after the other, each repeated until it is
// saved.

export const newId = () => [...crypto.getRandomValues(new Uint8Array(12))]
  .map(byte => byte.toString(16).padStart(2, "0")).join("");

const RETRY_MS = 1000;

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
      if (answer === null || answer.status === 507) {
        const why = answer?.reply.error ?? "halfmoon label does not respond.";
        this.onChange(this.length, why);
        await new Promise(wake => setTimeout(wake, RETRY_MS));
        continue;
      }
      this.waiting.shift();
      const gone = answer.status === 403 || answer.status === 400;
      const why = gone ? "halfmoon label was restarted. Open the address that it has printed now." : "";
      this.onChange(this.length, why);
      done(answer);
    }
    this.busy = false;
  }
}
