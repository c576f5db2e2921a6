import type { Tools } from "../tools.ts";
import { CommandEnded } from "./errors.ts";
import { runTold } from "./run.ts";
import type { Host, Session } from "./session.ts";

/** Runs a program for each host at once, and prints its lines with the host's name. All must end well. */
export async function inEach(
  { hosts }: Session,
  { ui, env, stop }: Pick<Tools, "ui" | "env" | "stop">,
  program: string,
  args: (host: Host) => readonly string[],
): Promise<void> {
  const codes = await Promise.all(
    hosts.map((host) =>
      runTold(program, args(host), { env, stop }, (stream, line) =>
        ui.line(`${host.name}: ${stream} | ${line}`),
      ),
    ),
  );
  // Who stops it has seen what it wanted.
  if (stop.aborted) return;
  const failures = hosts.flatMap(({ name }, at) =>
    codes[at] === 0 ? [] : [`${name}: the command ended with ${codes[at]}`],
  );
  if (failures.length > 0) throw CommandEnded({ failures });
}
