import { slug } from "@slipway/engine/model/names";
import { resurrectionChange } from "@slipway/protocol/director/resurrection";
import { addEvent } from "../../store/events.ts";
import { setResurrectionPaused } from "../../store/health.ts";
import { inTransaction } from "../../store/open.ts";
import { param } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Pauses or resumes the resurrection of one instance. Upstream had it once and answers 410 now; ours keeps to it. */
export const putJobsResurrection = endpoint({ body: resurrectionChange }, async (call, { db }) => {
  const { resurrection_paused: paused } = await call.json();
  const { name } = await deploymentOf(db, param(call, "deployment"));
  const instance = await instanceOf(db, name, param(call, "group"), param(call, "index"));
  await inTransaction(db, async (tx) => {
    await setResurrectionPaused(tx, instance.uuid, paused);
    await addEvent(tx, {
      user: call.user,
      action: "update",
      objectType: "resurrection",
      objectName: paused ? "off" : "on",
      deployment: name,
      instance: slug(instance),
    });
  });
  return nothing(200);
});
