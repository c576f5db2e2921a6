import { scanAndFix } from "@slipway/protocol/director/problem";
import { scanAndFixParams } from "@slipway/protocol/director/task-params";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { findAttribute, RESURRECTION_PAUSED } from "../../store/attributes.ts";
import { param } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { ResurrectionPaused } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

const _body = open({ jobs: mapOf(v.array(v.union([v.string(), v.number()]))) });

/** Replaces VMs for health monitors: `{"jobs": {"web": [0, "<id>"]}}`. */
export const putDeploymentsNameScanAndFix = endpoint({ body: scanAndFix }, async (call, services) => {
  const { db } = services;
  const { name: deployment } = await deploymentOf(db, param(call, "deployment"));
  const { jobs } = await call.json();
  if ((await findAttribute(db, RESURRECTION_PAUSED)) === "true") throw ResurrectionPaused({});
  const asked = Object.entries(jobs).flatMap(([group, which]) =>
    which.map((one) => ({ group, which: String(one) })),
  );
  const instances: string[] = [];
  for (const one of asked) instances.push((await instanceOf(db, deployment, one.group, one.which)).uuid);
  return startTask(call, services, scanAndFixParams, {
    type: "cck_scan_and_fix",
    description: "scan and fix",
    deployment,
    params: { deployment, instances },
  });
});
