import { newVariableValue, variableChange } from "@slipway/protocol/director/variable";
import { setVariable } from "../../variables/changes.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { ownVariableName } from "../variable-name.ts";

export const putVariable = endpoint(
  { body: newVariableValue, reply: variableChange },
  async (call, services) => {
    const { value, type, ...asked } = await call.json();
    const name = ownVariableName(asked, services);
    return json(await setVariable(name, value, type, { ...services, user: call.user }));
  },
);
