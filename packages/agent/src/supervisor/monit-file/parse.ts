import { parseIf } from "./conditions.ts";
import {
  type Cursor,
  cursorOver,
  keyword,
  numberNext,
  pathNext,
  patternNext,
  shown,
  textNext,
} from "./cursor.ts";
import {
  type Dependency,
  type Include,
  type MonitFileContent,
  type MonitProgram,
  type MonitTarget,
  type Remark,
  type Rule,
  SERVICE_KINDS,
  type Service,
  type ServiceKind,
  type Warn,
} from "./model.ts";
import { commandNext, programNext } from "./programs.ts";
import { tokensOf } from "./tokens.ts";

/** Keywords that begin a statement. */
const STATEMENTS = ["check", "set", "include"];

/** Reads a monit file. Throws `MonitFileInvalid`, with the line, for everything that monit would not take. */
export function parseMonitFile(text: string, file: string): MonitFileContent {
  if (/^\s*\{/.test(text))
    throw cursorOver(tokensOf("", file), file).fail("this is the JSON of a Windows job, not a monit file");
  const cursor = cursorOver(tokensOf(text, file), file);
  const services: Service[] = [];
  const includes: Include[] = [];
  const warnings: Remark[] = [];
  const warn = (line: number, remark: string) => void warnings.push({ file, line, text: remark });
  while (cursor.peek().kind !== "end") {
    const token = cursor.next();
    switch (keyword(token)) {
      case "check":
        services.push(parseCheck(cursor, token.line, warn));
        break;
      case "set":
        warn(token.line, `"set ${keyword(cursor.peek())}" is a setting of monit itself and has no effect`);
        while (!cursor.at(...STATEMENTS) && cursor.peek().kind !== "end") cursor.next();
        break;
      case "include":
        includes.push({ pattern: textNext(cursor, "the path of include"), line: token.line });
        break;
      default:
        throw cursor.fail(`${shown(token)} does not begin a statement`, token);
    }
  }
  return { services, includes, warnings };
}

interface Draft {
  start?: MonitProgram;
  stop?: MonitProgram;
  mode: Service["mode"];
  onReboot: Service["onReboot"];
  everyCycles: number;
  readonly groups: string[];
  readonly dependsOn: Dependency[];
  readonly rules: Rule[];
}

function parseCheck(cursor: Cursor, line: number, warn: Warn): Service {
  const kind = kindNext(cursor);
  const name = nameNext(cursor, `the name of the ${kind}`);
  const target = targetNext(cursor, kind, name);
  const draft: Draft = {
    mode: "active",
    onReboot: "start",
    everyCycles: 1,
    groups: [],
    dependsOn: [],
    rules: [],
  };
  while (!cursor.at(...STATEMENTS) && cursor.peek().kind !== "end") option(cursor, draft, kind, warn);
  return { kind, name, file: cursor.file, line, target, ...draft };
}

/** `check NAME` without a kind is a process; `device` is an old word for a file system. */
function kindNext(cursor: Cursor): ServiceKind {
  const word = keyword(cursor.rawPeek());
  if (word === "device") {
    cursor.raw();
    return "filesystem";
  }
  const kind = SERVICE_KINDS.find((one) => one === word);
  if (kind === undefined) return "process";
  cursor.raw();
  return kind;
}

/** Names may be words that mean something elsewhere. */
function nameNext(cursor: Cursor, what: string): string {
  const token = cursor.raw();
  const named = ["word", "quoted", "number"].includes(token.kind) && token.text.trim() !== "";
  if (!named) throw cursor.fail(`${what} is missing before ${shown(token)}`, token);
  return token.text;
}

function targetNext(cursor: Cursor, kind: ServiceKind, name: string): MonitTarget {
  const token = cursor.peek();
  if (kind === "process") {
    if (cursor.take("pidfile", "path")) return { by: "pidfile", path: pathNext(cursor, "the pidfile") };
    if (cursor.take("match", "matching"))
      return { by: "matching", pattern: patternNext(cursor, "the pattern of the process") };
    throw cursor.fail(
      `check process ${name} needs a pidfile or a pattern to match, not ${shown(token)}`,
      token,
    );
  }
  if (kind === "system") return { by: "nothing" };
  if (kind === "host" || kind === "network") {
    if (cursor.take("address", "interface"))
      return { by: "address", address: textNext(cursor, "the address") };
    throw cursor.fail(`check ${kind} ${name} needs an address, not ${shown(token)}`, token);
  }
  if (!cursor.take("path"))
    throw cursor.fail(`check ${kind} ${name} needs a path, not ${shown(token)}`, token);
  if (kind === "program") return { by: "command", program: commandNext(cursor, "the path of the program") };
  return { by: "path", path: pathNext(cursor, "the path") };
}

function option(cursor: Cursor, draft: Draft, kind: ServiceKind, warn: Warn): void {
  const token = cursor.next();
  switch (keyword(token)) {
    case "start":
      draft.start = programNext(cursor, "the start program");
      return;
    case "stop":
      draft.stop = programNext(cursor, "the stop program");
      return;
    case "restart":
      programNext(cursor, "the restart program");
      warn(token.line, "the restart program is not used: the stop and the start program are");
      return;
    case "group":
    case "groups":
      draft.groups.push(nameNext(cursor, "the name of the group"));
      while (cursor.rawPeek().afterComma) draft.groups.push(nameNext(cursor, "the name of the group"));
      return;
    case "depend":
    case "depends":
      dependencies(cursor, draft);
      return;
    case "mode":
      draft.mode = oneOf(cursor, "the mode", ["active", "passive", "manual"]);
      return;
    case "onreboot":
      draft.onReboot = oneOf(cursor, "onreboot", ["start", "nostart", "laststate"]);
      return;
    case "every":
      every(cursor, draft, token.line, warn);
      return;
    case "if": {
      const rule = parseIf(cursor, token.line, kind, warn);
      if (rule !== undefined) draft.rules.push(rule);
      return;
    }
    case "alert":
    case "noalert":
      mailAlert(cursor, token.line, warn);
      return;
    case "not":
      // "not every": a crontab; monit then leaves the check out at those times.
      if (!cursor.take("every")) break;
      textNext(cursor, "the crontab of every");
      warn(token.line, "`not every` with a crontab is not supported: the service is always checked");
      return;
    case "ignore":
      ignored(cursor, token.line, warn);
      return;
    default:
  }
  throw cursor.fail(`${shown(token)} is not known in a check of a ${kind}`, token);
}

function dependencies(cursor: Cursor, draft: Draft): void {
  if (keyword(cursor.rawPeek()) === "on") cursor.raw();
  do {
    const { line } = cursor.rawPeek();
    draft.dependsOn.push({ name: nameNext(cursor, "the service it depends on"), line });
  } while (cursor.rawPeek().afterComma);
}

function oneOf<T extends string>(cursor: Cursor, what: string, words: readonly T[]): T {
  const token = cursor.next();
  const found = words.find((word) => word === keyword(token));
  if (found === undefined)
    throw cursor.fail(`${what} is one of ${words.join(", ")}, not ${shown(token)}`, token);
  return found;
}

function every(cursor: Cursor, draft: Draft, line: number, warn: Warn): void {
  if (cursor.peek().kind === "quoted") {
    cursor.next();
    warn(line, "`every` with a crontab is not supported: the service is checked in every cycle");
    return;
  }
  const count = numberNext(cursor, "the number of cycles");
  if (!cursor.take("cycle", "cycles")) throw cursor.fail("`every` counts cycles", cursor.peek());
  if (count < 1) throw cursor.fail("`every` needs at least one cycle");
  draft.everyCycles = count;
}

/** Mail addresses are ignored: the agent sends every alert to the Director. */
function mailAlert(cursor: Cursor, line: number, warn: Warn): void {
  const address = textNext(cursor, "the mail address");
  cursor.take("not");
  if (cursor.peek().kind === "block") cursor.next();
  if (cursor.take("mail-format") && cursor.peek().kind === "block") cursor.next();
  if (cursor.take("reminder")) {
    numberNext(cursor, "the reminder");
    cursor.take("cycle", "cycles");
  }
  warn(line, `alerts go to the Director, not by mail to ${JSON.stringify(address)}`);
}

function ignored(cursor: Cursor, line: number, warn: Warn): void {
  cursor.take("not");
  if (!cursor.take("match", "content")) throw cursor.fail("`ignore` is followed by `match`", cursor.peek());
  if (cursor.peek().kind === "operator") cursor.next();
  textNext(cursor, "the pattern to ignore");
  warn(line, "`ignore match` is not supported: lines are not left out");
}
