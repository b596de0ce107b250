// What changes on the server, while this page is in sight. A browser opens at most six
// connections to one server, so pages in the background give theirs back: seven of them would
// leave none to save an answer.

const LISTEN_MS = 5000; // after which a page listens again to a server that was gone

// `handlers` are functions of what came, by the name of the event.
export function listen(address, handlers) {
  let events = null, timer = null;

  function open() {
    close();
    if (document.hidden) return;
    events = new EventSource(address);
    for (const [name, handle] of Object.entries(handlers)) {
      events.addEventListener(name, event => handle(JSON.parse(event.data)));
    }
    events.addEventListener("stop", openLater);
    events.addEventListener("error", event => {
      if (event.target.readyState === EventSource.CLOSED) openLater();
    });
  }

  function openLater() {
    close();
    timer = setTimeout(open, LISTEN_MS);
  }

  function close() {
    clearTimeout(timer);
    events?.close();
    events = null;
  }

  document.addEventListener("visibilitychange", open);
  open();
}
