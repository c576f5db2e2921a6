import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { changeInstance } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { IntentRecord, Journal } from "@slipway/engine/journal/journal";
import { NO_EFFECTS } from "@slipway/engine/journal/writes";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { AnyStep } from "@slipway/engine/steps/step";
import { OTHER_STEPS, STEPS } from "@slipway/engine/steps/steps";
import { isObject } from "@slipway/protocol/schema/json";
import { emptied, freshDatabase } from "@slipway/testkit/database";
import { disk, vm } from "@slipway/testkit/vm-record";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runningTask } from "./testing/running-task.ts";
import { newInstance, shop } from "./testing/samples.ts";

/** Intents as each version of the database's journal has kept them, recorded from that version. Never changed. */
const HISTORIES = fileURLToPath(new URL("../../../engine/histories", import.meta.url));

type History = Pick<IntentRecord, "step" | "scope" | "instance" | "version" | "intent">;

const versions = readdirSync(HISTORIES).sort();
const historiesOf = (version: string): readonly History[] =>
  readdirSync(join(HISTORIES, version)).map(
    (file) => JSON.parse(readFileSync(join(HISTORIES, version, file), "utf8")) as History,
  );
const all = versions.flatMap((version) =>
  historiesOf(version).map((history) => ({ version, name: history.step, history })),
);

let base: Awaited<ReturnType<typeof freshDatabase>>;
let journal: Journal;
beforeAll(async () => {
  base = await freshDatabase();
});
afterAll(() => base.close());
beforeEach(async () => {
  await emptied(base.connection);
  ({ journal } = await runningTask(base.db));
});

/** The instance, VM and disks that an intent is about. */
async function stage({ instance, intent }: History): Promise<void> {
  if (instance === null) return;
  await shop(base.db, newInstance(0, { uuid: instance }));
  const several = Array.isArray(intent.disks) ? intent.disks.filter(isObject).map(({ disk }) => disk) : [];
  const cids = [intent.disk, intent.from, intent.to, ...several].filter((one) => typeof one === "string");
  await changeInstance(instance as InstanceUuid, { journal }, (writes) => {
    if (typeof intent.vm === "string") writes.addVm(vm(intent.vm, { active: true }));
    for (const [at, cid] of cids.entries()) writes.addDisk(disk(cid, at === 0));
  });
}

/** Returns a context in which all calls succeed. */
const willing = (): FlowContext => {
  const agent = new Proxy({}, { get: () => () => Promise.resolve([]) });
  const answers: Readonly<Record<string, unknown>> = {
    info: { apiVersion: 2, repeatable: true, stemcellFormats: [], capabilities: {} },
    channelFor: "user-data",
    createVm: { cid: "vm-made", networks: {}, disks: {} },
    createDisk: "disk-made",
    createStemcell: "stemcell-made",
    snapshotDisk: "snapshot-made",
    createNetwork: {
      cid: "network-made",
      range: undefined,
      gateway: undefined,
      reserved: [],
      cloudProperties: {},
    },
    attachDisk: { hint: "/dev/sdb", disks: undefined },
    updateDisk: "disk-changed",
  };
  const cloud = new Proxy({}, { get: (_, name) => () => Promise.resolve(answers[String(name)]) });
  return {
    journal,
    deployment: "shop",
    signal: new AbortController().signal,
    debug: () => undefined,
    cpiLog: () => undefined,
    agents: {
      transport: "https",
      agent: () => agent,
      introduce: () => Promise.resolve({ envBosh: {}, certificateUntil: 0 }),
      urlFor: () => "https://10.0.0.9:6868",
    },
    clouds: { cloud: () => cloud },
    clock: { now: () => 0 },
    random: { hex: () => "00" },
    settings: { agentEnvBosh: {} },
  } as unknown as FlowContext;
};

describe("intents that a version of the Director has left open", () => {
  it.each(all)("$version $name is settled by this one", async ({ history }) => {
    await stage(history);
    const key = { taskId: journal.taskId, number: journal.newNumber() };
    await journal.commit({ effects: NO_EFFECTS, events: [], open: { ...key, ...history } });
    expect(await settleOpenIntents(willing(), { scope: history.scope })).toBe(1);
    expect(await base.db.selectFrom("intents").selectAll().execute()).toEqual([]);
  });

  it("are on file for every step that is journaled today, in its version of today", () => {
    const newest = historiesOf(versions.at(-1) ?? "");
    const today = Object.values({ ...STEPS, ...OTHER_STEPS } as Record<string, AnyStep>)
      .filter(({ kind }) => kind === "call" || kind === "create")
      .map(({ name, intentVersion }) => `${name} ${intentVersion}`);
    expect(newest.map(({ step, version }) => `${step} ${version}`).sort()).toEqual(today.sort());
  });
});
