import type { RuleTable } from "./rule.ts";

/** Rules of calls that are not just made one after the other. */
export const CALL_RULES = {
  "CPI-CALL-001": {
    title: "disks and VMs that are made at once are all there, and all different",
    area: "calls",
    level: "core",
    since: 1,
    contract: "A caller runs many processes of the CPI at a time.",
    checked: "Ten create_disk and three create_vm are started at once; the cids are compared.",
    cost: "Two instances of one deployment get one disk.",
    number: 65,
  },
  "CPI-CALL-002": {
    title: "a killed create_vm or create_disk blocks no later call",
    area: "calls",
    level: "core",
    since: 1,
    contract: "A CPI that is killed at any moment leaves no state that blocks later calls.",
    checked:
      "create_vm and create_disk are killed by SIGKILL at four moments, repeated, and their results deleted.",
    cost: "After a crash of the Director an operator has to clean the cloud by hand.",
    number: 66,
  },
} as const satisfies RuleTable;
