import type { Log } from "../../log.ts";

export interface RecordingLog extends Log {
  readonly lines: string[];
}

export function recordingLog(): RecordingLog {
  const lines: string[] = [];
  const add = (message: string) => void lines.push(message);
  return { lines, info: add, warn: add, error: add };
}
