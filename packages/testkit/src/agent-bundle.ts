import { bundled } from "./bundle.ts";

/** The agent as it is delivered, made of the sources as they are now. */
export const agentBundle = (): (() => string) =>
  bundled("../../agent/src/bin/slipway-agent.ts", import.meta.url);
