import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import { deleteTask, stateTask } from "../crash/scenarios/tasks.ts";
import type { EndedTask } from "./testing/bench.ts";
import { jobsStage, shopRelease, web } from "./testing/jobs-stage.ts";

const { stage, done, upload, task } = jobsStage();

const shop = (disk = "d1") => task([{ name: "web", instances: 1, jobs: [web()], disk }]);

interface Drained {
  readonly type: unknown;
  readonly spec: JsonObject;
}

/** The only drain of a task. */
function drained({ calls }: EndedTask): Drained {
  const [first, ...more] = calls.flatMap((call) =>
    call.peer === "agent" && call.method === "drain" ? [call.args] : [],
  );
  expect(more).toEqual([]);
  return { type: first?.[0], spec: first?.[1] as JsonObject };
}

const applied = (): JsonObject => {
  const [vm] = stage.bench.world.vms.values();
  return vm?.agent.spec as JsonObject;
};

const digestOf = ({ packages }: JsonObject, name: string): unknown => {
  const found = isObject(packages) ? packages[name] : undefined;
  return isObject(found) ? found.sha1 : undefined;
};

describe("the apply spec of drain", () => {
  it("sends an update the new configuration and the packages that follow", async () => {
    await done(shop());
    const before = applied();
    await upload(shopRelease({ version: "2", web: "another template", lib: "# other" }));
    const { type, spec } = drained(await done(shop()));
    const after = applied();
    expect(type).toBe("update");
    expect(spec).toMatchObject({
      ...{ deployment: "shop", name: "web", index: 0, persistent_disk: 1024 },
      ...{ configuration_hash: after.configuration_hash, packages: after.packages },
    });
    expect(spec.configuration_hash).not.toBe(before.configuration_hash);
    expect(digestOf(spec, "server")).not.toBe(digestOf(before, "server"));
  });

  it("sends a restart the configuration that stays", async () => {
    await done(shop());
    const { type, spec } = drained(await done(stateTask("restart")));
    expect(type).toBe("update");
    expect(spec.configuration_hash).toBe(applied().configuration_hash);
  });

  it("sends a change of disks the size of the next disk, as a shutdown", async () => {
    await done(shop());
    const { type, spec } = drained(await done(shop("d2")));
    expect(type).toBe("shutdown");
    expect(spec).toMatchObject({ persistent_disk: 2048, configuration_hash: applied().configuration_hash });
  });

  it("sends a stop what would run, as a shutdown", async () => {
    await done(shop());
    const { type, spec } = drained(await done(stateTask("stopped")));
    expect(type).toBe("shutdown");
    expect(spec).toMatchObject({ persistent_disk: 1024, packages: { server: {} } });
  });

  it("sends a deletion an empty spec, as a shutdown", async () => {
    await done(shop());
    const { type, spec } = drained(await done(deleteTask()));
    expect([type, spec]).toEqual(["shutdown", {}]);
  });
});
