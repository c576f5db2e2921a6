import type { AlertSink } from "./alert.ts";

/** Writes alerts to the Director's own log, one line each. */
export const logSink = (log: (line: string) => void): AlertSink => ({
  name: "the log",
  send: ({ title, summary }) => {
    log(`health: ${title}${summary === "" ? "" : `: ${summary}`}`);
    return Promise.resolve();
  },
});
