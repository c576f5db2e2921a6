import { systemClock } from "@slipway/kernel/clock";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import type { RequestId } from "@slipway/protocol/ids";
import { ScrubbedLines } from "@slipway/protocol/schema/scrub";
import { expectNoSecrets, PLANTED_CONTEXT, PLANTED_ENV, PLANTED_PROPERTIES } from "@slipway/testkit/canaries";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { cpiCloud } from "./cpi-cloud.ts";
import { execCpiPort } from "./exec-cpi.ts";
import { cpiFile, DIRECTOR, logBook } from "./testing/cpi-files.ts";
import { createArgs, DISK, VM } from "./testing/scripted-cpi.ts";

sampleTests(1 / 4);

const HINT = {
  iscsi_settings: { initiator_name: "i", username: "u", target: "t", password: "CANARY-iscsi" },
  id: "the-id",
};
const CLOUD = { type: "small", password: "CANARY-cloud", nested: { api_key: "CANARY-nested" } };

/** Repeats all its input wherever it can, in small pieces, and answers as `how` in its own name says. */
const PARROT = `
  let input = "";
  process.stdin.on("data", (chunk) => { input += chunk; });
  process.stdin.on("end", () => {
    const request = JSON.parse(input);
    for (let at = 0; at < input.length; at += 7) require("node:fs").writeSync(2, input.slice(at, at + 7));
    console.error("\\n" + require("node:util").inspect(request, { depth: 20 }));
    const how = /how-(\\w+)/.exec(__filename)[1];
    const error = { type: "Bosh::Clouds::CloudError", message: "I was told " + input, ok_to_retry: false };
    const results = {
      info: { stemcell_formats: [], api_version: 2 },
      create_vm: ["vm-1", { private: { type: "manual", cloud_properties: { password: "CANARY-returned" } } }],
      attach_disk: ${JSON.stringify(HINT)},
      calculate_vm_cloud_properties: { password: "CANARY-calculated" },
    };
    const result = results[request.method] ?? null;
    if (request.method === "info" || how === "well") console.log(JSON.stringify({ result, error: null, log: input }));
    else if (how === "error") console.log(JSON.stringify({ result: null, error, log: input }));
    else if (how === "junk") console.log("junk: " + input);
    else if (how === "mute") process.exitCode = 1;
    else if (how === "form") console.log(JSON.stringify({ result: input, error, log: [input] }));
    else console.log(JSON.stringify({ result: input, error: null, log: input }));
  });`;

async function playWith(how: string) {
  const { path } = await cpiFile(PARROT, { name: `how-${how}.cjs` });
  const book = logBook();
  const cloud = cpiCloud({
    name: "",
    port: execCpiPort({ path, clock: systemClock }),
    directorUuid: DIRECTOR,
    random: systemRandom,
    properties: { ...PLANTED_CONTEXT, ...PLANTED_PROPERTIES },
  });
  const disks = { system: "/dev/sda", persistent: { "disk-1": HINT } };
  const call = () => ({ requestId: "cpi-1" as RequestId, stemcellApiVersion: 2, disks, log: book.log });
  const networks = { private: { type: "manual" as const, cloud_properties: CLOUD } };
  const calls = [
    () => cloud.createVm(createArgs({ env: PLANTED_ENV, cloudProperties: CLOUD, networks }), call()),
    () => cloud.createDisk(1, CLOUD, null, call()),
    () => cloud.attachDisk(VM, DISK, call()),
    () => cloud.updateDisk(DISK, 1, CLOUD, call()),
    () => cloud.createStemcell("/image", CLOUD, {}, call()),
    () => cloud.calculateVmCloudProperties({ ram: 1, cpu: 1, ephemeral_disk_size: 1 }, call()),
  ];
  const errors: string[] = [];
  for (const one of calls) {
    await one().catch((error: unknown) => {
      const { cause } = error as Error;
      errors.push(messageTrail(error), errorText(cause), JSON.stringify(error));
    });
  }
  return { log: book.text, errors: errors.join("\n") };
}

describe("no credential of a call shows in a log line or an error", () => {
  it.each(["well", "error", "junk", "shape", "mute", "form"])(
    "shows no secret of a CPI that repeats all its input and answers with %s",
    async (how) => {
      const { log, errors } = await playWith(how);
      expectNoSecrets(log);
      expectNoSecrets(errors);
      expect(log).toContain("<redacted>");
      if (how === "well")
        expect(log).toMatch(/response: \{"result":\{"iscsi_settings":\{.*"password":"<redacted>"/);
      if (how === "error")
        expect(errors).toContain("CPI error 'Bosh::Clouds::CloudError' with message 'I was told");
      if (how === "junk") expect(errors).toContain("ParserError");
      if (how === "mute") expect(errors).toContain("; the last it logged: '");
      if (how === "form") expect(errors).toContain("; it says: 'I was told");
    },
  );

  it("logs a request with the operator's and the cloud's data hidden", async () => {
    const { log } = await playWith("well");
    const line = log
      .split("\n")
      .find((text) => text.includes('"method":"create_vm"') && text.includes("request:"));
    const [, shown = ""] = /request: (\{.*\}) with command: /.exec(line ?? "") ?? [];
    expect(line).toMatch(/^\[external-cpi\] \[cpi-1\] request: /);
    expect(JSON.parse(shown)).toMatchObject({
      arguments: [
        "8a1c0d8e",
        "img-17",
        { type: "<redacted>", password: "<redacted>", nested: "<redacted>" },
        { private: { type: "manual", cloud_properties: { type: "<redacted>" } } },
        [DISK],
        { bosh: { password: "<redacted>", tags: { team: "a" } } },
      ],
      context: { director_uuid: DIRECTOR, request_id: "cpi-1", region: "<redacted>" },
    });
  });

  it("logs stderr of a CPI once, although its reply repeats it", async () => {
    const text = `
      console.error("one line of log");
      console.log(JSON.stringify({ result: true, error: null, log: "one line of log\\n" }));`;
    const { path } = await cpiFile(text, { name: "cpi.cjs" });
    const book = logBook();
    const port = execCpiPort({ path, clock: systemClock });
    const cloud = cpiCloud({
      name: "",
      port,
      directorUuid: DIRECTOR,
      random: systemRandom,
      maxApiVersion: 1,
    });
    await cloud.hasVm(VM, { requestId: "cpi-1" as RequestId, log: book.log }).catch(() => undefined);
    expect(book.text.match(/one line of log/g)).toHaveLength(1);
  });
});

describe("lines without secrets", () => {
  it.each([1, 2, 3, 7, 1000])("stay without them when they come in pieces of %s", (size) => {
    const secret = "CANARY-0123456789";
    const text = `${"x".repeat(150_000)}${secret}${"y".repeat(150_000)}\n${secret}\nend ${secret}`;
    let out = "";
    const lines = new ScrubbedLines([secret], (piece) => {
      expectNoSecrets(piece);
      out += piece;
    });
    for (let at = 0; at < text.length; at += size) lines.add(text.slice(at, at + size));
    lines.end();
    expect(out).toBe(`${text.replaceAll(secret, "<redacted>")}\n`);
  });
});

describe("a CPI that gives no answer", () => {
  it("is quoted: the last it logged is in the error, and nothing of ours", async () => {
    const { path } = await cpiFile(
      "#!/bin/sh\nfor at in 1 2 3 4 5 6 7 8; do echo line $at >&2; done\necho 'quota exceeded' >&2\nexit 7\n",
    );
    const port = execCpiPort({ path, clock: systemClock });
    const cloud = cpiCloud({ name: "", port, directorUuid: DIRECTOR, random: systemRandom, properties: {} });
    const said = await cloud.info().catch((error: unknown) => messageTrail(error));
    expect(said).toContain("(exit code 7)");
    expect(said).toContain("; the last it logged: 'line 5 | line 6 | line 7 | line 8 | quota exceeded'");
  });
});
