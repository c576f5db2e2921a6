import type { Ui } from "../ui/ui.ts";
import type { EnvStore } from "./state/store.ts";

/** Prints resources that may be in the cloud under names that were never recorded. */
export function printStrays({ document }: EnvStore, ui: Ui): void {
  for (const { kind, about, requestId, why } of document.slipway.strays)
    ui.note(`There may be a ${kind} in the cloud that nobody uses (${about}; request ${requestId}): ${why}`);
}
