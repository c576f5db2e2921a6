import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemExec } from "@slipway/kernel/exec";
import { addressOctet } from "@slipway/testkit/address-octet";
import { needs } from "@slipway/testkit/needs";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STOP_LINES, startLines, writeAppRelease } from "./testing/app-release.ts";
import { endLeftovers } from "./testing/leftovers.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";
import { makeStemcell } from "./testing/stemcell.ts";

const clone = fileURLToPath(new URL("../../../../", import.meta.url));
const hasRuby = async () => (await systemExec("sh", ["-c", "command -v ruby"])).code === 0;
const ready =
  (await canPlay()) && needs("bosh-cli", await hasRuby(), "bosh create-env renders templates with ruby");

/** With a network of its own a VM has any port, and the CLI takes that of ssh for given. */
const canEnter = process.getuid?.() === 0 && existsSync("/usr/sbin/sshd") && existsSync("/usr/bin/ssh");
const NET = `${canEnter ? 10 : 127}.110.${addressOctet()}`;

interface Wanted {
  readonly disk: number;
  readonly greeting: string;
}

/** One operator's directory: our CPI as a release, an author's release, a stemcell, a manifest. */
class Operator {
  readonly dir: string;
  readonly address = `${NET}.7`;
  readonly #files: Readonly<Record<"app" | "cpi" | "stemcell", string>>;

  private constructor(dir: string, files: Operator["files"]) {
    this.dir = dir;
    this.#files = files;
  }

  get files(): Readonly<Record<"app" | "cpi" | "stemcell", string>> {
    return this.#files;
  }

  static async arrive(): Promise<Operator> {
    const dir = await passableDirectory("create-env");
    await mkdir(join(dir, "home"));
    await writeAppRelease(join(dir, "app"));
    const app = join(dir, "app.tgz");
    await must(dir, process.env.SLIPWAY_BOSH ?? "", [
      "create-release",
      "--force",
      "--tarball",
      app,
      "--dir",
      join(dir, "app"),
    ]);
    await must(dir, process.execPath, ["tools/cpi-release.mjs", "--out", dir, "--version", "1"], clone);
    const { file } = await makeStemcell(dir, "1");
    return new Operator(dir, { app, cpi: join(dir, "slipway-local-cpi-1.tgz"), stemcell: file });
  }

  get cloud(): string {
    return join(this.dir, "cloud");
  }

  async bosh(command: string, { disk, greeting }: Wanted, ...more: readonly string[]): Promise<string> {
    const file = async (name: string, text: string) => {
      await writeFile(join(this.dir, name), text);
      return join(this.dir, name);
    };
    const disks = [{ type: "replace", path: "/disk_pools/0/disk_size", value: "((disk))" }];
    const args = [
      ...["-n", "--tty", "--no-color", command, await file("env.yml", JSON.stringify(this.#manifest()))],
      ...["--state", join(this.dir, "state.json"), "--vars-store", join(this.dir, "vars.yml")],
      ...["--var", `greeting=${greeting}`, "--vars-env", "LAB", "--var-file"],
      ...[`address=${await file("address", this.address)}`, "--vars-file"],
      ...[await file("disk.yml", `disk: ${disk}\n`), "--ops-file"],
      await file("ops.yml", JSON.stringify(disks)),
    ];
    return await this.program(...args, ...more);
  }

  program(...args: readonly string[]): Promise<string> {
    return must(this.dir, process.env.SLIPWAY_BOSH ?? "", args);
  }

  /** Returns the lines that the job wrote to its persistent disk. */
  async log(): Promise<readonly string[]> {
    const [disk = "", ...others] = await readdir(join(this.cloud, "disks"));
    expect(others).toEqual([]);
    const found = await systemExec("find", [join(this.cloud, "disks", disk), "-path", "*counter/log"]);
    return (await readFile(found.stdout.trim(), "utf8")).trim().split("\n");
  }

  async state(): Promise<{ current_vm_cid: string; disks: { cid: string; size: number }[] }> {
    return JSON.parse(await readFile(join(this.dir, "state.json"), "utf8"));
  }

  /** Returns a manifest whose variables come from each source that the CLI accepts. */
  #manifest(): unknown {
    const gateway = `${NET}.1`;
    const network = { range: `${NET}.0/24`, gateway, dns: [gateway], cloud_properties: {} };
    const password = "((mbus_password))";
    return {
      name: "((name))",
      releases: [
        { name: "app", url: `file://${this.files.app}` },
        { name: "slipway-local-cpi", url: `file://${this.files.cpi}` },
      ],
      resource_pools: [
        {
          name: "vms",
          network: "private",
          stemcell: { url: `file://${this.files.stemcell}` },
          cloud_properties: {},
          env: { bosh: { mbus: { cert: "((mbus_tls))" } } },
        },
      ],
      disk_pools: [{ name: "disks", disk_size: 1, cloud_properties: {} }],
      networks: [{ name: "private", type: "manual", subnets: [network] }],
      instance_groups: [
        {
          name: "app",
          instances: 1,
          jobs: [{ name: "counter", release: "app" }],
          resource_pool: "vms",
          persistent_disk_pool: "disks",
          networks: [{ name: "private", static_ips: ["((address))"] }],
          properties: { greeting: "((greeting))" },
        },
      ],
      cloud_provider: {
        template: { name: "slipway_local_cpi", release: "slipway-local-cpi" },
        mbus: `https://mbus:${password}@${this.address}:6868`,
        cert: "((mbus_tls))",
        properties: {
          local: { dir: this.cloud, disks: "directory" },
          agent: { mbus: `https://mbus:${password}@${this.address}:6868` },
        },
      },
      variables: [
        { name: "mbus_password", type: "password" },
        { name: "ca", type: "certificate", options: { is_ca: true, common_name: "ca" } },
        {
          name: "mbus_tls",
          type: "certificate",
          options: { ca: "ca", common_name: this.address, alternative_names: [this.address] },
        },
      ],
    };
  }
}

async function must(home: string, program: string, args: readonly string[], cwd = home): Promise<string> {
  const PATH = `${process.env.PATH}`;
  const { code, stdout, stderr } = await systemExec(program, args, {
    cwd,
    env: { HOME: join(home, "home"), PATH, LAB_name: "lab" },
    keep: 1 << 24,
  });
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`);
  return stdout;
}

describe.runIf(ready)("the real bosh create-env on our agent and our CPI as a release", () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await Operator.arrive();
  });
  afterAll(() => endLeftovers(operator.dir, operator.cloud));

  /** `bosh` does not wait until the processes have ended: the job's own stop and its post-stop come in either order. */
  const stopsAligned = (lines: readonly string[]) =>
    lines.map((line) => (line === "ctl stop" || line === "post-stop" ? "ctl stop or post-stop" : line));
  /** The CLI runs pre-stop all the same, whatever its help says. */
  const UNDRAINED = STOP_LINES.filter((line) => line !== "drain");
  const expectLog = async (lines: readonly string[]) =>
    await expect.poll(async () => stopsAligned(await operator.log())).toEqual(stopsAligned(lines));

  it("compiles packages, installs and starts a job on a VM with a disk", async () => {
    const said = await operator.bosh("create-env", { disk: 64, greeting: "one" });
    expect(said).toContain("Compiling package 'greeting/");
    expect(said).toContain("Waiting for instance 'app/0' to be running... Finished");
    expect(await operator.log()).toEqual(startLines("one"));
  });

  it("does nothing when nothing changed", async () => {
    const before = await operator.state();
    expect(await operator.bosh("create-env", { disk: 64, greeting: "one" })).toContain("Skipping deploy");
    expect(await operator.state()).toEqual(before);
  });

  it("drains and stops the job, replaces the VM, and the disk and what is on it stay", async () => {
    const before = await operator.state();
    await operator.bosh("create-env", { disk: 64, greeting: "two" });
    const after = await operator.state();
    expect(after.current_vm_cid).not.toBe(before.current_vm_cid);
    expect(after.disks).toEqual(before.disks);
    await expectLog([...startLines("one"), ...STOP_LINES, ...startLines("two")]);
  });

  it("moves what is on the disk to a larger one", async () => {
    const before = await operator.log();
    await operator.bosh("create-env", { disk: 128, greeting: "two" });
    expect((await operator.state()).disks).toEqual([expect.objectContaining({ size: 128 })]);
    await expectLog([...before, ...STOP_LINES, ...startLines("two")]);
  });

  it("makes VM and disk anew when told to, without drain, from packages in a directory that is named", async () => {
    const [before, log] = [await operator.state(), await operator.log()];
    const packages = join(operator.dir, "packages");
    const anew = ["--recreate", "--recreate-persistent-disks", "--skip-drain", "--package-dir", packages];
    await operator.bosh("create-env", { disk: 128, greeting: "two" }, ...anew);
    const after = await operator.state();
    expect(after.current_vm_cid).not.toBe(before.current_vm_cid);
    expect(after.disks).toEqual([{ ...before.disks[0], id: expect.any(String), cid: expect.any(String) }]);
    expect(after.disks[0]?.cid).not.toBe(before.disks[0]?.cid);
    await expectLog([...log, ...UNDRAINED, ...startLines("two")]);
    expect(await readdir(packages)).not.toEqual([]);
  });

  it.runIf(canEnter)("is entered past any Director", async () => {
    const made = async (path: string) =>
      (await operator.program("interpolate", join(operator.dir, "vars.yml"), "--path", path)).trim();
    const endpoint = `https://mbus:${await made("/mbus_password")}@${operator.address}:6868`;
    const there = ["--director", "--agent-endpoint", endpoint, "--agent-certificate", await made("/ca/ca")];
    const ssh = await operator.program("ssh", ...there, "-c", "cat /var/vcap/store/counter/log");
    expect(ssh).toContain("create-env-vm/0: stdout | greeting: two");
    const copy = join(operator.dir, "counter.yml");
    await operator.program(
      "scp",
      ...there,
      "create-env-vm/0:/var/vcap/jobs/counter/config/counter.yml",
      copy,
    );
    expect(await readFile(copy, "utf8")).toBe("greeting: two\n");
    const dir = join(operator.dir, "logs");
    await mkdir(dir);
    await operator.program("logs", ...there, "--agent", "--dir", dir);
    expect(await readdir(dir)).toEqual([expect.stringMatching(/^create-env-vm-logs-.*\.tgz$/)]);
  });

  it.runIf(canEnter)("is entered by slipway the same way", async () => {
    const made = async (path: string) =>
      (await operator.program("interpolate", join(operator.dir, "vars.yml"), "--path", path)).trim();
    const password = await made("/mbus_password");
    const env = {
      HOME: join(operator.dir, "home"),
      PATH: process.env.PATH ?? "",
      BOSH_AGENT_ENDPOINT: `https://mbus:${password}@${operator.address}:6868`,
      BOSH_AGENT_CERTIFICATE: await made("/ca/ca"),
    };
    const slipway = async (...args: readonly string[]) => {
      const ran = await systemExec(process.execPath, [PROGRAMS.slipway, ...args], { env });
      expect(ran.stdout + ran.stderr).not.toContain(password);
      return ran;
    };
    const ssh = await slipway("ssh", "--director", "-c", "cat /var/vcap/store/counter/log");
    expect(ssh.stdout).toContain("create-env-vm/0: stdout | greeting: two");
    const copy = join(operator.dir, "by-slipway.yml");
    await slipway("scp", "--director", ":/var/vcap/jobs/counter/config/counter.yml", copy);
    expect(await readFile(copy, "utf8")).toBe("greeting: two\n");
    const last = await slipway("logs", "--director", "--agent", "--num=1");
    expect(last.stdout).toContain("create-env-vm/0: stdout | ");
    const dir = join(operator.dir, "archives");
    await mkdir(dir);
    expect(await slipway("logs", "--director", "--agent", "--dir", dir)).toMatchObject({ code: 0 });
    const [name = ""] = await readdir(dir);
    expect(name).toMatch(/^create-env-vm-logs-\d{8}-\d{6}\.tgz$/);
    expect((await systemExec("tar", ["-tzf", join(dir, name)])).stdout).not.toBe("");
    const [vm = ""] = await readdir(join(operator.cloud, "vms"));
    const left = (...path: readonly string[]) => readdir(join(operator.cloud, "vms", vm, "vcap", ...path));
    expect(await left("bosh_ssh")).toEqual([]);
  });

  it("stops and starts the job when told to", async () => {
    const before = await operator.log();
    await operator.bosh("stop-env", { disk: 128, greeting: "two" });
    await expectLog([...before, ...STOP_LINES]);
    await operator.bosh("start-env", { disk: 128, greeting: "two" });
    const started = [...before, ...STOP_LINES, ...startLines("two")];
    await expectLog(started);
    await operator.bosh("stop-env", { disk: 128, greeting: "two" }, "--skip-drain");
    await expectLog([...started, ...UNDRAINED]);
  });

  it("deletes all of it", async () => {
    const flags = ["--skip-drain", "--package-dir", join(operator.dir, "packages")];
    await operator.bosh("delete-env", { disk: 128, greeting: "two" }, ...flags);
    expect(await readdir(join(operator.cloud, "vms"))).toEqual([]);
    expect(await readdir(join(operator.cloud, "disks"))).toEqual([]);
    expect(await readdir(join(operator.cloud, "stemcells"))).toEqual([]);
  });
});
