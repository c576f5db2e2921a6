import { type Clock, isoTime } from "@slipway/kernel/clock";
import { collapseRepeats } from "@slipway/kernel/collapse-repeats";
import { scrubUrls } from "@slipway/protocol/schema/scrub";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = "text" | "json";

/** Fields that a line can be found by: ids and names, never content. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

export type Log = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

export interface LogSettings {
  readonly level: LogLevel;
  readonly format: LogFormat;
}

export interface DirectorLog extends Log {
  /** Uses these settings from the next line on. */
  use(settings: LogSettings): void;
}

/**
 * The Director's own log: a line each, for people or as JSON. A database that is gone, or a disk that is full, is the same
 * trouble many times a second: troubles are counted. Credentials in addresses are taken out; callers pass no other secret.
 */
export function directorLog(clock: Clock, settings: LogSettings, write: (line: string) => void): DirectorLog {
  let { level: least, format } = settings;
  let current: { readonly text: string; readonly fields: LogFields } | undefined;
  const put = (level: LogLevel, message: string, fields: LogFields) =>
    write((format === "json" ? jsonLine : textLine)(isoTime(clock), level, scrubUrls(message), fields));
  const troubles = collapseRepeats(clock, (text) => {
    const space = text.indexOf(" ");
    // A repeated line stands for several requests, and belongs to none of them.
    put(
      text.slice(0, space) as LogLevel,
      text.slice(space + 1),
      text === current?.text ? current.fields : {},
    );
  });
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
      if (level === "debug" || level === "info") return put(level, message, fields);
      current = { text: `${level} ${message}`, fields };
      troubles(current.text);
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    use: (changed) => {
      least = changed.level;
      format = changed.format;
    },
  };
}

const given = (fields: LogFields) => Object.entries(fields).filter(([, value]) => value !== undefined);

const jsonLine = (time: string, level: LogLevel, message: string, fields: LogFields): string =>
  JSON.stringify({
    time,
    level,
    message,
    ...Object.fromEntries(given(fields).map(([k, v]) => [k, shown(v)])),
  });

function textLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = given(fields).map(([name, value]) => ` ${name}=${quoted(String(shown(value)))}`);
  return `${time} ${level.toUpperCase()} ${oneLine(message)}${pairs.join("")}`;
}

const shown = (value: string | number | undefined) => (typeof value === "string" ? scrubUrls(value) : value);

const quoted = (value: string): string => (/^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value));

/** A line is a line, whatever a peer has said. */
const oneLine = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  text.replace(/\n/g, " | ").replace(/[\x00-\x1f\x7f]/g, "?");
