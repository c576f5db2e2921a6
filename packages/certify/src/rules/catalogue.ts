import { CALL_RULES } from "./call-rules.ts";
import { DISK_RULES } from "./disk-rules.ts";
import { REGISTRY_RULES } from "./registry-rules.ts";
import type { RuleText } from "./rule.ts";
import { VM_RULES } from "./vm-rules.ts";
import { WIRE_RULES } from "./wire-rules.ts";

/** Every rule of a CPI, in the order in which they are checked. */
export const CPI_RULES = { ...WIRE_RULES, ...VM_RULES, ...DISK_RULES, ...REGISTRY_RULES, ...CALL_RULES };

export type CpiRuleId = keyof typeof CPI_RULES;

export const isCpiRuleId = (id: string): id is CpiRuleId => Object.hasOwn(CPI_RULES, id);

export const ruleOf = (id: CpiRuleId): RuleText => CPI_RULES[id];
