import { connectionNext } from "./connections.ts";
import {
  byteUnitNext,
  type Cursor,
  durationNext,
  keyword,
  numberNext,
  operatorNext,
  patternNext,
  shown,
  textNext,
} from "./cursor.ts";
import type { Changing, MonitAction, Rate, Rule, ServiceKind, Test, Warn } from "./model.ts";
import { programNext } from "./programs.ts";
import { amountNext, resourceAt, resourcesNext } from "./resources.ts";

/** monit counts in a word of 64 bits. */
const MOST_CYCLES = 64;
const ALERT: MonitAction = { do: "alert" };
const ACTIONS = ["alert", "exec", "execute", "restart", "start", "stop", "unmonitor"];

/** The rest of `if TEST for N cycles then ACTION else ACTION`; undefined when only monit knows the test. */
export function parseIf(cursor: Cursor, line: number, kind: ServiceKind, warn: Warn): Rule | undefined {
  const test = testNext(cursor, line, kind, warn);
  const rate = rateNext(cursor);
  if (!cursor.take("then"))
    throw cursor.fail(`\`then\` is missing before ${shown(cursor.peek())}`, cursor.peek());
  const action = actionNext(cursor, line, warn);
  let recovery = ALERT;
  if (cursor.take("else")) {
    if (cursor.take("if") && !cursor.take("recovered", "passed", "succeeded"))
      throw cursor.fail("`else if` is followed by `recovered`, `passed` or `succeeded`", cursor.peek());
    rateNext(cursor);
    if (!cursor.take("then") && !cursor.at(...ACTIONS))
      throw cursor.fail("`then` is missing after `else`", cursor.peek());
    recovery = actionNext(cursor, line, warn);
  }
  return test.on === "nothing" ? undefined : { line, test, rate, action, recovery };
}

function rateNext(cursor: Cursor): Rate {
  const where = cursor.peek();
  if (where.kind !== "number") return { count: 1, cycles: 1 };
  const count = numberNext(cursor, "the number of cycles");
  const cycles = cursor.peek().kind === "number" ? numberNext(cursor, "the number of cycles") : count;
  if (!cursor.take("cycle", "cycles")) throw cursor.fail("`cycles` is missing", cursor.peek());
  if (cycles < 1 || cycles > MOST_CYCLES)
    throw cursor.fail(`the number of cycles must be between 1 and ${MOST_CYCLES}`, where);
  if (count < 1 || count > cycles)
    throw cursor.fail("a test cannot hold more often than there are cycles", where);
  return { count, cycles };
}

function actionNext(cursor: Cursor, line: number, warn: Warn): MonitAction {
  const token = cursor.next();
  const word = keyword(token);
  switch (word) {
    case "alert":
    case "restart":
    case "start":
    case "stop":
    case "unmonitor":
      return { do: word };
    case "timeout":
      return { do: "unmonitor" };
    case "exec":
    case "execute": {
      const program = programNext(cursor, "the program to execute");
      if (cursor.take("repeat")) {
        cursor.take("every");
        numberNext(cursor, "the number of cycles");
        cursor.take("cycle", "cycles");
        warn(line, "`repeat every` is not supported: the program runs once");
      }
      return { do: "exec", program };
    }
    default:
      throw cursor.fail(`${shown(token)} is not an action`, token);
  }
}

/** Tests of newer versions of monit, by their first word. They are read over, with a warning. */
const NOT_EVALUATED = new Set(
  [
    "read write disk service link saturation upload download total filedescriptors content hardlink hardlinks ping",
    "security icmp atime ctime mtime access modification change",
  ]
    .join(" ")
    .split(" "),
);

function testNext(cursor: Cursor, line: number, kind: ServiceKind, warn: Warn): Test {
  const token = cursor.peek();
  const word = keyword(token);
  if (token.kind === "number") return restartsNext(cursor);
  if (resourceAt(cursor) !== undefined) return { on: "resource", limits: resourcesNext(cursor, kind) };
  switch (word) {
    case "failed":
      cursor.next();
      return failedNext(cursor, line, kind, warn);
    case "succeeded":
      cursor.next();
      return { on: "connection", fails: false, connection: connectionNext(cursor, kind, line, warn) };
    case "changed":
      cursor.next();
      return changedNext(cursor, line, warn);
    case "nonexist":
      cursor.next();
      return { on: "existence", exists: false };
    case "exist":
      cursor.next();
      return { on: "existence", exists: true };
    case "not":
      cursor.next();
      return cursor.take("exist") ? { on: "existence", exists: false } : matchNext(cursor, true);
    case "match":
      return matchNext(cursor, false);
    case "timestamp":
    case "time":
      cursor.next();
      return { on: "timestamp", operator: operatorNext(cursor), seconds: durationNext(cursor, "the age") };
    case "size": {
      cursor.next();
      const operator = operatorNext(cursor);
      const count = numberNext(cursor, "the size");
      return { on: "size", operator, bytes: count * (byteUnitNext(cursor) ?? 1) };
    }
    case "space":
    case "inode":
    case "inodes": {
      cursor.next();
      const free = cursor.take("free");
      const on = word === "space" ? "space" : "inode";
      return { on, free, operator: operatorNext(cursor), limit: amountNext(cursor) };
    }
    case "status":
      cursor.next();
      return { on: "status", operator: operatorNext(cursor), code: numberNext(cursor, "the status") };
    default:
      if (!NOT_EVALUATED.has(word)) throw cursor.fail(`the test ${shown(token)} is not known`, token);
      return readOver(cursor, line, warn);
  }
}

function restartsNext(cursor: Cursor): Test {
  const count = numberNext(cursor, "the number of restarts");
  if (!cursor.take("restart", "restarts"))
    throw cursor.fail(`\`restarts\` is missing before ${shown(cursor.peek())}`, cursor.peek());
  const cycles = numberNext(cursor, "the number of cycles");
  if (!cursor.take("cycle", "cycles")) throw cursor.fail("`cycles` is missing", cursor.peek());
  return { on: "restarts", count, cycles };
}

function failedNext(cursor: Cursor, line: number, kind: ServiceKind, warn: Warn): Test {
  if (cursor.take("existence")) return { on: "existence", exists: false };
  if (cursor.take("permission", "perm")) {
    const where = cursor.peek();
    const octal = textNext(cursor, "the permission");
    if (!/^[0-7]{1,4}$/.test(octal)) throw cursor.fail(`${shown(where)} is not a permission`, where);
    return { on: "permission", mode: Number.parseInt(octal, 8) };
  }
  if (cursor.take("uid", "euid")) return { on: "uid", id: textNext(cursor, "the user") };
  if (cursor.take("gid")) return { on: "gid", id: textNext(cursor, "the group") };
  const hashed = cursor.take("md5", "sha1");
  if (cursor.take("checksum"))
    return { on: "checksum", expected: cursor.take("expect") ? textNext(cursor, "the checksum") : "" };
  if (hashed) throw cursor.fail("`checksum` is missing", cursor.peek());
  if (cursor.at("icmp", "ping", "ping4", "ping6", "security", "link", "url"))
    return readOver(cursor, line, warn);
  return { on: "connection", fails: true, connection: connectionNext(cursor, kind, line, warn) };
}

const CHANGING: Readonly<Record<string, Changing>> = {
  pid: "pid",
  ppid: "ppid",
  timestamp: "timestamp",
  time: "timestamp",
  size: "size",
  checksum: "checksum",
  perm: "permission",
  permission: "permission",
  status: "status",
};

function changedNext(cursor: Cursor, line: number, warn: Warn): Test {
  const hashed = cursor.take("md5", "sha1");
  const token = cursor.peek();
  const word = keyword(token);
  const what = Object.hasOwn(CHANGING, word) ? CHANGING[word] : undefined;
  if (what !== undefined && (!hashed || what === "checksum")) {
    cursor.next();
    return { on: "changed", what };
  }
  if (cursor.at("fsflag", "fsflags", "link", "content")) return readOver(cursor, line, warn);
  throw cursor.fail(`\`changed\` does not know ${shown(token)}`, token);
}

function matchNext(cursor: Cursor, not: boolean): Test {
  const token = cursor.peek();
  if (!cursor.take("match", "content"))
    throw cursor.fail(`\`not\` is followed by \`match\` or \`exist\`, not ${shown(token)}`, token);
  return { on: "match", pattern: patternNext(cursor, "the pattern"), not };
}

/** Up to `then`, the number of cycles before it included. */
function readOver(cursor: Cursor, line: number, warn: Warn): Test {
  const words: string[] = [];
  while (!cursor.at("then")) {
    const token = cursor.next();
    if (token.kind === "end") throw cursor.fail("`then` is missing", token);
    words.push(token.text);
  }
  warn(line, `the test \`${words.join(" ").slice(0, 80)}\` is not supported and never holds`);
  return { on: "nothing" };
}
