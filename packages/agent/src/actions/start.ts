import type { Action } from "./action.ts";

export const start: Action<"start"> = async (_, { services }) => {
  await services.supervisor.start();
  return "started";
};
