import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { freePort } from "@slipway/testkit/free-port";
import { expect, onTestFinished } from "vitest";
import { MonitSupervisor } from "../monit/monit-supervisor.ts";
import { jobLab, kill, lives, NEVER } from "./job-lab.ts";

export const MONIT = ["/usr/bin/monit", "/usr/sbin/monit"].find((path) => existsSync(path));

/** A real monit with the control file of a stemcell, in directories of the test's own. */
export async function monitLab() {
  const lab = await jobLab();
  const { paths } = lab;
  const [port, alertPort] = [await freePort(), await freePort()];
  const home = join(lab.dir, "monit-home");
  const control = join(paths.boshDir, "etc", "monitrc");
  await mkdir(home);
  await mkdir(join(paths.boshDir, "etc"), { recursive: true });
  await mkdir(paths.monitJobs, { recursive: true });
  const lines = [
    "set daemon 1",
    ...["log", "pid", "id", "state"].map((kind) => `set ${kind}file ${join(home, kind)}`),
    `set httpd port ${port} and use address 127.0.0.1`,
    `  allow cleartext ${paths.monitUser}`,
    `set mailserver 127.0.0.1 port ${alertPort}`,
    "set mail-format {",
    "  from: monit@localhost",
    "  subject: monit alert",
    "  message: Service: $SERVICE",
    "  Event: $EVENT",
    "  Action: $ACTION",
    "  Date: $DATE",
    "  Description: $DESCRIPTION",
    "}",
    "set alert agent@localhost",
    `include ${paths.monitJobs}/*.monitrc`,
  ];
  await writeFile(control, `${lines.join("\n")}\n`);
  await chmod(control, 0o600);
  const program = MONIT ?? "monit";
  const supervisor = new MonitSupervisor({
    paths,
    clock: systemClock,
    random: systemRandom,
    log: lab.log,
    exec: systemExec,
    program,
    control,
    publish: async (_, payload) => void lab.sent.push(payload as (typeof lab.sent)[number]),
    ips: () => ["10.0.0.5"],
    problem: () => undefined,
    alertPort,
  });
  onTestFinished(async () => {
    await supervisor.close();
    // Asked to quit it would read its files first, and they may be bad.
    const pid = Number(await readFile(join(home, "pid"), "utf8").catch(() => ""));
    if (pid > 0) kill(pid, "SIGTERM");
    await expect.poll(() => pid > 0 && lives(pid), { timeout: 30_000 }).toBe(false);
  });
  await supervisor.open(NEVER);
  return { ...lab, monit: supervisor, control };
}
