import { BadJson, parseStrictJson } from "@slipway/kernel/strict-json";
import { type ApplySpec, applySpec } from "@slipway/protocol/agent/apply-spec";
import { check } from "@slipway/protocol/schema/check";
import type { SpecStore } from "../services.ts";
import { readState, type StateTools, writeState } from "./state-file.ts";

/** `spec.json`: what the last apply said. A torn one is as none: the Director applies again. */
export function fileSpecStore(path: string, tools: StateTools): SpecStore {
  return {
    load: () => readState(path, parseSpec, tools),
    save: (spec) => writeState(path, JSON.stringify(spec)),
  };
}

function parseSpec(text: string): ApplySpec {
  const checked = check(applySpec, parseStrictJson(text, "spec.json"), "spec.json");
  if (!checked.ok) throw BadJson({ what: "spec.json", why: checked.problems.join("; ") });
  return checked.value;
}
