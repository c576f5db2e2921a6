import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Exec } from "@slipway/kernel/exec";
import type { DiskHint } from "@slipway/protocol/settings/disk-hint";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import type { EphemeralRequest } from "../../disks.ts";
import { crashEverywhere } from "../../testing/crashes.ts";
import { diskSettings, LoopLab, loopsLack, pathHint, quickExec, soon } from "../../testing/loop-lab.ts";

sampleTests(1 / 4);

const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("the ephemeral disk", () => {
  let lab: LoopLab;
  let swaps: string[];
  beforeEach(async () => {
    lab = await LoopLab.open();
    swaps = [];
    return () => lab.close();
  });

  /** This machine gets no swap from a test. */
  const withoutSwap =
    (exec: Exec = quickExec): Exec =>
    async (program, args, options) => {
      if (program !== "swapon") return exec(program, args, options);
      swaps.push(args.join(" "));
      return { program, args, code: 0, stdout: "", stderr: "" };
    };
  const request = (
    device: string,
    agentId = "agent-1",
    swapMib: number | undefined = 8,
  ): EphemeralRequest => ({
    hint: pathHint(device),
    target: lab.paths.data,
    swapMib,
    agentId,
    signal: soon(),
  });
  const setUp = (wanted: EphemeralRequest, exec = withoutSwap()) =>
    lab.platform({}, { exec }).setUpEphemeral(wanted);
  const names = async (device: string) => {
    const dump = JSON.parse(await lab.run("sfdisk", "--json", device)) as {
      partitiontable: { partitions: { name: string; size: number }[] };
    };
    return dump.partitiontable.partitions.map(({ name, size }) => `${name} ${Math.floor(size / 2048)}`);
  };

  it("gets swap and data, named after the agent, and keeps both when set up again", async () => {
    const device = await lab.disk("a", 64);
    await setUp(request(device));
    expect(await names(device)).toEqual(["bosh-partition-agent-1-0 8", "bosh-partition-agent-1-1 54"]);
    expect(await lab.blkid(`${device}p1`, "TYPE")).toBe("swap");
    expect(swaps).toEqual([`${device}p1`]);
    expect((await stat(lab.paths.data)).mode & 0o777).toBe(0o750);
    await writeFile(join(lab.paths.data, "file"), "kept");
    await setUp(request(device));
    await lab.run("umount", lab.paths.data);
    await setUp(request(device));
    expect(await readFile(join(lab.paths.data, "file"), "utf8")).toBe("kept");
  });

  it("gives half of the disk to swap when nothing is said, and none when 0 is", async () => {
    const device = await lab.disk("a", 64);
    await setUp({ ...request(device), swapMib: undefined });
    expect((await names(device))[0]).toBe("bosh-partition-agent-1-0 32");
    await lab.run("umount", lab.paths.data);
    const other = await lab.disk("b", 64);
    await setUp(request(other, "agent-1", 0));
    expect(await names(other)).toEqual(["bosh-partition-agent-1-0 62"]);
  });

  it("is erased when it was another agent's", async () => {
    const device = await lab.disk("a", 64);
    await setUp(request(device, "agent-0"));
    await writeFile(join(lab.paths.data, "file"), "old");
    await lab.run("umount", lab.paths.data);
    await setUp(request(device));
    expect(await names(device)).toEqual(["bosh-partition-agent-1-0 8", "bosh-partition-agent-1-1 54"]);
    await expect(stat(join(lab.paths.data, "file"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is never a disk that holds something else, a persistent disk least of all", async () => {
    const foreign = await lab.disk("a", 32);
    await lab.run("mke2fs", "-q", "-F", "-t", "ext4", foreign);
    await expect(setUp(request(foreign))).rejects.toMatchObject({ code: "AGD-004" });
    const persistent = await lab.disk("b", 32);
    await lab.platform().prepare(persistent, diskSettings("b", pathHint(persistent)));
    await expect(setUp(request(persistent))).rejects.toMatchObject({ code: "AGD-004" });
  });

  it("is finished after a crash at any command", async () => {
    const points = await crashEverywhere(quickExec, async (exec, point, run) => {
      const device = await lab.disk("a", 32);
      // What another agent left is erased on the way.
      await lab.platform({}, { exec: withoutSwap() }).setUpEphemeral(request(device, "agent-0"));
      await lab.run("umount", lab.paths.data);
      if (await run(() => setUp(request(device), withoutSwap(exec)))) {
        await setUp(request(device));
        expect(await lab.run("findmnt", "-no", "SOURCE", lab.paths.data), point).toContain(`${device}p2`);
      }
      await lab.run("umount", lab.paths.data);
      await lab.detach(device);
    });
    expect(points).toBeGreaterThan(3);
  });

  it("is a directory where the configuration says so, and an error where it is missing", async () => {
    await lab.platform({ SkipDiskSetup: true }).setUpEphemeral({ ...request("/dev/none"), hint: undefined });
    expect((await stat(lab.paths.data)).mode & 0o777).toBe(0o750);
    const none: (DiskHint | undefined)[] = [undefined, pathHint("/dev/none")];
    for (const hint of none) {
      await expect(setUp({ ...request("x"), hint })).rejects.toThrow(
        "No ephemeral disk found, cannot use root partition as ephemeral disk",
      );
    }
  });

  it("does not give all of the disk to swap", async () => {
    const device = await lab.disk("a", 32);
    await expect(setUp(request(device, "agent-1", 100))).rejects.toMatchObject({ code: "AGD-012" });
  });
});

describe.runIf(ready)("raw ephemeral disks", () => {
  let lab: LoopLab;
  beforeEach(async () => {
    lab = await LoopLab.open();
    return () => lab.close();
  });

  it("get one partition without a file system each, and keep what jobs put there in whatever order they come back", async () => {
    const [a, b] = [await lab.disk("a", 16), await lab.disk("b", 16)];
    const disks = lab.platform();
    await disks.setUpRawEphemeral([pathHint(a), pathHint(b)]);
    expect(await lab.run("sfdisk", "-d", b)).toContain('name="raw-ephemeral-1"');
    await lab.writeAt(b, 1024 * 1024, Buffer.from("job's data"));
    await disks.setUpRawEphemeral([pathHint(b), pathHint(a)]);
    expect((await readFile(b)).toString("latin1", 1024 * 1024, 1024 * 1024 + 10)).toBe("job's data");
  });

  it("are never disks that hold something else", async () => {
    const device = await lab.disk("a", 32);
    await lab.run("mke2fs", "-q", "-F", "-t", "ext4", device);
    await expect(lab.platform().setUpRawEphemeral([pathHint(device)])).rejects.toMatchObject({
      code: "AGD-004",
    });
  });
});
