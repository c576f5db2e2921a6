import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, describe, expect, it } from "vitest";
import { CrashLab } from "./crash-lab.ts";
import { Lane } from "./lane.ts";
import { makeMove } from "./prepare.ts";
import { ALL_SCENARIOS } from "./scenarios/table.ts";

sampleTests(1 / 6);

/**
 * Events that `bosh events` shows for each operation, all of them. `pair` is a beginning and an end whose parent it is.
 * An event belongs to a deployment, or to an instance and its deployment. The keys of the context follow the colon.
 */
const TABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "create with variables": {
    "deployment create": "pair of a deployment: after before",
    "variable create": "one of a deployment: id latest_version name update_strategy",
    "instance create": "pair of an instance: az",
    "vm create": "pair of an instance",
    "disk create": "pair of an instance",
  },
  "recreate with variables": {
    "deployment update": "pair of a deployment: after before",
    "variable create": "one of a deployment: id latest_version name update_strategy",
    "instance recreate": "pair of an instance: az",
    "vm delete": "pair of an instance",
    "vm create": "pair of an instance",
  },
  "stop one": { "instance stop": "pair of an instance" },
  "stop one, with its VM": { "instance stop": "pair of an instance", "vm delete": "pair of an instance" },
  "start one": { "instance start": "pair of an instance" },
  "restart one": { "instance restart": "pair of an instance" },
  "recreate one": {
    "instance recreate": "pair of an instance: az",
    "vm delete": "pair of an instance",
    "vm create": "pair of an instance",
  },
  "start all that were stopped with their VMs": {
    "deployment update": "pair of a deployment: after before",
    "instance start": "pair of an instance",
    "vm create": "pair of an instance",
  },
  "let somebody in by ssh": { "instance setup ssh": "one of an instance: user" },
  "remove users of ssh": { "instance cleanup ssh": "one of an instance: user" },
  "run an errand where its job runs": { "errand run": "pair of an instance: exit_code state" },
  "swap VMs": {
    "deployment update": "pair of a deployment: after before",
    "instance recreate": "pair of an instance: az changes",
    "vm create": "pair of an instance",
    "vm orphan": "pair of an instance",
  },
  "leave a network": {
    "deployment update": "pair of a deployment: after before",
    "instance recreate": "pair of an instance: az changes",
    "vm delete": "pair of an instance",
    "vm create": "pair of an instance",
    "network orphan": "one of a deployment",
  },
  "make a network": {
    "deployment create": "pair of a deployment: after before",
    "subnet create": "pair of a deployment",
    "instance create": "pair of an instance: az",
    "vm create": "pair of an instance",
  },
  "delete the last deployment of a network": {
    "deployment delete": "pair of a deployment",
    "instance delete": "pair of an instance",
    "vm delete": "pair of an instance",
    "network orphan": "one of a deployment",
  },
  "delete an orphaned network": { "subnet delete": "pair" },
  "delete orphaned VMs": { "vm delete": "pair of an instance" },
  "delete a VM of an instance": { "vm delete": "pair of an instance" },
  "delete a VM that nobody knows": { "vm delete": "pair" },
  "delete orphaned disks": { "disk delete": "pair of an instance" },
  "orphan a disk": { "disk orphan": "pair of an instance" },
  "attach an orphaned disk by hand": { "disk orphan": "pair of an instance" },
  "upload a stemcell": { "stemcell create": "pair" },
  "delete a stemcell": { "stemcell delete": "pair" },
  "upload a release": { "release create": "one" },
  "delete a release": { "release delete": "one" },
  "take a snapshot of one disk": { "snapshot create": "pair of an instance" },
  "delete a snapshot": { "snapshot delete": "pair of a deployment" },
  "change disk by copy, by an agent that fails to copy": {
    "deployment update": "pair of a deployment: after before",
    "instance update": "pair of an instance: az changes",
    "disk create": "pair of an instance",
  },
  "export a release for a stemcell that it is not compiled for yet": {
    "instance create": "pair of an instance: az",
    "vm create": "pair of an instance",
    "instance delete": "pair of an instance",
    "vm delete": "pair of an instance",
  },
  "ignore an instance": { "instance ignore": "one of an instance" },
  "scan and fix of two": {
    "instance recreate": "pair of an instance: az",
    "vm delete": "pair of an instance",
    "vm create": "pair of an instance",
  },
  "deploy VMs whose agents never answer": {
    "deployment create": "pair of a deployment: after before",
    "instance create": "pair of an instance: az",
    "vm create": "pair of an instance",
    "vm delete": "pair of an instance",
  },
};

/** Empty program: no Director is killed here, all run in this process. */
const NO_CHILD = { file: "", starter: "", code: "" };

let opened: { readonly dir: string; readonly lane: Lane } | undefined;
async function open(): Promise<Lane> {
  if (opened === undefined) {
    const dir = await mkdtemp(join(tmpdir(), "slipway-events-"));
    // As root the database server runs as another user, who must be able to pass.
    await chmod(dir, 0o711);
    opened = { dir, lane: await Lane.open(dir, NO_CHILD) };
  }
  return opened.lane;
}
afterAll(async () => {
  await opened?.lane.close();
  if (opened !== undefined) await rm(opened.dir, { recursive: true, force: true });
});

/** The events of a scenario's move, without a crash. */
async function play(name: string) {
  const lane = await open();
  const scenario = ALL_SCENARIOS.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario '${name}'`);
  const stage = await CrashLab.fresh(lane, scenario);
  for (const move of scenario.before) await makeMove(move, stage, name);
  stage.passDays(scenario.daysLater ?? 0);
  const { db } = lane.store;
  const before = await db.selectFrom("events").select("id").orderBy("id", "desc").executeTakeFirst();
  await makeMove(scenario.move, stage, name);
  const rows = db
    .selectFrom("events")
    .selectAll()
    .where("id", ">", before?.id ?? 0);
  return await rows.orderBy("id").execute();
}
type Played = Awaited<ReturnType<typeof play>>;

function formOf(rows: Played): string {
  const begun = rows.filter((row) => row.parent_id === null);
  const ended = rows.filter((row) => begun.some(({ id }) => id === row.parent_id));
  const count = rows.length === begun.length ? "one" : "pair";
  if (count === "pair" && ended.length !== begun.length) return "some without an end";
  const whose = new Set<string>(
    rows.map((row) =>
      row.instance !== null ? "of an instance" : row.deployment !== null ? "of a deployment" : "",
    ),
  );
  if (rows.some((row) => row.instance !== null && row.deployment === null)) whose.add("without deployment");
  const keys = [...new Set(rows.flatMap(({ context }) => Object.keys(context)))].sort();
  return `${[count, ...whose].join(" ").trim()}${keys.length > 0 ? `: ${keys.join(" ")}` : ""}`;
}

function formsOf(rows: Played): Record<string, string> {
  const kindOf = (row: Played[number]) => `${row.object_type} ${row.action}`;
  return Object.fromEntries(
    [...new Set(rows.map(kindOf))].map((kind) => [kind, formOf(rows.filter((row) => kindOf(row) === kind))]),
  );
}

const locks = (rows: Played, action: string) =>
  rows
    .filter((row) => row.object_type === "lock" && row.action === action)
    .map((row) => `${row.object_name} of ${row.deployment ?? "none"}`)
    .sort();

/** Locks of releases and packages. As upstream, the lock of a release belongs to no deployment. */
const LOCKS: Readonly<Record<string, readonly string[]>> = {
  "jobs: a first deploy, with compilation": [
    "lock:compile:1 sim-os/1.1 of shop",
    "lock:compile:2 sim-os/1.1 of shop",
    "lock:release:app of none",
  ],
  "recreate one": [],
  "run an errand where its job runs": ["lock:release:web of none"],
  "export a release for a stemcell that it is not compiled for yet": [
    "lock:compile:1 sim-os/2.2 of shop",
    "lock:release:web of none",
  ],
  "upload a release": ["lock:release:web of none"],
  "delete a release": ["lock:release:web of none"],
};

describe("events", () => {
  it("name no deployment that was only planned, as upstream's do", async () => {
    const rows = await play("dry run");
    expect(rows.filter((row) => row.object_type === "deployment")).toEqual([]);
  });

  it.each(Object.entries(LOCKS))(
    "tell which locks are taken, as upstream's do: %s",
    async (name, expected) => {
      const taken = locks(await play(name), "acquire").filter((lock) => !lock.startsWith("lock:deployment:"));
      // What a package was compiled with is left out.
      expect(taken.map((lock) => lock.replace(/ \[.*\]/, ""))).toEqual(expected);
    },
  );

  it.each(Object.entries(TABLE))("are those of the table: %s", async (name, expected) => {
    const rows = await play(name);
    expect(formsOf(rows.filter((row) => row.object_type !== "lock"))).toEqual(expected);
    expect(locks(rows, "release")).toEqual(locks(rows, "acquire"));
    expect(new Set(rows.map(({ username }) => username))).toEqual(new Set(["sim"]));
  });

  it("say what has failed: the instance and its deployment, at their ends", async () => {
    const rows = await play("deploy VMs whose agents never answer");
    const failed = rows.filter(({ error }) => error !== null);
    expect(new Set(failed.map((row) => `${row.action} ${row.object_type}`))).toEqual(
      new Set(["create instance", "create deployment"]),
    );
    expect(failed.every((row) => row.parent_id !== null && row.error?.includes("Timed out pinging VM"))).toBe(
      true,
    );
  });
});

/** Events of tasks that upstream's Director records. Others are tested with the code that records them. */
const UPSTREAM: Readonly<Record<string, readonly string[]>> = {
  deployment: ["create", "update", "delete"],
  instance: [
    ...["create", "update", "delete", "start", "stop", "restart", "recreate"],
    ...["setup ssh", "cleanup ssh"],
  ],
  vm: ["create", "delete", "orphan"],
  disk: ["create", "delete", "orphan"],
  errand: ["run"],
  variable: ["create"],
  network: ["orphan"],
  subnet: ["delete"],
};

it("events of every kind that upstream has are in the table", () => {
  const has = new Set(Object.values(TABLE).flatMap((rows) => Object.keys(rows)));
  const wanted = Object.entries(UPSTREAM).flatMap(([type, actions]) =>
    actions.map((one) => `${type} ${one}`),
  );
  expect(wanted.filter((one) => !has.has(one))).toEqual([]);
});
