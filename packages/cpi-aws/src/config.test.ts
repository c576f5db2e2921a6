import { embed } from "@slipway/cpi-sdk/embed";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import { cpiAws } from "./cpi-aws.ts";

/** Configuration file as the job of upstream's release writes it: with null for what is not set. */
const UPSTREAM = {
  cloud: {
    plugin: "aws",
    properties: {
      aws: {
        ...{ credentials_source: "static", access_key_id: "AKIA", secret_access_key: "secret-of-a-test" },
        ...{
          session_token: null,
          role_arn: null,
          default_iam_instance_profile: null,
          default_key_name: "bosh",
        },
        ...{ default_security_groups: ["bosh"], max_retries: 0, encrypted: false, kms_key_arn: null },
        ...{ metadata_options: null, dualstack: false, enable_describe_instance_types: true },
        ...{ region: "us-east-1", ec2_endpoint: "http://127.0.0.1:1" },
      },
      agent: { ntp: [], mbus: "nats://nats:pw@10.0.0.6:4222" },
      registry: { endpoint: "http://admin:pw@10.0.0.6:25777", user: "admin", password: "pw" },
      debug: { cpi: { api_version: 2 } },
    },
  },
};

const ask = (config: unknown, method: string, args: readonly unknown[] = [], context: object = {}) =>
  embed(cpiAws, { config: config as JsonObject }).request({
    ...{ method, arguments: args, api_version: 2, context: { director_uuid: "d", ...context } },
  });

describe("the configuration of the AWS CPI", () => {
  it("takes upstream's cpi.json, and says what it announces", async () => {
    const { result } = await ask(UPSTREAM, "info");
    expect(result).toMatchObject({
      stemcell_formats: ["aws-light"],
      api_version: 2,
      capabilities: { repeats_by_request_id: true, list_resources: true, get_vm_log: true },
    });
  });

  it("names the endpoint that does not answer, and no secret", async () => {
    const { error, log } = await ask(UPSTREAM, "has_vm", ["i-0123456789abcdef0"]);
    expect(error?.message).toMatch(/AWS-001 ec2:DescribeInstances: no answer of AWS from 127\.0\.0\.1:1/);
    expect(`${error?.message}${log}`).not.toContain("secret-of-a-test");
  });

  it("takes the properties of a CPI config, which come with the request", async () => {
    const context = {
      aws: { credentials_source: "static" },
      region: "eu-west-1",
      ec2_endpoint: "127.0.0.1:2",
    };
    const { error } = await ask(UPSTREAM, "has_vm", ["i-0123456789abcdef0"], context);
    expect(error?.message).toContain("127.0.0.1:2");
  });

  it("refuses a configuration without a region", async () => {
    const { error } = await ask({ aws: { access_key_id: "a", secret_access_key: "b" } }, "has_vm", [
      "i-0123456789abcdef0",
    ]);
    expect(error?.message).toMatch(/AWS-011.*aws\.region is missing/);
  });

  it("does not ask AWS for what cannot be an id of its own", async () => {
    const { result } = await ask(UPSTREAM, "has_vm", ["vm-of-another-cloud"]);
    expect(result).toBe(false);
  });

  it("proposes the smallest type that has what is asked for", async () => {
    const type = async (cpu: number, ram: number) => {
      const { result } = await ask(UPSTREAM, "calculate_vm_cloud_properties", [
        { cpu, ram, ephemeral_disk_size: 2048 },
      ]);
      return (result as { instance_type: string }).instance_type;
    };
    expect(await type(1, 512)).toBe("t3.nano");
    expect(await type(2, 4096)).toBe("c5.large");
    expect(await type(3, 16_000)).toBe("m5.xlarge");
    expect(await type(2, 16_000)).toBe("r5.large");
  });
});
