import type { AlertSink } from "./alert.ts";

/** One line each in the Director's own log. */
export const logSink = (log: (line: string) => void): AlertSink => ({
  name: "the log",
  send: ({ title, summary }) => {
    log(`health: ${title}${summary === "" ? "" : `: ${summary}`}`);
    return Promise.resolve();
  },
});
