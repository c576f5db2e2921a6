import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildLocalStemcell } from "../stemcells/build-local.ts";
import { inspectStemcell } from "../stemcells/inspect-archive.ts";
import { repackStemcell } from "../stemcells/repack.ts";
import { canPlay } from "./testing/requirements.ts";

describe.runIf(await canPlay())("stemcell files, between the real CLI and ours", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "slipway-stemcells-"));
    await buildLocalStemcell({ to: join(dir, "built.tgz"), clock: systemClock });
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  async function bosh(...args: readonly string[]) {
    const { code, stdout, stderr } = await systemExec(process.env.SLIPWAY_BOSH ?? "", [...args, "--json"], {
      env: { HOME: dir },
    });
    expect(`${code} ${stderr}`).toBe("0 ");
    return JSON.parse(stdout) as { readonly Tables: readonly { readonly Rows: readonly object[] }[] | null };
  }
  const inspected = async (name: string) =>
    (await bosh("inspect-local-stemcell", join(dir, name))).Tables?.[0]?.Rows[0];

  it("ours is read by the real CLI", async () => {
    expect(await inspected("built.tgz")).toEqual({
      name: "slipway-local",
      os: "local",
      version: "1.0",
      infrastructure: "local",
      hypervisor: "sandbox",
    });
  });

  it("what the one repacks the other reads and repacks", async () => {
    const flags = [
      "--version",
      "2.10",
      "--empty-image",
      "--cloud-properties",
      "{disk: 1}",
      "--format",
      "light",
    ];
    await bosh("repack-stemcell", join(dir, "built.tgz"), join(dir, "theirs.tgz"), ...flags);
    const theirs = await inspectStemcell(join(dir, "theirs.tgz"));
    expect(theirs).toMatchObject({ light: true, stemcell: { version: "2.10", formats: ["light"] } });
    await repackStemcell({ from: join(dir, "theirs.tgz"), to: join(dir, "ours.tgz"), name: "other" });
    expect(await inspected("ours.tgz")).toMatchObject({ name: "other", version: "2.10", os: "local" });
    await bosh("repack-stemcell", join(dir, "ours.tgz"), join(dir, "again.tgz"), "--name", "third");
    const again = await inspectStemcell(join(dir, "again.tgz"));
    expect(again.stemcell).toMatchObject({ name: "third", cloudProperties: { disk: 1, root: "host" } });
  });
});
