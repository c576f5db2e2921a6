import { QUICK_SEED, sampleOf, seed, whole } from "./sample.ts";

/**
 * Stories of whole machines, told with real processes: each keeps a processor busy for many seconds. `npm test` plays the
 * quick ones of each kind, `npm run test:random` as many that its seed chooses, `npm run test:all` all.
 */
const STORIES = {
  /** A Director with its database, and mostly the demo with its sandboxes. */
  director: {
    quick: ["demo"],
    of: [
      ...["demo", "demo killed", "demo on a Director", "demo stopped"],
      ...["resurrection", "resurrection off"],
      ...["NATS agents", "NATS authority", "NATS server killed", "NATS Director killed"],
      ...["NATS restored", "NATS to HTTPS"],
      ...["full disk waits", "full disk goes on"],
      ...["database in trouble", "agents in trouble", "no addresses", "watch"],
    ],
  },
  /** Many processes, or other programs than ours. */
  parts: {
    quick: ["matrix of the tiny CPI", "one cut off"],
    of: ["mixes", "matrix of the tiny CPI", "engine lost", "one cut off", "a fifth cut off", "all cut off"],
  },
  /** An environment that create-env makes, changes and deletes. */
  environment: {
    quick: ["jobs", "CPI 2, stemcell 2"],
    of: [
      ...["copies", "leaves", "takes over", "replaces", "certificate of the manifest", "certificate of ours"],
      ...["power", "two at once", "download", "jobs", "CPI of a release"],
      ...["CPI newest", "CPI 2, stemcell 2", "CPI 2, stemcell 1", "CPI 1, stemcell 1", "CPI 1, stemcell 2"],
      ...["registry here", "registry named", "registry named, tunnel", "registry credentials"],
      ...["registry not missed", "registry lost"],
      ...["killed", "killed with a registry", "killed in the same process"],
    ],
  },
} as const;

export type Story<Kind extends keyof typeof STORIES> = (typeof STORIES)[Kind]["of"][number];

/** Tells whether this run plays a story: `it.runIf(plays("director", "demo"))`. */
export function plays<Kind extends keyof typeof STORIES>(kind: Kind, story: Story<Kind>): boolean {
  const { of, quick } = STORIES[kind];
  if (seed() === QUICK_SEED && !whole()) return quick.some((one) => one === story);
  return sampleOf<string>(`stories of ${kind}`, of, quick.length).includes(story);
}
