import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { expect } from "vitest";
import { archiveOf, sha1 } from "../../jobs/testing/lab.ts";
import { kill } from "../../supervisor/testing/job-lab.ts";

/** Daemon of a job. Its name is distinct before its pid is known, and it never has a child. */
const DAEMON = `#!/bin/sh
[ $# -lt 2 ] || echo $$ > "$1"
read -r never < "\${0%/*}/never"
`;
const CTL = `#!/bin/sh
dir="$1"; name="$2"
launch() {
  rm -f "$dir/$name.pid"
  "$@" "$dir/daemon" "$dir/$name.pid" "$name" &
  until [ -s "$dir/$name.pid" ]; do sleep 0.01; done
}
echo "$3 $name" >> "$dir/calls"
case "$3" in
  start) launch ;;
  stop) kill -9 "$(cat "$dir/$name.pid")"; rm -f "$dir/$name.pid" ;;
  slow-stop) sleep 1; kill -9 "$(cat "$dir/$name.pid")"; rm -f "$dir/$name.pid" ;;
  hang) sleep 1000 ;;
  fail) echo "no door here" >> "$4/$name.log"; exit 7 ;;
  die) echo "out of luck" >> "$4/$name.log"; true & echo $! > "$dir/$name.pid" ;;
  fork-away) echo $$ > "$dir/$name.pid"; echo "gone away" >> "$4/$name.log"; "$dir/daemon" "$name" & ;;
  stubborn) launch sh -c 'trap "" TERM; . "$0"' ;;
  term) kill "$(cat "$dir/$name.pid")" ;;
  gated-stop) while [ -d "$dir" ] && [ ! -e "$dir/go" ]; do sleep 0.05; done
    kill -9 "$(cat "$dir/$name.pid")"; rm -f "$dir/$name.pid" ;;
  gated) while [ -d "$dir" ] && [ ! -e "$dir/go" ]; do sleep 0.05; done
    launch ;;
esac
`;

/** A VM whose jobs are processes that are distinct from all others. */
export class SupervisedMachine {
  readonly machine: AgentMachine;

  private constructor(machine: AgentMachine) {
    this.machine = machine;
  }

  static async open(bundle: string, { mounts = false } = {}): Promise<SupervisedMachine> {
    const machine = await AgentMachine.open({ bundle, mounts });
    for (const [name, text] of Object.entries({ daemon: DAEMON, ctl: CTL })) {
      await writeFile(join(machine.dir, name), text);
      await chmod(join(machine.dir, name), 0o755);
    }
    await systemExec("mkfifo", [join(machine.dir, "never")]);
    await machine.started();
    return new SupervisedMachine(machine);
  }

  /** The part of a monit file for one process. */
  check(name: string, { start = "start", stop = "stop", seconds = 30 } = {}): string {
    const logs = join(this.machine.paths.sysLog, name);
    const program = (verb: string) =>
      `"${join(this.machine.dir, "ctl")} ${this.machine.dir} ${name} ${verb} ${logs}"`;
    return `check process ${name} with pidfile ${join(this.machine.dir, `${name}.pid`)}
      start program ${program(start)} with timeout ${seconds} seconds
      stop program ${program(stop)} with timeout ${seconds} seconds
      group vcap\n`;
  }

  /** Stops and applies, as a Director does. Starts nothing. `more` has other files, by job and name. */
  async apply(
    jobs: Readonly<Record<string, string>>,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { caller } = this.machine;
    const files = Object.entries(jobs).map(([job, monit]) => [`${job}/monit`, monit] as const);
    const archive = await archiveOf({ ...Object.fromEntries(files), ...more });
    const blob = { blob_id: "templates", checksum: sha1(archive), payload: archive.toString("base64") };
    await caller.value("upload_blob", blob);
    expect(await caller.value("stop")).toBe("stopped");
    const spec = {
      ...{ deployment: "shop", name: "api", index: 0, id: "0", az: "z1", packages: {} },
      networks: { private: { ip: "127.0.0.1" } },
      configuration_hash: sha1(archive),
      rendered_templates_archive: { blobstore_id: "templates", sha1: sha1(archive) },
      job: { name: "api", templates: Object.keys(jobs).map((name) => ({ name, version: sha1(archive) })) },
    };
    expect(await caller.value("apply", spec)).toBe("applied");
  }

  async state(): Promise<{
    readonly job_state: string;
    readonly processes?: readonly { name: string; state: string }[];
  }> {
    return (await this.machine.caller.value("get_state")) as never;
  }

  /** The processes of the jobs, by name; a name as often as it runs. */
  async running(): Promise<readonly string[]> {
    return (await this.#daemons()).map(({ words }) => words.at(-1) ?? "").sort();
  }

  async pids(): Promise<readonly number[]> {
    return (await this.#daemons()).map(({ pid }) => pid);
  }

  async #daemons(): Promise<readonly { readonly pid: number; readonly words: readonly string[] }[]> {
    const mark = join(this.machine.dir, "daemon");
    return (await this.#commandLines()).filter(({ words }) => words.includes(mark));
  }

  /** Returns the calls of the jobs' programs. */
  async calls(): Promise<readonly string[]> {
    const text = await readFile(join(this.machine.dir, "calls"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  async pid(name: string): Promise<number> {
    return Number(await readFile(join(this.machine.dir, `${name}.pid`), "utf8"));
  }

  /** Kills the agent with -9 and starts the next one. */
  async restartAgent(): Promise<void> {
    await this.machine.agent?.kill();
    await this.machine.started();
  }

  async close(): Promise<void> {
    if (this.machine.agent?.over === false) await this.machine.agent.kill();
    const marks = [this.machine.dir, join(this.machine.dir, "daemon")];
    const left = async () =>
      (await this.#commandLines()).filter(({ words }) => marks.some((mark) => words.includes(mark)));
    // Some end by themselves meanwhile, and what still runs would write into a directory that is being removed.
    await expect
      .poll(async () => {
        for (const { pid } of await left()) kill(pid, "SIGKILL");
        return await left();
      })
      .toEqual([]);
    await this.machine.close();
  }

  async #commandLines(): Promise<readonly { readonly pid: number; readonly words: readonly string[] }[]> {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    return await Promise.all(
      pids.map(async (pid) => {
        const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
        return { pid: Number(pid), words: text.split("\0").filter((word) => word !== "") };
      }),
    );
  }
}
