import { expect, it } from "vitest";
import type { InstanceUuid } from "../model/names.ts";
import { placeInstances, planSteps } from "./plan.ts";
import { group, input, manifest } from "./testing/builders.ts";

it("draws each id once, when instances are placed, and plans steps from the same placement any number of times", () => {
  let drawn = 0;
  const found = placeInstances(
    input({
      manifest: manifest([group("web", 2)]),
      newUuid: () => {
        drawn += 1;
        return `new-${drawn}` as InstanceUuid;
      },
    }),
  );
  if (!found.ok) throw new Error("the instances were not placed");
  const withoutJobs = planSteps(found.placement);
  const jobs = { jobs: [], packages: [], configurationHash: "", templateHashes: {}, files: {} };
  const withJobs = planSteps(found.placement, new Map([["new-2" as InstanceUuid, jobs]]));

  const ids = (all: readonly { readonly uuid: string }[]) => all.map(({ uuid }) => uuid);
  expect(drawn).toBe(2);
  expect(ids(found.placement.desired)).toEqual(["new-1", "new-2"]);
  expect([ids(withoutJobs.desired), ids(withJobs.desired)]).toEqual([
    ids(found.placement.desired),
    ids(found.placement.desired),
  ]);
  expect(withoutJobs.desired.map((one) => one.jobs)).toEqual([null, null]);
  expect(withJobs.desired.map((one) => one.jobs)).toEqual([null, jobs]);
});
