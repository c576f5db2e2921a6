import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gone } from "../actions/testing/job-scripts.ts";
import { archiveOf, sha1 } from "../jobs/testing/lab.ts";

const bundle = agentBundle();
const within = { timeout: 120_000, interval: 50 };

/**
 * Not bpm: it has bpm's command line, places and file of processes, and runs each in a session of its own, without a
 * container around it. What is tried here is the agent: a package with a program, a job around it, and other jobs that
 * are started by it.
 */
const STAND_IN = `#!/bin/bash
root=$BPM_BOSH_ROOT verb=$1 job=$2 process=$2
[ "$3" != -p ] || process=$4
run=$root/sys/run/bpm/$job log=$root/sys/log/$job
pidfile=$run/$process.pid
mkdir -p "$run" "$log" "$root/sys/log/bpm"
echo "$*" >> "$root/sys/log/bpm/calls.log"
program=$(awk -v name="$process" '$1 == "-" && $2 == "name:" { on = $3 == name } on && $1 == "executable:" { print $2 }' \\
  "$root/jobs/$job/config/bpm.yml")
[ -n "$program" ] || { echo "process \\"$process\\" not present in job configuration" >&2; exit 1; }
alive() { [ -e "$pidfile" ] && grep -q '^State:.[^ZX]' "/proc/$(cat "$pidfile")/status" 2>/dev/null; }
case $verb in
  start)
    ! alive || exit 0
    setsid "$program" "$process" >> "$log/$process.stdout.log" 2>> "$log/$process.stderr.log" < /dev/null &
    echo $! > "$pidfile" ;;
  stop)
    alive || exit 0
    kill "$(cat "$pidfile")"
    while alive; do sleep 0.02; done
    rm -f "$pidfile" ;;
  pid) cat "$pidfile" ;;
  *) exit 1 ;;
esac
`;

describe("jobs that bpm runs", { timeout: 300_000 }, () => {
  let machine: AgentMachine;
  beforeEach(async () => {
    machine = await AgentMachine.open({ bundle: bundle() });
    await machine.started();
  });
  afterEach(async () => {
    await machine.caller.value("stop").catch(() => undefined);
    await machine.close();
  });

  const upload = async (id: string, content: Buffer) => {
    const blob = { blob_id: id, checksum: sha1(content), payload: content.toString("base64") };
    await machine.caller.value("upload_blob", blob);
    return { blobstore_id: id, sha1: sha1(content) };
  };
  const compiled = async (name: string, files: Readonly<Record<string, string>>) => {
    const packaging =
      "mkdir $BOSH_INSTALL_TARGET/bin && mv * $BOSH_INSTALL_TARGET/bin && chmod +x $BOSH_INSTALL_TARGET/bin/*";
    const { blobstore_id: id, sha1: digest } = await upload(name, await archiveOf({ ...files, packaging }));
    const answer = await machine.caller.value("compile_package", id, digest, name, "1", {});
    return { name, version: "1", ...(answer as { result: object }).result };
  };
  const state = async () =>
    (await machine.caller.value("get_state")) as {
      readonly job_state: string;
      readonly processes: readonly { readonly name: string; readonly state: string }[];
    };
  const jobState = async () => (await state()).job_state;
  const pidOf = async (process: string) =>
    Number(await readFile(join(machine.paths.sysRun, "bpm", "server", `${process}.pid`), "utf8"));
  const calls = async () =>
    (await readFile(join(machine.paths.sysLog, "bpm", "calls.log"), "utf8")).trim().split("\n").sort();

  it("are installed with it, started, started again, known after a kill of the agent, and stopped, by its command line", async () => {
    const { caller, paths } = machine;
    const { base } = paths;
    const packages = {
      bpm: await compiled("bpm", { bpm: STAND_IN }),
      server: await compiled("server", {
        server: "#!/bin/sh\necho I am $1\nwhile [ -d /proc ]; do sleep 0.1; done\n",
      }),
    };
    const check = (process: string, more = "") => `check process ${process}
  with pidfile ${base}/sys/run/bpm/server/${process}.pid
  start program "${base}/jobs/bpm/bin/bpm start server${more}"
  stop program "${base}/jobs/bpm/bin/bpm stop server${more}"
  group vcap\n`;
    const executable = `  executable: ${base}/packages/server/bin/server\n`;
    const templates = await upload(
      "templates",
      await archiveOf({
        "bpm/monit": "",
        "bpm/bin/bpm": `#!/bin/bash\nulimit -n 524288\nBPM_BOSH_ROOT=${base} ${base}/packages/bpm/bin/bpm "$@"\n`,
        "server/monit": check("server") + check("worker", " -p worker"),
        "server/config/bpm.yml": `processes:\n- name: server\n${executable}- name: worker\n${executable}`,
      }),
    );
    expect(await caller.value("stop")).toBe("stopped");
    const spec = {
      ...{ deployment: "shop", name: "api", index: 0, id: "0", az: "z1", packages },
      networks: { private: { ip: "127.0.0.1" } },
      configuration_hash: templates.sha1,
      rendered_templates_archive: templates,
      job: { name: "api", templates: ["bpm", "server"].map((name) => ({ name, version: "1" })) },
    };
    expect(await caller.value("apply", spec)).toBe("applied");
    expect(await caller.value("start")).toBe("started");
    await expect.poll(jobState, within).toBe("running");
    expect((await state()).processes.map((one) => `${one.name} ${one.state}`)).toEqual([
      "server running",
      "worker running",
    ]);
    // A process runs before it has said anything.
    const said = () => readFile(join(paths.sysLog, "server", "worker.stdout.log"), "utf8");
    await expect.poll(said, within).toBe("I am worker\n");

    const [server, worker] = [await pidOf("server"), await pidOf("worker")];
    process.kill(worker, "SIGKILL");
    await expect.poll(() => pidOf("worker"), within).not.toBe(worker);
    await expect.poll(jobState, within).toBe("running");
    const second = await pidOf("worker");

    await machine.agent?.kill();
    await machine.started();
    expect(await jobState()).toBe("running");
    expect([await pidOf("server"), await pidOf("worker")]).toEqual([server, second]);

    expect(await caller.value("stop")).toBe("stopped");
    for (const pid of [server, second]) await gone(pid);
    expect(await calls()).toEqual([
      "start server",
      "start server -p worker",
      "start server -p worker",
      "stop server",
      "stop server -p worker",
    ]);
  });
});
