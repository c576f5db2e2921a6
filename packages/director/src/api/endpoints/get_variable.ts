import { variableValue, variableValueQuery } from "@slipway/protocol/director/variable";
import { readVariable } from "../../variables/changes.ts";
import { queryString } from "../call.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { ownVariableName } from "../variable-name.ts";

/** The newest value of a variable. The reading is an event. */
export const getVariable = endpoint(
  { query: variableValueQuery, reply: variableValue },
  async (call, services) => {
    const asked = {
      name: queryString(call.query, "name"),
      deployment: queryString(call.query, "deployment"),
    };
    const name = ownVariableName(asked, services);
    const { id, type, version, value } = await readVariable(name, { ...services, user: call.user });
    return json({ id, name, type, version, value });
  },
);
