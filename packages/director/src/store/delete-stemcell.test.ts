import { CpiRefused } from "@slipway/engine/clouds/cloud";
import { runOther } from "@slipway/engine/flows/run-steps";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { StemcellCid } from "@slipway/protocol/ids";
import { freshDatabase } from "@slipway/testkit/database";
import { beforeEach, describe, expect, it } from "vitest";
import { listStemcells, saveStemcell } from "./stemcells.ts";
import { listStrays } from "./strays.ts";
import { runningTask } from "./testing/running-task.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
beforeEach(async () => {
  base = await freshDatabase();
  await saveStemcell(base.db, {
    name: "jammy",
    version: "1.1",
    operatingSystem: "ubuntu-jammy",
    cid: "sc-1" as StemcellCid,
    cpi: "",
    apiVersion: 3,
    digest: "sha256:aa",
  });
  return () => base.close();
});

/** Deletes a stemcell with a CPI that answers like this. */
async function remove(force: boolean, errorName: "StemcellNotFound" | "CloudError"): Promise<void> {
  const { journal } = await runningTask(base.db);
  const refused = new CpiRefused({
    method: "delete_stemcell",
    type: `Bosh::Clouds::${errorName}`,
    errorName,
    message: "a VM uses it",
    okToRetry: false,
  });
  const context = {
    journal,
    deployment: "",
    signal: new AbortController().signal,
    debug: () => undefined,
    cpiLog: () => undefined,
    clouds: { cloud: () => ({ deleteStemcell: () => Promise.reject(refused) }) },
    random: { hex: () => "00" },
  } as unknown as FlowContext;
  const [row] = await listStemcells(base.db);
  if (row === undefined) throw new Error("no stemcell");
  await runOther("delete_stemcell", { ...row, force }, context);
}

describe("a stemcell that the CPI does not delete", () => {
  it("keeps its record", async () => {
    await expect(remove(false, "CloudError")).rejects.toMatchObject({ cause: { message: "a VM uses it" } });
    expect(await listStemcells(base.db)).toHaveLength(1);
    expect(await listStrays(base.db)).toEqual([]);
  });

  it("loses it by force, and is then among the strays with its cid and why", async () => {
    await remove(true, "CloudError");
    expect(await listStemcells(base.db)).toEqual([]);
    expect(await listStrays(base.db)).toMatchObject([
      { kind: "stemcell", requestId: "sc-1", why: expect.stringMatching(/by force.*a VM uses it/) },
    ]);
  });

  it("is no stray when the cloud does not have it any more", async () => {
    await remove(true, "StemcellNotFound");
    expect([await listStemcells(base.db), await listStrays(base.db)]).toEqual([[], []]);
  });
});
