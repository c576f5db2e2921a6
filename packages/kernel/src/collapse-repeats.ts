import type { Clock } from "./clock.ts";

const WITHIN_MS = 60_000;
const MOST = 64;
/** A Director may well ask the same twice: each of these few is news. */
const PASSED = 10;

interface Said {
  readonly text: string;
  readonly at: number;
  passed: number;
  repeats: number;
}

/**
 * Passes messages on, but none more than ten times within a minute: more are counted and told together when the minute is
 * over and something is said again. Messages that differ in the port of a peer only are the same.
 */
export function collapseRepeats(clock: Clock, write: (message: string) => void): (message: string) => void {
  const known = new Map<string, Said>();
  const tell = ({ text, repeats }: Said) => {
    if (repeats > 0) write(`${text} (repeated ${repeats} ${repeats === 1 ? "time" : "times"})`);
  };
  return (text) => {
    const now = clock.monotonic();
    const key = text.replace(/:\d{1,5}\b/g, ":");
    const before = known.get(key);
    if (before !== undefined && now - before.at < WITHIN_MS) {
      if (before.passed >= PASSED) {
        before.repeats += 1;
        return;
      }
      before.passed += 1;
      write(text);
      return;
    }
    const [oldest] = known;
    for (const [over, said] of known) {
      const full = known.size >= MOST && over === oldest?.[0];
      if (!full && now - said.at < WITHIN_MS) break;
      known.delete(over);
      tell(said);
    }
    write(text);
    known.set(key, { text, at: now, passed: 1, repeats: 0 });
  };
}
