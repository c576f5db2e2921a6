import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CloudHome } from "./testing/machine.ts";

const root = needs("root-loop", process.getuid?.() === 0, "mounting a small disk needs root");
const sandboxes =
  root && needs("userns", await canUseSandboxes(), "VMs are processes with mounts of their own");

const NO_SPACE = /No space left in the state directory: \d+ MiB are free, 64 MiB are needed/;

describe.runIf(sandboxes)("on a disk that is really full", () => {
  let machine: CloudHome;
  beforeAll(async () => {
    machine = await CloudHome.onSmallDisk(1600);
    const port = await freePort();
    expect((await machine.run("up", "--detach", "--port", String(port))).code).toBe(0);
    // A demo on this machine may use the default addresses.
    const demo = await machine.run("demo", "--range", `127.144.${port & 0xff}.0/24`);
    expect(demo.code, demo.said).toBe(0);
  });
  afterEach(() => machine.free());
  afterAll(() => machine?.close());

  /** The manifest of the demo with so many counters; its visitor is one more. */
  async function manifest(instances: number): Promise<string> {
    const path = join(machine.home, `${instances}.yml`);
    const demo = await machine.text("demo/demo.yml");
    await writeFile(path, demo.replace("instances: 1", `instances: ${instances}`));
    return path;
  }
  const deploy = (path: string) => machine.start("-n", "-d", "demo", "deploy", path);
  const rows = async (...args: readonly string[]) => {
    const { said } = await machine.run("--json", ...args);
    return (JSON.parse(said) as { Tables: { Rows: Record<string, string>[] }[] }).Tables[0]?.Rows ?? [];
  };
  /** Writes to the persistent disk as a job of the counter would. */
  const write = async () => {
    const script = `dd if=/dev/urandom of=/var/vcap/store/file bs=1M count=60 conv=fsync && sync -f /var/vcap/store && echo written`;
    const [vm] = (await rows("-d", "demo", "vms")).filter(({ instance }) => instance?.startsWith("counter/"));
    const pid = (await machine.text(`cloud/vms/${vm?.vm_cid}/pid`)).trim();
    // As root of the sandbox: root of the host has no user id on its disks.
    const inside = ["-t", pid, "--user", "--mount", "--", "sh", "-c", script];
    const { stdout } = await systemExec("nsenter", inside);
    return stdout.trim();
  };
  const processes = async () => {
    const { process: director, sandboxes: running } = await machine.status();
    return { director, running };
  };

  it.runIf(plays("director", "full disk waits"))(
    "a deploy waits and says why, reads are answered, everything lives on, and space is all it takes to go on",
    async () => {
      const path = await manifest(2);
      const before = await processes();
      await expect
        .poll(() => machine.text("director/database/reserve").then((text) => text.length))
        .toBe(32 << 20);
      await machine.fill("all");
      // More than what the Director gives back in this moment.
      expect(await write()).toBe("written");
      const deploying = deploy(path);
      await deploying.says("The task waits.");
      expect(deploying.output).toMatch(NO_SPACE);
      expect((await machine.status()).problems).toMatch(NO_SPACE);
      expect(await rows("deployments")).toMatchObject([{ name: "demo" }]);
      expect(await rows("-d", "demo", "vms")).toHaveLength(2);
      expect(await processes()).toEqual(before);
      await machine.free();
      expect(await deploying.end()).toBe(0);
      expect(await rows("-d", "demo", "vms")).toHaveLength(3);
      expect(await processes()).toEqual({ ...before, running: "3 running" });
      expect(await write()).toBe("written");
      const { said } = await machine.run("health", "--json");
      expect(said).not.toContain("read only");
      expect((await machine.status()).problems).toBeUndefined();
    },
  );

  it.runIf(plays("director", "full disk goes on"))(
    "a deploy under way when the last of the space goes is taken up again, and leaves nothing to mend",
    async () => {
      const path = await manifest(5);
      const { director } = await processes();
      const deploying = deploy(path);
      await deploying.says("Creating missing vms");
      await machine.fill("all");
      // What the Director has set aside for its database, too, as soon as it is given back.
      await expect.poll(() => machine.text("director/database/reserve").catch(() => "gone")).toBe("gone");
      await machine.fill("rest");
      await expect.poll(async () => (await machine.status()).problems).toMatch(/: 0 MiB are free/);
      await machine.free();
      expect(await deploying.end(), deploying.output).toBe(0);
      expect(await processes()).toEqual({ director, running: "6 running" });
      expect(await rows("-d", "demo", "vms")).toHaveLength(6);
      const again = await machine.run("-n", "-d", "demo", "deploy", path);
      expect(again.code).toBe(0);
      expect(again.said).not.toContain("Updating instance");
      expect(await rows("strays")).toEqual([]);
    },
  );
});
