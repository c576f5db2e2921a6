import * as v from "valibot";
import { vmCid } from "../../ids.ts";
import { hidden } from "../../schema/marks.ts";
import { arg, method, result } from "../method.ts";

/** Longest log in characters; a longer one is cut at its beginning. */
export const LONGEST_VM_LOG = 16 * 1024;

/** Last line of the log of a VM that does not run. */
export const VM_IS_OFF = "the VM is off";

/** True for the log of a VM that does not run. */
export const saysOff = (log: string): boolean => log.trimEnd().split("\n").at(-1) === VM_IS_OFF;

export const getVmLog = method({
  name: "get_vm_log",
  summary: "The end of what a VM's console and its agent have written, to say why the agent does not answer.",
  args: [arg("vm_cid", vmCid, "the VM")],
  results: [result(hidden(v.string()), "lines, the newest last, 16 KiB at most; empty when there are none")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["VMNotFound", "CloudError", "NotImplemented"],
  rules: [
    "Not of the shipped contract: called only if `info` announces `capabilities.get_vm_log`, and never by other Directors.",
    "Answers for a VM that is off or ends again and again, too. The credentials of its settings are not in it.",
    `The last line is \`${VM_IS_OFF}\` if the VM does not run, so that nobody waits for its agent.`,
  ],
});
