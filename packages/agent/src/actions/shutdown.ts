import type { Action } from "./action.ts";

export const shutdown: Action<"shutdown"> = async (_, { services }) => {
  await services.platform.system.powerOff();
  return "";
};
