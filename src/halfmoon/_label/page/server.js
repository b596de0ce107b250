// Requests to the server. An answer is sent again and again until it is saved.

export const newId = () => [...crypto.getRandomValues(new Uint8Array(12))]
  .map(byte => byte.toString(16).padStart(2, "0")).join("");

export const RETRY_MS = 1000;

export async function get(path, asked = {}) {
  const answer = await fetch(`${path}?${new URLSearchParams(asked)}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// Resolves with null if the server does not respond.
export async function post(path, body) {
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const reply = await answer.json().catch(() => ({}));
    return { ok: answer.ok, status: answer.status, reply };
  } catch {
    return null;
  }
}

// Why an answer is not saved now but may be later; empty if it is saved or refused. Once the
// new address of a restarted server is open in this browser, requests of this page succeed.
function whyNotYet(answer) {
  if (answer === null) return "halfmoon label does not respond.";
  if (answer.status === 507) return answer.reply.error;
  const isGone = answer.status === 403 || answer.status === 400;
  return isGone ? "halfmoon label was restarted. Open the address that it has printed now." : "";
}

// Resolves with the response, once the server has saved or refused what was sent. Until then
// `onTrouble` is called with the reason why it has not.
export async function save(path, body, onTrouble) {
  for (;;) {
    const answer = await post(path, body);
    const why = whyNotYet(answer);
    if (!why) return answer;
    onTrouble(why);
    await new Promise(wake => setTimeout(wake, RETRY_MS));
  }
}
