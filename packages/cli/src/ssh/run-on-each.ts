import type { Tools } from "../tools.ts";
import type { Table } from "../ui/ui.ts";
import { CommandEnded } from "./errors.ts";
import { runWithLines } from "./run.ts";
import type { Host, SshSession } from "./session.ts";

type Each = (
  session: SshSession,
  tools: Pick<Tools, "ui" | "env" | "stop">,
  program: string,
  args: (host: Host) => readonly string[],
) => Promise<void>;

/** Runs a program for each host at once, and prints its lines with the host's name. All must end well. */
export const runOnEach: Each = async ({ hosts, env: own }, { ui, env, stop }, program, args) => {
  const codes = await Promise.all(
    hosts.map((host) =>
      runWithLines(program, args(host), { env: { ...env, ...own }, stop }, (stream, line) =>
        ui.line(`${host.name}: ${stream} | ${line}`),
      ),
    ),
  );
  // Who stops it has seen what it wanted.
  if (!stop.aborted) mustHaveEnded(hosts, codes);
};

/** The same, with a table in the end instead of lines. */
export const resultsOfEach: Each = async ({ hosts, env: own }, { ui, env, stop }, program, args) => {
  const results = await Promise.all(
    hosts.map(async (host) => {
      const said = { stdout: "", stderr: "" };
      const code = await runWithLines(
        program,
        args(host),
        { env: { ...env, ...own }, stop },
        (stream, line) => {
          said[stream] += `${line}\n`;
        },
      );
      return { ...said, name: host.name, code };
    }),
  );
  const rows = results
    .map(({ name, stdout, stderr, code }) => [name, stdout, stderr, String(code), ""])
    .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
  ui.table({ content: "results", header: RESULT_HEADER, rows });
  mustHaveEnded(
    hosts,
    results.map(({ code }) => code),
  );
};

/** Upstream's; ssh tells of no error but by its words and its code. */
const RESULT_HEADER: Table["header"] = {
  instance: "Instance",
  stdout: "Stdout",
  stderr: "Stderr",
  exit_code: "Exit Code",
  error: "Error",
};

function mustHaveEnded(hosts: readonly Host[], codes: readonly number[]): void {
  const failures = hosts.flatMap(({ name }, at) =>
    codes[at] === 0 ? [] : [`${name}: the command ended with ${codes[at]}`],
  );
  if (failures.length > 0) throw CommandEnded({ failures });
}
