// What is asked of the server, and what goes to it: one answer after the other, each
// sent again until it is saved.

export const newId = () => [...crypto.getRandomValues(new Uint8Array(12))]
  .map(byte => byte.toString(16).padStart(2, "0")).join("");

const AGAIN = 1000; // milliseconds after which something is sent again

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
  const said = await answer.json().catch(() => ({}));
  return { ok: answer.ok, status: answer.status, said };
}

// Letters on their way. `onChange` is called with how many there are, and with what
// is wrong, if anything.
export class Outbox {
  constructor(onChange) {
    this.waiting = [];
    this.onChange = onChange;
    this.busy = false;
  }

  get length() {
    return this.waiting.length;
  }

  // Resolves with what the server says of it, once it is saved or refused.
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
        answer = null; // the server does not answer
      }
      if (answer === null || answer.status === 507) {
        const why = answer?.said.error ?? "halfmoon does not answer.";
        this.onChange(this.length, why);
        await new Promise(wake => setTimeout(wake, AGAIN));
        continue;
      }
      this.waiting.shift();
      const gone = answer.status === 403 || answer.status === 400;
      const why = gone ? "This page is of an earlier start of halfmoon label. Open the new address." : "";
      this.onChange(this.length, why);
      done(answer);
    }
    this.busy = false;
  }
}
