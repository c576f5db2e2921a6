import { DigestMismatch, FormatUnsupported } from "@slipway/engine/stemcells/errors";
import type { SlipwayError } from "@slipway/kernel/errors";
import { describe, expect, it } from "vitest";
import * as api from "./api/refusals.ts";
import { IsolatedErrand, NoSuchErrand } from "./operations/errands/errors.ts";
import * as work from "./operations/errors.ts";

const web = { deployment: "shop", instance: "web/1" };

/** Operators search for these numbers and scripts grep for them: upstream's number, and its words before ours. */
describe("an operator's mistake is reported with upstream's number and words", () => {
  it.each<[SlipwayError, number, string]>([
    [api.NoSuchDeployment({ name: "shop" }), 70000, "Deployment 'shop' doesn't exist"],
    [api.NoSuchConfig({ name: "7" }), 440012, "Config 7 not found"],
    [api.NoSuchTask({ name: "7" }), 10000, "Task 7 not found"],
    [api.NoSuchRelease({ name: "r" }), 30005, "Release 'r' doesn't exist"],
    [api.NoSuchReleaseVersion({ name: "r/1" }), 30006, "Release version 'r/1' doesn't exist"],
    [
      api.NoSuchInstance({ deployment: "shop", group: "web", instance: "7" }),
      70001,
      "'shop/web/7' doesn't exist",
    ],
    [api.NoInstanceName({ given: "x" }), 70002, "Invalid instance index or id 'x'"],
    [
      IsolatedErrand({ deployment: "shop", instance: "once/6f1c", action: "stop" }),
      90000,
      "Isolated stop can not be run on instances of type errand. Try the bosh run-errand command.",
    ],
    [work.DeploymentGone({ deployment: "shop" }), 70000, "Deployment 'shop' doesn't exist"],
    [work.InstanceGone({ deployment: "shop", instance: "web/7" }), 70001, "'shop/web/7' doesn't exist"],
    [
      work.HasIgnored({ deployment: "shop", instances: ["web/1"] }),
      190021,
      "You are trying to delete deployment 'shop', which contains ignored instance(s). Operation not allowed.",
    ],
    [work.InstanceIgnored(web), 520003, "Instance 'web/1' in deployment 'shop' is in 'ignore' state"],
    [
      work.InstanceStarted(web),
      520003,
      "Instance 'web/1' in deployment 'shop' must be in 'bosh stopped' state",
    ],
    [work.NoSuchStemcell({ name: "s", version: "1" }), 50003, "Stemcell 's/1' doesn't exist"],
    [work.NoSuchRelease({ name: "r" }), 30005, "Release 'r' doesn't exist"],
    [work.NoSuchReleaseVersion({ name: "r", version: "1" }), 30006, "Release version 'r/1' doesn't exist"],
    [NoSuchErrand({ name: "e" }), 70009, "Errand 'e' doesn't exist"],
    [
      DigestMismatch({ what: "stemcell", expected: "a", actual: "b" }),
      50007,
      "Expected stream to have digest 'a' but was 'b'",
    ],
    [
      FormatUnsupported({ formats: ["a"], supported: ["b", "c"] }),
      50008,
      'uploaded stemcell with formats ["a"] are not supported by available cpi formats: ["b", "c"]',
    ],
  ])("%s", (error, number, words) => {
    expect(error.number).toBe(number);
    expect(error.message.startsWith(words)).toBe(true);
  });
});
