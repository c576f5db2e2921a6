import fc from "fast-check";
import { expect, it } from "vitest";
import { group, manifest } from "../../plan/testing/builders.ts";
import { planJobs } from "../plan-jobs.ts";
import { instance, job, knownJob, release, releases } from "../testing/builders.ts";

const NAMES = ["a", "b", "c"];
const TYPES = ["x", "y"];

interface Offered {
  readonly name: string;
  readonly type: string;
  readonly as: string | undefined;
  readonly blocked: boolean;
}
interface Wanted {
  readonly type: string;
  readonly optional: boolean;
  readonly said: string;
  readonly from: string;
}

const provider: fc.Arbitrary<Offered> = fc.record({
  name: fc.constantFrom(...NAMES),
  type: fc.constantFrom(...TYPES),
  as: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
  blocked: fc.boolean(),
});
const consumer: fc.Arbitrary<Wanted> = fc.record({
  type: fc.constantFrom(...TYPES),
  optional: fc.boolean(),
  said: fc.constantFrom("nothing", "empty", "from", "nil"),
  from: fc.constantFrom(...NAMES),
});

/** Each provider and each consumer is a job and a group of its own. */
function planned(providers: readonly Offered[], consumers: readonly Wanted[]) {
  const provides = providers.map((one, at) => ({
    known: knownJob(`p${at}`, { provides: [{ name: one.name, type: one.type }] }),
    job: job(`p${at}`, {
      provides: one.blocked
        ? { [one.name]: "nil" }
        : one.as === undefined
          ? {}
          : { [one.name]: { as: one.as } },
    }),
  }));
  const consumes = consumers.map((one, at) => ({
    known: knownJob(`c${at}`, { consumes: [{ name: "a", type: one.type, optional: one.optional }] }),
    job: job(`c${at}`, {
      consumes:
        one.said === "nothing"
          ? {}
          : { a: one.said === "nil" ? "nil" : one.said === "from" ? { from: one.from } : {} },
    }),
  }));
  const all = [...provides, ...consumes];
  return planJobs({
    director: { name: "director" },
    manifest: manifest(all.map((one, at) => group(`g${at}`, 1, { jobs: [one.job] }))),
    releases: releases(release("demo", ...all.map(({ known }) => known))),
    instances: all.map((_, at) => instance(`g${at}`, 0)),
  });
}

it("a consumer has the one provider it may mean, or none and may do without, or is named in the report", () => {
  fc.assert(
    fc.property(
      fc.array(provider, { maxLength: 5 }),
      fc.array(consumer, { maxLength: 5 }),
      (offered, wanted) => {
        const result = planned(offered, wanted);
        const expected = wanted.map((one) => {
          const explicit = one.said !== "nothing";
          const name = one.said === "from" ? one.from : "a";
          const found = offered
            .map((other, at) => ({ ...other, job: `p${at}` }))
            .filter((other) => !other.blocked && other.type === one.type)
            .filter((other) => !explicit || (other.as ?? other.name) === name);
          const meant = one.said === "nil" ? [] : found;
          if (meant.length === 1) return meant[0]?.job;
          const without = one.optional && meant.length === 0 && (!explicit || one.said === "nil");
          return without ? null : "refused";
        });
        const refused = expected.flatMap((one, at) =>
          one === "refused" ? [`instance_groups[g${offered.length + at}].jobs[c${at}].consumes.a`] : [],
        );
        if (!result.ok) {
          expect(result.problems.map(({ where }) => where)).toEqual(refused);
          return;
        }
        expect(refused).toEqual([]);
        const providerOf = new Map(result.links.map((link) => [link.consumer.job, link.provider.job]));
        expect(wanted.map((_, at) => providerOf.get(`c${at}`) ?? null)).toEqual(expected);
      },
    ),
  );
});
