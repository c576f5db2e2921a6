import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CpiRuleId } from "../rules/catalogue.ts";
import type { FullTiny, TestRequest } from "./full-tiny.ts";
import { changed, instead, type Mutant } from "./mutant.ts";

const stemcellOf = ({ context }: TestRequest): unknown =>
  (context?.vm as { readonly stemcell?: { readonly api_version?: number } } | undefined)?.stemcell
    ?.api_version;

/** The request with other versions. */
const as = (request: TestRequest, apiVersion: number, stemcell: number): TestRequest => ({
  ...request,
  api_version: apiVersion,
  context: { ...request.context, vm: { stemcell: { api_version: stemcell } } },
});

/** Answers as if everything were new, in the shape of version 1. */
async function withoutRegistry(tiny: FullTiny, request: TestRequest) {
  const reply = await tiny.ask(as(request, 2, 2));
  return Array.isArray(reply.result) ? { ...reply, result: reply.result[0] as string } : reply;
}

const withEnv = (request: TestRequest, env: object): TestRequest => ({
  ...request,
  arguments: request.arguments.with(5, env),
});

/** For each rule of the registry and of user-data a CPI that breaks it. */
export const REGISTRY_MUTANTS: Partial<Record<CpiRuleId, Mutant>> = {
  "CPI-REGISTRY-001": instead("a new stemcell is enough to do without the registry", async (tiny, request) =>
    request.method === "create_vm" && request.api_version === 1 && stemcellOf(request) === 2
      ? await withoutRegistry(tiny, request)
      : undefined,
  ),
  "CPI-REGISTRY-002": {
    ...instead("version 2 is enough to do without the registry", async (tiny, request) =>
      request.method === "create_vm" && request.api_version === 2 && stemcellOf(request) === 1
        ? await tiny.ask(as(request, 2, 2))
        : undefined,
    ),
    also: { rules: ["CPI-REGISTRY-007"], why: "without an entry there is no hint in it" },
  },
  "CPI-REGISTRY-003": instead("a stemcell without a version is taken for a new one", async (tiny, request) =>
    request.method === "create_vm" && request.api_version === 2 && stemcellOf(request) === undefined
      ? await tiny.ask(as(request, 2, 2))
      : undefined,
  ),
  "CPI-REGISTRY-004": instead("delete_vm always asks the registry", async (tiny, request) =>
    request.method === "delete_vm" ? await tiny.ask(as(request, 2, 1)) : undefined,
  ),
  "CPI-REGISTRY-005": instead("detach_disk leaves the entry as it is", async (tiny, request) =>
    request.method === "detach_disk" ? await tiny.ask(as(request, 2, 2)) : undefined,
  ),
  "CPI-REGISTRY-006": instead("delete_vm leaves the entry", async (tiny, request) =>
    request.method === "delete_vm" ? await tiny.ask(as(request, 2, 2)) : undefined,
  ),
  "CPI-REGISTRY-007": changed(
    "the hint in the result is not that in the registry",
    "attach_disk",
    (reply, request) =>
      request.api_version === 2 && stemcellOf(request) === 1 ? { ...reply, result: "/dev/sdx" } : reply,
  ),
  "CPI-REGISTRY-008": instead("a VM is made without the registry that it needs", async (tiny, request) =>
    request.method === "create_vm" && request.api_version === 1 && !(await tiny.hasRegistry())
      ? await withoutRegistry(tiny, request)
      : undefined,
  ),
  "CPI-REGISTRY-009": changed(
    "a VM whose settings are refused stays",
    "create_vm",
    async (reply, request, tiny) => {
      if (reply.error !== null && request.api_version === 1) await tiny.ask(as(request, 2, 2));
      return reply;
    },
  ),
  "CPI-REGISTRY-010": instead("env is not in the registry", async (tiny, request) =>
    request.method === "create_vm" && request.api_version === 1
      ? await tiny.ask(withEnv(request, {}))
      : undefined,
  ),
  "CPI-USERDATA-001": instead("env is not in user-data", async (tiny, request) =>
    request.method === "create_vm" && request.api_version === 2
      ? await tiny.ask(withEnv(request, {}))
      : undefined,
  ),
  "CPI-USERDATA-002": changed(
    "user-data of old parts has an agent_id",
    "create_vm",
    async (reply, request, tiny) => {
      if (typeof reply.result !== "string") return reply;
      const path = join(await tiny.dir(), "vms", reply.result, "user-data.json");
      const written = JSON.parse(await readFile(path, "utf8")) as object;
      await writeFile(path, JSON.stringify({ ...written, agent_id: request.arguments[0] }));
      return reply;
    },
  ),
};
