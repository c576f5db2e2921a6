import { regeneration, variableChange } from "@slipway/protocol/director/variable";
import { regenerateVariable } from "../../variables/changes.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { ownVariableName } from "../variable-name.ts";

export const postVariableRegeneration = endpoint(
  { body: regeneration, reply: variableChange },
  async (call, services) => {
    const { at_once: atOnce = false, ...asked } = await call.json();
    const name = ownVariableName(asked, services);
    return json(await regenerateVariable(name, atOnce, { ...services, user: call.user }));
  },
);
