import type { InstanceUuid } from "@slipway/engine/model/names";
import { describe, expect, it } from "vitest";
import type { Verdict, Watched } from "./model.ts";
import { decide, type Judged, type Situation } from "./resurrect.ts";
import { NO_RULES, rulesOf } from "./rules.ts";
import { healthSettings } from "./settings.ts";
import { vmOf, watchedOf } from "./testing/samples.ts";

const { guard } = healthSettings();

const CALM: Situation = {
  enabled: true,
  paused: false,
  rules: NO_RULES,
  restored: new Set(),
  locked: new Map(),
  open: new Map(),
  busy: new Set(),
  waits: new Map(),
  settling: false,
  down: new Map(),
};

type Look = "well" | "suspect" | "silent" | "absent";
const VERDICTS: Readonly<Record<Look, Verdict>> = {
  well: { status: "healthy", findings: [], since: undefined, toHeal: false, suspect: false },
  suspect: { status: "healthy", findings: [], since: undefined, toHeal: false, suspect: true },
  silent: { status: "unresponsive", findings: [], since: 0, toHeal: true, suspect: true },
  absent: { status: "no_vm", findings: [], since: 0, toHeal: true, suspect: false },
};

/** Instances of a deployment, in the order they are looked at. */
const fleet = (deployment: string, ...looks: readonly Look[]): readonly Judged[] =>
  looks.map((look, index) => {
    const uuid = `${deployment}-${index}`;
    const vm = look === "absent" ? undefined : vmOf(uuid);
    const watched = watchedOf({ deployment, uuid: uuid as InstanceUuid, index, vm });
    return { watched, verdict: VERDICTS[look] };
  });

const times = (count: number, look: Look): readonly Look[] => Array.from({ length: count }, () => look);
const changed = (judged: readonly Judged[], change: Partial<Watched>): readonly Judged[] =>
  judged.map(({ watched, verdict }) => ({ watched: { ...watched, ...change }, verdict }));

const healed = (judged: readonly Judged[], situation: Partial<Situation> = {}) => {
  const { heal, ...decision } = decide(judged, { ...CALM, ...situation }, guard);
  return { ...decision, ids: [...heal.values()].flat().map(({ uuid }) => uuid as string) };
};
const whyNot = (judged: readonly Judged[], situation: Partial<Situation> = {}) => {
  const { ids, actions } = healed(judged, situation);
  expect(ids).toEqual([]);
  return [...actions.values()].map(({ what }) => what);
};

describe("resurrection", () => {
  it("gives new VMs to instances that are silent or have none, together by deployment", () => {
    const judged = [
      ...fleet("shop", "silent", "absent", "well", "well"),
      ...fleet("bank", "silent", ...times(5, "well")),
    ];
    const { heal } = decide(judged, CALM, guard);
    expect([...heal].map(([name, its]) => [name, its.map(({ uuid }) => uuid)])).toEqual([
      ["shop", ["shop-0", "shop-1"]],
      ["bank", ["bank-0"]],
    ]);
  });

  it("gives a new VM to a fleet of one that is gone", () => {
    expect(healed(fleet("shop", "silent")).ids).toEqual(["shop-0"]);
  });

  it.each([
    ["off in the configuration", { enabled: false }, /resurrection is off in the Director's configuration/],
    ["paused", { paused: true }, /update-resurrection on/],
    ["without rules that can be read", { rules: undefined }, /cannot be read/],
    [
      "a deploy under way",
      { locked: new Map([["shop", { task: 4, description: "create deployment" }]]) },
      /waits for task 4 \(create deployment\)/,
    ],
    ["another resurrection in it", { busy: new Set(["shop"]) }, /waits for another resurrection/],
    ["a restore that nobody has looked at", { restored: new Set(["shop"]) }, /restored from a backup/],
    ["a try not long ago", { waits: new Map([["shop-0", 59.2]]) }, /the next is in 60 s/],
    [
      "a rule against it",
      { rules: rulesOf([{ content: "rules: [{enabled: false, include: {instance_groups: [web]}}]" }]) },
      /the resurrection config forbids it/,
    ],
  ] as const)("gives no new VM with %s, and says why", (_, situation, why) => {
    expect(whyNot(fleet("shop", "silent", "well"), situation)).toEqual([expect.stringMatching(why)]);
  });

  it("gives no new VM to an instance whose resurrection is paused", () => {
    const judged = changed(fleet("shop", "silent"), { paused: true });
    expect(whyNot(judged)).toEqual(["nothing: its resurrection is paused"]);
  });

  it("gives no new VM to an instance that a task looks after already, and names the task", () => {
    const { ids, actions } = healed(fleet("shop", "silent", "well"), { open: new Map([["shop-0", 12]]) });
    expect(ids).toEqual([]);
    expect(actions.get("shop-0")).toEqual({ what: "task 12 replaces its VM", task: 12 });
  });
});

describe("when too many are down", () => {
  it("5 instances and 20 % of a deployment are a meltdown; 4, or less than 20 %, are not", () => {
    expect(healed(fleet("shop", ...times(4, "silent"), ...times(6, "well"))).ids).toHaveLength(4);
    expect(healed(fleet("shop", ...times(5, "silent"), ...times(21, "well"))).ids).toHaveLength(5);
    const { ids, meltdowns } = healed(fleet("shop", ...times(5, "silent"), ...times(20, "well")));
    expect(ids).toEqual([]);
    expect(meltdowns.get("shop")).toMatch(/5 of the deployment's 25 instances are down/);
  });

  it("those that have just missed their first question count: they are about to follow", () => {
    expect(healed(fleet("shop", "silent", ...times(4, "suspect"), ...times(15, "well"))).ids).toEqual([]);
  });

  it("those that were down within minutes count, also when they are well again", () => {
    const down = new Map([["shop", new Set(["shop-1", "shop-2", "shop-3", "shop-4"])]]);
    expect(healed(fleet("shop", "silent", ...times(19, "well")), { down }).ids).toEqual([]);
  });

  it("a meltdown of one deployment does not keep others from being healed", () => {
    const judged = [...fleet("shop", ...times(5, "silent")), ...fleet("bank", "silent", ...times(9, "well"))];
    expect(healed(judged).ids).toEqual(["bank-0"]);
  });

  it("half of all agents gone at once heals no instance, however small the deployments", () => {
    const small = ["a", "b", "c"].flatMap((name) => fleet(name, "silent", "suspect"));
    const { ids, fleet: why } = healed([...small, ...fleet("d", ...times(6, "well"))]);
    expect(ids).toEqual([]);
    expect(why).toMatch(/6 of all 12 agents are silent/);
    expect(healed([...small, ...fleet("d", ...times(7, "well"))]).ids).toEqual(["a-0", "b-0", "c-0"]);
  });

  it("agents that a deploy is just bringing up do not count among them", () => {
    const deploying = fleet("new", ...times(10, "suspect"));
    const locked = new Map([["new", { task: 1, description: "create deployment" }]]);
    expect(healed([...deploying, ...fleet("shop", "silent", "well", "well")], { locked }).ids).toEqual([
      "shop-0",
    ]);
  });
});

describe("resurrection configs", () => {
  const allows = (text: string, deployment = "shop", group = "web") =>
    rulesOf([{ content: text }]).allows(deployment, group);

  it("allow everything that no rule forbids", () => {
    expect(allows("rules: []")).toBe(true);
    expect(allows("{}")).toBe(true);
    expect(allows("rules: [{enabled: false, include: {deployments: [bank]}}]")).toBe(true);
  });

  it("forbid what one of all that apply forbids", () => {
    const rules = rulesOf([
      { content: "rules: [{enabled: true}]" },
      { content: "rules: [{enabled: false, include: {deployments: [shop]}}]" },
    ]);
    expect(rules.allows("shop", "web")).toBe(false);
    expect(rules.allows("bank", "web")).toBe(true);
  });

  it("apply only to the deployments of their team, whatever they name", () => {
    const everybody = "rules: [{enabled: false}]";
    const rules = rulesOf([{ content: everybody, only: ["shop"] }]);
    expect(rules.allows("shop", "web")).toBe(false);
    expect(rules.allows("bank", "web")).toBe(true);
  });

  it("names within a list are alternatives, lists are not", () => {
    const text = "rules: [{enabled: false, include: {deployments: [shop, bank], instance_groups: [db]}}]";
    expect(allows(text, "shop", "db")).toBe(false);
    expect(allows(text, "shop", "web")).toBe(true);
    expect(allows(text, "mail", "db")).toBe(true);
  });

  it("spare what they exclude; an empty exclude spares no deployment", () => {
    expect(allows("rules: [{enabled: false, exclude: {deployments: [shop]}}]")).toBe(true);
    expect(allows("rules: [{enabled: false, exclude: {deployments: []}}]")).toBe(false);
  });

  it.each(["rules: 7", "rules: [{}]", "rules: [{enabled: 'no'}]", "- a", "{"])(
    "that make no sense throw: %s",
    (text) => {
      expect(() => rulesOf([{ content: text }])).toThrow();
    },
  );
});
