import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type CpiResponse, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { check } from "@slipway/protocol/schema/check";
import { expectEqual, expectTrue } from "../expect.ts";
import type { CpiCheck } from "./check.ts";
import type { ResourceTracker } from "./resource-tracker.ts";

interface Info {
  readonly api_version?: unknown;
  readonly stemcell_formats?: unknown;
}

const ASKED = { method: "info", arguments: [], context: { director_uuid: "checks" } };

/** The reply to words that need not be a request. */
async function said(cloud: ResourceTracker, input: string): Promise<CpiResponse> {
  const { out, err, code } = await cloud.say(input);
  expectEqual(code, 0, `exit code (stderr: ${err.slice(-200)})`);
  const checked = check(cpiResponse, parseStrictJson(out, "the reply"), "reply");
  if (!checked.ok) throw new Error(checked.problems.join("; "));
  return checked.value;
}

async function saidNo(cloud: ResourceTracker, input: string): Promise<void> {
  const { error } = await said(cloud, input);
  if (error === null) throw new Error("it is not refused");
  cloud.errors.push({ method: "a bad request", error });
  expectEqual(error.ok_to_retry, false, "ok_to_retry");
}

/** Checks of what passes over standard input and output. */
export const WIRE_CHECKS: readonly CpiCheck[] = [
  {
    number: 1,
    name: "info is answered without a version and without a VM",
    run: async (cloud) => {
      const { result, error } = await said(cloud, JSON.stringify(ASKED));
      expectEqual(error, null, "error");
      const { api_version, stemcell_formats } = result as Info;
      expectTrue(Number.isInteger(api_version) && Number(api_version) >= 2, `api_version is ${api_version}`);
      const formats =
        Array.isArray(stemcell_formats) && stemcell_formats.every((one) => typeof one === "string");
      expectTrue(formats, `stemcell_formats is ${JSON.stringify(stemcell_formats)}`);
    },
  },
  {
    number: 2,
    name: "info answers the same whatever version asks",
    run: async (cloud) => {
      const first = await cloud.result("info", [], { apiVersion: 1 });
      for (const apiVersion of [undefined, 2])
        expectEqual(await cloud.result("info", [], { apiVersion }), first, `info with version ${apiVersion}`);
    },
  },
  { number: 4, name: "no input is refused in words", run: (cloud) => saidNo(cloud, "") },
  { number: 5, name: "input that is not JSON is refused in words", run: (cloud) => saidNo(cloud, "{oh") },
  {
    number: 6,
    name: "a request without a method, or with a number for one, is refused",
    run: async (cloud) => {
      await saidNo(cloud, JSON.stringify({ ...ASKED, method: undefined }));
      await saidNo(cloud, JSON.stringify({ ...ASKED, method: 7 }));
    },
  },
  {
    number: 7,
    name: "a method that nobody knows is not implemented",
    run: async (cloud) => void (await cloud.refusal("sing_song", [], "Bosh::Clouds::NotImplemented")),
  },
  {
    number: 8,
    name: "arguments that are missing, or no list, are refused",
    run: async (cloud) => {
      await saidNo(cloud, JSON.stringify({ ...ASKED, method: "has_vm", arguments: undefined }));
      await saidNo(cloud, JSON.stringify({ ...ASKED, method: "has_vm", arguments: {} }));
    },
  },
  {
    number: 9,
    name: "create_disk with too few arguments, or no size, is refused",
    run: async (cloud) => {
      await cloud.refusal("create_disk", [64]);
      await cloud.refusal("create_disk", ["64", {}, null]);
      await cloud.refusal("create_disk", [0, {}, null]);
      await cloud.refusal("create_disk", [-1, {}, null]);
    },
  },
  {
    number: 10,
    name: "a version that is a string is no crash",
    run: async (cloud) => void (await said(cloud, JSON.stringify({ ...ASKED, api_version: "2" }))),
  },
  {
    number: 14,
    name: "keys of the context that nobody knows are ignored, and those of a CLI that are missing not missed",
    run: async (cloud) => {
      const context = { director_uuid: "checks", request_id: undefined, weather: { rain: true } };
      expectEqual(await cloud.result("has_vm", ["vm-nobody-has"], { context }), false, "has_vm");
    },
  },
  {
    number: 19,
    name: "secrets of a VM are not in what the CPI says",
    run: async (cloud) => {
      const canary = "c4n4ry-of-the-checks";
      const env = { bosh: { password: canary, mbus: { cert: { private_key: canary } } } };
      const request = cloud.request("create_vm", await cloud.vmArguments(undefined, env));
      const { out, err } = await cloud.say(JSON.stringify(request));
      const { result, error, log } = parseStrictJson(out, "the reply") as CpiResponse;
      expectEqual(error, null, "error");
      cloud.remember("delete_vm", String((result as unknown[])[0]));
      expectTrue(!log.includes(canary) && !err.includes(canary), "the log has a secret in it");
      expectTrue(!JSON.stringify(result).includes(canary), "the result has a secret in it");
    },
  },
];
