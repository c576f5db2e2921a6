import { parseYaml } from "@slipway/engine/documents/yaml";
import {
  type ResurrectionFilter as Filter,
  resurrectionConfig,
} from "@slipway/protocol/director/resurrection";
import { check } from "@slipway/protocol/schema/check";

/** Rules of configs of type `resurrection`: which groups get new VMs without a request. */
export interface Rules {
  allows(deployment: string, group: string): boolean;
}

export const NO_RULES: Rules = { allows: () => true };

export interface RulesText {
  readonly content: string;
  /** The deployments of the team whose config it is; undefined: it is for all. */
  readonly only?: readonly string[] | undefined;
}

/**
 * Reads the rules: all that apply must allow a resurrection. Throws for an unreadable config: what it was to forbid is not known.
 */
export function rulesOf(texts: readonly RulesText[]): Rules {
  const rules = texts.flatMap(({ content, only }) => {
    const checked = check(
      resurrectionConfig,
      parseYaml(content, "the resurrection config"),
      "resurrection config",
    );
    if (!checked.ok) throw new Error(checked.problems.join("; "));
    return (checked.value.rules ?? []).map((one) => ({ ...one, only }));
  });
  return {
    allows: (deployment, group) =>
      rules
        .filter(
          ({ include, exclude, only }) =>
            (only === undefined || only.includes(deployment)) &&
            included(include, deployment, group) &&
            !excluded(exclude, deployment, group),
        )
        .every(({ enabled }) => enabled),
  };
}

const named = (names: readonly string[] | null | undefined): names is readonly string[] =>
  names !== null && names !== undefined && names.length > 0;

const isEmpty = (of: Filter): boolean => !named(of?.deployments) && !named(of?.instance_groups);

/** Reports whether a filter includes a group. An empty filter includes all. */
const included = (of: Filter, deployment: string, group: string): boolean =>
  isEmpty(of) || fits(of, deployment, group);
/** Reports whether a filter excludes a group. An empty filter excludes none. */
const excluded = (of: Filter, deployment: string, group: string): boolean =>
  !isEmpty(of) && fits(of, deployment, group);

function fits(of: Filter, deployment: string, group: string): boolean {
  const deployments = of?.deployments;
  const groups = of?.instance_groups;
  return (
    (!named(deployments) || deployments.includes(deployment)) && (!named(groups) || groups.includes(group))
  );
}
