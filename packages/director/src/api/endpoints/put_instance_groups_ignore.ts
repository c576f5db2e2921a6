import { slug } from "@slipway/engine/model/names";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { addEvent } from "../../store/events.ts";
import { setIgnore } from "../../store/instances.ts";
import { inTransaction } from "../../store/open.ts";
import { jsonBody, param } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { nothing } from "../reply.ts";
import type { Handler } from "../route.ts";

const body = open({ ignore: v.boolean() });

export const putInstanceGroupsIgnore: Handler = async (call, { db }) => {
  const { ignore } = await jsonBody(call, body);
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
};
