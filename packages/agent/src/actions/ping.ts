import type { Action } from "./action.ts";

export const ping: Action<"ping"> = async () => "pong";
