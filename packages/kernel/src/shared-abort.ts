import { setMaxListeners } from "node:events";

/** A controller whose signal many listen to at the same time, which Node would take for a leak and say so. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
