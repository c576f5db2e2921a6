/** Numbers that stand for names in DNS. They stay the same as long as the Director lives; its store gives them. */
export interface DnsIds {
  readonly azs: ReadonlyMap<string, number>;
  readonly networks: ReadonlyMap<string, number>;
  /** Numbers of groups, by `groupKey`. */
  readonly groups: ReadonlyMap<string, number>;
  /** Numbers of instances, by uuid. */
  readonly instances: ReadonlyMap<string, number>;
}

/** All instances of a group, or all that provide one link. */
export interface DnsGroup {
  readonly type: "instance-group" | "link";
  readonly name: string;
  readonly deployment: string;
}

export const groupKey = ({ type, name, deployment }: DnsGroup): string =>
  JSON.stringify([type, deployment, name]);

export const NO_IDS: DnsIds = {
  azs: new Map(),
  networks: new Map(),
  groups: new Map(),
  instances: new Map(),
};
