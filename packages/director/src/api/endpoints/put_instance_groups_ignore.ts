import { slug } from "@slipway/engine/model/names";
import { ignoreChange } from "@slipway/protocol/director/instance";
import { addEvent } from "../../store/events.ts";
import { setIgnore } from "../../store/instances.ts";
import { inTransaction } from "../../store/open.ts";
import { param } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

export const putInstanceGroupsIgnore = endpoint({ body: ignoreChange }, async (call, { db }) => {
  const { ignore } = await call.json();
  const { name } = await deploymentOf(db, param(call, "deployment"));
  const instance = await instanceOf(db, name, param(call, "group"), param(call, "index"));
  await inTransaction(db, async (tx) => {
    await setIgnore(tx, instance.uuid, ignore);
    await addEvent(tx, {
      user: call.user,
      action: ignore ? "ignore" : "unignore",
      objectType: "instance",
      objectName: slug(instance),
      deployment: name,
      instance: slug(instance),
    });
  });
  return nothing(200);
});
