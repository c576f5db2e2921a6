import { describe, expect, it } from "vitest";
import { dependencyKeys } from "./dependency-key.ts";
import { dependenciesFirst } from "./package-order.ts";

const one = (name: string, version: string, ...dependencies: string[]) => ({ name, version, dependencies });

describe("the dependency key of a package", () => {
  it("is empty for one that needs none", () => {
    expect(dependencyKeys([one("golang", "c0de")]).get("golang")).toBe("[]");
  });

  it("names direct dependencies in order, with theirs inside", () => {
    const keys = dependencyKeys([
      one("web", "1", "lib", "golang"),
      one("golang", "c0de"),
      one("lib", "beef", "golang"),
    ]);
    expect(keys.get("web")).toBe('[["golang","c0de"],["lib","beef",[["golang","c0de"]]]]');
    expect(keys.get("lib")).toBe('[["golang","c0de"]]');
  });

  it("does not depend on the order in which packages or dependencies are given", () => {
    const packages = [one("web", "1", "b", "a"), one("a", "2"), one("b", "3", "a")];
    const turned = [one("b", "3", "a"), one("a", "2"), one("web", "1", "a", "b", "a")];
    expect(dependencyKeys(turned)).toEqual(
      new Map([...dependencyKeys(packages)].sort(([a], [b]) => (a < b ? -1 : 1))),
    );
  });

  it("differs when something far below has another version", () => {
    const chain = (version: string) => [
      one("a", "1", "b"),
      one("b", "1", "c"),
      one("c", "1", "d"),
      one("d", version),
    ];
    expect(dependencyKeys(chain("1")).get("a")).not.toBe(dependencyKeys(chain("2")).get("a"));
  });

  it("stays short however much is shared below, and still differs with what is below", () => {
    const ladder = (last: string) =>
      Array.from({ length: 200 }, (_, at) => [
        one(`l${at}`, "1", `l${at + 1}`, `r${at + 1}`),
        one(`r${at}`, "1", `l${at + 1}`, `r${at + 1}`),
      ])
        .flat()
        .concat([one("l200", last), one("r200", "1")]);
    const key = dependencyKeys(ladder("1")).get("l0");
    expect(key?.length).toBeLessThanOrEqual(1024);
    expect(key).not.toBe(dependencyKeys(ladder("2")).get("l0"));
  });
});

describe("the order of packages", () => {
  it("has each after what it needs", () => {
    const order = dependenciesFirst([
      one("web", "1", "lib", "golang"),
      one("lib", "1", "golang"),
      one("golang", "1"),
    ]);
    expect(order.map(({ name }) => name)).toEqual(["golang", "lib", "web"]);
  });

  it("goes as deep as a release does", () => {
    const deep = Array.from({ length: 50_000 }, (_, at) => one(`p${at}`, "1", `p${at + 1}`));
    expect(dependenciesFirst(deep).at(-1)?.name).toBe("p0");
  });

  it("is refused for packages that need each other, which are named", () => {
    const ring = [one("a", "1", "b"), one("b", "1", "c"), one("c", "1", "b")];
    expect(() => dependenciesFirst(ring)).toThrow("b -> c -> b");
    expect(() => dependenciesFirst([one("a", "1", "a")])).toThrow("a -> a");
  });
});
