import { saveConfig } from "@slipway/director/store/configs";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import { CLOUD_CONFIG } from "../director/manifests.ts";
import type { EndedTask } from "./testing/bench.ts";
import { count, jobsStage, web } from "./testing/jobs-stage.ts";

const { stage, done, task, whole } = jobsStage();

const MORE = `
azs: [{name: z1, cloud_properties: {zone: one}}, {name: z2, cloud_properties: {zone: ((/zone))}}]
vm_types: [{name: small}, {name: compiler, cloud_properties: {cpu: 9, key: ((/key))}}]
vm_extensions: [{name: fast, cloud_properties: {disk: ((/disk))}}]
disk_types: []
networks:
- name: private
  subnets: [{range: 10.0.0.0/16, gateway: 10.0.0.1, az: z1}]
- name: inner
  subnets: [{range: 10.9.0.0/16, gateway: 10.9.0.1, az: z2, cloud_properties: {net: ((/net))}}]
`;
const VARIABLES = ["zone", "key", "disk", "net"]
  .map((name) => `- {name: /${name}, type: password, options: {length: 5}}`)
  .join("\n");

/** Deploys with this cloud config and returns the properties of the VMs that compiled. */
async function compiling(
  cloud: string,
  variables = "",
): Promise<EndedTask & { readonly made: readonly Made[] }> {
  const saved = await saveConfig(stage.bench.db, { type: "cloud", name: "other", content: cloud });
  const deploy = task([{ name: "web", instances: 1, jobs: [web()] }]);
  const manifest = `${String(deploy.params.manifest)}${variables}`;
  const ids = [saved.ok ? saved.config.id : 0];
  const ended = await done({ ...deploy, params: { ...deploy.params, manifest, cloud_config_ids: ids } });
  const made = ended.calls.flatMap((call) => {
    if (call.peer !== "cpi" || call.method !== "create_vm") return [];
    const [, , properties, networks, , env] = call.request.arguments as readonly JsonObject[];
    const { groups = [] } = (env?.bosh ?? {}) as { readonly groups?: readonly string[] };
    if (!groups.some((name) => name.startsWith("compilation-"))) return [];
    return [{ properties, networks, env } as Made];
  });
  return { ...ended, made };
}

interface Made {
  readonly properties: JsonObject;
  readonly networks: JsonObject;
  readonly env: JsonObject;
}

describe("VMs that compile", () => {
  it("are made of what the cloud config says of them, with the values of variables that nothing else uses", async () => {
    const compilation =
      "compilation: {workers: 1, network: inner, az: z2, vm_type: compiler, vm_extensions: [fast], env: {kept: warm}}\n";
    const { made } = await compiling(MORE + compilation, `variables:\n${VARIABLES}\n`);
    expect(made).toHaveLength(2);
    const value = expect.stringMatching(/^[a-z0-9]{5}$/) as string;
    for (const one of made)
      expect(one).toMatchObject({
        properties: { zone: value, cpu: 9, key: value, disk: value },
        networks: {
          inner: { ip: expect.stringMatching(/^10\.9\./) as string, cloud_properties: { net: value } },
        },
        env: { kept: "warm" },
      });
    expect(await whole()).toEqual([]);
  });

  it("have the cloud properties of the section itself where no type is named", async () => {
    const { made } = await compiling(CLOUD_CONFIG.replace("vm_type: small", "cloud_properties: {cpu: 7}"));
    expect(made.map(({ properties }) => properties)).toEqual([{ cpu: 7 }, { cpu: 7 }]);
  });

  it("are tagged with the package that they compile", async () => {
    const { calls } = await compiling(
      `${MORE}compilation: {workers: 1, network: private, az: z1, vm_type: small}\n`,
    );
    const tagged = calls.flatMap((call) => {
      if (call.peer === "agent")
        return call.method === "compile_package" ? [`compiles ${String(call.args[2])}`] : [];
      if (call.method !== "set_vm_metadata") return [];
      const [, metadata] = call.request.arguments as readonly JsonObject[];
      return [`${String(metadata?.job).replace(/-.*/, "")} ${String(metadata?.compiling)}`];
    });
    expect(tagged).toEqual([
      ...["compilation undefined", "compilation lib", "compiles lib"],
      ...["compilation undefined", "compilation server", "compiles server"],
      "web undefined",
    ]);
  });

  it("are one for all packages where they are used again", async () => {
    const again = CLOUD_CONFIG.replace("workers: 1", "workers: 3, reuse_compilation_vms: true");
    const ended = await compiling(again);
    // The second package needs the first.
    expect([ended.made.length, count(ended, "compile_package")]).toEqual([1, 2]);
  });
});
