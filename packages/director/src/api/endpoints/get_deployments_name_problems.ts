import { describeProblem, OFFERS, planOf } from "@slipway/engine/model/problems";
import { problem as problemWire } from "@slipway/protocol/director/problem";
import * as v from "valibot";
import { listProblems } from "../../store/problems.ts";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Lists the unresolved problems of the last scan, with their resolutions. */
export const getDeploymentsNameProblems = endpoint({ reply: v.array(problemWire) }, async (call, { db }) => {
  const { name } = await deploymentOf(db, param(call, "deployment"));
  const problems = await listProblems(db, name);
  return json(
    problems.map((problem) => ({
      id: problem.id,
      type: problem.type,
      data: { vm_cid: problem.vm, disk_cid: problem.disk, instance_id: problem.instance },
      description: describeProblem(problem),
      instance_group: problem.group,
      resolutions: OFFERS[problem.type].resolutions.map((resolution) => ({
        name: resolution,
        plan: planOf(problem.type, resolution),
      })),
    })),
  );
});
