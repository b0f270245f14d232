// What the rater did, kept until the server has it on disk.
//
// Every event gets a number in this tab and is written to localStorage before it is sent. It is taken out only when the
// server has acknowledged it, or has said that it will never take it. Events that an earlier page load left behind are
// delivered first. The server knows (rater, tab, number), so sending twice does no harm.

const MOST_EVENTS = 40;
const MOST_CHARACTERS = 200_000;
const LONGEST_WAIT = 5000;

export class Outbox {
  constructor(url, { onStatus, onReceipt, onLost }) {
    this.url = url;
    this.onStatus = onStatus;
    this.onReceipt = onReceipt;
    this.onLost = onLost;
    this.prefix = `unisono/${url}/`;
    // Time first: events of an earlier tab sort before those of a later one.
    this.tab = Date.now().toString(36).padStart(9, "0") + randomWord();
    this.next = 0;
    this.memory = new Map();
    this.failures = 0;
    this.sending = null;
    this.timer = null;
    this.idle = [];
    this.stopped = false;
    for (const key of storedKeys(this.prefix)) this.memory.set(key, localStorage.getItem(key));
    window.addEventListener("online", () => this.wake());
    window.addEventListener("pagehide", () => this.lastTry());
    document.addEventListener("visibilitychange", () => document.hidden && this.lastTry());
  }

  add(event) {
    const seq = this.next++;
    const text = JSON.stringify({ seq, at: Date.now(), ...event });
    const key = `${this.prefix}${this.tab}/${String(seq).padStart(8, "0")}`;
    this.memory.set(key, text);
    try {
      localStorage.setItem(key, text);
    } catch {
      // Full or forbidden: the event lives in this page alone, and is sent from here.
    }
    this.wake();
  }

  // Resolves when everything is on the server's disk.
  flushed() {
    if (this.memory.size === 0) return Promise.resolve();
    this.wake();
    return new Promise((resolve) => this.idle.push(resolve));
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  wake() {
    clearTimeout(this.timer);
    this.timer = null;
    if (!this.sending && !this.stopped) this.sending = this.deliver().finally(() => { this.sending = null; });
  }

  async deliver() {
    while (this.memory.size && !this.stopped) {
      this.onStatus(this.failures ? "waiting" : "saving");
      const batch = this.take(this.failures > 3 ? 1 : MOST_EVENTS);
      const outcome = await this.post(batch);
      if (outcome === "again") return this.later();
      this.failures = 0;
    }
    if (this.memory.size === 0) {
      this.onStatus("saved");
      for (const resolve of this.idle.splice(0)) resolve();
    }
    return undefined;
  }

  // The oldest events of one tab, in order, no more than one request should carry.
  take(most) {
    const keys = [...this.memory.keys()].sort();
    const tab = tabOf(keys[0], this.prefix);
    const chosen = [];
    let size = 0;
    for (const key of keys) {
      size += this.memory.get(key).length;
      if (tabOf(key, this.prefix) !== tab || chosen.length === most || (chosen.length && size > MOST_CHARACTERS)) break;
      chosen.push(key);
    }
    return { tab, keys: chosen };
  }

  body({ tab, keys }) {
    return `{"tab":${JSON.stringify(tab)},"now":${Date.now()},"events":[${keys.map((key) => this.memory.get(key)).join(",")}]}`;
  }

  async post(batch) {
    let response;
    try {
      response = await fetch(this.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: this.body(batch),
        signal: AbortSignal.timeout(20_000),
      });
    } catch {
      return "again";
    }
    if (response.status === 404) {
      this.stop();
      this.onLost();
      return "again";
    }
    if (response.status === 413 || response.status === 422) return this.unreadable(batch);
    if (!response.ok) return "again";
    const receipt = await response.json().catch(() => null);
    if (!receipt) return "again";
    this.settle(batch, receipt);
    return "done";
  }

  settle(batch, receipt) {
    const answered = new Set([...receipt.acked, ...receipt.rejected.map((one) => one.seq)]);
    for (const one of receipt.rejected) console.error(`not accepted: ${one.why}`);
    for (const key of batch.keys) if (answered.has(seqOf(key))) this.forget(key);
    this.onReceipt(receipt);
  }

  // The server cannot read the batch. Alone, an event that cannot be read is given up: it would block all others.
  unreadable(batch) {
    if (batch.keys.length > 1) {
      this.failures = Math.max(this.failures, 4);
      return "again";
    }
    console.error("given up:", this.memory.get(batch.keys[0]));
    this.forget(batch.keys[0]);
    return "done";
  }

  forget(key) {
    this.memory.delete(key);
    try {
      localStorage.removeItem(key);
    } catch {
      // Then it was never there.
    }
  }

  later() {
    this.failures += 1;
    this.onStatus("waiting");
    const wait = Math.min(LONGEST_WAIT, 500 * 2 ** this.failures) * (0.75 + Math.random() / 2);
    if (!this.stopped) this.timer = setTimeout(() => this.wake(), wait);
  }

  // The page may be about to end: a request that outlives it. What it delivers is delivered again next time, to no harm.
  lastTry() {
    if (this.memory.size === 0 || this.stopped) return;
    const body = this.body(this.take(MOST_EVENTS));
    if (body.length > 60_000) return;
    const headers = { "Content-Type": "application/json" };
    fetch(this.url, { method: "POST", headers, body, keepalive: true }).catch(() => {});
  }
}

function storedKeys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

function tabOf(key, prefix) {
  return key.slice(prefix.length).split("/")[0];
}

function seqOf(key) {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}

export function randomWord() {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => (byte % 36).toString(36)).join("");
}
