import { type Cursor, durationNext, keyword, shown, textNext } from "./cursor.ts";
import type { MonitProgram } from "./model.ts";
import { argumentsOf } from "./tokens.ts";

/** monit's. */
const DEFAULT_TIMEOUT_SECONDS = 30;

/** Words that cannot be arguments without quotes: they begin something else. */
const NOT_ARGUMENTS = new Set(
  [
    "check set include start stop restart group groups depend depends mode onreboot every if then else alert noalert",
    "ignore not uid gid timeout unmonitor exec execute repeat",
  ]
    .join(" ")
    .split(" "),
);

/** Parses the command after `start program`, with its user and timeout. */
export function programNext(cursor: Cursor, what: string): MonitProgram {
  const command = commandNext(cursor, what);
  let { uid, gid, timeoutSeconds } = command;
  for (;;) {
    if (cursor.take("uid")) uid = textNext(cursor, "the user");
    else if (cursor.take("gid")) gid = textNext(cursor, "the group");
    else if (cursor.take("timeout")) timeoutSeconds = durationNext(cursor, "the timeout");
    else break;
  }
  return {
    argv: command.argv,
    timeoutSeconds,
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  };
}

/** Reads a command. Words in double quotes are split at blanks; without quotes the command ends at the next keyword. */
export function commandNext(cursor: Cursor, what: string): MonitProgram {
  if (cursor.peek().kind === "operator" && cursor.peek().text === "=") cursor.next();
  const where = cursor.peek();
  const argv = where.quote === '"' ? split(cursor, what) : bare(cursor);
  const [program] = argv;
  if (program === undefined) throw cursor.fail(`${what} is missing before ${shown(where)}`, where);
  if (!program.startsWith("/"))
    throw cursor.fail(`${what} must be an absolute path, not ${JSON.stringify(program.slice(0, 60))}`, where);
  return { argv, timeoutSeconds: DEFAULT_TIMEOUT_SECONDS };
}

function split(cursor: Cursor, what: string): readonly string[] {
  const token = cursor.next();
  const argv = argumentsOf(token.text);
  if (argv === undefined) throw cursor.fail(`${what} has unbalanced quotes`, token);
  return argv;
}

function bare(cursor: Cursor): readonly string[] {
  const argv: string[] = [];
  for (let token = cursor.peek(); isArgument(token); token = cursor.peek()) {
    argv.push(token.text);
    cursor.next();
  }
  return argv;
}

const isArgument = (token: ReturnType<Cursor["peek"]>): boolean =>
  token.kind === "quoted" || (token.kind === "word" && !NOT_ARGUMENTS.has(keyword(token)));
