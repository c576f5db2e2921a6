import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type CpiResponse, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { check } from "@slipway/protocol/schema/check";
import { expectEqual, expectTrue } from "../expect.ts";
import type { WIRE_RULES } from "../rules/wire-rules.ts";
import type { ChecksOf } from "./check.ts";
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
export const WIRE_CHECKS: ChecksOf<typeof WIRE_RULES> = {
  "CPI-WIRE-001": async (cloud) => {
    const { result, error } = await said(cloud, JSON.stringify(ASKED));
    expectEqual(error, null, "error");
    const { api_version, stemcell_formats } = result as Info;
    const known = Number.isInteger(api_version) && Number(api_version) >= 2;
    expectTrue(known || cloud.version === 1, `api_version is ${api_version}`);
    const formats =
      Array.isArray(stemcell_formats) && stemcell_formats.every((one) => typeof one === "string");
    expectTrue(formats, `stemcell_formats is ${JSON.stringify(stemcell_formats)}`);
  },
  "CPI-WIRE-002": async (cloud) => {
    const first = await cloud.result("info", [], { apiVersion: 1 });
    for (const apiVersion of [undefined, 2])
      expectEqual(await cloud.result("info", [], { apiVersion }), first, `info with version ${apiVersion}`);
  },
  "CPI-WIRE-003": (cloud) => saidNo(cloud, ""),
  "CPI-WIRE-004": (cloud) => saidNo(cloud, "{oh"),
  "CPI-WIRE-005": async (cloud) => {
    await saidNo(cloud, JSON.stringify({ ...ASKED, method: undefined }));
    await saidNo(cloud, JSON.stringify({ ...ASKED, method: 7 }));
  },
  "CPI-WIRE-006": async (cloud) =>
    void (await cloud.refusal("sing_song", [], "Bosh::Clouds::NotImplemented")),
  "CPI-WIRE-007": async (cloud) => {
    await saidNo(cloud, JSON.stringify({ ...ASKED, method: "has_vm", arguments: undefined }));
    await saidNo(cloud, JSON.stringify({ ...ASKED, method: "has_vm", arguments: {} }));
  },
  "CPI-WIRE-008": async (cloud) => {
    await cloud.refusal("create_disk", [64]);
    await cloud.refusal("create_disk", ["64", {}, null]);
    await cloud.refusal("create_disk", [0, {}, null]);
    await cloud.refusal("create_disk", [-1, {}, null]);
  },
  "CPI-WIRE-009": async (cloud) => void (await said(cloud, JSON.stringify({ ...ASKED, api_version: "2" }))),
  "CPI-WIRE-010": async (cloud) => {
    const context = { director_uuid: "checks", request_id: undefined, weather: { rain: true } };
    expectEqual(await cloud.result("has_vm", ["vm-nobody-has"], { context }), false, "has_vm");
  },
  "CPI-WIRE-011": async (cloud) => {
    const canary = "c4n4ry-of-the-checks";
    const env = { bosh: { password: canary, mbus: { cert: { private_key: canary } } } };
    const request = cloud.request("create_vm", await cloud.vmArguments(undefined, env));
    const { out, err } = await cloud.say(JSON.stringify(request));
    const { result, error, log } = parseStrictJson(out, "the reply") as CpiResponse;
    expectEqual(error, null, "error");
    cloud.remember("delete_vm", String(Array.isArray(result) ? result[0] : result));
    expectTrue(!log.includes(canary) && !err.includes(canary), "the log has a secret in it");
    expectTrue(!JSON.stringify(result).includes(canary), "the result has a secret in it");
  },
  "CPI-WIRE-012": async (cloud) => {
    // At least one, also where this check is run alone.
    await cloud.ask("no_such_method", []);
    expectTrue(cloud.errors.length > 0, "nothing was refused");
    for (const { method, error } of cloud.errors) {
      expectTrue(error.message.trim() !== "", `${method} is refused without a word`);
      const known = /^(Bosh::Clouds::\w+|InvalidCall|Unknown)$/.test(error.type);
      expectTrue(known, `${method} is refused as ${error.type}, which no Director knows`);
    }
  },
};
