import { describe, expect, it } from "vitest";
import { group, manifest } from "../plan/testing/builders.ts";
import type { KnownPackage } from "../releases/model.ts";
import { job, knownJob, plannedJobs, refusedJobs, release, releases } from "./testing/builders.ts";

const golang = (fingerprint: string, dependencies: readonly string[] = []): KnownPackage => ({
  id: 1,
  name: "golang",
  version: fingerprint,
  fingerprint,
  source: undefined,
  dependencies,
});

const input = (one: KnownPackage, other: KnownPackage, together = true) => {
  const uses = (name: string) => knownJob(name, { packages: ["golang"] });
  const [a, b] = [job("a", { release: "ra" }), job("b", { release: "rb" })];
  return {
    manifest: manifest(
      together
        ? [group("web", 1, { jobs: [a, b] })]
        : [group("web", 1, { jobs: [a] }), group("db", 1, { jobs: [b] })],
    ),
    releases: releases(
      { ...release("ra", uses("a")), packages: [one] },
      { ...release("rb", uses("b")), packages: [other] },
    ),
    instances: [],
  };
};

describe("two jobs of a group", () => {
  it("must not need different packages of one name", () => {
    const { problems } = refusedJobs(input(golang("f1"), golang("f2")));
    expect(problems).toMatchObject([
      {
        code: 80011,
        problem:
          "Package name collision detected in instance group 'web': " +
          "job 'ra/a' depends on package 'ra/golang' with fingerprint 'f1', " +
          "job 'rb/b' depends on package 'rb/golang' with fingerprint 'f2'. " +
          "BOSH cannot currently collocate two packages with identical names and different fingerprints or dependencies",
      },
    ]);
  });

  it("must not need one package with different dependencies", () =>
    expect(refusedJobs(input(golang("f"), golang("f", ["libc"]))).problems).toHaveLength(1));

  it("may need the same package of two releases", () =>
    expect(plannedJobs(input(golang("f"), golang("f"))).ok).toBe(true));

  it("jobs of different groups may need different packages of one name", () =>
    expect(plannedJobs(input(golang("f1"), golang("f2"), false)).ok).toBe(true));
});
