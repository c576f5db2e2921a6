import { type Clock, isoTime } from "@slipway/kernel/clock";

/** One line per event, for the operator of the VM. Callers pass nothing secret. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export function lineLog(clock: Clock, write: (line: string) => void): Log {
  const at = (level: string) => (message: string) => write(`${isoTime(clock)} ${level} ${message}\n`);
  return { info: at("INFO"), warn: at("WARN"), error: at("ERROR") };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
