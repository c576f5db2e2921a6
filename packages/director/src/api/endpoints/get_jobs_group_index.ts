import { jobInstance } from "@slipway/protocol/director/instance";
import { param } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Returns one instance as it is recorded, with all its disks. */
export const getJobsGroupIndex = endpoint({ reply: jobInstance }, async (call, { db }) => {
  const { name } = await deploymentOf(db, param(call, "deployment"));
  const instance = await instanceOf(db, name, param(call, "group"), param(call, "index"));
  const { group, index, uuid, state, disks } = instance;
  return json({ deployment: name, job: group, index, id: uuid, state, disks: disks.map(({ cid }) => cid) });
});
