import { type Clock, isoTime } from "@slipway/kernel/clock";
import { collapseRepeats } from "@slipway/kernel/collapse-repeats";

/** One line per event, for the operator of the VM. Callers pass nothing secret. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Anybody can connect and make the agent say something: what is said again and again is counted. */
export function lineLog(clock: Clock, write: (line: string) => void): Log {
  const say = collapseRepeats(clock, (line) => write(`${isoTime(clock)} ${line}\n`));
  const at = (level: string) => (message: string) => say(`${level} ${message}`);
  return { info: at("INFO"), warn: at("WARN"), error: at("ERROR") };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
